"""TURTLE."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval

from ._base import WHOLE, Clusterer
from ._rival import NOT_NEGATIVE, POSITIVE, SoftRival


class Turtle(SoftRival):
    """TURTLE: labels that a linear classifier learns in a few steps (Gadetsky, Jiang and Brbić, 2024).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=10.0
        Weight of the entropy of the mean label.
    steps, inner_steps : int, default=6000 and 10
        Outer steps, and steps of the classifier in each.
    learning_rate, inner_learning_rate : float, default=1e-3
        Learning rates of the task encoder and of the classifier.
    batch_size : int, default=10000
        Most rows in a batch.
    warm : bool, default=False
        Whether the classifier goes on from the last outer step instead of starting anew.
    prepare, dims, random_state, n_jobs, verbose
        As in :class:`partita.KMeans`; ``prepare="auto"`` by default.

    Attributes
    ----------
    labels_, loss_, n_iter_, stop_reason_, history_
        As in :class:`partita.KMeans`.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import Turtle
    >>> x = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> Turtle(n_clusters=3, steps=300, learning_rate=1e-2, inner_learning_rate=1e-2).fit(x).n_iter_
    300
    """

    _method = "turtle"
    _allows_one = False
    _parameter_constraints: dict[str, list[Any]] = {
        **Clusterer._parameter_constraints,
        "gamma": [NOT_NEGATIVE],
        "steps": [WHOLE],
        "inner_steps": [WHOLE],
        "learning_rate": [POSITIVE],
        "inner_learning_rate": [POSITIVE],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "warm": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gamma: float = 10.0,
        steps: int = 6000,
        inner_steps: int = 10,
        learning_rate: float = 1e-3,
        inner_learning_rate: float = 1e-3,
        batch_size: int = 10_000,
        warm: bool = False,
        prepare: str = "auto",
        dims: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.steps = steps
        self.inner_steps = inner_steps
        self.learning_rate = learning_rate
        self.inner_learning_rate = inner_learning_rate
        self.batch_size = batch_size
        self.warm = warm
        self.prepare = prepare
        self.dims = dims
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _method_options(self) -> dict[str, Any]:
        return {
            "gamma": float(self.gamma),
            "steps": int(self.steps),
            "inner_steps": int(self.inner_steps),
            "rate": float(self.learning_rate),
            "inner_rate": float(self.inner_learning_rate),
            "batch": int(self.batch_size),
            "warm": bool(self.warm),
        }
