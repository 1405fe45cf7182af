"""Golden values for tests/rivals.rs, from scikit-learn. Writes rivals.json beside this file.

Made with Python 3.11, numpy 2.4.6, scikit-learn 1.9.1:

    python crates/partita/tests/golden/rivals.py
"""

import json
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

N, M, K = 90, 4, 3
rng = np.random.default_rng(0)
x = (rng.normal(size=(N, M)) + 2.0 * rng.normal(size=(K, M))[np.arange(N) % K]).round(4)
start = x[:K].copy()
variances = np.array([1.0, 0.5, 2.0])
weights = np.array([0.5, 0.3, 0.2])
precisions = {
    "spherical": 1 / variances,
    "diag": np.repeat(1 / variances[:, None], M, axis=1),
    "full": np.stack([np.eye(M) / v for v in variances]),
}
mixtures = []
for kind, precision in precisions.items():
    for iterations in (1, 4, 20):
        mixture = GaussianMixture(
            K, covariance_type=kind, tol=0.0, max_iter=iterations, weights_init=weights, means_init=start, precisions_init=precision
        ).fit(x)
        score = mixture.score(x)
        mixtures.append({"kind": kind, "iterations": iterations, "log_likelihood": score})
kmeans = []
for iterations in (1, 3, 100):
    fitted = KMeans(K, init=start.astype(np.float32), n_init=1, max_iter=iterations, tol=0.0).fit(x.astype(np.float32))
    kmeans.append({"iterations": iterations, "inertia": float(fitted.inertia_)})
golden = {
    "m": M,
    "x": x.ravel().tolist(),
    "variances": variances.tolist(),
    "weights": weights.tolist(),
    "mixtures": mixtures,
    "kmeans": kmeans,
}
Path(__file__).with_suffix(".json").write_text(json.dumps(golden))
