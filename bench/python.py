"""The Python package beside the command and beside its peers, in one run.

    PARTITA_DATA=folder PYTHON bench/python.py [overhead] [memory] [import] [drop-ins] [peers]

PYTHON is an environment with the package installed by `pip install ./python`, and for `peers` with faiss-cpu and gemclus. The
binary is `target/release/partita` or PARTITA_BIN. The folder holds the features that `fit.py` names.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import common

DATA = Path(os.environ.get("PARTITA_DATA", "."))
SETS = {
    "CIFAR-10, 10,000 x 1,280": ("cifar10-test-mobilenetv2-f16.npy", "cifar10-test-labels-u8.npy"),
    "STL-10, 3,996 x 1,280": ("stl10-part-mobilenetv2-f16.npy", "stl10-part-labels-u8.npy"),
}
SEEDS = range(3)
ROUNDS = 15
# Rows in a batch of GemClus, and seconds after which a method is not run from another seed.
BATCH, ENOUGH = 500, 30


def load(name):
    import numpy as np

    path = DATA / name
    if not path.is_file():
        sys.exit(f"{path} is missing: set PARTITA_DATA to the folder that holds it")
    return np.load(path)


def overhead():
    """The command and `EntropyClustering.fit` in turns on the same file: raw float16 features, K = 10, 8 restarts."""
    from partita import EntropyClustering

    if not common.BINARY.exists():
        sys.exit(f"{common.BINARY} is missing: cargo build --release")
    name = SETS["CIFAR-10, 10,000 x 1,280"][0]
    x = load(name)
    single = x.astype("float32")
    rows = []
    for threads in (1, 2):
        times = {"command, whole process": [], "command, its fit alone": [], "fit of float16": [], "fit of float32": []}
        for _ in range(ROUNDS):
            out, whole = common.run([common.BINARY, "fit", DATA / name, "-k", 10, "-t", threads, "--json"])
            times["command, whole process"].append(whole)
            times["command, its fit alone"].append(json.loads(out)["seconds"])
            for kind, rows_in in (("fit of float16", x), ("fit of float32", single)):
                start = time.perf_counter()
                EntropyClustering(10, n_jobs=threads).fit(rows_in)
                times[kind].append(time.perf_counter() - start)
        base = statistics.median(times["command, whole process"])
        for kind, values in times.items():
            middle = statistics.median(values)
            rows.append((str(threads), kind, f"{middle:.3f}", f"{min(values):.3f}", f"{100 * (middle / base - 1):+.1f} %"))
    print(f"### Overhead on CIFAR-10 features, {ROUNDS} rounds in turns\n")
    common.table(("threads", "", "s, median", "s, least", "median against the command"), rows)


def memory_of(kind):
    """How much the peak of this process grows in a fit of rows of this kind; a line of JSON."""
    import numpy as np
    from partita import EntropyClustering

    EntropyClustering(2).fit(np.eye(8, dtype=np.float32))
    n, m = 200_000, 1280
    dtype = {"float32": np.float32, "float32 by columns": np.float32, "float64": np.float64, "float16": np.float16}[kind]
    x = np.empty((n, m), dtype, order="F" if "columns" in kind else "C")
    rng = np.random.default_rng(0)
    for start in range(0, n, 10_000):
        x[start : start + 10_000] = rng.random((10_000, m), dtype=np.float32) + (np.arange(m) % 10 == start // 10_000 % 10)
    with common.Peak() as memory:
        EntropyClustering(10, n_init=1).fit(x)
    print(json.dumps({"x": x.nbytes / 2**20, "added": memory.added, "prepared": n * min(128, m) * 4 / 2**20}))


def memory():
    rows = []
    for kind in ("float32", "float32 by columns", "float64", "float16"):
        out, _ = common.run([sys.executable, sys.argv[0], "memory-of", kind])
        told = json.loads(out)
        rows.append((kind, f"{told['x']:.0f}", f"{told['added']:.0f}", f"{told['prepared']:.0f}"))
    print("### Memory that a fit of 200,000 x 1,280 needs beyond X\n")
    common.table(("rows", "MB of X", "MB that the fit adds", "of which rows reduced to 128 numbers"), rows)


def imports():
    def seconds(code):
        times = []
        for _ in range(11):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    bare = seconds("pass")
    lines = ["import partita", "from partita import EntropyClustering", "import numpy", "from sklearn.cluster import KMeans"]
    print("### Imports, beyond starting the interpreter, median of 11\n")
    common.table(("", "s"), [(line, f"{seconds(line) - bare:.3f}") for line in lines])


def drop_ins():
    """K-means and mixtures beside scikit-learn's, in turns, on one thread and on two."""
    for threads in (1, 2):
        print(common.again(threads, "drop-ins-alone", threads), end="")


