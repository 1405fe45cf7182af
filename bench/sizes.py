"""Clusters of unequal sizes that nobody gave: `partita fit X -k K` beside `--prior equal` and scikit-learn's KMeans.

    PARTITA_DATA=folder PYTHON bench/sizes.py [MANY]

PYTHON is an environment with numpy, scipy and scikit-learn. The folder holds the features and labels of STL-10 and CIFAR-10 that `fit.py` names, and MANY the
sets that `get_many.py` makes. Classes are drawn in given shares, seed 0; balanced sets are there to show what an estimate costs where there is nothing
to estimate. ACC is the mean over seeds 0 to 2, and "off" the largest difference between true and found sizes, in points.

    PARTITA_DATA=folder PYTHON bench/sizes.py draws

draws classes at random instead, three to eight of them, in equal shares and in shares of a Dirichlet distribution, also from the raw pixels of MNIST and
Fashion-MNIST (`mnist` and `fashion-mnist` in the folder), and says how often sizes were estimated and what that changed.
"""

import gzip
import os
import sys
import tempfile
from pathlib import Path

import common
import numpy as np
from many import accuracy, scores
from sklearn.cluster import KMeans

SEEDS = range(3)
DRAWS = 15  # from each source, in equal and in unequal shares
THREE = (0.7, 0.2, 0.1)
EIGHT = (0.5, 0.25, 0.12, 0.06, 0.03, 0.02, 0.01, 0.01)
EIGHT_CLASSES = (0, 1, 2, 3, 4, 6, 8, 9)


def gaussians(shares, d, apart, total=2000):
    """Clusters of unit variance whose centres are at least so far apart."""
    rng = np.random.RandomState(1)
    centres = []
    while len(centres) < len(shares):
        centre = rng.normal(size=d) * apart
        if all(np.linalg.norm(centre - other) >= apart for other in centres):
            centres.append(centre)
    counts = [round(share * total) for share in shares]
    x = np.vstack([rng.normal(centre, 1, (count, d)) for centre, count in zip(centres, counts, strict=True)])
    return x, np.repeat(np.arange(len(shares)), counts)


def drawn(x, y, classes, shares):
    """These classes in these shares, as many rows as the largest allows."""
    rng = np.random.RandomState(0)
    total = min(np.sum(y == c) / share for c, share in zip(classes, shares, strict=True))
    kept = [rng.permutation(np.where(y == c)[0])[: round(share * total)] for c, share in zip(classes, shares, strict=True)]
    return x[np.concatenate(kept)], np.repeat(np.arange(len(classes)), [len(rows) for rows in kept])


def sets():
    for d in (2, 10, 50):
        apart = 8 if d == 2 else 6
        yield f"Gaussians, {d} dimensions, 70/20/10", *gaussians(THREE, d, apart)
        yield f"Gaussians, {d} dimensions, 50/25/12/6/3/2/1/1", *gaussians(EIGHT, d, apart)
        yield f"Gaussians, {d} dimensions, equal", *gaussians((0.2,) * 5, d, apart)
    folder = Path(os.environ.get("PARTITA_DATA", "."))
    for name in ("stl10-part", "cifar10-test"):
        x = np.load(folder / f"{name}-mobilenetv2-f16.npy").astype(np.float32)
        y = np.load(folder / f"{name}-labels-u8.npy").astype(int)
        yield name, x, y
        for classes in ((0, 1, 2), (8, 3, 5), (1, 4, 9)):
            yield f"{name}, classes {classes}, 70/20/10", *drawn(x, y, classes, THREE)
        yield f"{name}, 50/25/12/6/3/2/1/1", *drawn(x, y, EIGHT_CLASSES, EIGHT)
    for path in sorted(Path(sys.argv[1]).glob("*.npz")) if len(sys.argv) > 1 else []:
        arrays = np.load(path)
        yield path.stem, arrays["X"].astype(np.float32), arrays["y"].astype(int)
        if path.stem == "newsgroups":
            yield "newsgroups, 70/20/10", *drawn(arrays["X"], arrays["y"], (3, 9, 14), THREE)


def pixels(folder):
    """The first 20,000 training images as rows, and their classes."""
    names = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
    images, labels = (gzip.decompress((folder / name).read_bytes()) for name in names)
    return np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)[:20000], np.frombuffer(labels, np.uint8, offset=8)[:20000]


