"""Wrong inputs raise the exceptions that scikit-learn's users know, with the same wording."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import cluster

from partita import EntropyClustering, GaussianMixture, KMeans, NetworkClustering, SoftKMeans, _native, pseudo_labels

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


# For each field of a specification, a call that gets it wrong: the arguments, and the name that the message uses.
WRONG = {
    "data": ({"X": np.full((50, 4), np.nan)}, "Input X contains NaN"),
    "k": ({"n_clusters": 0}, "'n_clusters' parameter"),
    "seed": ({"random_state": -1}, "'random_state' parameter"),
    "restarts": ({"n_init": 20_000}, "n_init=20000 is too many"),
    "prior": ({"prior": [0.5, 0.5]}, "^prior: the prior must be 3 positive numbers"),
    "balance": ({"balance": "exact", "min_size": 3}, "min_size= has no meaning beside balance=; leave"),
    "min_size": ({"min_size": 0.6}, "clusters of 30 to 50 rows each; change min_size=, max_size= or n_clusters=$"),
    "max_size": ({"max_size": 3}, "change min_size=, max_size= or n_clusters=$"),
    "outliers": ({"outliers": 0.1, "balance": "exact"}, "outliers= has no meaning beside balance=, min_size= or max_size="),
    "known": ({"known": np.full(50, 3)}, "label of row 0 is 3"),
    "weights": ({"sample_weight": np.full(50, np.nan)}, "sample_weight contains NaN"),
    "like": ({"warm_start": "x"}, "'warm_start' parameter"),
    "loss": ({"loss": "square"}, "loss = square is not valid"),
    "lambda": ({"lam": 1, "loss": "hinge"}, "lam= has no meaning where loss= is hinge"),
    "gamma": ({"gamma": -1}, "'gamma' parameter"),
    "prepare": ({"prepare": "x"}, "'prepare' parameter"),
    "lift": ({"lift": "kernel"}, "'lift' parameter"),
    "neighbours": ({"neighbours": 3, "loss": "sela"}, "neighbours= has no meaning beside these options"),
    "dims": ({"dims": 0}, "'dims' parameter"),
    "init": ({"init": "x"}, "'init' parameter"),
    "epochs": ({"epochs": 2, "optimiser": "lbfgs"}, "epochs= has no meaning where optimiser= is lbfgs"),
    "batch": ({"batch_size": 20, "optimiser": "lbfgs"}, "batch_size= has no meaning"),
    "em_iterations": ({"em_iterations": 9, "label_solver": "exact"}, "em_iterations= has no meaning beside label_solver="),
    "exact_labels": ({"label_solver": "exact", "loss": "mi"}, "label_solver= has no meaning for this loss"),
    "refresh": ({"refresh": "epoch", "loss": "hinge"}, "^refresh: "),
    "optimiser": ({"optimiser": "x"}, "'optimiser' parameter"),
    "momentum": ({"momentum": 0.5, "optimiser": "adam"}, "momentum= has no meaning"),
    "learning_rate": ({"learning_rate": 1.0, "optimiser": "lbfgs"}, "learning_rate= has no meaning"),
    "polish": ({"polish": -1}, "'polish' parameter"),
    "known_weight": ({"known_weight": 1.0}, "known_weight= has no meaning without known="),
    "threads": ({"n_jobs": 0}, "n_jobs == 0"),
    "memory": ({"max_memory": -1}, "'max_memory' parameter"),
}
WRONG_FOR_NETWORKS = {
    "net": ({"net": "x"}, "^net=x: there is no network"),
    "normalise": ({"normalise": "x"}, "^normalise=x: `x` does not say how to normalise images"),
    "size": ({"size": 9}, "size= has no meaning for images in memory"),
    "augment": ({"augment": "x"}, "^augment=x: `x` is not a known change of images"),
    "pairs": ({"pairs": 1, "iic": 2}, "pairs= has no meaning beside iic="),
    "views": ({"views": 2}, "views= has no meaning where the weight of pairs= is 0"),
    "vat": ({"vat": 1, "iic": 2}, "vat= has no meaning beside iic="),
    "vat_length": ({"vat_length": 1, "vat": 0}, "vat_length= has no meaning where the weight of vat= is 0"),
    "warm_up": ({"warm_up": 2, "vat": 0}, "warm_up= has no meaning without a weight of pairs= or vat="),
    "forward": ({"forward": 1, "loss": "mi"}, "forward= has no meaning beside a loss= without reverse"),
    "iic": ({"iic": 2, "scan": [1, 1, 1], "augment": "flip"}, "scan= has no meaning beside iic="),
    "over": ({"over": 20}, "over= has no meaning without iic="),
    "scan": ({"scan": [1, 1], "augment": "flip"}, "scan= takes the epochs of its three stages"),
    "pretext": ({"pretext": 2, "scan": [1, 1, 1], "augment": "flip"}, "pretext= has no meaning beside scan="),
    "pretext_data": ({"pretext_data": ["nothing.bin"]}, "nothing.bin"),
    "pretext_rate": ({"pretext_rate": 0.1}, "pretext_rate= has no meaning without pretext= or scan="),
    "pretext_batch": ({"pretext_batch": 9}, "pretext_batch= has no meaning without pretext= or scan="),
    "pretext_optimiser": ({"pretext_optimiser": "sgd"}, "pretext_optimiser= has no meaning without pretext= or scan="),
    "pretext_cosine": ({"pretext_cosine": True}, "pretext_cosine= has no meaning without pretext= or scan="),
    "revive": ({"revive": True, "iic": 2, "augment": "flip"}, "revive= has no meaning beside iic="),
    "holdout": ({"holdout": ["nothing.bin"]}, "nothing.bin"),
    "holdout_truth": ({"holdout_truth": [0]}, "'holdout_truth' parameter"),
    "init_weights": ({"init_weights": "nothing.pt"}, "nothing.pt"),
    "freeze": ({"freeze": "x"}, "'freeze' parameter"),
    "head_rate": ({"head_rate": 0}, "'head_rate' parameter"),
    "weight_decay": ({"weight_decay": -1}, "'weight_decay' parameter"),
    "skip_bad": ({"skip_bad": "x"}, "'skip_bad' parameter"),
    "checkpoint": ({"checkpoint": "c.txt"}, "c.txt.*safetensors"),
    "resume": ({"resume": True}, "resume= has no meaning without a checkpoint="),
    "device": ({"device": "x"}, "'device' parameter"),
    "metrics": ({"metrics": "m.txt"}, "m.txt.*jsonl"),
}
# Fields that the package does not use: Python handles files itself, and no fit sees the truth. Those of tables and texts have tests of their own.
NOT_FOR_PYTHON = {"exclude", "header", "label_header", "missing", "array", "columns", "id_column", "truth", "cache", "name_clusters"}
NOT_FOR_PYTHON |= {"as", "text", "encoder", "encoder_weights"}


def test_every_field_has_a_name_here():
    arguments = set(EntropyClustering().get_params()) | set(NetworkClustering().get_params()) | {"X", "known", "sample_weight"}
    names = dict(_native.fields())
    assert set(names) == set(WRONG) | set(WRONG_FOR_NETWORKS) | NOT_FOR_PYTHON
    assert {ours for name, ours in names.items() if name not in NOT_FOR_PYTHON} <= arguments


@pytest.mark.parametrize("name", WRONG)
def test_every_field_is_refused_by_its_name_here(name):
    given, words = WRONG[name]
    rows = {"X": np.random.default_rng(0).normal(size=(50, 4))}
    fit = rows | {key: value for key, value in given.items() if key in ("X", "known", "sample_weight")}
    options = {key: value for key, value in given.items() if key not in fit}
    with pytest.raises(ValueError, match=words):
        EntropyClustering(**{"n_clusters": 3, **options}).fit(**fit)


@pytest.mark.skipif(not _native.HAS_NETWORKS, reason="this build has no networks: build with --features deep")
@pytest.mark.parametrize("name", WRONG_FOR_NETWORKS)
def test_every_field_of_networks_is_refused_by_its_name_here(name):
    given, words = WRONG_FOR_NETWORKS[name]
    with pytest.raises((ValueError, OSError), match=words):
        NetworkClustering(2, **{"epochs": None if "scan" in given else 1, **given}).fit(np.zeros((20, 4, 4), np.uint8))
