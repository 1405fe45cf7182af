"""The PyTorch loss equals the engine's."""

import numpy as np
import pytest

from partita import _native, metrics, pseudo_labels

torch = pytest.importorskip("torch")

from partita.torch import EntropyClusteringLoss  # noqa: E402


def engine(logits, prior, lam, weights=None, known=None):
    log_sigma = torch.log_softmax(torch.as_tensor(logits, dtype=torch.float64), dim=1).numpy()
    return _native.self_labelled_loss(log_sigma, prior, lam, "em", iterations=5, weights=weights, known=known)


def case(seed, n=64, k=5, spread=3.0):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(k) * 5)
    known = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), -1).astype(np.int32)
    return rng.normal(size=(n, k)) * spread, prior, rng.uniform(0.1, 3, n), known


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lam", [0.5, 100.0])
@pytest.mark.parametrize("marks", [(False, False), (True, False), (False, True), (True, True)])
def test_value_and_gradient_are_the_engines(seed, lam, marks):
    logits, prior, weights, known = case(seed)
    weights = weights if marks[0] else None
    known = known if marks[1] else None
    value, gradient = engine(logits, prior.tolist(), lam, weights, known)
    z = torch.tensor(logits, requires_grad=True)
    loss = EntropyClusteringLoss(lam, prior)(
        z,
        None if known is None else torch.as_tensor(known, dtype=torch.int64),
        None if weights is None else torch.as_tensor(weights),
    )
    loss.backward()
    assert abs(loss.item() - value) < 1e-6 * max(1, abs(value))
    assert np.abs(z.grad.numpy() - gradient).max() < 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_lower_precision_is_close(dtype):
    logits, prior, *_ = case(0)
    rounded = torch.tensor(logits).to(dtype)
    value, gradient = engine(rounded.double(), prior.tolist(), 100.0)
    z = rounded.clone().requires_grad_()
    loss = EntropyClusteringLoss(100.0, prior)(z)
    loss.backward()
    assert loss.dtype == torch.float32
    assert abs(loss.item() - value) < 1e-6
    assert np.abs(z.grad.double().numpy() - gradient).max() < (1e-6 if dtype == torch.float32 else 1e-3)


def test_a_lost_cluster_is_started_again():
    logits, prior, *_ = case(0)
    logits[:, 2] -= 2000
    value, gradient = engine(logits, prior.tolist(), 10.0)
    z = torch.tensor(logits, requires_grad=True)
    loss = EntropyClusteringLoss(10.0, prior)(z)
    loss.backward()
    assert abs(loss.item() - value) < 1e-6 * abs(value)
    assert torch.isfinite(z.grad).all() and np.abs(z.grad.numpy() - gradient).max() < 1e-6


def test_labels_inside_are_those_of_pseudo_labels():
    from partita.torch import pseudo_labels as inside

    logits, prior, *_ = case(1)
    log_sigma = torch.log_softmax(torch.tensor(logits), dim=1)
    y = inside(log_sigma, torch.tensor(prior), 20.0, 7, torch.full((64,), 1 / 64, dtype=torch.float64))
    assert np.abs(y.numpy() - pseudo_labels(log_sigma.exp(), prior, 20.0, iterations=7)).max() < 1e-12


def test_two_lines_in_a_training_loop_cluster(digits):
    x, truth = digits
    torch.manual_seed(0)
    x = torch.tensor((x - x.mean(axis=0)) / np.sqrt(x.var(axis=0).sum()))
    network = torch.nn.Linear(64, 10)
    criterion = EntropyClusteringLoss()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.05, weight_decay=1e-5)
    for _ in range(300):
        optimiser.zero_grad()
        criterion(network(x)).backward()
        optimiser.step()
    labels = network(x).argmax(dim=1).numpy()
    assert metrics.accuracy(truth, labels) > 0.6
    assert np.bincount(labels, minlength=10).min() > 50


def test_what_cannot_be_is_refused():
    for options, words in [({"lam": 0}, "lam"), ({"em_iterations": 0}, "em_iterations"), ({"prior": [0.5, 0.6]}, "prior")]:
        with pytest.raises(ValueError, match=words):
            EntropyClusteringLoss(**options)
    with pytest.raises(ValueError, match="shape"):
        EntropyClusteringLoss()(torch.zeros(3))
    with pytest.raises(ValueError, match="3 entries where 2"):
        EntropyClusteringLoss(prior=[0.2, 0.3, 0.5])(torch.zeros(4, 2))
    assert "lam=100" in repr(EntropyClusteringLoss())


def test_the_precision_of_a_module_does_not_round_the_prior():
    logits, prior, *_ = case(0)
    z = torch.tensor(logits, dtype=torch.float32)
    expected = EntropyClusteringLoss(prior=prior)(z)
    for change in (lambda c: c.half(), lambda c: c.bfloat16(), lambda c: c.float()):
        criterion = change(EntropyClusteringLoss(prior=prior))
        assert criterion(z).item() == expected.item()
        assert not list(criterion.buffers()) and not criterion.state_dict()


def test_a_batch_of_known_rows_may_lack_a_class():
    logits, prior, *_ = case(0)
    known = np.zeros(64, dtype=np.int32)
    value, gradient = engine(logits, prior.tolist(), 10.0, known=known)
    z = torch.tensor(logits, requires_grad=True)
    # The known labels have numpy's type here, not PyTorch's default.
    loss = EntropyClusteringLoss(10.0, prior)(z, torch.as_tensor(known))
    loss.backward()
    assert np.isfinite(value) and abs(loss.item() - value) < 1e-6 * abs(value)
    assert np.abs(z.grad.numpy() - gradient).max() < 1e-6
    assert torch.isfinite(EntropyClusteringLoss(10.0)(z.detach().float(), torch.as_tensor(known)))


def test_autocast_does_not_round_the_loss():
    logits, prior, weights, known = case(2)
    z, known, weights = torch.tensor(logits, dtype=torch.float32), torch.as_tensor(known).long(), torch.as_tensor(weights)
    criterion = EntropyClusteringLoss(prior=prior)
    expected = criterion(z, known, weights)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert abs(criterion(z, known, weights).item() - expected.item()) < 1e-6
