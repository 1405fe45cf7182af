"""EntropyClustering by itself."""

import inspect
import sys
from importlib import import_module

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import partita
from partita import EntropyClustering, MaxMarginClustering, metrics

LOSSES = ["strong", "weak", "mi", "renyi:2", "renyi-labels:2", "sela", "miadm-dec", "hinge"]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_separates_blobs(blobs, loss):
    x, y = blobs
    model = EntropyClustering(4, loss=loss).fit(x)
    assert metrics.accuracy(y, model.labels_) > 0.99
    assert np.array_equal(model.predict(x), model.labels_)


def test_attributes_tell_what_was_done(digits):
    x, _ = digits
    model = EntropyClustering(10).fit(x)
    assert model.coef_.shape == (10, 64) and model.intercept_.shape == (10,)
    assert model.cluster_sizes_.sum() == 1797 == len(model.labels_)
    assert model.stop_reason_ == "finished" and np.isfinite(model.loss_)
    assert model.history_.size > 1 and model.history_[-1] < model.history_[0]
    assert model.report_["restarts"] and 0 <= model.report_["agreement"] <= 1
    assert isinstance(repr(model), str)


def test_the_number_of_steps_is_the_true_one(blobs):
    x, _ = blobs
    # 400 rows in batches of 100, twice over, and 40 steps of refinement.
    assert EntropyClustering(4, epochs=2, batch_size=100).fit(x).n_iter_ == 2 * 4 + 40
    few = EntropyClustering(4, optimiser="lbfgs").fit(x)
    assert few.stop_reason_ == "converged" and 0 < few.n_iter_ < 200


def test_decisions_are_those_of_the_coefficients(digits):
    x, _ = digits
    for prepare in ("centre", "sphere"):
        model = EntropyClustering(10, prepare=prepare, n_init=2).fit(x)
        rows = x.astype(np.float64)
        if model.normalises_:
            rows = rows - model.centre_
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        logits = rows @ model.coef_.T.astype(np.float64) + model.intercept_
        assert np.abs(logits - model.decision_function(x)).max() < 2e-2
        proba = model.predict_proba(x)
        assert np.allclose(proba.sum(axis=1), 1, atol=1e-5)
        assert np.array_equal(proba.argmax(axis=1), model.labels_)
        softmax = np.exp(logits - logits.max(axis=1, keepdims=True))
        assert np.abs(softmax / softmax.sum(axis=1, keepdims=True) - proba).max() < 1e-2


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(digits):
    x, _ = digits
    one, two, other = (EntropyClustering(10, random_state=s, n_jobs=j).fit(x) for s, j in [(5, 1), (5, 2), (6, 1)])
    assert np.array_equal(one.labels_, two.labels_) and np.array_equal(one.coef_, two.coef_)
    assert not np.array_equal(one.coef_, other.coef_)
    state = np.random.RandomState(0)
    drawn = [EntropyClustering(10, random_state=state, n_init=1).fit(x).coef_ for _ in range(2)]
    assert not np.array_equal(*drawn)


def test_known_labels_name_their_clusters(digits):
    x, y = digits
    known = np.where(np.random.default_rng(0).random(len(y)) < 0.05, y, -1)
    model = EntropyClustering(10).fit(x, known=known)
    assert np.mean(model.labels_ == y) > 0.85
    as_floats = np.where(known < 0, np.nan, known.astype(float))
    assert np.array_equal(EntropyClustering(10).fit(x, known=as_floats).labels_, model.labels_)


def test_known_labels_may_be_names_with_gaps(blobs):
    x, y = blobs
    words = np.array(["pear", "apple", "fig", "quince"], dtype=object)
    named = np.where(np.arange(400) % 10 == 0, words[y], None)
    model = EntropyClustering(4, n_init=2).fit(x, known=named)
    assert model.cluster_names_.tolist() == sorted(words)
    assert np.array_equal(model.cluster_names_[model.labels_], words[y])
    for gap in (-1, np.nan):
        gaps = [gap if name is None else name for name in named]
        assert np.array_equal(EntropyClustering(4, n_init=2).fit(x, known=gaps).labels_, model.labels_)
    two = np.where(y < 2, named, None)
    assert EntropyClustering(4, n_init=2).fit(x, known=two).cluster_names_.tolist() == ["apple", "pear", None, None]
    model.partial_fit(x[:200], known=list(named[:200]))
    assert model.cluster_names_.tolist() == sorted(words)
    assert EntropyClustering(4, n_init=2).fit(x).cluster_names_ is None


