"""Golden values for tests/margin.rs, from scikit-learn and SciPy. Writes margin.json beside this file.

Made with Python 3.11, numpy 2.4.6, SciPy 1.17.1, scikit-learn 1.9.1:

    python crates/partita/tests/golden/margin.py
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVC

rng = np.random.default_rng(0)


def separable(n, m, k, gap):
    """Rows labelled by a random classifier; rows too near to a boundary are left out."""
    w, b = rng.normal(size=(k, m)), 0.3 * rng.normal(size=k)
    x = rng.normal(size=(20 * n, m)).round(4) + 3.0
    z = (x - 3.0) @ w.T + b
    lead = -np.diff(np.sort(z, axis=1)[:, ::-1][:, :2], axis=1)[:, 0]
    keep = np.flatnonzero(lead > gap)[:n]
    labels = z[keep].argmax(1)
    return (x[keep], labels) if len(set(labels)) == k else separable(n, m, k, gap)


def binary(n, m, gap):
    x, y = separable(n, m, 2, gap)
    # libsvm keeps products of rows in single precision: without the shift it is wrong in the fifth digit.
    svc = SVC(kernel="linear", C=1e10, tol=1e-10).fit(x - x.mean(0), y)
    return {"m": m, "k": 2, "x": x.ravel().tolist(), "labels": y.tolist(), "margin": 1 / np.linalg.norm(svc.coef_)}


def multiclass(n, m, k, gap):
    """min ‖W‖²/2 with every lead at least 1; the margin is 1/‖W‖."""
    x, y = separable(n, m, k, gap)
    constraints = []
    for row, own in zip(x - x.mean(0), y):  # biases take up the shift, and SLSQP likes it
        for rival in set(range(k)) - {own}:
            a = np.zeros((k, m + 1))
            a[own] += np.append(row, 1)
            a[rival] -= np.append(row, 1)
            constraints.append(a.ravel())
    a = np.array(constraints)
    mask = np.tile(np.append(np.ones(m), 0), k)
    found = minimize(
        lambda v: 0.5 * (mask * v) @ v,
        np.zeros(k * (m + 1)),
        jac=lambda v: mask * v,
        constraints={"type": "ineq", "fun": lambda v: a @ v - 1, "jac": lambda v: a},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-13},
    )
    assert found.success and (a @ found.x).min() > 1 - 1e-9, found
    return {"m": m, "k": k, "x": x.ravel().tolist(), "labels": y.tolist(), "margin": 1 / np.linalg.norm(mask * found.x)}


golden = {
    "binary": [binary(12, 2, 0.3), binary(60, 2, 0.05), binary(80, 5, 0.2), binary(60, 30, 0.1), binary(30, 60, 0.0)],
    "multiclass": [multiclass(20, 2, 2, 0.2), multiclass(20, 2, 3, 0.2), multiclass(40, 3, 4, 0.1), multiclass(30, 8, 5, 0.1)],
}
Path(__file__).with_suffix(".json").write_text(json.dumps(golden))
