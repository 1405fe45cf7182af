"""Clusters of any shape: `partita fit X -k K` beside scikit-learn's methods and Genie on small labelled sets.

    PARTITA_DATA=folder PYTHON bench/shapes.py

PYTHON is an environment with numpy, scikit-learn and genieclust. The folder holds `shapes.npz`: for each set the rows `family/name/X` and
reference labels `family/name/y0`, `y1`, ...; K is the largest label, label 0 is noise and not scored, and the best reference counts. After them
come sets that the script makes itself. The seconds of Partita are those of the whole process.
"""

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import common
import genieclust
import numpy as np
from sklearn import cluster, datasets, mixture
from sklearn.metrics import adjusted_rand_score

warnings.filterwarnings("ignore")
METHODS = {
    "K-means": lambda k: cluster.KMeans(k, n_init=10, random_state=0),
    "mixture": lambda k: mixture.GaussianMixture(k, n_init=5, random_state=0),
    "spectral": lambda k: cluster.SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
    "HDBSCAN": lambda k: cluster.HDBSCAN(),
    "Birch": lambda k: cluster.Birch(n_clusters=k),
    "Genie": lambda k: genieclust.Genie(k),
}


def stored():
    """The sets of shapes.npz: name, rows and reference labels."""
    path = Path(os.environ.get("PARTITA_DATA", ".")) / "shapes.npz"
    if not path.is_file():
        sys.exit(f"{path} is missing: set PARTITA_DATA to the folder that holds it")
    arrays = np.load(path)
    for name in sorted({key.rsplit("/", 1)[0] for key in arrays}):
        references = [arrays[key] for key in sorted(arrays) if key.startswith(f"{name}/y")]
        yield name, np.asarray(arrays[f"{name}/X"], float), references


def made():
    """Sets of known clusters, with names; label 0 is noise."""
    rng = np.random.RandomState(3)
    blobs = datasets.make_blobs
    for name, (x, y) in {
        "moons": datasets.make_moons(600, noise=0.08, random_state=1),
        "circles": datasets.make_circles(600, noise=0.05, factor=0.5, random_state=1),
        "blobs": blobs(600, random_state=8),
        "varied": blobs(600, cluster_std=[1, 2.5, 0.5], random_state=170),
        "1 feature, 3 blobs": blobs(1000, 1, centers=3, cluster_std=0.5, random_state=5),
        "2 features, 5 blobs": blobs(1000, 2, centers=5, cluster_std=0.5, random_state=5),
        "2 features, 8 blobs": blobs(1000, 2, centers=8, cluster_std=0.5, random_state=5),
        "3 features, 8 blobs": blobs(1000, 3, centers=8, cluster_std=0.5, random_state=5),
        "10 features, 10 blobs": blobs(1000, 10, centers=10, cluster_std=0.5, random_state=5),
        "540/40/20 rows": blobs([540, 40, 20], 2, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.5, random_state=1),
        "400/120/80 rows": blobs([400, 120, 80], 2, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.8, random_state=1),
    }.items():
        yield name, x, [y + 1]
    x, y = blobs(600, random_state=170)
    yield "sheared", x @ [[0.6, -0.6], [-0.4, 0.8]], [y + 1]
    yield "four on a line", np.vstack([rng.normal(c, 1, (150, 1)) for c in (0, 16, 32, 48)]), [np.repeat([1, 2, 3, 4], 150)]
    x, y = datasets.make_moons(800, noise=0.06, random_state=2)
    noise = rng.uniform([-1.5, -1], [2.5, 1.5], (120, 2))
    yield "moons in noise", np.vstack([x, noise]), [np.r_[y + 1, np.zeros(120, int)]]
    turn = rng.uniform(0, 2 * np.pi, 400)
    ring = 4 * np.c_[np.cos(turn), np.sin(turn)] + rng.normal(0, 0.25, (400, 2))
    x = np.vstack([ring, rng.normal(0, 0.7, (200, 2)), rng.normal([8, 0], 0.6, (200, 2))])
    y = np.repeat([1, 2, 3], [400, 200, 200])
    yield "ring and blobs", x, [y]
    noise = rng.uniform([-6, -6], [10, 6], (80, 2))
    yield "ring and blobs in noise", np.vstack([x, noise]), [np.r_[y, np.zeros(80, int)]]
    x = np.vstack([rng.normal([0, 1.2 * i], [3, 0.2], (250, 2)) for i in range(3)])
    yield "stripes", x, [np.repeat([1, 2, 3], 250)]
    x = np.vstack([rng.normal([0, 0], 0.3, (500, 2)), rng.normal([3, 0], 1, (150, 2)), rng.normal([-4, 3], 0.8, (150, 2))])
    yield "unlike densities", x, [np.repeat([1, 2, 3], [500, 150, 150])]
    along = rng.uniform(-2, 2, (2, 250))
    x = np.vstack([np.c_[along[0], along[0] ** 2], np.c_[along[1] + 1.5, 3 - along[1] ** 2]])
    yield "crossed parabolas", x + rng.normal(0, 0.12, (500, 2)), [np.repeat([1, 2], 250)]


