"""A picture of clustering methods on scikit-learn's six toy sets of two features, with the seconds of each fit in the corner.

    PYTHON bench/comparison.py [docs/comparison.png]

PYTHON is an environment with numpy, scikit-learn, genieclust, matplotlib and pillow. The sets are those of scikit-learn's example
`plot_cluster_comparison`: the same generators and seeds, 500 rows, standardised, and the same K. Ward and HDBSCAN have the settings of that
example, which were tuned for these sets, and the other methods those of `shapes.py`. Grey crosses are rows that HDBSCAN calls noise. The
seconds are the least of seven fits on one thread, those of Partita of the whole process.
"""

import os
import sys
import time
import warnings

import common
import matplotlib
import numpy as np
import shapes
from sklearn import cluster, datasets
from sklearn.neighbors import kneighbors_graph

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from PIL import Image

warnings.filterwarnings("ignore")
ROWS = 500
REPEATS = 7
ONE_THREAD = ("--threads", "1")
WIDTH = 1400  # of the picture, in pixels
COLOURS = np.array(["#2f6db3", "#f28e1c", "#2ca05a", "#d1495b", "#8e5ea2", "#8c6d46", "#17a2b8", "#c9b400"])


def standardised(x):
    return (x - x.mean(0)) / x.std(0)


def sets():
    """Name, rows, K and the neighbours that scikit-learn's example gives to Ward."""
    blobs = datasets.make_blobs
    circles = datasets.make_circles(ROWS, factor=0.5, noise=0.05, random_state=30)[0]
    yield "noisy circles", standardised(circles), 2, 3
    yield "noisy moons", standardised(datasets.make_moons(ROWS, noise=0.05, random_state=30)[0]), 2, 3
    yield "varied variances", standardised(blobs(ROWS, cluster_std=[1, 2.5, 0.5], random_state=170)[0]), 3, 2
    yield "anisotropic", standardised(blobs(ROWS, random_state=170)[0] @ [[0.6, -0.6], [-0.4, 0.8]]), 3, 2
    yield "blobs", standardised(blobs(ROWS, random_state=30)[0]), 3, 3
    yield "no structure", standardised(np.random.RandomState(30).rand(ROWS, 2)), 3, 3


def ward(x, k, neighbours):
    """Ward's method along the edges of a graph of neighbours; making the graph is part of the time."""
    start = time.perf_counter()
    graph = kneighbors_graph(x, neighbours, include_self=False)
    method = cluster.AgglomerativeClustering(k, linkage="ward", connectivity=(graph + graph.T) / 2)
    return method.fit_predict(x), time.perf_counter() - start


def hdbscan(k):
    return cluster.HDBSCAN(min_samples=3, min_cluster_size=15, allow_single_cluster=True)


def methods(binary):
    """Functions of rows, K and neighbours that return labels and seconds, by name, in the order of the columns."""
    found = {}
    if binary:
        found["partita"] = lambda x, k, _: shapes.partita(binary, x, k, *ONE_THREAD)
        found["partita\n--lift none"] = lambda x, k, _: shapes.partita(binary, x, k, "--lift", "none", *ONE_THREAD)
    for name in ("K-means", "mixture", "spectral", "Ward", "HDBSCAN", "Birch", "Genie"):
        make = hdbscan if name == "HDBSCAN" else shapes.METHODS.get(name)
        found[name] = ward if name == "Ward" else lambda x, k, _, make=make: shapes.peer(make, x, k)
    return found


def fastest(labels_for, *arguments):
    """Labels, and the least seconds of several equal fits: other work on the machine only adds to them."""
    fits = [labels_for(*arguments) for _ in range(REPEATS)]
    return fits[0][0], min(seconds for _, seconds in fits)


def numbered(x, labels):
    """The same clusters, numbered from left to right so that the colours of a row of panels agree; noise stays -1."""
    names = [name for name in np.unique(labels) if name >= 0]
    names.sort(key=lambda name: tuple(np.round(x[labels == name].mean(0), 1)))
    return np.array([names.index(label) if label >= 0 else -1 for label in labels])


def panel(axes, x, labels, seconds):
    labels = numbered(x, labels)
    kept = labels >= 0
    axes.scatter(*x[kept].T, s=5, c=COLOURS[labels[kept] % len(COLOURS)], linewidths=0)
    axes.scatter(*x[~kept].T, s=6, c="#999999", marker="x", linewidths=0.6)
    axes.set(xlim=(-3.2, 3.2), ylim=(-3.4, 3.1), xticks=[], yticks=[])
    axes.text(0.97, 0.02, f"{seconds:.2f} s" if seconds >= 0.01 else "< 0.01 s", transform=axes.transAxes, ha="right", va="bottom", size=7)
    for side in axes.spines.values():
        side.set(color="#bbbbbb", linewidth=0.6)


def draw(columns, path):
    rows = list(sets())
    figure, grid = plt.subplots(len(rows), len(columns), figsize=(WIDTH / 150, WIDTH / 150 * 0.71), dpi=150)
    figure.subplots_adjust(left=0.025, right=0.998, bottom=0.005, top=0.938, wspace=0.04, hspace=0.04)
    for axes_of_row, (name, x, k, neighbours) in zip(grid, rows, strict=True):
        axes_of_row[0].set_ylabel(name, size=8)
        for axes, labels_for in zip(axes_of_row, columns.values(), strict=True):
            panel(axes, x, *fastest(labels_for, x, k, neighbours))
    for axes, name in zip(grid[0], columns, strict=True):
        axes.set_title(name, size=9, weight="bold" if name == "partita" else "normal", pad=4)
    figure.savefig(path)


def main():
    if os.environ.get("OMP_NUM_THREADS") != "1":
        print(common.again(1, *sys.argv[1:]), end="")
        return
    path = sys.argv[1] if len(sys.argv) > 1 else common.ROOT / "docs" / "comparison.png"
    common.machine()
    draw(methods(common.binary()), path)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)  # a third of the size
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
