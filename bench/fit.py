"""Time and accuracy of a whole fit: Partita, scikit-learn and faiss on the same features, in one run.

    PARTITA_DATA=folder bench/venv/bin/python bench/fit.py

Partita's time is that of the whole process, reading included; the peers' is that of the fit alone, on features that
are already loaded and L2-normalised. Labels are used for the accuracy column only.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path

import common

SETS = {"stl10-part": 10, "cifar10-test": 10}
SEEDS = range(6)
RESTARTS = 8


def paths(name):
    folder = Path(os.environ.get("PARTITA_DATA", ""))
    return folder / f"{name}-mobilenetv2-f16.npy", folder / f"{name}-labels-u8.npy"


def accuracy(truth, labels):
    """Share of rows that are right under the best one-to-one matching of clusters to classes."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros((truth.max() + 1, labels.max() + 1), dtype=int)
    np.add.at(counts, (truth, labels), 1)
    return counts[linear_sum_assignment(counts, maximize=True)].sum() / len(truth)


def scikit_learn(rows, k, seed):
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=RESTARTS, random_state=seed).fit(rows).labels_


def faiss_kmeans(rows, k, seed, **options):
    import faiss

    kmeans = faiss.Kmeans(rows.shape[1], k, niter=25, nredo=RESTARTS, seed=seed + 1, **options)
    kmeans.train(rows)
    return kmeans.index.search(rows, 1)[1].ravel()


PEERS = {
    "scikit-learn KMeans": scikit_learn,
    # By default faiss trains on at most 256 rows a cluster.
    "faiss, its default sample": faiss_kmeans,
    "faiss, all rows": lambda rows, k, seed: faiss_kmeans(rows, k, seed, max_points_per_centroid=len(rows)),
}


def measure_peer(name, peer):
    """Runs in a process of its own, whose threads were set before it began: seconds and accuracy of each seed."""
    import numpy as np

    features, labels = paths(name)
    rows = np.load(features).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    truth = np.load(labels).astype(int)
    PEERS[peer](rows[:500], 2, 0)  # imports and thread pools are not part of the fit
    results = []
    for seed in SEEDS:
        start = time.perf_counter()
        found = PEERS[peer](rows, SETS[name], seed)
        results.append((time.perf_counter() - start, accuracy(truth, found)))
    print(json.dumps(results))


def measure_partita(binary, name, threads):
    import numpy as np

    features, labels = paths(name)
    truth = np.load(labels).astype(int)
    results = []
    for seed in SEEDS:
        command = [binary, "fit", features, "-k", SETS[name], "--restarts", RESTARTS, "--threads", threads]
        printed, seconds = common.run([*command, "--seed", seed, "--truth", labels, "--json"])
        results.append((seconds, json.loads(printed)["metrics"]["acc"]))
    return results


def report(name, threads, binary):
    results = {}
    if binary:
        results["partita, whole process"] = measure_partita(binary, name, threads)
    for peer in PEERS:
        results[peer] = json.loads(common.again(threads, name, peer))
    print(f"### {name}, K = {SETS[name]}, {RESTARTS} restarts, {threads} thread{'s'[: threads > 1]}\n")
    medians = {method: statistics.median(seconds for seconds, _ in runs) for method, runs in results.items()}
    reference = next(iter(medians.values()))
    rows = []
    for method, runs in results.items():
        accuracies = [acc for _, acc in runs]
        spread = f"{statistics.mean(accuracies):.3f} ({min(accuracies):.3f}–{max(accuracies):.3f})"
        rows.append((method, f"{medians[method]:.2f}", f"{medians[method] / reference:.2f}", spread))
    common.table(("method", "median s", f"time / {next(iter(results))}", "ACC, mean (range)"), rows)


def main():
    missing = [str(path) for name in SETS for path in paths(name) if not path.exists()]
    if "PARTITA_DATA" not in os.environ or missing:
        wanted = "\n".join(missing) or "nothing else"
        sys.exit(f"Set PARTITA_DATA to the folder of the feature files. Missing:\n{wanted}")
    common.machine()
    binary = common.binary()
    for name in SETS:
        for threads in (1, 2):
            report(name, threads, binary)


if __name__ == "__main__":
    measure_peer(*sys.argv[1:]) if len(sys.argv) == 3 else main()
