"""Whatever holds numbers, as the matrix that the engine reads in place."""

from __future__ import annotations

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


def known_labels(y: Any, n: int, k: int) -> Any:
    """Check known labels: whole numbers from 0, -1 (or NaN) where unknown."""
    from sklearn.utils.validation import column_or_1d

    y = column_or_1d(y)
    if y.shape[0] != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {y.shape[0]}]")
    if y.dtype.kind == "f":
        y = np.where(np.isnan(y), -1, y)
    if y.dtype.kind not in "iufb" or (y.dtype.kind == "f" and np.any(y != np.floor(y))):
        raise ValueError(f"Unknown label type: known labels are whole numbers, -1 where unknown. Got dtype {y.dtype}.")
    bad = np.flatnonzero((y < -1) | (y >= k))
    if bad.size:
        raise ValueError(
            f"the label of row {bad[0]} is {y[bad[0]]}; labels go from 0 to n_clusters - 1 = {k - 1}, and -1 means unknown"
        )
    return np.ascontiguousarray(y, dtype=np.int32)
