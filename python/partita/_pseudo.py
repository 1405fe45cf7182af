"""Pseudo-labels of given predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._input import as_matrix


def _log_predictions(sigma: Any) -> Any:
    sigma = np.asarray(as_matrix(sigma), dtype=np.float64)
    if sigma.ndim != 2 or sigma.shape[1] < 2:
        raise ValueError(f"sigma must be of shape (n_samples, n_clusters) with at least two clusters. Got {sigma.shape}.")
    if not np.all(np.isfinite(sigma)) or np.any(sigma < 0) or np.any(np.abs(sigma.sum(axis=1) - 1) > 1e-4):
        raise ValueError("the rows of sigma must be probabilities: not negative, and with a sum of 1")
    return np.log(np.maximum(sigma, np.finfo(np.float64).tiny))


def _row_weights(weights: Any) -> Any:
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be of shape (n_samples,). Got {weights.shape}.")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0) or not np.any(weights > 0):
        raise ValueError("sample_weight must be finite, not negative, and above 0 for at least one row")
    return weights


def pseudo_labels(
    sigma: Any,
    prior: Any = None,
    lam: float = 100.0,
    *,
    solver: str = "em",
    iterations: int | None = None,
    tolerance: float | None = None,
    sample_weight: Any = None,
    known: Any = None,
) -> Any:
    """The soft labels y that minimise a self-labelling loss for given predictions σ.

    Parameters
    ----------
    sigma : array-like of shape (n_samples, n_clusters)
        Predictions; rows sum to one.
    prior : array-like of shape (n_clusters,), optional
        Prior u over the sizes of clusters; uniform by default.
    lam : float, default=100.0
        Weight λ of fairness, finite and above 0.
    solver : str, default="em"
        ``"em"`` and ``"exact"`` for mean H(σ, y) + λ KL(u‖ȳ) (a few EM steps, or the optimum), ``"weak"`` for KL(ȳ‖u) instead,
        ``"renyi:ALPHA"``, ``"sela"``, MIADM's ``"miadm-depict"`` (y ∝ σ√(u/σ̄), its authors'), ``"miadm-dec"`` (DEC's
        y ∝ σ²u/σ̄) and ``"miadm-exact"`` (the optimum), and ``"newton"``, the slow oracle of ``"exact"``.
    iterations : int, optional
        Iterations at most; by default 10 for em, and enough for the others.
    tolerance : float, optional
        When to stop before that.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    known : array-like of shape (n_samples,), optional
        Known labels, -1 where unknown; they are kept.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        The labels; rows sum to one.

    Examples
    --------
    >>> from partita import pseudo_labels
    >>> y = pseudo_labels([[0.9, 0.1], [0.6, 0.4]], solver="exact")
    >>> y.round(2).tolist(), y.mean(axis=0).round(2).tolist()
    ([[0.65, 0.35], [0.35, 0.65]], [0.5, 0.5])
    """
    log_sigma = _log_predictions(sigma)
    n, k = log_sigma.shape
    prior = [1.0 / k] * k if prior is None else np.asarray(prior, dtype=np.float64).ravel().tolist()
    if not 0 < lam < np.inf:
        raise ValueError(f"lam must be above 0 and finite. Got {lam} instead.")
    return _native.solve_labels(
        log_sigma,
        prior,
        float(lam),
        solver,
        iterations=iterations,
        tolerance=tolerance,
        weights=None if sample_weight is None else _row_weights(sample_weight),
        known=None if known is None else np.ascontiguousarray(known, dtype=np.int32),
    )[0]
