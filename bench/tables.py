"""Labelled tables: `partita fit X -k K` on raw columns beside scikit-learn's KMeans and GaussianMixture on standardised ones.

    PYTHON bench/tables.py FOLDER

PYTHON is an environment with numpy and scikit-learn, and FOLDER holds the `table-NAME.npz` that `get_tables.py` makes; those of more than
12,000 rows are left out. The numbers are adjusted Rand indices: the mean over seeds 0 to 2 for Partita, the best of several starts for its
peers. The tables are split by their position in the alphabetical order of all files, counted from 0: the rules that choose a lift were made
with a view to those at even positions. A third set of tables is made: three groups in columns of continuous values, beside columns that know
nothing of them and have few values.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

import common
import numpy as np
from sklearn import cluster, mixture
from sklearn.metrics import adjusted_rand_score

warnings.filterwarnings("ignore")
MOST_ROWS = 12_000
FEW_FEATURES = 32  # `--lift auto` lifts rows of fewer features
SEEDS = range(3)
HALVES = ("The half that the rules were made on", "The other half")
MADE = "Made tables with columns of few values"
DRAWS = 8  # tables of each kind
OPTIONS = {"partita": [], "`--lift none`": ["--lift", "none"], "`--lift quadratic`": ["--lift", "quadratic"]}
PEERS = {
    "K-means": lambda k: cluster.KMeans(k, n_init=10, random_state=0),
    "mixture": lambda k: mixture.GaussianMixture(k, n_init=5, random_state=0),
}


def stored(folder, half):
    """Name, rows and labels of the tables at even (half 0) or odd (half 1) positions."""
    for path in sorted(Path(folder).glob("table-*.npz"))[half::2]:
        arrays = np.load(path)
        if len(arrays["X"]) <= MOST_ROWS:
            yield path.stem.removeprefix("table-"), arrays["X"], arrays["y"]


def groups(rng, columns, n=300, k=3):
    """Groups of deviation 0.15 whose centres are at least 1 apart, in units that differ by a factor of 50."""
    while True:
        centres = rng.normal(size=(k, columns))
        if min(np.linalg.norm(centres[i] - centres[j]) for i in range(k) for j in range(i)) >= 1:
            break
    y = rng.integers(0, k, n)
    return (centres[y] + 0.15 * rng.normal(size=(n, columns))) * np.where(np.arange(columns) % 2, 50, 1), y


def made():
    """Kinds of tables by name, each with several draws of rows and labels."""
    few_values = {
        "one of true and false": lambda rng, n: rng.random((n, 1)) < 0.5,
        "one that is seldom true": lambda rng, n: rng.random((n, 1)) < 0.2,
        "two of true and false": lambda rng, n: rng.random((n, 2)) < 0.5,
        "one of marks from 1 to 5": lambda rng, n: rng.integers(1, 6, (n, 1)),
        "one of small counts": lambda rng, n: rng.poisson(1, (n, 1)),
    }
    for name, extra in few_values.items():
        for columns in (2, 4):
            draws = []
            for draw in range(DRAWS):
                rng = np.random.default_rng(draw)
                x, y = groups(rng, columns)
                draws.append((np.hstack([x, extra(rng, len(x))]), y))
            yield f"{columns} columns and {name}", draws


def standardised(x):
    x = x.astype(float)
    deviation = x.std(0)
    return (x - x.mean(0)) / np.where(deviation > 0, deviation, 1)


def lift_name(report):
    """The kind of lift, with the covariance of a quadratic one."""
    lift = report["lift"]
    return " ".join(filter(None, [lift["kind"], lift.get("covariance")])) if lift else "none"


def partita(binary, x, y, k, options):
    """Mean index over the seeds, and the lifts that were used."""
    indices, lifts = [], []
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder) / "x.npy", Path(folder) / "labels.npy"
        np.save(rows, x.astype(np.float32))
        for seed in SEEDS:
            command = [binary, "fit", rows, "-k", k, "--seed", seed, "--json", "--labels-out", labels, *options]
            lifts.append(lift_name(json.loads(common.run(command)[0])))
            indices.append(adjusted_rand_score(y, np.load(labels)))
    return np.mean(indices), " or ".join(dict.fromkeys(lifts))


def indices(binary, x, y, k):
    """An index for each column of the table, and the lift of the first."""
    found = [partita(binary, x, y, k, options) for options in OPTIONS.values()]
    z = standardised(x)
    peers = [adjusted_rand_score(y, make(k).fit_predict(z)) for make in PEERS.values()]
    return [index for index, _ in found] + peers, found[0][1]


def cells(values):
    return " | ".join(f"{value:.3f}" for value in values)


def table(binary, folder, half):
    columns = [*OPTIONS, *PEERS]
    print(f"## {HALVES[half]}\n\n| table | rows | features | classes | {' | '.join(columns)} | lift of partita |")
    print("|---|---|---|---|" + "---|" * len(columns) + "---|")
    results, few = [], []
    for name, x, y in stored(folder, half):
        k = int(y.max()) + 1
        values, lift = indices(binary, x, y, k)
        results.append(values)
        if x.shape[1] < FEW_FEATURES:
            few.append(values)
        print(f"| {name} | {x.shape[0]:,} | {x.shape[1]} | {k} | {cells(values)} | {lift} |", flush=True)
    for what, rows in (("mean", results), (f"mean, fewer than {FEW_FEATURES} features", few)):
        if rows:
            print(f"| **{what}** ({len(rows)} tables) | | | | {cells(np.mean(rows, 0))} | |")
    print(flush=True)


def made_tables(binary):
    columns = [*OPTIONS, *PEERS]
    print(f"## {MADE}\n\n| table | {' | '.join(columns)} |\n|---|" + "---|" * len(columns))
    results = []
    for name, draws in made():
        results.append(np.mean([indices(binary, x, y, int(y.max()) + 1)[0] for x, y in draws], 0))
        print(f"| {name} | {cells(results[-1])} |", flush=True)
    print(f"| **mean** | {cells(np.mean(results, 0))} |\n", flush=True)


def main():
    if len(sys.argv) != 2 or not any(Path(sys.argv[1]).glob("table-*.npz")):
        sys.exit("usage: tables.py FOLDER, with the files table-NAME.npz that get_tables.py makes")
    common.machine()
    binary = common.binary() or sys.exit(1)
    for half in range(len(HALVES)):
        table(binary, sys.argv[1], half)
    made_tables(binary)


if __name__ == "__main__":
    main()
