"""TEMI."""

from __future__ import annotations

import time
import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from ._base import WHOLE, Clusterer
from ._rival import POSITIVE, SoftRival

# Where the expected time is worth a word.
_LONG = 30.0


class Temi(SoftRival):
    """TEMI: neighbours agree, by self-distillation (Adaloglou, Michels, Kalisch and Kollmann, 2023).

    Its authors' defaults train for minutes. A fit that is expected to take longer than half a minute says so before it begins.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    neighbours : int, default=50
        Nearest neighbours among which the partner of a row is drawn.
    heads : int, default=4
        Heads trained together.
    hidden, bottleneck : int, default=512 and 256
        Outputs of the first and the second layer.
    temperature, beta : float, default=0.1 and 0.6
        Temperature of the softmax, and exponent of the pointwise mutual information.
    learning_rate : float, default=1e-4
        Learning rate for batches of 256 rows.
    batch_size, epochs, least_steps : int, default=512, 100 and 3000
        Pairs in a batch, passes over the rows, and fewest steps.
    prepare, dims, random_state, n_jobs, verbose
        As in :class:`partita.KMeans`; ``prepare="auto"`` by default.

    Attributes
    ----------
    labels_, loss_, n_iter_, stop_reason_, history_
        As in :class:`partita.KMeans`.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import Temi
    >>> x = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> Temi(n_clusters=3, hidden=16, bottleneck=8, epochs=5, least_steps=0).fit(x).labels_.shape
    (90,)
    """

    _method = "temi"
    _allows_one = False
    _parameter_constraints: dict[str, list[Any]] = {
        **Clusterer._parameter_constraints,
        "neighbours": [WHOLE],
        "heads": [WHOLE],
        "hidden": [WHOLE],
        "bottleneck": [WHOLE],
        "temperature": [POSITIVE],
        "beta": [POSITIVE],
        "learning_rate": [POSITIVE],
        "batch_size": [WHOLE],
        "epochs": [WHOLE],
        "least_steps": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        neighbours: int = 50,
        heads: int = 4,
        hidden: int = 512,
        bottleneck: int = 256,
        temperature: float = 0.1,
        beta: float = 0.6,
        learning_rate: float = 1e-4,
        batch_size: int = 512,
        epochs: int = 100,
        least_steps: int = 3000,
        prepare: str = "auto",
        dims: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.neighbours = neighbours
        self.heads = heads
        self.hidden = hidden
        self.bottleneck = bottleneck
        self.temperature = temperature
        self.beta = beta
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.least_steps = least_steps
        self.prepare = prepare
        self.dims = dims
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _train(self, x: Any) -> tuple[Any, Any, dict[str, Any]]:
        steps = max(-(-x.shape[0] // self.batch_size) * self.epochs, self.least_steps)
        seconds = self._flops(x.shape[1], min(self.batch_size, x.shape[0])) * steps / (_flops_per_second() * self._threads())
        if seconds > _LONG:
            words = f"Temi will make {steps:,} steps, which takes about {_spoken(seconds)} on this machine"
            warnings.warn(
                f"{words}; fewer epochs, least_steps, heads or hidden shorten it, and verbose=1 shows progress",
                UserWarning,
                stacklevel=3,
            )
        return super()._train(x)

    def _flops(self, m: int, batch: int) -> float:
        """Operations of one step: students and teachers see both rows of every pair, and students go back too."""
        layers = m * self.hidden + self.hidden * self.bottleneck + self.bottleneck * self.n_clusters
        return 2.0 * 2.0 * 4.0 * batch * self.heads * layers

    def _method_options(self) -> dict[str, Any]:
        return {
            "neighbours": int(self.neighbours),
            "heads": int(self.heads),
            "hidden": int(self.hidden),
            "bottleneck": int(self.bottleneck),
            "temperature": float(self.temperature),
            "beta": float(self.beta),
            "rate": float(self.learning_rate),
            "batch": int(self.batch_size),
            "epochs": int(self.epochs),
            "least_steps": int(self.least_steps),
        }


def _flops_per_second() -> float:
    """What a core does in products of this kind, tried out in a few milliseconds."""
    a = np.ones((256, 256), dtype=np.float32)
    a @ a
    began = time.perf_counter()
    for _ in range(4):
        a @ a
    # Half of a plain product's speed: between the products there is other work.
    return 0.5 * 4 * 2 * 256**3 / max(time.perf_counter() - began, 1e-6)


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
