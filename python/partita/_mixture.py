"""Gaussian mixtures."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import StrOptions

from ._base import WHOLE, Clusterer
from ._rival import NOT_NEGATIVE, SoftRival


class GaussianMixture(SoftRival):
    """A mixture of Gaussians by expectation-maximisation, in double precision.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of Gaussians.
    covariance : {"spherical", "diagonal", "tied", "full"}, default="full"
        Their shape.
    n_init : int, default=1
        Independent starts, each from a K-means run; the likeliest is kept.
    max_iter : int, default=100
        Iterations at most.
    tol : float, default=1e-3
        Stop when the mean log-likelihood of a row rose by less than this.
    floor : float, default=1e-6
        Added to every variance, in units of mean squared row norm 1.
    prepare : str, default="centre"
        What is done to rows first, as in :class:`partita.EntropyClustering`.
    random_state, n_jobs, verbose
        As in :class:`partita.KMeans`.
    dims : int, "auto" or "full", default="auto"
        Dimensions: at most 128 principal components, all features, or how many.

    Attributes
    ----------
    labels_, loss_, n_iter_, stop_reason_, history_
        As in :class:`partita.KMeans`.
    weights_ : ndarray of shape (n_clusters,)
        Shares of the Gaussians.
    means_, covariances_ : ndarray
        Of prepared rows.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import GaussianMixture
    >>> x = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0, 0], [9, 0]], 100, axis=0)
    >>> GaussianMixture(n_clusters=2).fit(x).weights_.round(2).tolist()
    [0.5, 0.5]
    """

    _method = "gmm"
    _auto_dims = "auto"
    _parameter_constraints: dict[str, list[Any]] = {
        **Clusterer._parameter_constraints,
        "covariance": [StrOptions({"spherical", "diagonal", "tied", "full"})],
        "n_init": [WHOLE],
        "max_iter": [WHOLE],
        "tol": [NOT_NEGATIVE],
        "floor": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        covariance: str = "full",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        floor: float = 1e-6,
        prepare: str = "centre",
        dims: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance = covariance
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.floor = floor
        self.prepare = prepare
        self.dims = dims
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _method_options(self) -> dict[str, Any]:
        return {
            "covariance": self.covariance,
            "restarts": int(self.n_init),
            "max_iterations": int(self.max_iter),
            "tolerance": float(self.tol),
            "floor": float(self.floor),
        }

    def _take_parts(self, parts: dict[str, Any]) -> None:
        self.weights_, self.means_ = parts["weights"], parts["means"]
        d = self.means_.shape[1]
        full = self.covariance == "full"
        self.covariances_ = parts["covariances"].reshape(-1, d, d) if full else parts["covariances"]

    def score_samples(self, X: Any) -> Any:
        """ln density of each row, in units of prepared rows; shape (n_samples,)."""
        return self._ask("log_likelihood", X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean ln density of the rows."""
        return float(self.score_samples(X).mean())