def drop_ins_alone(threads):
    """The same options for both, from the same number of starts; processor time too, since the machine may be busy."""
    import numpy as np
    import partita
    import sklearn.cluster
    import sklearn.mixture
    from sklearn.datasets import load_digits

    photos = load(SETS["CIFAR-10, 10,000 x 1,280"][0])
    rng = np.random.default_rng(0)
    blobs = (rng.standard_normal((20, 16)) * 4)[rng.integers(20, size=100_000)] + rng.standard_normal((100_000, 16))
    sets = {
        "digits, 1,797 x 64, float64": load_digits(return_X_y=True)[0],
        "CIFAR-10, 10,000 x 1,280, float32": photos.astype(np.float32),
        "Gaussians, 100,000 x 16, float64": blobs,
    }
    kinds = [("KMeans(10, n_init=8)", "kmeans", {})]
    kinds += [(f'GaussianMixture(10, covariance_type="{shape}")', "mixture", {"covariance_type": shape}) for shape in ("full", "tied", "diag")]
    rows = []
    for name, x in sets.items():
        for shown, kind, options in kinds:
            # A full covariance of 1,280 features is a matter of minutes for both.
            if x.shape[1] > 1000 and options.get("covariance_type") in ("full", "tied"):
                continue
            if kind == "kmeans":
                makers = {
                    "partita": lambda s: partita.KMeans(10, n_init=8, random_state=s, n_jobs=threads),
                    "scikit-learn": lambda s: sklearn.cluster.KMeans(10, n_init=8, random_state=s),
                }
            else:
                makers = {
                    "partita": lambda s, o=options: partita.GaussianMixture(10, random_state=s, n_jobs=threads, **o),
                    "scikit-learn": lambda s, o=options: sklearn.mixture.GaussianMixture(10, random_state=s, **o),
                }
            told = {who: [] for who in makers}
            for seed in SEEDS:
                for who, make in makers.items():
                    start, busy = time.perf_counter(), time.process_time()
                    model = make(seed).fit(x)
                    seconds, busy = time.perf_counter() - start, time.process_time() - busy
                    told[who].append((seconds, busy, model.inertia_ if kind == "kmeans" else model.lower_bound_, model.n_iter_))
            for who, found in told.items():
                seconds, busy, goal, steps = map(list, zip(*found, strict=True))
                rows.append(
                    (name, shown, who, f"{min(seconds):.2f}", f"{min(busy):.2f}", f"{np.mean(goal):.6g}", f"{np.mean(steps):.0f}")
                )
    print(f"### K-means and mixtures, {threads} thread{'s'[: threads > 1]}, seeds 0 to {SEEDS[-1]} in turns\n")
    common.table(("rows", "", "", "s, least", "processor s, least", "inertia or lower bound, mean", "iterations, mean"), rows)


def peers():
    """One thread for all: on a busy machine the threads of the peers wait for each other."""
    print(common.again(1, "peers-alone"), end="")


