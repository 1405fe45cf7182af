"""Lloyd's iterations from the same centres: Partita, scikit-learn and faiss, one thread, in one run.

    bench/venv/bin/python bench/kmeans.py

30,000 rows of 1,280 features: overlapping groups, so that rows still move after many iterations. All three make the same
number of iterations from the same rows as first centres. faiss searches once more to give labels, which is not timed.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common

ROWS, FEATURES, ITERATIONS, REPEATS = 30_000, 1280, 20, 3


def data(k):
    import numpy as np

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(k, FEATURES)).astype(np.float32) * 0.12
    rows = centres[rng.integers(k, size=ROWS)] + rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    return np.ascontiguousarray(rows), rows[rng.choice(ROWS, k, replace=False)].copy()


def scikit_learn(rows, first):
    from sklearn.cluster import KMeans

    return KMeans(len(first), init=first, n_init=1, max_iter=ITERATIONS, tol=0.0, algorithm="lloyd").fit(rows).inertia_


def faiss_kmeans(rows, first):
    import faiss

    kmeans = faiss.Kmeans(FEATURES, len(first), niter=ITERATIONS, max_points_per_centroid=ROWS)
    kmeans.train(rows, init_centroids=first)
    return float(kmeans.index.search(rows, 1)[0].sum())


PEERS = {"scikit-learn": scikit_learn, "faiss": faiss_kmeans}


def partita(rows, first, folder):
    for name, values in (("rows", rows), ("first", first)):
        (folder / name).write_bytes(values.tobytes())
    command = ["cargo", "bench", "-q", "-p", "partita", "--bench", "kmeans", "--"]
    command += [str(folder / "rows"), str(folder / "first"), str(FEATURES), str(ITERATIONS)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=common.ROOT).stdout
    seconds, inertia = map(float, out.split())
    return seconds, inertia


def measure(k):
    rows, first = data(k)
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(REPEATS):  # in turns, so that a busy moment does not hit one of them alone
            runs = {"Partita": partita(rows, first, Path(folder))}
            for name, peer in PEERS.items():
                start = time.perf_counter()
                inertia = peer(rows, first)
                runs[name] = time.perf_counter() - start, inertia
            for name, run in runs.items():
                best[name] = min(best.get(name, run), run)
    return best


def main():
    if len(sys.argv) == 1:
        common.machine()
        print(common.again(1, "measure"), end="")
        return
    for k in (10, 100):
        best = measure(k)
        ours, inertia = best["Partita"]
        print(f"### K = {k}: {ITERATIONS} iterations on {ROWS} x {FEATURES}, one thread, best of {REPEATS}\n")
        rows = [(name, f"{s:.2f}", f"{s / ours:.2f}", f"{i / inertia - 1:+.2e}") for name, (s, i) in best.items()]
        common.table(("", "s", "time / Partita", "inertia / Partita - 1"), rows)


if __name__ == "__main__":
    main()
