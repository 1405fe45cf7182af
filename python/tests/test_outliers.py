"""Rows that belong to no cluster."""

import pickle

import numpy as np
import pytest

from partita import EntropyClustering, plot


@pytest.fixture(scope="module")
def noisy():
    """Three blobs, and rows anywhere around them; label -1 is noise."""
    rng = np.random.default_rng(0)
    x = np.repeat([[0, 0], [12, 0], [0, 12]], 200, axis=0) + rng.normal(size=(600, 2))
    return np.vstack([x, rng.uniform(-25, 35, (60, 2))]), np.r_[np.repeat([0, 1, 2], 200), np.full(60, -1)]


def test_noise_gets_the_label_of_no_cluster(noisy):
    x, y = noisy
    model = EntropyClustering(3, outliers="auto").fit(x)
    found, noise = model.labels_ == -1, y == -1
    assert (found & noise).sum() > 0.7 * noise.sum() and (found & ~noise).sum() < 15
    assert model.cluster_sizes_.sum() == (~found).sum()
    assert model.report_["outliers"]["count"] == found.sum()
    assert np.array_equal(found, model.outlier_scores_ > np.float32(model.report_["outliers"]["threshold"]))


def test_a_share_is_met_and_new_rows_are_judged_as_old_ones(noisy, tmp_path):
    x, _ = noisy
    model = EntropyClustering(3, outliers=0.1).fit(x)
    assert abs((model.labels_ == -1).sum() - 66) <= 1
    assert np.array_equal(model.predict(x), model.labels_)
    assert np.array_equal(model.score_outliers(x), model.outlier_scores_)
    assert model.predict([[100.0, 100.0], [0.1, 0.1]])[0] == -1
    assert np.allclose(model.predict_proba(x).sum(axis=1), 1, atol=1e-5)
    model.save(tmp_path / "model.safetensors")
    for again in (EntropyClustering.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert again.outliers == 0.1 and np.array_equal(again.predict(x), model.labels_)


def test_without_outliers_nothing_changes(noisy):
    x, _ = noisy
    plain, with_outliers = EntropyClustering(3).fit(x), EntropyClustering(3, outliers=0.1).fit(x)
    assert plain.labels_.min() == 0 and plain.outlier_scores_ is None and plain.report_["outliers"] is None
    assert np.array_equal(plain.coef_, with_outliers.coef_)
    kept = with_outliers.labels_ >= 0
    assert np.array_equal(plain.labels_[kept], with_outliers.labels_[kept])
    with pytest.raises(ValueError, match="knows no outliers"):
        plain.score_outliers(x)


def test_training_on_keeps_what_counts_as_an_outlier(noisy):
    x, _ = noisy
    model = EntropyClustering(3, outliers="auto").fit(x)
    before = model.score_outliers(x)
    model.partial_fit(x[:600:4])
    assert np.array_equal(before > 0, model.score_outliers(x) > 0)
    assert len(model.labels_) == 150


@pytest.mark.parametrize("outliers", [0, 0.6, -0.1, "maybe", np.nan])
def test_what_is_no_share_is_refused(noisy, outliers):
    with pytest.raises(ValueError, match="'outliers' parameter"):
        EntropyClustering(3, outliers=outliers).fit(noisy[0])


def test_outliers_beside_sizes_are_refused(noisy):
    x, _ = noisy
    with pytest.raises(ValueError, match="outliers= has no meaning beside balance="):
        EntropyClustering(3, outliers=0.1, balance="exact").fit(x)
    with pytest.raises(ValueError, match="one cluster"):
        EntropyClustering(1, outliers=0.1).fit(x)
    model = EntropyClustering(3, outliers=0.1).fit(x)
    with pytest.raises(ValueError, match="leaves outliers out"):
        model.predict(x, balance="exact")
    with pytest.raises(ValueError, match="one with outliers"):
        EntropyClustering(3, outliers=0.1, lift="none").fit(x).to_onnx()


def test_descriptions_and_pictures_take_outliers(noisy):
    x, y = noisy
    model = EntropyClustering(3, outliers=0.1).fit(x)
    assert sum(portrait.size for portrait in model.portraits(x)) == len(x)
    shown = {panel.title: panel for panel in plot.panels(model, x)}
    assert np.array_equal(shown["sizes"].y, model.cluster_sizes_)
    assert plot.plot(model, x) is not None
