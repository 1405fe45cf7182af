"""Whatever holds numbers, as the matrix that the engine reads in place."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np

# Ordered: what is none of these becomes the first.
FLOATS = (np.float32, np.float64, np.float16)


def as_matrix(x: Any) -> Any:
    """Turn tensors and tables of lists into arrays without copying; leave the rest to scikit-learn.

    Parameters
    ----------
    x : object
        An array, a memory map, a table, a tensor, or anything with ``__array__`` or DLPack.

    Returns
    -------
    object
        Something that :func:`sklearn.utils.check_array` takes.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.eye(3, dtype=np.float32)
    >>> as_matrix(x) is x
    True
    """
    if isinstance(x, np.ndarray):
        return x
    home = type(x).__module__.partition(".")[0]
    if home == "torch":
        return _from_torch(x)
    if home == "pyarrow":
        return _from_arrow(x)
    if home == "polars":
        return _from_polars(x)
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return np.from_dlpack(x)
    return x


def _from_torch(x: Any) -> Any:
    if x.device.type != "cpu":
        raise TypeError(
            f"can't convert {x.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    x = x.detach()
    # numpy has no type for it.
    return (x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy()


def _from_arrow(x: Any) -> Any:
    import pyarrow as pa

    if isinstance(x, (pa.Table, pa.RecordBatch)):
        lists = [i for i, field in enumerate(x.schema) if pa.types.is_fixed_size_list(field.type)]
        if lists:
            if x.num_columns > 1:
                raise ValueError("a table with a column of lists must have no other columns; select the one to cluster")
            return _from_arrow(x.column(0))
        return np.column_stack([column.to_numpy() for column in x.columns])
    if isinstance(x, pa.ChunkedArray):
        x = x.chunk(0) if x.num_chunks == 1 else x.combine_chunks()
    if pa.types.is_fixed_size_list(x.type):
        if x.null_count:
            raise ValueError("Input X contains NaN.\nA list is null; drop such rows or fill them first.")
        return x.flatten().to_numpy(zero_copy_only=False).reshape(-1, x.type.list_size)
    return x.to_numpy(zero_copy_only=False)


def _from_polars(x: Any) -> Any:
    import polars as pl

    if isinstance(x, pl.DataFrame) and x.width == 1 and isinstance(x.dtypes[0], pl.Array):
        x = x.to_series()
    return x.to_numpy() if isinstance(x, pl.Series) else x


def native(x: Any) -> Any:
    """Give a checked array or CSR matrix the form that the engine takes."""
    if isinstance(x, np.ndarray):
        return x if x.flags.aligned and x.dtype.isnative else np.require(x, x.dtype.newbyteorder("="), "A")
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return (
        x.data.astype(np.float32, copy=False),
        x.indices.astype(np.int32, copy=False),
        x.indptr.astype(np.int64, copy=False),
        x.shape[1],
    )


def warn_of_lost_digits(x: Any, names: Any) -> None:
    """Say which columns vary too little around a large number for single precision, in which rows are read.

    Parameters
    ----------
    x : ndarray
        Rows in double precision.
    names : array-like or None
        Names of the columns.
    """
    # Enough rows to see it; reading all of a large file twice would cost more than the fit.
    some = x[:: max(1, x.shape[0] // 2000)]
    spread, size = some.std(axis=0), np.abs(some).max(axis=0)
    step = np.spacing(np.minimum(size, np.finfo(np.float32).max).astype(np.float32)).astype(np.float64)
    bad = np.flatnonzero((spread > 0) & (step > 1e-2 * spread))
    if bad.size:
        j = int(bad[np.argmax(step[bad] / spread[bad])])
        name = repr(str(names[j])) if names is not None else str(j)
        warnings.warn(
            f"column {name} varies by {spread[j]:.3g} around {size[j]:.3g}, where single precision has steps of {step[j]:.3g}; rows are read in single "
            f"precision, so subtract the mean of such columns first: X - X.mean(axis=0)",
            UserWarning,
            stacklevel=4,
        )


def names_of_clusters(names: list[str], k: int) -> Any:
    """The names of the first of ``k`` clusters as an array with None for the others; None if no cluster has a name.

    Examples
    --------
    >>> names_of_clusters(["cat"], 2).tolist()
    ['cat', None]
    """
    return np.asarray([*names, *[None] * (k - len(names))], dtype=object) if names else None


def known_labels(given: Any, n: int | None, k: int, names: Any = None) -> tuple[Any, Any]:
    """Known labels as cluster numbers, -1 where unknown; and the names of the clusters if the labels are names.

    Parameters
    ----------
    given : array-like of shape (n_samples,)
        Whole numbers from 0, or names. None, NaN and -1 mean unknown.
    n : int or None
        How many there must be, if that is known.
    k : int
        Number of clusters.
    names : array-like of shape (k,), optional
        Names that clusters have already; None where one has no name.

    Returns
    -------
    labels : ndarray of int32
        Cluster numbers.
    names : ndarray of object or None
        Name of each cluster, None where there is none; None if no cluster has one.

    Examples
    --------
    >>> labels, names = known_labels(["dog", None, "cat"], 3, 3)
    >>> labels.tolist(), names.tolist()
    ([1, -1, 0], ['cat', 'dog', None])
    """
    from sklearn.utils.validation import column_or_1d

    given = _plain_column(given)
    given = column_or_1d(given)
    if n is not None and given.shape[0] != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {given.shape[0]}]")
    # As in label files, an empty cell is an unknown label.
    unknown = np.array([is_missing(label) or (isinstance(label, str) and not label.strip()) for label in given.tolist()], dtype=bool)
    there = given[~unknown]
    labels = np.full(given.shape[0], -1, dtype=np.int64)
    # An unknown label beside names is often written as the number -1.
    words = [isinstance(label, str) for label in there.tolist()]
    if any(words):
        unknown[~unknown] = [not word and label == -1 for word, label in zip(words, there.tolist(), strict=True)]
        labels[~unknown], names = _numbered(given[~unknown].tolist(), k, names)
        return labels.astype(np.int32), names
    if not all(isinstance(label, Real) and float(label).is_integer() for label in there.tolist()):
        raise ValueError(
            f"Unknown label type: known labels are whole numbers or names; None, NaN and -1 mean unknown. Got dtype {given.dtype}."
        )
    labels[~unknown] = there.astype(np.int64)
    bad = np.flatnonzero((labels < -1) | (labels >= k))
    if bad.size:
        raise ValueError(
            f"the label of row {bad[0]} is {labels[bad[0]]}; labels go from 0 to n_clusters - 1 = {k - 1}, and -1 means unknown"
        )
    return labels.astype(np.int32), names


def _plain_column(given: Any) -> Any:
    """A list with gaps as an array that keeps its words as words."""
    if isinstance(given, (list, tuple)) and any(isinstance(label, str) or label is None for label in given):
        column = np.empty(len(given), dtype=object)
        column[:] = given
        return column
    return given


def _numbered(words: list[Any], k: int, names: Any) -> tuple[Any, Any]:
    """Numbers for names: those of clusters that have the name already, then those that have none, in order."""
    odd = next((word for word in words if not isinstance(word, str)), None)
    if odd is not None:
        raise ValueError(f"known labels are all numbers or all names; beside names there is {odd!r}")
    names = np.full(k, None, dtype=object) if names is None else np.array(names, dtype=object)
    places = {name: place for place, name in enumerate(names) if name is not None}
    free = [place for place, name in enumerate(names) if name is None]
    fresh = sorted(set(words) - set(places))
    if len(fresh) > len(free):
        raise ValueError(
            f"known labels have {len(places) + len(fresh)} different names, but n_clusters={k}; ask for more clusters"
        )
    for name, place in zip(fresh, free, strict=False):
        places[name], names[place] = place, name
    return [places[word] for word in words], names


def is_missing(value: Any) -> bool:
    """Whether this stands for nothing: None, NaN, NaT, pandas' NA."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)
