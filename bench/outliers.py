"""Rows that belong to no cluster: `partita fit X -k K --outliers auto` beside HDBSCAN, isolation forests and local outlier factors.

    PYTHON bench/outliers.py

PYTHON is an environment with numpy and scikit-learn. The script makes its sets: clusters with uniform noise around them in two halves, of which
only the first was looked at when the rule of `auto` was chosen, and clusters without any noise, of which every row that is found is a false one.
"""

import json
import tempfile
import warnings
from pathlib import Path

import common
import numpy as np
from sklearn import cluster, datasets, ensemble, neighbors
from sklearn.metrics import adjusted_rand_score

warnings.filterwarnings("ignore")
PEERS = {
    "HDBSCAN": lambda: cluster.HDBSCAN(),
    "HDBSCAN of 25": lambda: cluster.HDBSCAN(min_cluster_size=25),
    "isolation forest": lambda: ensemble.IsolationForest(random_state=0),
    "local outlier factor": lambda: neighbors.LocalOutlierFactor(),
}
CORNERS = 8 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])


def moons(n, seed):
    return datasets.make_moons(n, noise=0.06, random_state=seed)


def rings(n, seed):
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    turn, radius = rng.uniform(0, 2 * np.pi, n), np.where(y, 1.0, 3.0)
    return np.c_[radius * np.cos(turn), radius * np.sin(turn)] + rng.normal(0, 0.12, (n, 2)), y


def spirals(n, seed):
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    t = np.sqrt(rng.uniform(0.05, 1, n)) * 3 * np.pi
    return np.c_[t * np.cos(t + np.pi * y), t * np.sin(t + np.pi * y)] + rng.normal(0, 0.25, (n, 2)), y


def helices(n, seed):
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    t = rng.uniform(0, 4 * np.pi, n)
    return np.c_[np.cos(t + np.pi * y), np.sin(t + np.pi * y), t / 3] + rng.normal(0, 0.08, (n, 3)), y


