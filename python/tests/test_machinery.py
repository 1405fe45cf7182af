"""Inside scikit-learn's own machinery."""

import joblib
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partita import EntropyClustering, GaussianMixture, KMeans, MaxMarginClustering, SoftKMeans, metrics

ALL = [EntropyClustering, MaxMarginClustering, KMeans, SoftKMeans, GaussianMixture]


@pytest.mark.parametrize("estimator", ALL)
def test_a_pipeline_ends_or_goes_on_with_it(digits, estimator):
    x, y = digits
    ends = make_pipeline(StandardScaler(), estimator(10)).fit(x)
    assert len(np.unique(ends.predict(x))) > 1
    goes_on = make_pipeline(estimator(10), LogisticRegression(C=0.1, max_iter=2000))
    assert goes_on.fit(x, y).score(x, y) > 0.5
    # The classifier learns from the labels, the clustering before it does not.
    assert np.array_equal(goes_on[0].labels_, estimator(10).fit(x).labels_)


def test_a_search_over_a_grid_finds_the_number_of_groups(blobs):
    x, _ = blobs
    search = GridSearchCV(EntropyClustering(n_init=2), {"n_clusters": [2, 4, 7], "gamma": [None, 1e-4]}, cv=3, n_jobs=2).fit(x)
    assert search.best_params_["n_clusters"] == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.predict(x).shape == (400,)


def test_scores_of_different_numbers_of_clusters_can_be_compared(digits):
    search = GridSearchCV(EntropyClustering(n_init=2), {"n_clusters": [2, 5, 10, 15]}, cv=KFold(3, shuffle=True, random_state=0))
    assert search.fit(digits[0]).best_params_ == {"n_clusters": 10}


def test_cross_validation(blobs):
    x, y = blobs
    labels = cross_val_predict(KMeans(4), x, cv=4)
    assert labels.shape == (400,)
    proba = cross_val_predict(EntropyClustering(4, n_init=2), x, y, cv=4, method="predict_proba", params={"known": y})
    assert proba.shape == (400, 4) and metrics.accuracy(y, proba.argmax(axis=1)) > 0.99
    assert cross_val_score(GaussianMixture(4), x, cv=3).shape == (3,)


def test_a_score_by_cross_validation_is_of_a_clustering_without_labels(digits):
    x, y = digits
    model = EntropyClustering(10, n_init=2)
    with_truth = cross_val_score(model, x, y, scoring="adjusted_rand_score", cv=3)
    folds = KFold(3).split(x)
    alone = [adjusted_rand_score(y[test], model.fit(x[train]).predict(x[test])) for train, test in folds]
    np.testing.assert_array_equal(with_truth, alone)


def test_known_labels_are_routed_through_pipelines_and_cross_validation(blobs):
    x, y = blobs
    known = np.where(np.arange(400) % 5 == 0, y, -1)
    by_hand = EntropyClustering(4, n_init=2).fit(StandardScaler().fit_transform(x), known=known)
    by_name = make_pipeline(StandardScaler(), EntropyClustering(4, n_init=2)).fit(x, entropyclustering__known=known)
    assert np.array_equal(by_name[-1].labels_, by_hand.labels_) and np.array_equal(by_hand.labels_, y)
    with config_context(enable_metadata_routing=True):
        step = EntropyClustering(4, n_init=2).set_fit_request(known=True)
        routed = make_pipeline(StandardScaler(), step).fit(x, known=known)
        assert np.array_equal(routed[-1].labels_, by_hand.labels_)
        right = cross_val_score(step, x, y, scoring="accuracy", cv=3, params={"known": known})
        assert right.min() > 0.99


@pytest.mark.parametrize("estimator", ALL)
def test_frames_come_out_as_frames(digits, estimator):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(digits[0], index=[f"row {i}" for i in range(1797)]).rename(columns=str)
    out = estimator(10).set_output(transform="pandas").fit_transform(frame)
    assert isinstance(out, pd.DataFrame) and list(out.index) == list(frame.index)
    assert list(out.columns) == [f"{estimator.__name__.lower()}{i}" for i in range(10)]


@pytest.mark.parametrize("estimator", ALL)
def test_a_score_is_a_number_whatever_tables_are_asked_for(blobs, estimator):
    pytest.importorskip("polars")
    model = estimator(4).set_output(transform="polars").fit(blobs[0])
    assert np.isfinite(model.score(blobs[0]))


@pytest.mark.parametrize("estimator", ALL)
def test_copies_and_pickles_answer_alike(digits, estimator, tmp_path):
    x, _ = digits
    model = estimator(10, n_init=1).fit(x)
    assert not hasattr(clone(model), "labels_")
    assert clone(model).get_params() == model.get_params()
    joblib.dump(model, tmp_path / "model.joblib")
    for other in (joblib.load(tmp_path / "model.joblib"), __import__("copy").deepcopy(model)):
        assert np.array_equal(other.predict(x), model.labels_)
        assert np.array_equal(other.transform(x), model.transform(x))


def test_texts_go_through_a_pipeline_without_filling():
    words = [["goal", "team", "match", "win"], ["oil", "barrel", "crude", "price"], ["star", "planet", "orbit", "moon"]]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 3], 6)) for i in range(300)]
    model = make_pipeline(TfidfVectorizer(), EntropyClustering(3)).fit(texts)
    labels = model[-1].labels_
    assert metrics.accuracy(np.arange(300) % 3, labels) > 0.99
    names = model[0].get_feature_names_out()
    portraits = model[-1].explain(model[0].transform(texts), top=4, feature_names=names)
    assert sorted(sorted(p.names) for p in portraits) == sorted(sorted(w) for w in words)


def test_a_notebook_shows_the_sizes(blobs):
    model = EntropyClustering(4)
    assert "<td>100</td>" not in model._repr_mimebundle_()["text/html"]
    assert model.fit(blobs[0])._repr_mimebundle_()["text/html"].count("<td>100</td>") == 4
