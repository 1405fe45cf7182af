"""K-means, soft K-means, Gaussian mixtures, TURTLE and TEMI."""

from __future__ import annotations

import json
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

from . import _native
from ._base import WHOLE, Clusterer
from ._input import native
from ._one import REPORT as ONE_CLUSTER
from ._one import OneCluster

_POSITIVE = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_SHARE = Interval(Real, 0, 1, closed="left")


class Rival(Clusterer):
    """Base of the methods that are not losses of the linear engine; not for direct use."""

    _method = ""
    # Whether the method itself has a meaning for one cluster.
    _allows_one = True
    # The widest rows that are used whole where `dims` is "auto".
    _auto_dims: str | dict[str, int] = "full"

    def _method_options(self) -> dict[str, Any]:
        raise NotImplementedError

    def _dims(self, sparse: bool = False) -> str | dict[str, int]:
        if self.dims != "auto":
            return super()._dims(sparse)
        # Whole rows of a sparse matrix would be the dense matrix.
        return "auto" if sparse else self._auto_dims

    def fit(self, X: Any, y: Any = None) -> Any:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, of any kind that :meth:`partita.EntropyClustering.fit` takes.
        y : ignored
            For the sake of pipelines.

        Returns
        -------
        object
            The fitted estimator.
        """
        self._validate_params()
        x = self._matrix(X, reset=True, fewest=2)
        if self.n_clusters == 1 and not self._allows_one:
            self._model, labels, report = OneCluster(x.shape[1]), np.zeros(x.shape[0], np.int32), ONE_CLUSTER
        else:
            self._model, labels, report = self._train(x)
        self._take_report(labels, report)
        self.history_ = np.asarray(report["losses"])
        self.cluster_sizes_ = np.bincount(labels, minlength=self.n_clusters)
        self._take_parts(self._model.parts())
        return self

    def _train(self, x: Any) -> tuple[Any, Any, dict[str, Any]]:
        sparse = not isinstance(x, np.ndarray)
        shared = {"prepare": self.prepare, "dims": self._dims(sparse), "seed": self._seed()}
        with self._progress() as tell:
            model, labels, report = _native.fit_rival(
                native(x),
                self._method,
                json.dumps({"k": int(self.n_clusters), **self._method_options()}),
                json.dumps(shared),
                threads=self._threads(),
                progress=tell,
            )
        return model, labels, json.loads(report)

    def _take_parts(self, parts: dict[str, Any]) -> None:
        """Set what is special to the method."""

    def _raw_units(self, parts: dict[str, Any], centres: Any) -> tuple[Any, float]:
        """Centres in the units of raw rows, and how many raw units one prepared unit is; as prepared where that cannot be."""
        scale = parts["scale"].astype(np.float64)
        if parts["reduced"] or np.ptp(scale[scale > 0]) > 0:
            return centres, 1.0
        factor = float(scale.max())
        raw = centres.astype(np.float64) / factor + parts["mean"]
        if not parts["normalise"] and parts["view_centre"].size:
            raw += parts["view_centre"]
        return raw.astype(np.float32), 1.0 / factor

    def predict(self, X: Any) -> Any:
        """Cluster of each row, shape (n_samples,)."""
        return self._assignments(X).argmax(axis=1).astype(np.int32)

    def _assignments(self, X: Any) -> Any:
        return self._ask("predict_proba", X)


class SoftRival(Rival):
    """Base of the methods with probabilities; not for direct use."""

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of all clusters, float32 of shape (n_samples, n_clusters); rows sum to one."""
        return self._assignments(X)

    def transform(self, X: Any) -> Any:
        """Probabilities of all clusters, as features for what comes next in a pipeline."""
        return self.predict_proba(X)

    def score(self, X: Any, y: Any = None) -> float:
        """How decided rows are: −mean H(σ)/ln K; 0 is best."""
        proba = self.predict_proba(X).astype(np.float64)
        doubt = -np.sum(proba * np.log(np.maximum(proba, np.finfo(np.float64).tiny)), axis=1)
        return float(-doubt.mean() / np.log(max(2, self.n_clusters)))


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
    prepare : str, default="centre"
        What is done to rows first, as in :class:`partita.EntropyClustering`; ``"centre"`` changes no distance.
    dims : int, "auto" or "full", default="auto"
        Numbers of a row: all features of dense rows, 128 mildly whitened principal components of sparse ones; or how many.
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
        Centres; in the space after preparation if that is not a shift and a common factor.
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
        "spherical": ["boolean"],
        "n_init": [WHOLE],
        "max_iter": [WHOLE],
        "tol": [_NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        spherical: bool = False,
        n_init: int = 8,
        max_iter: int = 300,
        tol: float = 1e-4,
        prepare: str = "centre",
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

    def _take_parts(self, parts: dict[str, Any]) -> None:
        self._prepared_centres = parts["centres"]
        self.cluster_centers_, self._unit = self._raw_units(parts, parts["centres"])
        self.inertia_ = self.loss_ * self._unit**2

    def transform(self, X: Any) -> Any:
        """Distances to the centres, float32 of shape (n_samples, n_clusters)."""
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
        distances = self.transform(X)
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
    prepare, dims, random_state, n_jobs, verbose
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
        "gamma": [_POSITIVE],
        "n_init": [WHOLE],
        "max_iter": [WHOLE],
        "tol": [_NOT_NEGATIVE],
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


class GaussianMixture(SoftRival):
    """A mixture of Gaussians by expectation-maximisation, in double precision.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of Gaussians.
    covariance : {"spherical", "diagonal", "full"}, default="full"
        Their shape.
    n_init : int, default=1
        Independent starts, each from a K-means run; the likeliest is kept.
    max_iter : int, default=100
        Iterations at most.
    tol : float, default=1e-3
        Stop when the mean log-likelihood of a row rose by less than this.
    floor : float, default=1e-6
        Added to every variance, in units of mean squared row norm 1.
    prepare, random_state, n_jobs, verbose
        As in :class:`partita.KMeans`.
    dims : int, "auto" or "full", default="auto"
        Numbers of a row: at most 128 principal components, all features, or how many.

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
        "covariance": [StrOptions({"spherical", "diagonal", "full"})],
        "n_init": [WHOLE],
        "max_iter": [WHOLE],
        "tol": [_NOT_NEGATIVE],
        "floor": [_NOT_NEGATIVE],
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
        "gamma": [_NOT_NEGATIVE],
        "steps": [WHOLE],
        "inner_steps": [WHOLE],
        "learning_rate": [_POSITIVE],
        "inner_learning_rate": [_POSITIVE],
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


class Temi(SoftRival):
    """TEMI: neighbours agree, by self-distillation (Adaloglou, Michels, Kalisch and Kollmann, 2023).

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
        "temperature": [_POSITIVE],
        "beta": [_POSITIVE],
        "learning_rate": [_POSITIVE],
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
