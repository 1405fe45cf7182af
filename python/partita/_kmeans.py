"""K-means."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _native
from ._base import WHOLE, Clusterer
from ._plain import Plain, exact
from ._rival import NOT_NEGATIVE

_SEEDS = {"k-means++": "plus-plus", "random": "random"}


class KMeans(Plain):
    """K-means, with the parameters and attributes of ``sklearn.cluster.KMeans``.

    Rows are read as they are, block by block and in double precision, so that centres, distances and inertia are in the units of the data, whether
    rows are dense or sparse. Nothing is prepared; scale columns or reduce them first if that suits the data.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "random"}, array-like of shape (n_clusters, n_features) or callable, default="k-means++"
        Where it starts: greedy k-means++, rows drawn at random, given centres, or what ``init(X, n_clusters, random_state=...)`` returns.
    n_init : int or "auto", default="auto"
        Independent starts; the one with the lowest inertia is kept. ``"auto"`` means 1 for k-means++ and given centres, 10 otherwise. More starts
        find better clusters where there are many.
    max_iter : int, default=300
        Lloyd's iterations at most.
    tol : float, default=1e-4
        Stop when the centres moved by no more than this, squared and summed, in units of the mean variance of a feature.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices; None draws one.
    copy_x : bool, default=True
        X is never changed, whatever this says.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Both are Lloyd's iterations here: Elkan's bounds change no result.
    spherical : bool, default=False
        Whether rows and centres are held on the unit sphere (cosine distance); distances and inertia are then those on the sphere.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres: the (weighted) means of their rows once converged. float32 for rows of single or half precision, float64 for others.
    labels_ : ndarray of shape (n_samples,)
        The nearest centre of each row.
    inertia_, loss_ : float
        Sum of (weighted) squared distances to the nearest centres.
    n_iter_ : int
        Iterations of the kept start.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    stop_reason_ : {"converged", "finished"}
        Why it stopped.
    history_ : ndarray
        Inertia of every start.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Rows in each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import KMeans
    >>> x = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    >>> model = KMeans(n_clusters=2).fit(x)
    >>> sorted(model.cluster_centers_.tolist())
    [[0.0, 0.5], [9.0, 0.5]]
    >>> model.inertia_
    1.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: Clusterer._parameter_constraints[name] for name in ("n_clusters", "random_state", "n_jobs", "verbose")},
        "init": [StrOptions(set(_SEEDS)), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), WHOLE],
        "max_iter": [WHOLE],
        "tol": [NOT_NEGATIVE],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
        "spherical": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = 0,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        spherical: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.spherical = spherical
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMeans:
        """Find the centres.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : ignored
            For the sake of pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row.

        Returns
        -------
        KMeans
            The fitted estimator.
        """
        self._validate_params()
        x = self._matrix(X, reset=True)
        if x.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={x.shape[0]} should be >= n_clusters={self.n_clusters}.")
        seed = self._seed()
        starts = self._starts(x, seed)
        with self._progress() as tell:
            centres, labels, told = _native.fit_kmeans(
                exact(x),
                json.dumps(self._options(x, seed)),
                threads=self._threads(),
                weights=_weights(sample_weight, x),
                centres=starts,
                progress=tell,
            )
        self.cluster_centers_ = centres.astype(np.float32 if self._single(x) else np.float64)
        report = json.loads(told)
        self._take_report(labels, report)
        self.inertia_ = self.loss_
        self.history_ = np.asarray(report["losses"])
        self.cluster_sizes_ = np.bincount(labels, minlength=self.n_clusters)
        self._warn()
        return self

    def _options(self, x: Any, seed: int) -> dict[str, Any]:
        return {
            "k": int(self.n_clusters),
            "seeds": _SEEDS[str(self.init)] if isinstance(self.init, str) else "random",
            "starts": self._n_init,
            "max_iterations": int(self.max_iter),
            "tolerance": float(self.tol),
            "spherical": bool(self.spherical),
            "single": self._single(x),
            "seed": seed,
        }

    def _starts(self, x: Any, seed: int) -> Any:
        """Centres to start from, one start after the other, if they are given; and how many starts there are."""
        by_name, asked = isinstance(self.init, str), callable(self.init)
        self._n_init = (
            (10 if asked or (by_name and self.init == "random") else 1) if isinstance(self.n_init, str) else int(self.n_init)
        )
        if by_name:
            return None
        if asked:
            state = check_random_state(seed % 2**32)
            starts = [self.init(x, self.n_clusters, random_state=state) for _ in range(self._n_init)]
        else:
            if self._n_init > 1:
                words = "Explicit initial center position passed: performing only one init in"
                warnings.warn(f"{words} {type(self).__name__} instead of n_init={self.n_init}.", RuntimeWarning, stacklevel=3)
            starts, self._n_init = [self.init], 1
        return np.concatenate([self._checked(start, x.shape[1]).ravel() for start in starts])

    def _checked(self, centres: Any, m: int) -> Any:
        centres = check_array(centres, dtype=np.float64, order="C", input_name="init")
        for found, expected, what in [(0, self.n_clusters, "clusters"), (1, m, "features of the data")]:
            if centres.shape[found] != expected:
                raise ValueError(
                    f"The shape of the initial centers {centres.shape} does not match the number of {what} {expected}."
                )
        return centres

    def _warn(self) -> None:
        found = int(np.count_nonzero(self.cluster_sizes_))
        if found < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.n_clusters}). Possibly due to duplicate "
                "points in X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif self.stop_reason_ != "converged":
            warnings.warn(
                f"K-means made max_iter={self.max_iter} iterations and centres still moved; increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.", RuntimeWarning, stacklevel=3
            )

    def _centres(self) -> Any:
        return np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row, shape (n_samples,)."""
        check_is_fitted(self)
        _, rows = self._rows(X)
        return _native.nearest_centres(rows, self._centres(), spherical=bool(self.spherical), threads=self._threads())[0]

    def transform(self, X: Any) -> Any:
        """Distances to the centres, of shape (n_samples, n_clusters) and of the precision of X."""
        check_is_fitted(self)
        x, rows = self._rows(X)
        options = {"spherical": bool(self.spherical), "single": self._single(x), "threads": self._threads()}
        return _native.centre_distances(rows, self._centres(), **options)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of (weighted) squared distances to the nearest centres."""
        check_is_fitted(self)
        x, rows = self._rows(X)
        options = {"spherical": bool(self.spherical), "threads": self._threads(), "weights": _weights(sample_weight, x)}
        return -float(_native.nearest_centres(rows, self._centres(), **options)[1])


def _weights(given: Any, x: Any) -> Any:
    if given is None:
        return None
    weights = np.ascontiguousarray(_check_sample_weight(given, x, dtype=np.float64, ensure_non_negative=True))
    if not weights.any():
        raise ValueError("all entries of sample_weight are zero; give some row a weight")
    return weights
