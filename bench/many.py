"""Many classes: `partita fit X -k K` beside scikit-learn's KMeans on labelled sets of 20 classes and more.

    PYTHON bench/many.py FOLDER

PYTHON is an environment with numpy, scipy and scikit-learn, and FOLDER holds the `NAME.npz` that `get_many.py` makes. ACC and NMI are means over
seeds 0 to 2. K-means has ten starts, on rows of length one or, for tables of few columns, on standardised ones. The rule that neighbours teach
was made with a view to the sets named in TUNED.
"""

import sys
import tempfile
import time
from pathlib import Path

import common
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

SEEDS = range(3)
FEW_FEATURES = 32
TUNED = ("languages", "newsgroups", "quickdraw", "reuters", "reuters-capped")
OPTIONS = {"partita": [], "`--neighbours 0`": ["--neighbours", "0"], "`--prior equal`": ["--prior", "equal"]}


def accuracy(truth, labels):
    """Share of rows that agree under the best one-to-one matching of clusters and classes."""
    k = max(truth.max(), labels.max()) + 1
    counts = np.zeros((k, k), int)
    np.add.at(counts, (truth, labels), 1)
    return counts[linear_sum_assignment(-counts)].sum() / len(truth)


def scores(truth, labels):
    return accuracy(truth, labels), normalized_mutual_info_score(truth, labels)


def partita(binary, x, truth, options):
    """Mean scores over the seeds, and seconds of the whole process."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder) / "x.npy", Path(folder) / "labels.npy"
        np.save(rows, x)
        for seed in SEEDS:
            command = [binary, "fit", rows, "-k", truth.max() + 1, "--seed", seed, "--labels-out", labels, *options]
            seconds = common.run(command)[1]
            found.append((*scores(truth, np.load(labels).astype(int)), seconds))
    return np.mean(found, 0)


def kmeans(x, truth):
    """The same of scikit-learn; the seconds are those of the fit."""
    if x.shape[1] >= FEW_FEATURES:
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    else:
        x = (x - x.mean(0)) / x.std(0)
    found = []
    for seed in SEEDS:
        start = time.perf_counter()
        labels = KMeans(truth.max() + 1, n_init=10, random_state=seed).fit_predict(x)
        found.append((*scores(truth, labels), time.perf_counter() - start))
    return np.mean(found, 0)


def main():
    paths = sorted(Path(sys.argv[1]).glob("*.npz")) if len(sys.argv) == 2 else []
    if not paths:
        sys.exit("usage: many.py FOLDER, with the files NAME.npz that get_many.py makes")
    common.machine()
    binary = common.binary() or sys.exit(1)
    rows = []
    for path in paths:
        arrays = np.load(path)
        x, truth = arrays["X"].astype(np.float32), arrays["y"].astype(int)
        cells = [partita(binary, x, truth, options) for options in OPTIONS.values()] + [kmeans(x, truth)]
        name = path.stem + (" (tuned on)" if path.stem in TUNED else "")
        counts = [f"{len(x):,}", str(x.shape[1]), str(truth.max() + 1)]
        rows.append([name, *counts, *(f"{acc:.3f}, {nmi:.3f}, {seconds:.1f} s" for acc, nmi, seconds in cells)])
    common.table(["ACC, NMI, time", "rows", "features", "classes", *OPTIONS, "K-means"], rows)


if __name__ == "__main__":
    main()
