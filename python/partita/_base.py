"""What all estimators share: checks of input, threads, seeds, progress, and how they show themselves."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ._input import FLOATS, as_matrix, native
from ._progress import Progress

# American spellings, and what the engine calls them.
SPELLINGS = {"center": "centre", "standardize": "standardise"}
PREPARE = StrOptions({"auto", "none", "centre", "standardise", "robust", "l2", "sphere", "floor", *SPELLINGS})
WHOLE = Interval(Integral, 1, None, closed="left")


def _short(numbers: Any) -> str:
    """Numbers in a sentence; of many, the first few."""
    shown = ", ".join(f"{number:g}" for number in numbers[:10])
    return f"[{shown}]" if len(numbers) <= 10 else f"[{shown}, ...]"


class Clusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Base of all estimators; not for direct use."""

    _parameter_constraints: dict[str, list[Any]] = {
        "n_clusters": [WHOLE],
        "prepare": [PREPARE],
        "dims": [StrOptions({"auto", "full"}), WHOLE],
        # The command takes any seed of 64 bits, scikit-learn only half of them.
        "random_state": ["random_state", Interval(Integral, 0, 2**64 - 1, closed="both")],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    # What history_ has an entry for.
    _history_of = "epoch"
    # Types that are read in place, in order: what is none of these becomes the first.
    _floats: tuple[Any, ...] = FLOATS

    _model: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    @property
    def _n_features_out(self) -> int:
        # Of the fit: n_clusters may have been set since.
        return len(self.classes_)

    def _asked(self) -> Any:
        """The number of clusters that is asked for."""
        return self.n_clusters

    def _matrix(self, X: Any, *, reset: bool, fewest: int = 1) -> Any:
        """Check X as scikit-learn does. Values that are not finite are left to the engine, which reads them anyway."""
        matrix = as_matrix(X)
        how = {
            "accept_sparse": "csr" if self.__sklearn_tags__().input_tags.sparse else False,
            "dtype": list(self._floats),
            "ensure_all_finite": self._asked() == 1,
            "ensure_min_samples": fewest,
        }
        if isinstance(matrix, np.ndarray) and getattr(X, "column_names", None) and len(X.column_names) == matrix.shape[1]:
            # An Arrow table: its names are checked, which the array has lost.
            validate_data(self, X, reset=reset, skip_check_array=True)
            return check_array(matrix, estimator=self, input_name="X", **how)
        return validate_data(self, matrix, reset=reset, **how)

    def _ask(self, method: str, X: Any, *more: Any) -> Any:
        """What the trained model says of rows."""
        check_is_fitted(self)
        rows = native(self._matrix(X, reset=False))
        return getattr(self._model, method)(rows, self._threads(), *more)

    def _threads(self) -> int:
        """All cores unless told otherwise; one inside a worker of joblib, whose siblings have the others."""
        return int(effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _progress(self) -> AbstractContextManager[Progress | None]:
        return Progress(type(self).__name__) if self.verbose else nullcontext()

    def _dims(self, sparse: bool = False) -> str | dict[str, int]:
        return self.dims if isinstance(self.dims, str) else {"exactly": int(self.dims)}

    def _take_report(self, labels: Any, told: dict[str, Any]) -> None:
        self.labels_ = labels
        self.loss_ = told["loss"]
        self.n_iter_ = told["iterations"]
        self.stop_reason_ = told["stop"]
        self.report_ = told
        # As it was given, or as it was chosen.
        asked = self._asked()
        self.n_clusters_ = int(asked if isinstance(asked, Integral) else told["k"])
        # What scikit-learn calls the columns of probabilities.
        self.classes_ = np.arange(self.n_clusters_)

    def _warn_of_sizes(self) -> None:
        """Say what a person should know about the sizes of the clusters; called by what ``fit`` calls."""
        advice, sizes = self.report_.get("advice"), self.cluster_sizes_
        lost = int(np.count_nonzero(sizes == 0))
        if advice is None and lost:
            advice = f"{lost} of {len(sizes)} clusters have no rows; ask for fewer clusters, or for more starts"
        if advice is not None:
            warnings.warn(advice, ConvergenceWarning, stacklevel=4)
        prior = getattr(self, "prior_", None)
        if prior is None or len(sizes) == 1:
            return
        total = max(1, int(sizes.sum()))
        apart = 0.5 * float(np.abs(sizes / total - prior).sum())
        # Rounding alone moves half a row of each cluster.
        if apart > 0.1 + len(sizes) / (2 * total):
            warnings.warn(
                f"the sizes {_short(sizes)} contradict the prior {_short(np.round(prior, 3))}: {apart:.0%} of the rows would have to move. Give "
                "the sizes that you expect, prior='auto' to estimate them, or balance='exact' to insist on them.",
                UserWarning,
                stacklevel=4,
            )

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit to X and return the cluster of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster.
        y : ignored
            For the sake of pipelines.
        **options
            Passed on to ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of each row.
        """
        return self.fit(X, y, **options).labels_

    def plot(self, X: Any = None, kind: str | None = None, **options: Any) -> Any:
        """Draw the result; see :func:`partita.plot.plot`."""
        from .plot import plot

        return plot(self, X, kind, **options)

    def _html_repr(self) -> str:
        from sklearn.utils import estimator_html_repr

        from ._html import summary

        return estimator_html_repr(self) + (summary(self) if self.__sklearn_is_fitted__() else "")
