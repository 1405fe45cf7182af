"""The model of one cluster, which needs no engine: everything is in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native


class OneCluster:
    """Answers as the engine's models do, for ``n_clusters=1``.

    Parameters
    ----------
    m : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> OneCluster(2).predict(np.zeros((3, 2)), 1).tolist()
    [0, 0, 0]
    """

    def __init__(self, m: int) -> None:
        self.m = m

    def _column(self, x: Any, value: float) -> Any:
        # A sparse matrix comes as its parts, of which the third has an entry more than there are rows.
        n = len(x[2]) - 1 if isinstance(x, tuple) else x.shape[0]
        return np.full((n, 1), value, dtype=np.float32)

    def predict(self, x: Any, threads: int) -> Any:
        """Cluster 0 for every row."""
        return self._column(x, 0).ravel().astype(np.int32)

    def assign(self, x: Any, threads: int) -> Any:
        """The same: every row belongs to it."""
        return self.predict(x, threads)

    def outlier_scores(self, x: Any, threads: int) -> None:
        """None: it knows no outliers."""

    def predict_sized(self, x: Any, threads: int, sizes: str) -> Any:
        """The same: one cluster has one size."""
        return self.predict(x, threads)

    def predict_proba(self, x: Any, threads: int) -> Any:
        """Certainty."""
        return self._column(x, 1)

    def logits(self, x: Any, threads: int) -> Any:
        """Zeros."""
        return self._column(x, 0)

    def affine(self) -> tuple[Any, Any]:
        """W and b, both zero."""
        return np.zeros((1, self.m), np.float32), np.zeros(1, np.float32)

    def inner(self) -> tuple[Any, Any]:
        """The same: rows have no views."""
        return self.affine()

    def views(self) -> list[tuple[int, None, bool]]:
        """Rows as they are."""
        return [(self.m, None, False)]

    def average(self) -> Any:
        """Nothing is relative to it."""
        return np.zeros(self.m, np.float32)

    def takes_texts(self) -> bool:
        """Rows are numbers."""
        return False

    def is_table(self) -> bool:
        """It takes everything as it is."""
        return False

    def encode(self, columns: list[Any]) -> Any:
        """Rows of a table of which nothing matters but their number."""
        _, kind, cells = columns[0]
        return np.zeros((len(cells[0] if kind == "levels" else cells), self.m), np.float32)

    def prior(self) -> Any:
        """All rows."""
        return np.ones(1)

    def parts(self) -> dict[str, Any]:
        """No numbers."""
        return {}

    def explain(self, x: Any, row: int) -> Any:
        """There is no other cluster that a row could have gone to."""
        raise ValueError("with one cluster there is nothing to explain")

    def portraits(self, x: Any, labels: Any, options: str, threads: int) -> Any:
        """Nor is there one to tell it from."""
        raise ValueError("with one cluster there is nothing to describe")

    def to_onnx(self) -> bytes:
        """The model as ONNX."""
        return _native.LinearModel.of_one_cluster(self.m).to_onnx()

    def write_onnx(self, path: str) -> None:
        """The same as a file."""
        _native.LinearModel.of_one_cluster(self.m).write_onnx(path)

    def save(self, path: str, columns: list[str] | None, clusters: list[str]) -> None:
        """Nothing was learned."""
        raise ValueError("a model of one cluster cannot be saved: the file format begins at two")


REPORT = {"k": 1, "loss": 0.0, "losses": [0.0], "trace": [0.0], "iterations": 1, "stop": "converged", "advice": None}
