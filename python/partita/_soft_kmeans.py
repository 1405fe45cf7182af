"""Soft K-means."""

from __future__ import annotations

from typing import Any

from ._base import WHOLE, Clusterer
from ._rival import NOT_NEGATIVE, POSITIVE, SoftRival


class SoftKMeans(SoftRival):
    """Soft K-means: min over y and μ of mean Σ y_k ‖x − μ_k‖² − γ mean H(y).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gamma : float, default=0.02
        Weight of the entropy, in units of mean squared row norm 1; K-means is the limit at 0.
    n_init : int, default=8
        Independent starts; the one with the lowest loss is kept.
    max_iter : int, default=300
        Iterations at most.
    tol : float, default=1e-7
        Stop when the loss fell by less than this.
    prepare : str, default="centre"
        What is done to rows first, as in :class:`partita.EntropyClustering`.
    dims : int, "auto" or "full", default="auto"
        Dimensions: all features of dense rows, 128 mildly whitened principal components of sparse ones; or how many.
    random_state, n_jobs, verbose
        As in :class:`partita.KMeans`.

    Attributes
    ----------
    labels_, n_iter_, stop_reason_
        As in :class:`partita.KMeans`.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres; in the space after preparation if that is not a shift and a common factor.
    loss_, history_ : float, ndarray
        Loss of the kept start in units of prepared rows, and losses of all starts.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import SoftKMeans
    >>> x = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    >>> SoftKMeans(n_clusters=2).fit(x).predict_proba(x).max(axis=1).round(3).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    _method = "soft-kmeans"
    _parameter_constraints: dict[str, list[Any]] = {
        **Clusterer._parameter_constraints,
        "gamma": [POSITIVE],
        "n_init": [WHOLE],
        "max_iter": [WHOLE],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gamma: float = 0.02,
        n_init: int = 8,
        max_iter: int = 300,
        tol: float = 1e-7,
        prepare: str = "centre",
        dims: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.prepare = prepare
        self.dims = dims
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _method_options(self) -> dict[str, Any]:
        return {
            "gamma": float(self.gamma),
            "restarts": int(self.n_init),
            "max_iterations": int(self.max_iter),
            "tolerance": float(self.tol),
        }

    def _take_parts(self, parts: dict[str, Any]) -> None:
        self.cluster_centers_, _ = self._raw_units(parts, parts["centres"])
