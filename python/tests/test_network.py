"""Networks on tiny images: the same bits as the command gives, arrays and files, checkpoints, Ctrl-C."""

import os
import pickle
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone

from partita import EntropyClustering, NetworkClustering, _native

deep = pytest.mark.skipif(not _native.HAS_NETWORKS, reason="this build has no networks: build with --features deep")
QUICK = {"net": "mlp", "epochs": 2, "batch_size": 60}


@pytest.fixture(scope="module")
def images(digits):
    """300 digits of 8×8 bytes, and their classes."""
    x, y = digits
    return (x[:300].reshape(-1, 8, 8) * 15).astype(np.uint8), y[:300]


def idx(path, images):
    """The images in MNIST's format."""
    head = bytes([0, 0, 8, 3]) + b"".join(int(size).to_bytes(4, "big") for size in images.shape)
    path.write_bytes(head + images.tobytes())
    return path


def run(command, *arguments, cwd):
    return subprocess.run([command, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(_native.HAS_NETWORKS, reason="this build has networks")
def test_a_build_without_networks_says_how_to_get_them(images):
    with pytest.raises(ValueError, match="--features deep"):
        NetworkClustering(10, **QUICK).fit(images[0])


@deep
def test_a_fit_tells_what_it_did(images):
    x, _ = images
    model = NetworkClustering(10, **QUICK).fit(x)
    assert model.labels_.shape == (300,) and model.cluster_sizes_.sum() == 300
    assert model.history_.shape == (2,) == (model.n_iter_,) and model.loss_ == model.history_[-1]
    proba = model.predict_proba(x)
    assert proba.dtype == np.float32 and np.allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(model.predict(x), model.labels_)
    assert [set(epoch) >= {"loss", "cluster", "pairs", "disturb"} for epoch in model.report_["epochs"]] == [True, True]
    portraits = model.portraits(x, examples=3)
    assert [p.size for p in portraits] == model.cluster_sizes_.tolist() and all(p.features == [] for p in portraits)
    assert "<table" in model._repr_mimebundle_()["text/html"]


@deep
def test_clusters_carry_the_names_of_known_labels(images, tmp_path):
    x, y = images
    words = np.array([f"digit {label}" for label in y], dtype=object)
    model = NetworkClustering(10, **QUICK).fit(x, known=np.where(np.arange(300) % 2 == 0, words, None))
    names = [f"digit {label}" for label in range(10)]
    assert model.cluster_names_.tolist() == names == [p.name for p in model.portraits(x)]
    assert str(model.portraits(x)[3]).startswith("cluster 3 'digit 3' (")
    model.save(tmp_path / "net.safetensors")
    loaded = NetworkClustering.load(tmp_path / "net.safetensors")
    assert loaded.cluster_names_.tolist() == names == [p.name for p in loaded.portraits(x)]
    assert NetworkClustering(10, **QUICK).fit(x).portraits(x)[0].name is None


@deep
@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ([], {}),
        (
            ["--augment", "flip,rotate:10", "--loss", "mi", "--seed", "3"],
            {"augment": "flip,rotate:10", "loss": "mi", "random_state": 3},
        ),
        (["--iic", "2", "--over", "12", "--augment", "flip"], {"iic": 2, "over": 12, "augment": "flip"}),
        (
            ["--vat", "1", "--vat-length", "0.5", "--warm-up", "1", "--forward", "2", "--lambda", "10"],
            {"vat": 1, "vat_length": 0.5, "warm_up": 1, "forward": 2, "lam": 10},
        ),
        (
            ["--augment", "rotate:10", "--views", "2", "--normalise", "mnist", "--revive", "no", "--pretext", "1"]
            + ["--pretext-optimiser", "sgd", "--pretext-rate", "0.01", "--pretext-batch", "100", "--pretext-cosine"],
            {"augment": "rotate:10", "views": 2, "normalise": "mnist", "revive": False, "pretext": 1}
            | {"pretext_optimiser": "sgd", "pretext_rate": 0.01, "pretext_batch": 100, "pretext_cosine": True},
        ),
        (
            ["--net", "linear", "--learning-rate", "0.01", "--head-rate", "0.02"],
            {"net": "linear", "learning_rate": 0.01, "head_rate": 0.02},
        ),
    ],
)
def test_networks_are_those_of_the_command(command, images, tmp_path, flags, options):
    x, _ = images
    idx(tmp_path / "x-images-idx3-ubyte", x)
    net = [] if "--net" in flags else ["--net", "mlp"]
    fit = ["fit", "x-images-idx3-ubyte", *net, "-k", 10, "--epochs", 2, "--batch", 60, *flags]
    run(command, *fit, "-o", "command.safetensors", "--labels-out", "labels.npy", cwd=tmp_path)
    for given in (x, x / 255.0, tmp_path / "x-images-idx3-ubyte"):
        model = NetworkClustering(10, **{**QUICK, **options}).fit(given)
        model.save(tmp_path / "python.safetensors")
        assert np.array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
        assert (tmp_path / "python.safetensors").read_bytes() == (tmp_path / "command.safetensors").read_bytes()


