"""What K-means and Gaussian mixtures share: rows as they are, in double precision, and results in their units."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Clusterer


class Plain(Clusterer):
    """Base of the methods that see rows as they are; not for direct use."""

    _history_of = "start"
    # Whole numbers become the first, as in scikit-learn.
    _floats = (np.float64, np.float32, np.float16)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "report_")

    @staticmethod
    def _single(x: Any) -> bool:
        """Whether results are in single precision, as rows are; those of half precision have them so too."""
        return x.dtype != np.float64

    def _rows(self, X: Any) -> tuple[Any, Any]:
        """Rows, checked against the fit, and in the form that the engine takes."""
        x = self._matrix(X, reset=False)
        return x, exact(x)


def exact(x: Any) -> Any:
    """Give a checked array or CSR matrix the form that the engine takes, without dropping a digit.

    Parameters
    ----------
    x : ndarray or CSR matrix
        Rows.

    Returns
    -------
    ndarray or tuple
        The array itself if it can be read in place; values, columns, starts and width of a sparse matrix.

    Examples
    --------
    >>> x = np.eye(2)
    >>> exact(x) is x
    True
    """
    if isinstance(x, np.ndarray):
        return x if x.flags.aligned and x.dtype.isnative else np.require(x, x.dtype.newbyteorder("="), "A")
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    columns, starts = x.indices.astype(np.int32, copy=False), x.indptr.astype(np.int64, copy=False)
    return np.ascontiguousarray(x.data, np.float64), np.ascontiguousarray(columns), np.ascontiguousarray(starts), x.shape[1]