def random_draw(x, y, draw, equal):
    """Three to eight classes, at most 4,000 rows; the smallest share is 2 %."""
    rng = np.random.default_rng(draw)
    classes = rng.permutation(10)[: rng.integers(3, 9)]
    shares = np.ones(len(classes)) if equal else np.maximum(np.sort(rng.dirichlet(np.full(len(classes), 1.5)))[::-1], 0.02)
    shares = shares / shares.sum()
    total = min(4000, *(np.sum(y == c) / share for c, share in zip(classes, shares, strict=True)))
    kept = [rng.permutation(np.where(y == c)[0])[: round(share * total)] for c, share in zip(classes, shares, strict=True)]
    truth = np.repeat(np.arange(len(classes)), [len(rows) for rows in kept])
    order = rng.permutation(len(truth))
    return x[np.concatenate(kept)][order].astype(np.float32), truth[order]


def draws(binary):
    """A line for each source of classes: how often the default differs from equal sizes, and the mean ACC and NMI of both."""
    folder = Path(os.environ.get("PARTITA_DATA", "."))
    sources = {name: pixels(folder / name) for name in ("mnist", "fashion-mnist")}
    for name in ("stl10-part", "cifar10-test"):
        sources[name] = (np.load(folder / f"{name}-mobilenetv2-f16.npy"), np.load(folder / f"{name}-labels-u8.npy"))
    rows = []
    for equal in (True, False):
        for name, (x, y) in sources.items():
            found = [one_draw(binary, *random_draw(x, y, draw, equal), draw) for draw in range(DRAWS)]
            differ = [pair for pair in found if (pair[0] != pair[1]).any()]
            worst = min((pair[0][0] - pair[1][0] for pair in found), default=0)
            means = [f"{acc:.3f}, {nmi:.3f}" for acc, nmi in np.mean(found, 0)]
            rows.append([name, "equal" if equal else "unequal", f"{len(differ)} of {DRAWS}", *means, f"{worst:+.3f}"])
    common.table(["ACC, NMI", "shares", "sizes estimated", "partita", "`--prior equal`", "worst change of ACC"], rows)


def one_draw(binary, x, truth, seed):
    """ACC and NMI of the default and of equal sizes."""
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder) / "x.npy", Path(folder) / "labels.npy"
        np.save(rows, x)
        pair = []
        for options in ([], ["--prior", "equal"]):
            common.run([binary, "fit", rows, "-k", truth.max() + 1, "--seed", seed, "--labels-out", labels, *options])
            pair.append(scores(truth, np.load(labels).astype(int)))
    return np.array(pair)


def off(truth, labels):
    """Largest difference between the true and the found sizes in falling order, in points."""
    k = truth.max() + 1
    shares = [np.sort(np.bincount(of, minlength=k) / len(of))[::-1] for of in (truth, labels)]
    return 100 * np.abs(shares[0] - shares[1]).max()


def partita(binary, x, truth, *options):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder) / "x.npy", Path(folder) / "labels.npy"
        np.save(rows, x.astype(np.float32))
        for seed in SEEDS:
            command = [binary, "fit", rows, "-k", truth.max() + 1, "--seed", seed, "--labels-out", labels, *options]
            seconds = common.run(command)[1]
            found.append((accuracy(truth, np.load(labels).astype(int)), off(truth, np.load(labels).astype(int)), seconds))
    return np.mean(found, 0)


def kmeans(x, truth):
    if x.shape[1] >= 128:
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    fits = [KMeans(truth.max() + 1, n_init=10, random_state=seed).fit_predict(x) for seed in SEEDS]
    return np.mean([(accuracy(truth, labels), off(truth, labels), 0) for labels in fits], 0)


def main():
    common.machine()
    binary = common.binary() or sys.exit(1)
    if sys.argv[1:] == ["draws"]:
        draws(binary)
        return
    rows = []
    for name, x, truth in sets():
        plain, equal, peer = partita(binary, x, truth), partita(binary, x, truth, "--prior", "equal"), kmeans(x, truth)
        cells = [f"{acc:.3f}, {away:.1f}, {seconds:.2f} s" for acc, away, seconds in (plain, equal)]
        rows.append([name, f"{len(x):,}", *cells, f"{peer[0]:.3f}, {peer[1]:.1f}"])
    common.table(["ACC, off, time", "rows", "partita", "`--prior equal`", "K-means"], rows)


if __name__ == "__main__":
    main()
