"""Models in files: the command's, and ONNX."""

import json
import pickle
import subprocess

import numpy as np
import pytest

from partita import EntropyClustering, MaxMarginClustering, metrics


def run(command, *arguments):
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("seed", [0, 7])
def test_labels_are_those_of_the_command(command, digits, tmp_path, dtype, seed):
    x = digits[0].astype(dtype)
    np.save(tmp_path / "x.npy", x)
    labels = tmp_path / "labels.npy"
    told = json.loads(run(command, "fit", tmp_path / "x.npy", "-k", 10, "--seed", seed, "--labels-out", labels, "--json"))
    model = EntropyClustering(10, random_state=seed).fit(x)
    assert np.array_equal(np.load(labels), model.labels_)
    assert told["loss"] == model.loss_ and told["iterations"] == model.n_iter_
    assert told["params"] == json.loads(model._model.params())


@pytest.mark.parametrize("options", [{"prepare": "l2"}, {"prepare": "standardise"}, {"dims": 12, "prior": [0.1] * 10}])
def test_files_go_both_ways(command, digits, tmp_path, options):
    x, _ = digits
    np.save(tmp_path / "x.npy", x)
    model = EntropyClustering(10, n_init=2, **options).fit(x)
    model.save(tmp_path / "python.safetensors")
    run(command, "predict", tmp_path / "python.safetensors", tmp_path / "x.npy", "-o", tmp_path / "labels.npy")
    assert np.array_equal(np.load(tmp_path / "labels.npy"), model.labels_)

    run(command, "fit", tmp_path / "x.npy", "-k", 10, "--restarts", 2, "-o", tmp_path / "command.safetensors")
    loaded = EntropyClustering.load(tmp_path / "command.safetensors")
    assert np.array_equal(loaded.predict(x), EntropyClustering(10, n_init=2).fit(x).labels_)
    assert loaded.get_params() == EntropyClustering(10, n_init=2).get_params()


def test_a_max_margin_model_comes_back_as_one(digits, tmp_path):
    x, _ = digits
    model = MaxMarginClustering(10, n_init=2, epochs=3).fit(x)
    model.save(tmp_path / "model.safetensors")
    loaded = MaxMarginClustering.load(tmp_path / "model.safetensors")
    assert type(loaded) is MaxMarginClustering and loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.predict(x), model.labels_)
    EntropyClustering(10, n_init=2, epochs=3).fit(x).save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="EntropyClustering.load"):
        MaxMarginClustering.load(tmp_path / "model.safetensors")


def test_a_loaded_model_has_its_options_and_can_go_on(digits, tmp_path):
    x, _ = digits
    model = EntropyClustering(10, gamma=3e-5, lam=50, init="k-means++", n_init=3, optimiser="adam", random_state=4).fit(x)
    model.save(tmp_path / "model.safetensors")
    loaded = EntropyClustering.load(tmp_path / "model.safetensors")
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.predict_proba(x), model.predict_proba(x))
    loaded.partial_fit(x[:500])
    assert np.mean(loaded.predict(x) == model.labels_) > 0.9


def test_going_on_does_not_change_the_options_in_the_file(digits, tmp_path):
    x, _ = digits
    model = EntropyClustering(10, n_init=3, prior="auto").fit(x[:600]).partial_fit(x[600:1200])
    model.save(tmp_path / "model.safetensors")
    loaded = EntropyClustering.load(tmp_path / "model.safetensors")
    assert loaded.get_params() == model.get_params()


def test_groups_come_back(blobs, tmp_path):
    x, _ = blobs
    model = EntropyClustering(4, n_init=2, groups=[2, 3]).fit(x)
    model.save(tmp_path / "model.safetensors")
    loaded = EntropyClustering.load(tmp_path / "model.safetensors")
    assert loaded.groups == [2, 3]
    assert np.mean(loaded.partial_fit(x).labels_ == model.labels_) > 0.98
    with pytest.raises(ValueError, match="loss"):
        MaxMarginClustering.load(tmp_path / "model.safetensors")
    EntropyClustering(4, n_init=2, loss="hinge", groups=[2, 3]).fit(x).save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="EntropyClustering.load"):
        MaxMarginClustering.load(tmp_path / "model.safetensors")


def test_a_model_of_any_seed_can_be_fitted_again(command, blobs, tmp_path):
    np.save(tmp_path / "x.npy", blobs[0])
    run(command, "fit", tmp_path / "x.npy", "-k", 4, "--seed", 2**64 - 1, "-o", tmp_path / "model.safetensors")
    loaded = EntropyClustering.load(tmp_path / "model.safetensors")
    assert loaded.random_state == 2**64 - 1
    before = loaded.predict(blobs[0])
    assert np.array_equal(loaded.fit(blobs[0]).labels_, before)


