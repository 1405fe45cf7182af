"""Gaussian mixtures."""

from __future__ import annotations

import json
import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import WHOLE, Clusterer
from ._plain import Plain, exact
from ._rival import NOT_NEGATIVE

_SHAPES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}
_STARTS = {"kmeans": "k-means", "k-means++": "plus-plus", "random": "random", "random_from_data": "random-rows"}


class GaussianMixture(Plain):
    """A mixture of Gaussians, with the parameters and attributes of ``sklearn.mixture.GaussianMixture``.

    Expectation-maximisation in double precision on rows as they are: means, covariances and densities are in the units of the data.

    Parameters
    ----------
    n_components : int, default=1
        Number of Gaussians.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Their shape: a matrix each, one matrix for all, a variance for each feature, one variance each.
    tol : float, default=1e-3
        Stop when the mean log-likelihood of a row rose by less than this.
    reg_covar : float, default=1e-6
        Added to every variance.
    max_iter : int, default=100
        Iterations at most; 0 leaves the Gaussians where they start.
    n_init : int, default=1
        Independent starts; the likeliest is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        What the first Gaussians are estimated from.
    weights_init : array-like of shape (n_components,), optional
        Shares to start from.
    means_init : array-like of shape (n_components, n_features), optional
        Means to start from.
    precisions_init : array-like, optional
        Inverse covariances to start from, of the shape of ``precisions_``.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices; None draws one.
    warm_start : bool, default=False
        Start from the Gaussians of the last fit.
    verbose : int, default=0
        Whether to show progress.
    verbose_interval : int, default=10
        Without effect: progress is shown a few times a second.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Shares of the Gaussians.
    means_ : ndarray of shape (n_components, n_features)
        Their means.
    covariances_, precisions_, precisions_cholesky_ : ndarray
        Covariances, their inverses, and the Cholesky factors of these: of shape (n_components, n_features, n_features) for ``"full"``,
        (n_features, n_features) for ``"tied"``, (n_components, n_features) for ``"diag"``, (n_components,) for ``"spherical"``.
    converged_ : bool
        Whether the kept start converged.
    n_iter_ : int
        Its iterations.
    lower_bound_, lower_bounds_ : float, list of float
        Mean log-likelihood of a row before its last iteration, and before each.
    labels_, loss_, stop_reason_, history_, cluster_sizes_
        Likeliest Gaussian of each row; minus the mean log-likelihood in the end; why it stopped; losses of all starts; rows of each Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import GaussianMixture
    >>> x = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0, 0], [9, 0]], 100, axis=0)
    >>> model = GaussianMixture(n_components=2).fit(x)
    >>> model.weights_.round(2).tolist(), model.converged_
    ([0.5, 0.5], True)
    >>> model.bic(x) < GaussianMixture(n_components=1).fit(x).bic(x)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: Clusterer._parameter_constraints[name] for name in ("random_state", "n_jobs", "verbose")},
        "n_components": [WHOLE],
        "covariance_type": [StrOptions(set(_SHAPES))],
        "tol": [NOT_NEGATIVE],
        "reg_covar": [NOT_NEGATIVE],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [WHOLE],
        "init_params": [StrOptions(set(_STARTS))],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "warm_start": ["boolean"],
        "verbose_interval": [WHOLE],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = 0,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.n_jobs = n_jobs

    def _asked(self) -> Any:
        return self.n_components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def fit(self, X: Any, y: Any = None) -> GaussianMixture:
        """Find the Gaussians.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            For the sake of pipelines.

        Returns
        -------
        GaussianMixture
            The fitted estimator.
        """
        self._validate_params()
        x = self._matrix(X, reset=True, fewest=2)
        if x.shape[0] < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, n_samples = {x.shape[0]}"
            )
        options = json.dumps(self._options(x))
        try:
            with self._progress() as tell:
                found = _native.fit_mixture(exact(x), options, threads=self._threads(), progress=tell)
        except ValueError as error:
            if "positive definite" not in str(error):
                raise
            raise ValueError(
                "Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance caused by "
                "singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or scale the input data."
            ) from error
        self._take(*found, np.float32 if self._single(x) else np.float64)
        proba, _ = self._judge(x)
        self._take_report(proba.argmax(axis=1).astype(np.int32), self._told)
        self.history_ = np.asarray(self._told["losses"])
        self.cluster_sizes_ = np.bincount(self.labels_, minlength=self.n_components)
        if not self.converged_ and self.max_iter > 0:
            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, or check for "
                "degenerate data.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _options(self, x: Any) -> dict[str, Any]:
        weights, means, covariances = self._given(x.shape[1])
        complete = weights is not None and means is not None and covariances is not None
        return {
            "k": int(self.n_components),
            "covariance": _SHAPES[self.covariance_type],
            "start": _STARTS[self.init_params],
            "starts": 1 if complete else int(self.n_init),
            "max_iterations": int(self.max_iter),
            "tolerance": float(self.tol),
            "floor": float(self.reg_covar),
            "seed": self._seed(),
            "weights": weights,
            "means": means,
            "covariances": covariances,
            "bound": self.lower_bound_ if self._goes_on(x.shape[1]) and np.isfinite(self.lower_bound_) else None,
        }

    def _goes_on(self, m: int) -> bool:
        """Whether the Gaussians of the last fit are where this one starts."""
        return bool(self.warm_start and hasattr(self, "means_") and self.means_.shape == (self.n_components, m))

    def _given(self, m: int) -> tuple[Any, Any, Any]:
        """Shares, means and covariances to start from, where they are known."""
        if self._goes_on(m):
            return self.weights_.astype(float).tolist(), self.means_.astype(float).ravel().tolist(), self._lines().tolist()
        k = self.n_components
        weights = _shaped(self.weights_init, (k,), "weights")
        if weights is not None:
            _check_shares(weights)
        means = _shaped(self.means_init, (k, m), "means")
        shapes = {"full": (k, m, m), "tied": (m, m), "diag": (k, m), "spherical": (k,)}
        precisions = _shaped(self.precisions_init, shapes[self.covariance_type], f"{self.covariance_type} precision")
        covariances = (
            None if precisions is None else _as_lines(_inverse(precisions, self.covariance_type), self.covariance_type, k)
        )
        parts = (weights, None if means is None else means.ravel(), covariances)
        return tuple(None if part is None else part.tolist() for part in parts)  # type: ignore[return-value]

    def _take(self, weights: Any, means: Any, lines: Any, told: str, dtype: Any) -> None:
        """Keep what was found."""
        m, shape = means.shape[1], self.covariance_type
        self.weights_ = (weights / weights.sum()).astype(dtype)
        self.means_ = means.astype(dtype)
        full = lines.reshape(-1, m, m) if shape in ("full", "tied") else lines
        covariances = full[0] if shape == "tied" else full.ravel() if shape == "spherical" else full
        factors = _factors(covariances, shape)
        self.covariances_ = covariances.astype(dtype)
        self.precisions_cholesky_ = factors.astype(dtype)
        products = factors @ np.swapaxes(factors, -1, -2) if shape in ("full", "tied") else factors**2
        self.precisions_ = products.astype(dtype)
        self._told = json.loads(told)
        self.converged_ = self._told["stop"] == "converged"
        self.lower_bounds_ = self._told["bounds"]
        self.lower_bound_ = self.lower_bounds_[-1] if self.lower_bounds_ else -np.inf

    def _lines(self) -> Any:
        """Covariances, a line for each Gaussian."""
        return _as_lines(np.asarray(self.covariances_, dtype=np.float64), self.covariance_type, len(self.weights_))

    def _judge(self, x: Any) -> tuple[Any, Any]:
        weights, means = np.asarray(self.weights_, np.float64), np.ascontiguousarray(self.means_, dtype=np.float64)
        shape = _SHAPES[self.covariance_type]
        proba, likelihoods = _native.judge_mixture(
            exact(x), shape, weights.tolist(), means, self._lines(), threads=self._threads()
        )
        dtype = np.float32 if self._single(x) else np.float64
        return proba.astype(dtype, copy=False), likelihoods.astype(dtype, copy=False)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of all Gaussians, of shape (n_samples, n_components) and of the precision of X; rows sum to one."""
        check_is_fitted(self)
        return self._judge(self._matrix(X, reset=False))[0]

    def predict(self, X: Any) -> Any:
        """The likeliest Gaussian of each row, shape (n_samples,)."""
        return self.predict_proba(X).argmax(axis=1).astype(np.int32)

    def transform(self, X: Any) -> Any:
        """Probabilities of all Gaussians, as features for what comes next in a pipeline."""
        return self.predict_proba(X)

    def score_samples(self, X: Any) -> Any:
        """ln density of each row, shape (n_samples,)."""
        check_is_fitted(self)
        return self._judge(self._matrix(X, reset=False))[1]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean ln density of the rows."""
        return float(self.score_samples(X).mean())

    def _n_parameters(self) -> int:
        """Numbers that describe the mixture."""
        k, m = self.means_.shape
        shapes = {"full": k * m * (m + 1) / 2, "tied": m * (m + 1) / 2, "diag": k * m, "spherical": k}
        return int(shapes[self.covariance_type] + k * m + k - 1)

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion on X; lower is better."""
        scores = self.score_samples(X)
        return float(-2 * scores.sum(dtype=np.float64) + self._n_parameters() * np.log(len(scores)))

    def aic(self, X: Any) -> float:
        """The Akaike information criterion on X; lower is better."""
        return float(-2 * self.score_samples(X).sum(dtype=np.float64) + 2 * self._n_parameters())

    def sample(self, n_samples: int = 1) -> tuple[Any, Any]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            How many.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows, one Gaussian after the other.
        y : ndarray of shape (n_samples,)
            The Gaussian of each.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample from n_components={self.n_components}."
            )
        state = check_random_state(
            self.random_state if not isinstance(self.random_state, Integral) else self.random_state % 2**32
        )
        k, m = self.means_.shape
        weights = np.asarray(self.weights_, np.float64)
        counts = state.multinomial(n_samples, weights / weights.sum())
        shape = {"full": (m, m), "tied": (m, m), "diag": (m,), "spherical": ()}[self.covariance_type]
        drawn = []
        for mean, line, count in zip(self.means_, self._lines(), counts, strict=True):
            spread, normal = line.reshape(shape), state.standard_normal((count, m))
            drawn.append(mean + (normal @ np.linalg.cholesky(spread).T if len(shape) == 2 else normal * np.sqrt(spread)))
        return np.vstack(drawn), np.repeat(np.arange(k), counts)