def test_portraits_carry_the_names_of_clusters(blobs):
    x, y = blobs
    words = np.array(["pear", "apple"], dtype=object)
    model = EntropyClustering(4, n_init=2).fit(x, known=[words[label] if label < 2 else None for label in y])
    portraits = model.portraits(x)
    assert [portrait.name for portrait in portraits] == ["apple", "pear", None, None]
    assert str(portraits[0]).startswith("cluster 0 'apple' (100 rows): ")
    assert str(portraits[2]).startswith("cluster 2 (100 rows): ")


def test_the_truth_given_as_y_does_not_train(digits):
    x, y = digits
    plain = EntropyClustering(10, n_init=2).fit(x)
    for taught in (EntropyClustering(10, n_init=2).fit(x, y), EntropyClustering(10, n_init=2).partial_fit(x, y)):
        assert np.array_equal(taught.coef_, plain.coef_)
    assert np.array_equal(EntropyClustering(10, n_init=2).fit_predict(x, y), plain.labels_)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (np.full(400, 4), "label of row 0 is 4"),
        (np.full(400, -2), "label of row 0 is -2"),
        (np.full(400, 0.5), "Unknown label type"),
        (np.zeros(3, int), r"inconsistent numbers of samples: \[400, 3\]"),
        (np.array(["a", "b", "c", "d", "e"] * 80), "5 different names, but n_clusters=4"),
        (np.array(["a", 1] * 200, dtype=object), "all numbers or all names; beside names there is 1"),
    ],
)
def test_labels_that_cannot_be_are_refused(blobs, known, words):
    with pytest.raises(ValueError, match=words):
        EntropyClustering(4).fit(blobs[0], known=known)


def test_rows_of_no_weight_take_no_part(blobs):
    x, y = blobs
    spoiled = np.vstack([x, np.full((50, 5), 1e4, np.float32)])
    weights = np.r_[np.ones(400), np.zeros(50)]
    model = EntropyClustering(4).fit(spoiled, sample_weight=weights)
    assert np.array_equal(model.labels_[:400], EntropyClustering(4).fit(x, sample_weight=np.ones(400)).labels_)
    assert len(model.labels_) == 450


def test_heavy_rows_count_for_more(blobs):
    x, y = blobs
    weights = np.where(y == 0, 30.0, 1.0)
    plain, heavy = EntropyClustering(4).fit(x), EntropyClustering(4).fit(x, sample_weight=weights)
    assert not np.allclose(plain.coef_, heavy.coef_)


def test_priors_and_limits_shape_the_sizes():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(n, 2)) + m for n, m in [(300, (0, 0)), (60, (12, 0)), (40, (0, 12))]])
    given = EntropyClustering(3, prior=[0.75, 0.15, 0.1]).fit(x)
    assert sorted(given.cluster_sizes_) == [40, 60, 300]
    assert sorted(EntropyClustering(3, prior="auto").fit(x).cluster_sizes_) == [40, 60, 300]
    exact = EntropyClustering(3, balance="exact").fit(x)
    assert sorted(exact.cluster_sizes_) == [133, 133, 134]
    assert sorted(np.bincount(exact.predict(x, balance="exact"))) == [133, 133, 134]
    limited = EntropyClustering(3, min_size=80, max_size=0.5).fit(x)
    assert limited.cluster_sizes_.min() >= 80 and limited.cluster_sizes_.max() <= 200
    with pytest.raises(ValueError, match="cannot be split"):
        EntropyClustering(3, min_size=200).fit(x)
    with pytest.raises(ValueError, match="prior must be 3 positive numbers"):
        EntropyClustering(3, prior=[0.5, 0.5]).fit(x)


