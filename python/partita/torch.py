"""The method as a PyTorch loss, for people with a training loop of their own.

Examples
--------
>>> import torch
>>> from partita.torch import EntropyClusteringLoss
>>> loss = EntropyClusteringLoss(lam=10.0)(torch.randn(32, 4, requires_grad=True))
>>> loss.backward()
"""

from __future__ import annotations

from typing import Any

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:  # pragma: no cover
    raise ImportError("partita.torch needs PyTorch: pip install torch") from error

__all__ = ["EntropyClusteringLoss", "pseudo_labels"]

# Below this mean a cluster counts as lost to rounding; the engine's own bound.
_TINY = 1e-300


def pseudo_labels(
    log_sigma: Tensor, prior: Tensor, lam: float, iterations: int, share: Tensor, known: Tensor | None = None
) -> Tensor:
    """EM for mean H(σ, y) + λ KL(u‖ȳ), from y = σ; no gradient flows through it.

    Parameters
    ----------
    log_sigma : Tensor of shape (n, k)
        ln of the predictions.
    prior : Tensor of shape (k,)
        The prior u.
    lam : float
        Weight λ of fairness.
    iterations : int
        EM steps.
    share : Tensor of shape (n,)
        Weights of the rows, with a sum of 1.
    known : Tensor of shape (n,), optional
        Known labels, -1 where unknown.

    Returns
    -------
    Tensor of shape (n, k)
        The labels.
    """
    with torch.no_grad():
        sigma = log_sigma.exp()
        fixed = None if known is None else known >= 0
        target = None if known is None else nn.functional.one_hot(known.long().clamp(min=0), sigma.shape[1]).to(sigma.dtype)
        y = _revived(log_sigma, sigma, share, fixed)
        for _ in range(iterations):
            mean = _mean(share, y if fixed is None else torch.where(fixed[:, None], target, y))
            y = sigma + lam * prior / mean.clamp(min=torch.finfo(sigma.dtype).tiny) * y
            y = y / y.sum(dim=1, keepdim=True)
        return y if fixed is None else torch.where(fixed[:, None], target, y)


def _mean(share: Tensor, values: Tensor) -> Tensor:
    """Σ share · values over rows. Not as a product of matrices, which autocast would round to half precision."""
    return (share.reshape(-1, *[1] * (values.ndim - 1)) * values).sum(dim=0)


def _smallest(like: Tensor) -> float:
    """What a share that vanished counts as: the engine's bound, where the precision has it."""
    return max(_TINY, torch.finfo(like.dtype).tiny)


def _revived(log_sigma: Tensor, sigma: Tensor, share: Tensor, fixed: Tensor | None) -> Tensor:
    """σ, where a cluster that underflowed in every row starts from σ over its largest entry: only ratios count."""
    free = log_sigma if fixed is None else log_sigma.masked_fill(fixed[:, None], -torch.inf)
    lost = _mean(share, sigma) < _smallest(sigma)
    return torch.where(lost, (log_sigma - free.amax(dim=0)).exp(), sigma)


class EntropyClusteringLoss(nn.Module):
    """mean H(σ, y) + λ KL(u‖ȳ) of a batch of logits, with pseudo-labels y found inside.

    Minimise it together with weight decay (the method's γ‖W‖²). Works on any device; the loss has the precision of the logits, at
    least single.

    Parameters
    ----------
    lam : float, default=100.0
        Weight λ of fairness.
    prior : sequence of float, optional
        Prior u over the sizes of clusters; uniform by default.
    em_iterations : int, default=5
        EM steps for the pseudo-labels of a batch.

    Examples
    --------
    >>> import torch
    >>> from partita.torch import EntropyClusteringLoss
    >>> x = torch.randn(200, 2) + 9 * torch.eye(2).repeat(100, 1)
    >>> model = torch.nn.Linear(2, 2)
    >>> criterion = EntropyClusteringLoss()
    >>> optimiser = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=1e-4)
    >>> for _ in range(50):
    ...     optimiser.zero_grad()
    ...     criterion(model(x)).backward()
    ...     _ = optimiser.step()
    """

    def __init__(self, lam: float = 100.0, prior: Any = None, em_iterations: int = 5) -> None:
        super().__init__()
        if not lam > 0:
            raise ValueError(f"lam must be above 0. Got {lam} instead.")
        if em_iterations < 1:
            raise ValueError(f"em_iterations must be at least 1. Got {em_iterations} instead.")
        self.lam = float(lam)
        self.em_iterations = int(em_iterations)
        if prior is not None:
            prior = torch.as_tensor(prior).detach().cpu().double()
            if prior.ndim != 1 or bool((prior <= 0).any()) or abs(float(prior.sum()) - 1) > 1e-6:
                raise ValueError("the prior must be positive numbers that sum to 1")
        # Not a buffer: those follow the module's precision, which would round it, and devices without double precision.
        self.prior = prior

    def forward(self, logits: Tensor, known: Tensor | None = None, weight: Tensor | None = None) -> Tensor:
        """The loss of a batch.

        Parameters
        ----------
        logits : Tensor of shape (n, k)
            Outputs of the network.
        known : Tensor of shape (n,), optional
            Known labels, of any type of whole numbers, -1 where unknown; such rows contribute −ln σ of their label.
        weight : Tensor of shape (n,), optional
            Weight of each row.

        Returns
        -------
        Tensor
            A scalar.
        """
        if logits.ndim != 2 or logits.shape[1] < 2:
            raise ValueError(f"logits must be of shape (n, k) with at least two clusters. Got {tuple(logits.shape)}.")
        log_sigma = nn.functional.log_softmax(logits.float() if logits.dtype.itemsize < 4 else logits, dim=1)
        # Labels are constants, and λ times their rounding would show: in double precision where the device has it.
        wide = log_sigma.detach().to(log_sigma.dtype if logits.device.type == "mps" else torch.float64)
        n, k = wide.shape
        prior = self._prior(wide, k)
        share = wide.new_full((n,), 1.0 / n) if weight is None else weight.to(wide) / weight.to(wide).sum()
        y = pseudo_labels(wide, prior, self.lam, self.em_iterations, share, known)
        log_y = y.clamp(min=torch.finfo(y.dtype).tiny).log().to(log_sigma)
        row = -(log_sigma.exp() * log_y).sum(dim=1)
        if known is not None:
            own = -log_sigma.gather(1, known.long().clamp(min=0)[:, None]).squeeze(1)
            row = torch.where(known >= 0, own, row)
        # Where every row is known a cluster may have none.
        mean = _mean(share, y).clamp(min=_smallest(y))
        fairness = (prior * (prior.log() - mean.log())).sum()
        return _mean(share.to(row), row) + (self.lam * fairness).to(row)

    def _prior(self, log_sigma: Tensor, k: int) -> Tensor:
        if self.prior is None:
            return log_sigma.new_full((k,), 1.0 / k)
        if len(self.prior) != k:
            raise ValueError(f"the prior has {len(self.prior)} entries where {k} are needed")
        # First the type, which the device may lack.
        return self.prior.to(log_sigma.dtype).to(log_sigma.device)

    def extra_repr(self) -> str:
        return f"lam={self.lam:g}, em_iterations={self.em_iterations}"
