"""Tables of numbers, categories, dates and gaps: `partita fit FILE.csv -k K` as it is beside one-hot columns with KMeans, and k-prototypes.

    PYTHON bench/mixed.py FOLDER

PYTHON is an environment with numpy, pandas, scikit-learn and kmodes, and FOLDER holds the `mixed-NAME.csv` that `get_mixed.py` makes. The numbers are
adjusted Rand indices with the classes, which nothing but the index sees, as means over seeds 0 to 2, and seconds of one fit. For the peers, gaps in
numbers become medians and numbers are standardised, dates become days, gaps in categories are a level, and columns of words that are different in more than
half of the rows are left out; KMeans sees one-hot columns as 0 and 1, or standardised as well. The tables are split by their position in the
alphabetical order of all files, counted from 0: the rules of the plan were chosen on those at even positions.
"""

import json
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import common
import numpy as np
import pandas as pd
from kmodes.kprototypes import KPrototypes
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

warnings.filterwarnings("ignore")
SEEDS = range(3)
HALVES = ("The half that the rules were chosen on", "The other half")
COLUMNS = ("partita", "`--lift none`", "one-hot, KMeans", "standardised one-hot, KMeans", "k-prototypes")


def partita(binary, path, k, options):
    """Mean index over the seeds, seconds of the first fit, and the lift."""
    indices, seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            labels = Path(folder) / "labels.csv"
            command = [binary, "fit", path, "-k", k, "--seed", seed, "--truth", f"{path}:target", "--json", "--labels-out", labels, *options]
            told, took = common.run(command)
            report = json.loads(told)
            indices.append(report["metrics"]["ari"])
            seconds.append(took)
    lift = report["lift"]["kind"] if report["lift"] else "none"
    return np.mean(indices), seconds[0], lift


def for_peers(rows):
    """Standardised numbers, and words, of what peers can use."""
    numbers, words = [], []
    for name in rows:
        column = rows[name]
        if pd.api.types.is_numeric_dtype(column):
            column = column.astype(float)
        elif column.dropna().map(lambda cell: bool(re.match(r"\d{4}[-/]\d", str(cell)))).all():
            column = (pd.to_datetime(column) - pd.Timestamp("1970-01-01")).dt.days.astype(float)
        else:
            if column.nunique() <= column.notna().sum() / 2:
                words.append(column.astype(object).where(column.notna(), "missing").astype(str))
            continue
        column = column.fillna(column.median())
        if column.std() > 0:
            numbers.append((column - column.mean()) / column.std())
    return pd.concat(numbers, axis=1) if numbers else None, pd.concat(words, axis=1) if words else None


def peers(rows, y, k):
    """Index and seconds for each peer."""
    numbers, words = for_peers(rows)
    hot = [] if words is None else [pd.get_dummies(words).astype(float)]
    standard = [(table - table.mean()) / table.std() for table in hot]
    found = []
    for tables in (hot, standard):
        x = pd.concat([*([] if numbers is None else [numbers]), *tables], axis=1).to_numpy()
        start = time.perf_counter()
        labels = [KMeans(k, n_init=10, random_state=seed).fit_predict(x) for seed in SEEDS]
        found.append((labels, (time.perf_counter() - start) / len(SEEDS)))
    if words is None or numbers is None:
        found.append((found[0][0], float("nan")))
    else:
        x = pd.concat([numbers, words], axis=1).to_numpy(dtype=object)
        categorical = list(range(numbers.shape[1], x.shape[1]))
        start = time.perf_counter()
        labels = [KPrototypes(k, n_init=3, random_state=seed).fit_predict(x, categorical=categorical) for seed in SEEDS]
        found.append((labels, (time.perf_counter() - start) / len(SEEDS)))
    return [(np.mean([adjusted_rand_score(y, found) for found in labels]), seconds) for labels, seconds in found]


def main():
    files = sorted(Path(sys.argv[1]).glob("mixed-*.csv")) if len(sys.argv) == 2 else []
    if not files:
        sys.exit("usage: mixed.py FOLDER, with the files mixed-NAME.csv that get_mixed.py makes")
    common.machine()
    binary = common.binary() or sys.exit(1)
    for half, title in enumerate(HALVES):
        print(f"## {title}\n\n| table | rows | columns | gaps | classes | {' | '.join(COLUMNS)} | lift | seconds |")
        print("|---" * (7 + len(COLUMNS)) + "|")
        results = []
        for path in files[half::2]:
            rows = pd.read_csv(path)
            y = pd.factorize(rows.pop("target"))[0]
            k = int(y.max()) + 1
            own, took, lift = partita(binary, path, k, [])
            plain = partita(binary, path, k, ["--lift", "none"])[0]
            others = peers(rows, y, k)
            values = [own, plain, *(index for index, _ in others)]
            results.append(values)
            seconds = " / ".join(f"{value:.2f}" for value in (took, *(seconds for _, seconds in others)))
            name = path.stem.removeprefix("mixed-")
            sizes = f"{len(rows):,} | {rows.shape[1]} | {int(rows.isna().sum().sum()):,} | {k}"
            print(f"| {name} | {sizes} | {' | '.join(f'{value:.3f}' for value in values)} | {lift} | {seconds} |", flush=True)
        mean = " | ".join(f"{value:.3f}" for value in np.mean(results, 0))
        print(f"| **mean** ({len(results)} tables) | | | | | {mean} | | |\n", flush=True)
    print("Seconds: partita, one-hot, standardised one-hot, k-prototypes.")


if __name__ == "__main__":
    main()
