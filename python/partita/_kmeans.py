"""K-means, hard and soft."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ._base import PREPARE, WHOLE, Clusterer
from ._rival import NOT_NEGATIVE, POSITIVE, Rival, SoftRival


class KMeans(Rival):
    """K-means by matrix products, from k-means++ seeds.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    spherical : bool, default=False
        Whether rows and centres are held on the unit sphere (cosine distance).
    n_init : int, default=8
        Independent starts; the one with the lowest inertia is kept.
    max_iter : int, default=300
        Lloyd's iterations at most.
    tol : float, default=1e-4
        Stop when the centres moved by less than this, squared and summed, in units of the mean variance of a feature.
    prepare : str, optional
        What is done to rows first, as in :class:`partita.EntropyClustering`. By default ``"centre"``, which changes no distance;
        ``"none"`` if ``spherical``, whose angles are those at the origin.
    dims : int, "auto" or "full", default="auto"
        Dimensions: all features of dense rows, 128 mildly whitened principal components of sparse ones; or how many.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres; in the space after preparation if that is not a shift and a common factor. If ``spherical``, unit vectors in the
        space after preparation, which by default has the directions of the rows themselves.
    inertia_, loss_ : float
        Sum of squared distances to the centres, in the units of ``cluster_centers_``; the engine's own.
    n_iter_ : int
        Iterations of the chosen start.
    stop_reason_ : {"converged", "finished"}
        Why it stopped.
    history_ : ndarray
        Losses of all starts.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import KMeans
    >>> x = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    >>> model = KMeans(n_clusters=2).fit(x)
    >>> sorted(model.cluster_centers_.round(3).tolist())[1]
    [9.0, 0.5]
    >>> round(model.inertia_, 6)
    1.0
    """

    _method = "kmeans"
    _parameter_constraints: dict[str, list[Any]] = {
        **Clusterer._parameter_constraints,
        "prepare": [None, PREPARE],
        "spherical": ["boolean"],
        "n_init": [WHOLE],
        "max_iter": [WHOLE],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        spherical: bool = False,
        n_init: int = 8,
        max_iter: int = 300,
        tol: float = 1e-4,
        prepare: str | None = None,
        dims: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.spherical = spherical
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
            "restarts": int(self.n_init),
            "max_iterations": int(self.max_iter),
            "tolerance": float(self.tol),
            "spherical": bool(self.spherical),
        }

    def _how_to_prepare(self) -> str:
        return self.prepare or ("none" if self.spherical else "centre")

    def _take_parts(self, parts: dict[str, Any]) -> None:
        self._prepared_centres = parts["centres"]
        # Directions have no place among raw rows: a mean that is added would turn them.
        on_sphere = parts["centres"], 1.0
        self.cluster_centers_, self._unit = on_sphere if self.spherical else self._raw_units(parts, parts["centres"])
        self.inertia_ = self.loss_ * self._unit**2

    def transform(self, X: Any) -> Any:
        """Distances to the centres, float32 of shape (n_samples, n_clusters)."""
        return self._distances(X)

    def _distances(self, X: Any) -> Any:
        x = self._ask("prepared", X).astype(np.float64)
        if self.spherical:
            norms = np.linalg.norm(x, axis=1, keepdims=True)
            x = np.divide(x, norms, out=x, where=norms > 0)
        centres = self._prepared_centres.astype(np.float64)
        # A loop over clusters sums each row in the same order whatever the other rows are.
        distances = np.stack([np.sqrt(((x - c) ** 2).sum(axis=1)) for c in centres], axis=1)
        return (distances * self._unit).astype(np.float32)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared distances to the nearest centres, as scikit-learn's."""
        # Not by transform, which gives a table where one was asked for.
        distances = self._distances(X)
        weights = np.ones(len(distances)) if sample_weight is None else _check_sample_weight(sample_weight, distances)
        return float(-(weights * distances.min(axis=1).astype(np.float64) ** 2).sum())


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
    dims, random_state, n_jobs, verbose
        As in :class:`partita.KMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, loss_, n_iter_, stop_reason_, history_
        As in :class:`partita.KMeans`.

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