@pytest.mark.parametrize("options", [{}, {"prepare": "centre"}, {"groups": [30, 34]}, {"prepare": "l2"}])
def test_onnx_gives_the_same_labels_and_probabilities(digits, tmp_path, options):
    onnxruntime = pytest.importorskip("onnxruntime")
    x, _ = digits
    model = EntropyClustering(10, n_init=2, **options).fit(x)
    content = model.to_onnx(tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == content
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    label, proba = session.run(["label", "probabilities"], {"X": x})
    assert np.mean(label == model.labels_) > 0.999
    assert np.abs(proba - model.predict_proba(x)).max() < 1e-2


@pytest.mark.parametrize("prepare", ["centre", "none", "sphere", "l2"])
def test_onnx_is_right_far_from_the_origin_and_at_any_scale(prepare):
    onnxruntime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(3)
    far = rng.normal(size=(2000, 2)) * 3 + [5e5, 5.4e6]
    near = rng.normal(size=(2000, 2))
    sets = {"centre": [far], "none": [near], "sphere": [far, near * 1e20, near * 1e-25], "l2": [near * 1e20, near * 1e-25]}
    for x in sets[prepare]:
        x = x.astype(np.float32)
        model = EntropyClustering(4, n_init=2, prepare=prepare, lift="none").fit(x)
        session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
        label, proba = session.run(["label", "probabilities"], {"X": x})
        assert np.mean(label == model.labels_) > 0.999
        assert np.abs(proba - model.predict_proba(x)).max() < 1e-2


def test_onnx_leaves_a_row_at_the_centre_there(digits):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = EntropyClustering(10, n_init=1, prepare="l2").fit(digits[0])
    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    zero = np.zeros((1, 64), np.float32)
    assert np.abs(session.run(["probabilities"], {"X": zero})[0] - model.predict_proba(zero)).max() < 1e-6


def test_onnx_passes_the_checker(digits):
    onnx = pytest.importorskip("onnx")
    model = EntropyClustering(10, n_init=1).fit(digits[0])
    onnx.checker.check_model(onnx.load_from_string(model.to_onnx()), full_check=True)


def test_a_lift_serves_all_that_a_model_does(tmp_path):
    """Two rings: planes cannot tell them apart, and the model with the lift can be kept, copied, explained and gone on with."""
    rng = np.random.default_rng(5)
    turn, truth = rng.uniform(0, 2 * np.pi, 600), np.arange(600) % 2
    x = (np.c_[np.cos(turn), np.sin(turn)] * (1 + 3 * truth[:, None]) + rng.normal(0, 0.05, (600, 2))).astype(np.float32)
    model = EntropyClustering(2).fit(x)
    assert metrics.ari(truth, model.labels_) == 1.0
    assert model.report_["lift"]["kind"] == "graph"
    assert metrics.ari(truth, EntropyClustering(2, lift="none").fit_predict(x)) < 0.5
    model.save(tmp_path / "m.safetensors")
    loaded = EntropyClustering.load(tmp_path / "m.safetensors")
    assert (loaded.n_features_in_, loaded.lift) == (2, "auto")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(x), model.predict_proba(x))
    assert len(model.explain(x, row=0).contributions) == 2
    assert [len(portrait.features) for portrait in model.explain(x)] == [2, 2]
    again = EntropyClustering(2, warm_start=True).fit(x).fit(x)
    np.testing.assert_array_equal(again.labels_, EntropyClustering(2).fit(x).labels_)
    np.testing.assert_array_equal(loaded.partial_fit(x).predict(x), model.labels_)


@pytest.mark.parametrize("lift", ["graph", "quadratic", "rbf"])
def test_a_lift_is_written_as_onnx(lift):
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(6)
    x = np.vstack([rng.normal(0, 1, (200, 3)) * [1, 30, 0.1] + [5, 0, 0], rng.normal(0, 2, (300, 3)) * [1, 30, 0.1]])
    x = x.astype(np.float32)
    model = EntropyClustering(2, n_init=2, lift=lift).fit(x)
    onnx.checker.check_model(onnx.load_from_string(model.to_onnx()), full_check=True)
    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    # Rows that it never saw, and one far from all others.
    new = np.vstack([rng.normal(0, 2, (100, 3)) * [1, 30, 0.1], [[300.0, 0.0, 0.0]]]).astype(np.float32)
    for rows in (x, new):
        label, proba = session.run(["label", "probabilities"], {"X": rows})
        np.testing.assert_array_equal(label, model.predict(rows))
        np.testing.assert_allclose(proba, model.predict_proba(rows), atol=1e-4)


def test_names_go_to_the_command_and_come_back(command, blobs, tmp_path):
    """Columns are matched by name there, and clusters carry the names of known labels."""
    pd = pytest.importorskip("pandas")
    x, truth = blobs
    table = pd.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])])
    known = np.full(len(x), None, dtype=object)
    known[:40] = np.array(["ash", "birch", "cedar", "date"])[truth[:40]]
    model = EntropyClustering(4, n_init=2).fit(table, known=known)
    model.save(tmp_path / "m.safetensors")
    table[table.columns[::-1]].to_csv(tmp_path / "turned.csv", index=False)
    run(command, "predict", tmp_path / "m.safetensors", tmp_path / "turned.csv", "-o", tmp_path / "labels.csv")
    found = pd.read_csv(tmp_path / "labels.csv")
    assert found["name"].tolist() == model.cluster_names_[model.labels_].tolist()
    loaded = EntropyClustering.load(tmp_path / "m.safetensors")
    assert loaded.feature_names_in_.tolist() == table.columns.tolist()
    assert loaded.cluster_names_.tolist() == model.cluster_names_.tolist()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table[table.columns[::-1]])
