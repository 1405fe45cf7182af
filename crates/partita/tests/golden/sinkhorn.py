"""Golden values for the Sinkhorn labels: optimal transport plans by POT.

    pip install numpy pot && python sinkhorn.py > sinkhorn.json

Problem i has n rows of k logits sin(1 + j·(0.7 + i)) · spread for j = 0 .. n·k, weights 1 + (row mod 3)/2 and a prior
proportional to 1 .. k; the plan is that of reg = 1/power, given as labels (the plan over the row weights).
"""

import json

import numpy as np
import ot

problems = []
for i, (n, k, spread, power) in enumerate([(6, 2, 1.0, 1.0), (9, 4, 2.0, 5.0), (12, 3, 0.5, 20.0)]):
    z = np.sin(1 + np.arange(n * k) * (0.7 + i)).reshape(n, k) * spread
    log_sigma = z - np.log(np.exp(z).sum(1, keepdims=True))
    weights = 1 + (np.arange(n) % 3) / 2
    weights /= weights.sum()
    prior = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    plan = ot.bregman.sinkhorn_log(weights, prior, -log_sigma, 1 / power, numItermax=1_000_000, stopThr=1e-15)
    labels = plan / weights[:, None]
    problems.append({"n": n, "k": k, "spread": spread, "power": power, "labels": labels.ravel().tolist()})
print(json.dumps(problems, indent=1))