@deep
def test_files_go_both_ways(command, images, tmp_path):
    x, _ = images
    idx(tmp_path / "x-images-idx3-ubyte", x)
    model = NetworkClustering(10, **QUICK).fit(x)
    model.save(tmp_path / "python.safetensors")
    run(command, "predict", "python.safetensors", "x-images-idx3-ubyte", "-o", "labels.npy", cwd=tmp_path)
    assert np.array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    loaded = NetworkClustering.load(tmp_path / "python.safetensors")
    assert loaded.n_clusters == 10 and np.array_equal(loaded.predict_proba(x), model.predict_proba(x))
    with pytest.raises(ValueError, match="NetworkClustering.load"):
        EntropyClustering.load(tmp_path / "python.safetensors")
    EntropyClustering(2, n_init=1).fit(np.eye(6)).save(tmp_path / "rows.safetensors")
    with pytest.raises(ValueError, match="EntropyClustering.load"):
        NetworkClustering.load(tmp_path / "rows.safetensors")


@deep
def test_images_beside_those_that_are_clustered(images, tmp_path):
    x, y = images
    held, more = idx(tmp_path / "h-images-idx3-ubyte", x[200:]), idx(tmp_path / "m-images-idx3-ubyte", x[:60])
    np.save(tmp_path / "y.npy", y[200:].astype(np.int32))
    options = {**QUICK, "augment": "rotate:10", "pretext": 1, "pretext_data": [more]}
    with pytest.raises(ValueError, match="holdout_truth="):
        NetworkClustering(10, holdout=held, **options).fit(x[:200])
    model = NetworkClustering(10, holdout=held, holdout_truth=tmp_path / "y.npy", **options).fit(x[:200])
    found = model.report_["holdout"]
    assert found["n"] == 100 and sum(found["cluster_sizes"]) == 100
    assert np.bincount(model.predict(x[200:]), minlength=10).tolist() == found["cluster_sizes"]
    assert 0 < found["metrics"]["acc"] <= 1
    alone = NetworkClustering(10, **options | {"pretext_data": None}).fit(x[:200])
    assert not np.array_equal(alone.predict_proba(x), model.predict_proba(x)), "other images teach something else"


@deep
def test_copies_and_pickles_answer_alike(images):
    x, _ = images
    model = NetworkClustering(10, **QUICK).fit(x)
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.predict_proba(x), model.predict_proba(x))
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "labels_")


@deep
def test_known_labels_name_their_clusters(images):
    x, y = images
    model = NetworkClustering(10, net="mlp", epochs=8, batch_size=60).fit(x, known=y)
    assert np.mean(model.labels_ == y) > 0.8
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        NetworkClustering(10, **QUICK).fit(x, known=y[:7])


@deep
def test_images_in_colour_and_folders(tmp_path, images):
    image = pytest.importorskip("PIL.Image")
    x, _ = images
    colour = np.stack([x, x // 2, 255 - x], axis=-1)[:40]
    for i, pixels in enumerate(colour):
        image.fromarray(pixels).save(tmp_path / f"{i:03}.png")
    (tmp_path / "040.png").write_bytes(b"not a picture")
    arrays = NetworkClustering(3, net="mlp", epochs=1, batch_size=20).fit(colour)
    with pytest.raises(ValueError, match="skip_bad="):
        clone(arrays).fit(tmp_path)
    with pytest.warns(UserWarning, match="skipped.*040"):
        files = clone(arrays).set_params(skip_bad=True).fit([tmp_path])
    assert np.array_equal(files.labels_, arrays.labels_) and len(files.image_names_) == 40
    assert arrays.image_names_ is None


@deep
def test_a_checkpoint_is_gone_on_from(images, tmp_path):
    x, _ = images
    options = {"net": "mlp", "batch_size": 60, "checkpoint": tmp_path / "c.safetensors", "metrics": tmp_path / "m.jsonl"}
    whole = NetworkClustering(10, net="mlp", batch_size=60, epochs=3).fit(x)
    model = NetworkClustering(10, epochs=3, **options).fit(x)
    again = NetworkClustering(10, epochs=3, resume=True, **options).fit(x)
    for other in (model, again):
        assert np.array_equal(other.predict_proba(x), whole.predict_proba(x))
    assert len((tmp_path / "m.jsonl").read_text().splitlines()) == 3


@deep
@pytest.mark.skipif(os.name != "posix", reason="signals are sent to the own process")
def test_ctrl_c_stops_a_fit_and_says_what_is_kept(images, tmp_path):
    model = NetworkClustering(10, net="mlp", batch_size=60, epochs=10**6, checkpoint=tmp_path / "c.safetensors")
    began = time.monotonic()
    timer = threading.Timer(2.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(images[0])
    assert time.monotonic() - began < 30 and not hasattr(model, "labels_")


@deep
def test_progress_is_shown(images, capsys):
    NetworkClustering(10, net="mlp", epochs=4, batch_size=30, verbose=1).fit(images[0])
    assert "NetworkClustering" in capsys.readouterr().err


@deep
@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.zeros((5, 4)), "n_images, height, width"),
        (np.zeros((5, 4, 4, 2)), "1 or 3 channels"),
        (np.full((5, 4, 4), 7.0), "outside 0 to 1"),
        (np.full((5, 4, 4), np.nan), "NaN"),
        (np.zeros((5, 4, 4), int), "uint8"),
        (np.zeros((0, 4, 4)), "shape"),
    ],
)
def test_what_are_no_images_is_refused(x, words):
    with pytest.raises(ValueError, match=words):
        NetworkClustering(2).fit(x)


@deep
def test_images_of_another_shape_than_the_networks_are_refused(images):
    model = NetworkClustering(10, **QUICK).fit(images[0])
    with pytest.raises(ValueError, match="8×6 pixels.*takes.*8×8"):
        model.predict(images[0][:, :, :6])
    with pytest.raises(ValueError, match="size= has no meaning for images in memory"):
        model.set_params(size=9).fit(images[0])