def peers_alone():
    """All methods on the same rows and seeds. Peers get rows of unit norm, which helps them; ours gets raw rows."""
    import faiss
    import gemclus.linear
    import numpy as np
    import partita
    import sklearn.cluster
    import sklearn.mixture
    from partita import metrics
    from sklearn.datasets import load_digits

    class Faiss:
        def __init__(self, k, seed):
            self.k, self.seed = k, seed

        def fit(self, x):
            x = np.ascontiguousarray(x, dtype=np.float32)
            kmeans = faiss.Kmeans(x.shape[1], self.k, nredo=8, seed=self.seed, max_points_per_centroid=len(x))
            kmeans.train(x)
            self.labels_ = kmeans.index.search(x, 1)[1].ravel()
            return self

    makers = {
        "partita `EntropyClustering`": lambda k, s: partita.EntropyClustering(k, random_state=s, n_jobs=1),
        "partita `KMeans(n_init=8)`": lambda k, s: partita.KMeans(k, n_init=8, random_state=s, n_jobs=1),
        "partita `GaussianMixture`, diagonal": lambda k, s: partita.GaussianMixture(
            k, covariance_type="diag", random_state=s, n_jobs=1
        ),
        "scikit-learn `KMeans(n_init=8)`": lambda k, s: sklearn.cluster.KMeans(k, n_init=8, random_state=s),
        "scikit-learn `GaussianMixture`, diagonal": lambda k, s: sklearn.mixture.GaussianMixture(
            k, covariance_type="diag", random_state=s
        ),
        "faiss `Kmeans(nredo=8)`, all rows": Faiss,
        "GemClus `RIM`": lambda k, s: gemclus.linear.RIM(k, random_state=s, batch_size=BATCH),
        "GemClus `RIM(reg=1e-3)`": lambda k, s: gemclus.linear.RIM(k, reg=1e-3, random_state=s, batch_size=BATCH),
        "GemClus `LinearModel`": lambda k, s: gemclus.linear.LinearModel(k, random_state=s, batch_size=BATCH),
    }
    sets = {name: (load(x), load(y)) for name, (x, y) in SETS.items()}
    sets["digits, 1,797 x 64"] = load_digits(return_X_y=True)
    for name, (x, truth) in sets.items():
        raw = x.astype(np.float32)
        unit = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-12)
        rows = []
        for method, make in makers.items():
            found, seconds = [], []
            for seed in SEEDS:
                if sum(seconds) > ENOUGH:
                    break
                model = make(10, seed)
                if "GemClus" in method:
                    # Its default is 1,000 steps on all rows at once, which takes a matrix of all pairs of rows.
                    model.set_params(max_iter=max(1, 1000 // -(-len(raw) // BATCH)))
                given = raw if "EntropyClustering" in method else unit
                start = time.perf_counter()
                labels = model.fit_predict(given) if "GaussianMixture" in method else model.fit(given).labels_
                seconds.append(time.perf_counter() - start)
                found.append(metrics.scores(truth.astype(np.int64), labels))
            acc = [s.acc for s in found]
            rows.append(
                (
                    method,
                    f"{np.mean(acc):.3f} ({min(acc):.3f}–{max(acc):.3f})",
                    f"{np.mean([s.nmi for s in found]):.3f}",
                    f"{np.mean([s.ari for s in found]):.3f}",
                    f"{statistics.median(seconds):.2f}",
                    str(len(seconds)),
                )
            )
        print(f"### {name}, K = 10, from seed 0, one thread\n")
        common.table(("", "ACC, mean (range)", "NMI", "ARI", "s, median", "runs"), rows)


PARTS = {"overhead": overhead, "memory": memory, "import": imports, "drop-ins": drop_ins, "peers": peers}


def main():
    if sys.argv[1:2] == ["memory-of"]:
        return memory_of(sys.argv[2])
    if sys.argv[1:2] == ["drop-ins-alone"]:
        return drop_ins_alone(int(sys.argv[2]))
    if sys.argv[1:2] == ["peers-alone"]:
        return peers_alone()
    common.machine()
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
