"""What a fit says by itself: lost clusters, contradicted priors, no convergence, lost digits, long waits."""

import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from partita import EntropyClustering, GaussianMixture, KMeans, SoftKMeans, Temi, _native, choose_k, compare


def test_a_good_fit_says_nothing(blobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (EntropyClustering(4, n_init=2), KMeans(4, n_init=4), SoftKMeans(4), GaussianMixture(4)):
            model.fit(blobs[0])


def test_lost_clusters_are_said(blobs):
    with pytest.warns(ConvergenceWarning, match="clusters are lost"):
        model = EntropyClustering(3, gamma=1e6).fit(blobs[0])
    assert np.count_nonzero(model.cluster_sizes_) == 1


def test_a_prior_that_the_sizes_contradict_is_said(blobs):
    with pytest.warns(UserWarning, match="contradict the prior") as told:
        EntropyClustering(4, prior=[0.85, 0.05, 0.05, 0.05], lam=0.1).fit(blobs[0])
    assert any("% of the rows would have to move" in str(warning.message) for warning in told)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KMeans(7, n_init=1, max_iter=1, tol=0), "max_iter=1 iterations"),
        (SoftKMeans(7, n_init=1, max_iter=1), "max_iter=1 iterations"),
        (GaussianMixture(7, max_iter=1), "did not converge"),
    ],
)
def test_no_convergence_is_said(model, words):
    x = np.random.default_rng(0).normal(size=(300, 4))
    with pytest.warns(ConvergenceWarning, match=words):
        model.fit(x)


def test_lbfgs_that_ends_early_is_said(blobs, monkeypatch):
    real = _native.fit_linear

    def unfinished(*arguments, **options):
        *found, told = real(*arguments, **options)
        return *found, json.dumps(json.loads(told) | {"stop": "finished"})

    # Its 200 iterations are enough for all small data that was tried.
    monkeypatch.setattr(_native, "fit_linear", unfinished)
    with pytest.warns(ConvergenceWarning, match="L-BFGS made all its iterations"):
        EntropyClustering(4, optimizer="lbfgs", n_init=1).fit(blobs[0])


def test_digits_that_single_precision_drops_are_said():
    pd = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=(200, 3)) + [0, 1e9, 0]
    with pytest.warns(UserWarning, match=r"column 1 varies by .* around 1e\+09, where single precision has steps of 64"):
        EntropyClustering(2, n_init=1).fit(x)
    with pytest.warns(UserWarning, match="column 'b' varies"):
        EntropyClustering(2, n_init=1).fit(pd.DataFrame(x, columns=["a", "b", "c"]))


def test_a_long_fit_says_how_long():
    x = np.random.default_rng(0).normal(size=(60, 4))
    quick = Temi(2, hidden=8, bottleneck=4, heads=1, epochs=1, least_steps=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        quick.fit(x)
    assert Temi()._flops(64, 512) * 3000 > 1e12
    slow = quick.set_params(least_steps=10**12)
    with pytest.warns(UserWarning, match=r"Temi will make 1,000,000,000,000 steps, which takes about \d+ minutes"):
        with pytest.raises(StopIteration):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("partita._native.fit_rival", _stop)
                slow.fit(x)


def _stop(*_, **__):
    raise StopIteration


def test_other_names_of_options_are_taken(blobs):
    x = blobs[0]
    ours = EntropyClustering(4, n_init=1, optimiser="adam", epochs=7, prepare="centre").fit(x)
    theirs = EntropyClustering(4, n_init=1, optimizer="adam", max_iter=7, prepare="center").fit(x)
    assert np.array_equal(ours.coef_, theirs.coef_)
    assert np.array_equal(
        SoftKMeans(4, prepare="standardize").fit(x).labels_, SoftKMeans(4, prepare="standardise").fit(x).labels_
    )
    with pytest.raises(ValueError, match="epochs=7 and max_iter=8 are two names"):
        EntropyClustering(4, epochs=7, max_iter=8).fit(x)


def test_small_mistakes_are_understood(blobs):
    x = blobs[0]
    assert [row["method"] for row in compare(x, 4, methods="kmeans", seeds=1).rows()] == ["kmeans"]
    with pytest.raises(TypeError, match=r"such as range\(2, 21\).*Got 5"):
        choose_k(x, 5)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        EntropyClustering(4).to_onnx()
