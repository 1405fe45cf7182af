"""Wrong inputs raise the exceptions that scikit-learn's users know, with the same words."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import cluster

from partita import EntropyClustering, GaussianMixture, KMeans, SoftKMeans, pseudo_labels

ESTIMATORS = [EntropyClustering, KMeans, SoftKMeans, GaussianMixture]


def message(call):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    return type(caught.value).__mro__, str(caught.value)


@pytest.mark.parametrize(
    "x",
    [np.zeros(5), np.zeros((0, 3)), np.zeros((3, 0)), np.array([["a", "b"], ["c", "d"]]), np.zeros((2, 2, 2)), np.eye(3) * 1j],
)
def test_shapes_and_types_are_refused_in_the_same_words(x):
    expected = message(lambda: cluster.KMeans(2).fit(x))[1].replace("KMeans", "EntropyClustering")
    found = message(lambda: EntropyClustering(2).fit(x))[1]
    # The least number of rows is the one thing that differs.
    assert found.replace("minimum of 2", "minimum of 1") == expected


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_and_infinity_are_found_with_scikit_learns_message(estimator, dtype):
    x = np.random.default_rng(0).normal(size=(50, 4)).astype(dtype)
    model = estimator(2).fit(x)
    bad = x.copy()
    bad[7, 2] = np.nan
    for call in (lambda: estimator(2).fit(bad), lambda: model.predict(bad)):
        with pytest.raises(ValueError, match=r"Input X contains NaN\.[\s\S]*row 7, column 2"):
            call()
    bad[7, 2] = np.inf
    for call in (lambda: estimator(2).fit(bad), lambda: model.predict(bad)):
        with pytest.raises(ValueError, match=r"Input X contains infinity or a value too large for dtype\('float32'\)"):
            call()


def test_what_overflows_single_precision_is_infinity():
    x = np.random.default_rng(0).normal(size=(50, 4))
    x[3, 1] = 1e300
    with pytest.raises(ValueError, match="too large for dtype"):
        EntropyClustering(2).fit(x)


def test_nan_in_sparse_rows_is_found():
    x = sp.random(50, 300, 0.1, format="csr", random_state=0)
    x.data[11] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        EntropyClustering(2).fit(x)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, r"'n_clusters' parameter of EntropyClustering must be an int in the range \[1, inf\)"),
        ({"n_clusters": 2.5}, "'n_clusters' parameter"),
        ({"lam": -1}, "'lam' parameter"),
        ({"init": "best"}, "'init' parameter of EntropyClustering must be a str among"),
        ({"n_init": 0}, "'n_init' parameter"),
        ({"random_state": "x"}, "'random_state' parameter"),
        ({"loss": "square"}, "loss = square is not valid"),
        ({"n_jobs": 0}, "n_jobs == 0"),
        ({"optimiser": "newton"}, "'optimiser' parameter"),
    ],
)
def test_options_are_refused_by_name(options, words):
    with pytest.raises(ValueError, match=words):
        EntropyClustering(**{"n_clusters": 2, **options}).fit(np.random.default_rng(0).normal(size=(50, 4)))


def test_too_few_rows_are_counted():
    with pytest.raises(ValueError, match="n_samples=5 should be >= n_clusters=8"):
        EntropyClustering(8).fit(np.eye(5))
    with pytest.raises(ValueError, match="n_samples=5 should be >= n_clusters=8"):
        KMeans(8).fit(np.eye(5))


def test_rows_of_another_width_are_refused():
    model = EntropyClustering(2).fit(np.random.default_rng(0).normal(size=(50, 4)))
    with pytest.raises(ValueError, match="X has 3 features, but EntropyClustering is expecting 4 features as input"):
        model.predict(np.zeros((2, 3)))


def test_weights_are_checked():
    x = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(ValueError, match="sample_weight.shape"):
        EntropyClustering(2).fit(x, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="[Nn]egative"):
        EntropyClustering(2).fit(x, sample_weight=-np.ones(50))


def test_a_nan_is_found_by_its_number_among_all_rows():
    x = np.random.default_rng(0).normal(size=(50, 4))
    model = EntropyClustering(2, n_init=1).fit(x)
    before = model.coef_
    x[20, 1] = np.nan
    for weightless in (slice(0, 5), slice(20, 21)):
        weights = np.ones(50)
        weights[weightless] = 0
        with pytest.raises(ValueError, match="row 20, column 1"):
            model.fit(x, sample_weight=weights)
    assert model.coef_ is before and np.array_equal(model._model.affine()[0], before)


def test_files_that_are_not_models_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        EntropyClustering.load(tmp_path / "nothing.safetensors")
    (tmp_path / "text.safetensors").write_text("hello")
    with pytest.raises(ValueError, match="text.safetensors"):
        EntropyClustering.load(tmp_path / "text.safetensors")
    model = EntropyClustering(2).fit(np.random.default_rng(0).normal(size=(50, 4)))
    with pytest.raises(OSError):
        model.save(tmp_path / "no" / "such" / "folder.safetensors")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sigma": [0.5, 0.5]}, "shape"),
        ({"sigma": [[0.5, 0.6]]}, "probabilities"),
        ({"sigma": [[0.5, 0.5]], "prior": [0.9, 0.9]}, "prior"),
        ({"sigma": [[0.5, 0.5]], "lam": 0}, "lam"),
        ({"sigma": [[0.5, 0.5]], "solver": "magic"}, "not one of"),
        ({"sigma": [[0.5, 0.5]], "known": [0, 1]}, "known labels has 2 entries where 1"),
        ({"sigma": [[0.5, 0.5]], "known": [2]}, "label of row 0 is 2"),
        ({"sigma": [[0.5, 0.5]], "lam": np.inf}, "lam"),
        ({"sigma": [[0.5, 0.5]] * 2, "sample_weight": [1, -1]}, "sample_weight"),
        ({"sigma": [[0.5, 0.5]] * 2, "sample_weight": [1, np.nan]}, "sample_weight"),
        ({"sigma": [[0.5, 0.5]] * 2, "sample_weight": [0, 0]}, "sample_weight"),
        ({"sigma": [[0.5, 0.5]] * 2, "sample_weight": [[1, 1]]}, "sample_weight"),
    ],
)
def test_pseudo_labels_refuse_what_they_cannot_use(arguments, words):
    with pytest.raises(ValueError, match=words):
        pseudo_labels(**arguments)