def tables():
    """Three tables of scikit-learn, standardised."""
    for name in ("iris", "wine", "breast_cancer"):
        table = getattr(datasets, f"load_{name}")()
        yield name.replace("_", " "), (table.data - table.data.mean(0)) / table.data.std(0), [table.target + 1]


def partita(binary, x, k, *options):
    """Labels by the command, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder) / "x.npy", Path(folder) / "labels.npy"
        np.save(rows, x.astype(np.float32))
        _, seconds = common.run([binary, "fit", rows, "-k", k, "--labels-out", labels, *options])
        return np.load(labels), seconds


def peer(make, x, k):
    """Labels by a peer, and the seconds of its fit. Genie wants at least two features."""
    x = x if x.shape[1] > 1 else np.c_[x, 0 * x]
    start = time.perf_counter()
    labels = make(k).fit_predict(x)
    return labels, time.perf_counter() - start


def score(references, labels_for):
    """The best adjusted Rand index over the references, and the mean seconds of a fit."""
    found = {k: labels_for(k) for k in sorted({int(y.max()) for y in references})}
    best = max(adjusted_rand_score(y[y > 0], found[int(y.max())][0][y > 0]) for y in references)
    return best, np.mean([seconds for _, seconds in found.values()])


def table(title, sets, methods):
    print(f"## {title}\n\n| set | rows | features | K | {' | '.join(methods)} |")
    print("|---|---|---|---|" + "---|" * len(methods))
    results = {name: [] for name in methods}
    for name, x, references in sets:
        for method, labels_for in methods.items():
            results[method].append(score(references, lambda k, f=labels_for: f(x, k)))
        cells = " | ".join(f"{results[method][-1][0]:.3f}" for method in methods)
        print(f"| {name} | {x.shape[0]:,} | {x.shape[1]} | {int(references[0].max())} | {cells} |", flush=True)
    for what, at in (("**mean**", 0), ("seconds, mean", 1)):
        cells = " | ".join(f"{np.mean([result[at] for result in results[method]]):.3f}" for method in methods)
        print(f"| {what} | | | | {cells} |")
    print()


def main():
    common.machine()
    methods = {}
    if binary := common.binary():
        methods["partita"] = lambda x, k: partita(binary, x, k)
        methods["`--lift none`"] = lambda x, k: partita(binary, x, k, "--lift", "none")
    for name, make in METHODS.items():
        methods[name] = lambda x, k, make=make: peer(make, x, k)
    table("shapes.npz", stored(), methods)
    table("Made sets", made(), methods)
    table("Tables", tables(), methods)


if __name__ == "__main__":
    main()
