"""What the methods that are not losses of the linear engine share."""

from __future__ import annotations

import json
import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from . import _native
from ._base import SPELLINGS, Clusterer
from ._input import native
from ._one import REPORT as ONE_CLUSTER
from ._one import OneCluster

POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class Rival(Clusterer):
    """Base of the methods that are not losses of the linear engine; not for direct use."""

    _method = ""
    # Whether the method itself has a meaning for one cluster.
    _allows_one = True
    # The widest rows that are used whole where `dims` is "auto".
    _auto_dims: str | dict[str, int] = "full"

    _history_of = "start"

    def _how_to_prepare(self) -> str:
        return SPELLINGS.get(self.prepare, str(self.prepare))

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
        self._warn()
        return self

    def _warn(self) -> None:
        self._warn_of_sizes()
        # Those without a tolerance always make all their steps.
        if hasattr(self, "tol") and self.stop_reason_ == "finished":
            words = f"max_iter={self.max_iter} iterations were made and the loss still fell; increase max_iter or tol"
            warnings.warn(words, ConvergenceWarning, stacklevel=3)

    def _train(self, x: Any) -> tuple[Any, Any, dict[str, Any]]:
        sparse = not isinstance(x, np.ndarray)
        shared = {"prepare": self._how_to_prepare(), "dims": self._dims(sparse), "seed": self._seed()}
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