def test_partial_fit_goes_on_and_keeps_the_numbers(digits):
    x, y = digits
    model = EntropyClustering(10).partial_fit(x[:900])
    before = model.predict(x)
    first = model.coef_.copy()
    model.partial_fit(x[900:])
    assert len(model.labels_) == 897 and not np.array_equal(model.coef_, first)
    assert np.mean(model.predict(x) == before) > 0.9


def test_a_warm_start_keeps_the_numbers(digits):
    x, _ = digits
    model = EntropyClustering(10, warm_start=True, random_state=0).fit(x)
    labels = model.labels_
    model.set_params(random_state=1, n_init=1).fit(x)
    assert np.mean(model.labels_ == labels) > 0.9
    cold = EntropyClustering(10, random_state=1, n_init=1).fit(x)
    assert np.mean(cold.labels_ == labels) < 0.9
    assert model.set_params(n_clusters=4).fit(x).coef_.shape == (4, 64)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("again", ["partial_fit", "fit"])
def test_known_labels_win_over_the_numbers_of_the_last_model(again, few):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(180, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 60, axis=0)
    model = EntropyClustering(3, n_init=2, warm_start=True).fit(x)
    wanted = np.array([1, 2, 0])[model.labels_]
    known = np.where(np.arange(180) % 6 == 0, wanted, -1) if few else wanted
    getattr(model, again)(x, known=known)
    assert np.mean(model.labels_ == wanted) > 0.98
    # If nothing is known, the cluster numbers stay the same.
    getattr(model, again)(x, np.full(180, -1))
    assert np.mean(model.labels_ == wanted) > 0.98


def test_names_of_outputs_are_those_of_the_fit(blobs):
    model = EntropyClustering(4, n_init=1).fit(blobs[0]).set_params(n_clusters=9)
    assert len(model.get_feature_names_out()) == 4


def test_seeds_of_64_bits_are_taken(blobs):
    large, small = (EntropyClustering(4, n_init=1, random_state=s).fit(blobs[0]) for s in (2**64 - 1, 2**32 - 1))
    assert not np.array_equal(large.coef_, small.coef_)
    with pytest.raises(ValueError, match="random_state"):
        EntropyClustering(4, random_state=2**64).fit(blobs[0])


def test_one_cluster_holds_everything(blobs):
    model = EntropyClustering(1).fit(blobs[0])
    assert model.labels_.max() == 0 and model.predict_proba(blobs[0]).min() == 1
    assert model.score(blobs[0]) == 0


def test_more_decided_rows_have_a_higher_score(blobs):
    x, _ = blobs
    model = EntropyClustering(4).fit(x)
    noise = np.random.default_rng(0).normal(size=x.shape).astype(np.float32) * x.std()
    assert -1.5 * np.log(4) < model.score(noise) < model.score(x) <= 0.1 * np.log(4)


def test_groups_of_features_are_prepared_on_their_own(blobs):
    x, y = blobs
    loud = np.hstack([x, 1e4 * np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)])
    assert metrics.accuracy(y, EntropyClustering(4, groups=[5, 3], prepare="centre").fit(loud).labels_) > 0.9


def test_what_was_not_fitted_says_so(blobs):
    with pytest.raises(NotFittedError):
        EntropyClustering(4).predict(blobs[0])
    with pytest.raises(NotFittedError):
        MaxMarginClustering(4).explain(blobs[0])


def test_all_public_names_can_be_had_with_or_without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "partita.torch", raising=False)
    monkeypatch.delattr(partita, "torch", raising=False)
    names = {}
    exec("from partita import *", names)
    assert "EntropyClustering" in names and "torch" not in names
    assert "KMeans" in dict(inspect.getmembers(partita))
    assert not hasattr(partita, "torch")
    with pytest.raises(AttributeError, match="pip install torch"):
        partita.torch  # noqa: B018
    with pytest.raises(ImportError, match="pip install torch"):
        import_module("partita.torch")


def test_importing_names_that_are_not_there_fails():
    with pytest.raises(AttributeError, match="no attribute"):
        partita.Nothing  # noqa: B018
    assert "EntropyClustering" in dir(partita)