def _shaped(given: Any, shape: tuple[int, ...], name: str) -> Any:
    if given is None:
        return None
    given = check_array(given, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name)
    if given.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {given.shape}")
    return given


def _check_shares(weights: Any) -> None:
    if np.any(weights < 0.0) or np.any(weights > 1.0):
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got max value "
            f"{weights.min():.5f}, min value {weights.max():.5f}"
        )
    if abs(1.0 - weights.sum()) > 1e-6:
        raise ValueError(f"The parameter 'weights' should be normalized, but got sum(weights) = {weights.sum():.5f}")


def _inverse(precisions: Any, shape: str) -> Any:
    """Covariances from their inverses."""
    if shape in ("diag", "spherical"):
        if np.any(precisions <= 0.0):
            raise ValueError(f"'{shape} precision' should be positive")
        return 1.0 / precisions
    swapped = np.swapaxes(precisions, -1, -2)
    if not np.allclose(precisions, swapped) or np.any(np.linalg.eigvalsh(precisions) <= 0.0):
        raise ValueError(f"'{shape} precision' should be symmetric, positive-definite")
    inverse = np.linalg.inv(precisions)
    return (inverse + np.swapaxes(inverse, -1, -2)) / 2.0


def _as_lines(covariances: Any, shape: str, k: int) -> Any:
    """Covariances of any shape, a line for each Gaussian."""
    if shape == "tied":
        covariances = np.broadcast_to(covariances, (k, *covariances.shape))
    return np.ascontiguousarray(covariances.reshape(k, -1))


def _factors(covariances: Any, shape: str) -> Any:
    """Cholesky factors of the inverses, upper triangular as scikit-learn has them."""
    if shape in ("diag", "spherical"):
        return 1.0 / np.sqrt(covariances)
    lower = np.linalg.cholesky(covariances)
    return np.swapaxes(np.linalg.inv(lower), -1, -2)