def squares(n, seed):
    rng, y = np.random.default_rng(seed), np.arange(n) % 4
    return rng.uniform(-1, 1, (n, 2)) + 4 * np.c_[y % 2, y // 2], y


def slanted(n, seed):
    x, y = datasets.make_blobs(n, random_state=seed, centers=[[-6, -5], [0, 0], [6, 5]])
    return x @ [[0.6, -0.6], [-0.4, 0.8]], y


def varied(n, seed):
    return datasets.make_blobs(n, centers=[[0, 0], [12, 0], [4, 12]], cluster_std=[1, 2.2, 0.5], random_state=seed)


def four(n, seed):
    return datasets.make_blobs(n, centers=[[0, 0], [7, 0], [0, 7], [7, 7]], random_state=seed)


def five(n, seed):
    return datasets.make_blobs(n, centers=CORNERS, random_state=seed)


def gaussians(n, m, k, seed):
    """Gaussian clusters whose centres are about 8 standard deviations apart; on a line exactly 9."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    centres = rng.normal(size=(k, m)) * 8 / np.sqrt(2 * m) if m > 1 else 9.0 * np.arange(k)[:, None]
    return centres[y] + rng.normal(size=(n, m)), y


def noisy(made, share, seed):
    """The same with uniform noise in a box a little larger than the rows; label 0 is noise."""
    (x, y), rng = made, np.random.default_rng(seed)
    low, high = x.min(axis=0), x.max(axis=0)
    count, pad = round(share / (1 - share) * len(x)), 0.15 * (high - low)
    noise = rng.uniform(low - pad, high + pad, (count, x.shape[1]))
    return np.vstack([x, noise]), np.r_[y + 1, np.zeros(count, int)]


def first_half():
    yield "moons, 5 %", *noisy(moons(800, 1), 0.05, 1)
    yield "moons, 15 %", *noisy(moons(800, 2), 0.15, 2)
    yield "4 blobs, 10 %", *noisy(four(1000, 3), 0.10, 3)
    yield "rings, 10 %", *noisy(rings(1000, 4), 0.10, 4)
    yield "5 blobs, 20 %", *noisy(five(1000, 5), 0.20, 5)
    yield "6 blobs, 10 %", *noisy(gaussians(1200, 10, 6, 6), 0.10, 6)
    yield "unlike blobs, 10 %", *noisy(varied(900, 7), 0.10, 7)
    yield "5 blobs, 10 %", *noisy(gaussians(1500, 50, 5, 8), 0.10, 8)


def second_half():
    yield "moons, 10 %", *noisy(moons(3000, 11), 0.10, 11)
    yield "4 blobs, 20 %", *noisy(four(2000, 12), 0.20, 12)
    yield "rings, 5 %", *noisy(rings(600, 13), 0.05, 13)
    yield "spirals, 10 %", *noisy(spirals(1500, 14), 0.10, 14)
    yield "helices, 15 %", *noisy(helices(1200, 15), 0.15, 15)
    yield "squares, 10 %", *noisy(squares(1200, 16), 0.10, 16)
    yield "slanted blobs, 5 %", *noisy(slanted(900, 17), 0.05, 17)
    yield "8 blobs, 10 %", *noisy(gaussians(1600, 5, 8, 18), 0.10, 18)
    yield "10 blobs, 5 %", *noisy(gaussians(2000, 100, 10, 19), 0.05, 19)


def clean():
    for n, m, k in [(1200, 1, 3), (1200, 2, 4), (1200, 5, 4), (1200, 20, 4), (1200, 100, 4)]:
        x, y = gaussians(n, m, k, m)
        yield f"{k} Gaussians", x, y + 1
    for n, m, k in [(5000, 2, 3), (5000, 3, 5), (5000, 8, 5), (5000, 30, 5), (5000, 200, 5), (5000, 768, 5)]:
        x, y = gaussians(n, m, k, m + 50)
        yield f"{k} Gaussians", x, y + 1
    for name, (x, y) in {
        "moons": moons(800, 5),
        "rings": rings(2000, 5),
        "squares": squares(1000, 5),
        "slanted blobs": slanted(1000, 5),
        "unlike blobs": varied(900, 5),
        "spirals": spirals(1500, 5),
    }.items():
        yield name, x, y + 1


def partita(binary, x, k, rule):
    """Labels by the command, -1 for outliers."""
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder) / "x.npy", Path(folder) / "labels.npy"
        np.save(rows, x.astype(np.float32))
        told, _ = common.run([binary, "fit", rows, "-k", k, "--outliers", rule, "--labels-out", labels, "--json"])
        found = np.load(labels)
        assert json.loads(told)["outliers"]["count"] == (found < 0).sum()
        return found


def cells(y, labels, clusters):
    """Precision and recall of the noise, and the adjusted Rand index of the rows of the clusters, outliers as one more cluster."""
    noise, found = y == 0, labels < 0
    right = (noise & found).sum()
    scores = [right / max(found.sum(), 1), right / noise.sum()]
    return [*scores, adjusted_rand_score(y[~noise], labels[~noise])] if clusters else scores


def methods(binary, share=None):
    """For each method its labels of rows, and whether it finds clusters."""
    found = {}
    if binary:
        found["partita, auto"] = (lambda x, y: partita(binary, x, int(y.max()), "auto"), True)
        if share:
            found["partita, true share"] = (lambda x, y: partita(binary, x, int(y.max()), share(y)), True)
    for name, make in PEERS.items():
        found[name] = (lambda x, y, make=make: make().fit_predict(x), "HDBSCAN" in name)
    return found


def noise_table(title, sets, all_methods):
    print(f"## {title}\n\nPrecision / recall / ARI.\n\n| set | rows | features | {' | '.join(all_methods)} |")
    print("|---|---|---|" + "---|" * len(all_methods))
    results = {name: [] for name in all_methods}
    for name, x, y in sets:
        for method, (labels_for, clusters) in all_methods.items():
            results[method].append(cells(y, labels_for(x, y), clusters))
        line = " | ".join(" / ".join(f"{score:.2f}" for score in results[method][-1]) for method in all_methods)
        print(f"| {name} | {x.shape[0]:,} | {x.shape[1]} | {line} |", flush=True)
    means = (" / ".join(f"{score:.2f}" for score in np.mean(results[method], axis=0)) for method in all_methods)
    print(f"| **mean** | | | {' | '.join(means)} |\n")


def clean_table(sets, all_methods):
    print(f"## No noise\n\nRows that are found, in percent: all are false.\n\n| set | rows | features | {' | '.join(all_methods)} |")
    print("|---|---|---|" + "---|" * len(all_methods))
    results = {name: [] for name in all_methods}
    for name, x, y in sets:
        for method, (labels_for, _) in all_methods.items():
            results[method].append(100 * (labels_for(x, y) < 0).mean())
        line = " | ".join(f"{results[method][-1]:.1f}" for method in all_methods)
        print(f"| {name} | {x.shape[0]:,} | {x.shape[1]} | {line} |", flush=True)
    print(f"| **mean** | | | {' | '.join(f'{np.mean(results[method]):.1f}' for method in all_methods)} |\n")


def main():
    common.machine()
    binary = common.binary()
    with_share = methods(binary, lambda y: (y == 0).mean())
    noise_table("Noise: sets that the rule was chosen on", first_half(), with_share)
    noise_table("Noise: other sets", second_half(), with_share)
    clean_table(clean(), methods(binary))


if __name__ == "__main__":
    main()
