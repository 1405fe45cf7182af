"""Golden values for tests/metrics.rs, from scikit-learn and SciPy. Writes metrics.json beside this file.

Made with Python 3.11, numpy 2.4.6, SciPy 1.17.1, scikit-learn 1.9.1:

    python crates/partita/tests/golden/metrics.py
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_score
from sklearn.metrics.cluster import contingency_matrix

rng = np.random.default_rng(0)


def accuracy(truth, predicted):
    table = contingency_matrix(truth, predicted)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return table[rows, columns].sum() / len(truth)


def labeling(name, truth, predicted):
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    return {
        "name": name,
        "truth": truth.tolist(),
        "predicted": predicted.tolist(),
        "acc": float(accuracy(truth, predicted)),
        "nmi": float(normalized_mutual_info_score(truth, predicted)),
        "ari": float(adjusted_rand_score(truth, predicted)),
    }


def noisy(n, classes, clusters, wrong):
    """Labels that agree up to renaming, except for a share of random ones."""
    truth = rng.integers(0, classes, n)
    predicted = (truth * 7 + 3) % clusters
    random = rng.random(n) < wrong
    predicted[random] = rng.integers(0, clusters, random.sum())
    return truth, predicted


def silhouette(name, n, m, clusters, spread):
    labels = rng.integers(0, clusters, n)
    rows = (rng.normal(size=(n, m)) + spread * rng.normal(size=(clusters, m))[labels]).astype(np.float32)
    score = silhouette_score(rows.astype(np.float64), labels)
    return {"name": name, "m": m, "rows": rows.ravel().tolist(), "labels": labels.tolist(), "score": float(score)}


labelings = [
    labeling("unrelated, 3 by 3", rng.integers(0, 3, 50), rng.integers(0, 3, 50)),
    labeling("10 by 10, a third wrong", *noisy(400, 10, 10, 0.33)),
    labeling("more clusters than classes", *noisy(300, 5, 17, 0.2)),
    labeling("fewer clusters than classes", *noisy(300, 17, 5, 0.2)),
    labeling("many small clusters", *noisy(300, 60, 60, 0.8)),
    labeling("names with gaps", rng.choice([2, 40, 1000], 80), rng.choice([7, 8, 10**12], 80)),
    labeling("the same partition", [0, 0, 1, 1, 2], [5, 5, 0, 0, 3]),
    labeling("one cluster each", [3] * 7, [0] * 7),
    labeling("one cluster against three classes", [0, 0, 1, 1, 2], [0] * 5),
    labeling("three clusters against one class", [0] * 5, [0, 0, 1, 1, 2]),
    labeling("singletons against singletons", range(9), range(9)[::-1]),
    labeling("singletons against three classes", [0, 0, 0, 1, 1, 1, 2, 2, 2], range(9)),
    labeling("one row", [4], [2]),
    labeling("independent by design", [0, 0, 1, 1], [0, 1, 0, 1]),
]
silhouettes = [
    silhouette("overlapping", 60, 3, 4, 0.5),
    silhouette("separated, odd width", 40, 13, 3, 4.0),
    silhouette("two wide clusters", 30, 24, 2, 1.0),
]
text = json.dumps({"labelings": labelings, "silhouettes": silhouettes}, separators=(",", ":"))
text = text.replace('{"name"', '\n{"name"').replace("}]", "}\n]")
Path(__file__).with_name("metrics.json").write_text(text + "\n")
