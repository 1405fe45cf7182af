"""Tables of numbers, categories, dates and gaps as typed columns, which the engine makes a plan for."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ._input import is_missing


class Table:
    """The columns of a table: name, kind and cells of each, as the engine takes them.

    Parameters
    ----------
    columns : list of tuple
        Name; ``"number"``, ``"boolean"``, ``"moment"``, ``"levels"`` or ``"words"``; and the cells.
    n : int
        Number of rows.

    Examples
    --------
    >>> Table([("size", "number", np.zeros(3, np.float32))], 3).shape
    (3, 1)
    """

    def __init__(self, columns: list[tuple[str, str, Any]], n: int) -> None:
        self.columns = columns
        self.shape = (n, len(columns))

    def __len__(self) -> int:
        return self.shape[0]


def as_table(x: Any, roles: dict[str, str] | None = None, always: bool = False) -> Table | None:
    """A table that holds more than numbers, or gaps, as typed columns; None for everything else.

    Parameters
    ----------
    x : object
        A table of pandas, polars or pyarrow, or anything else.
    roles : dict, optional
        What columns are said to be.
    always : bool, default=False
        Whether tables of numbers alone are taken too.

    Returns
    -------
    Table or None
        The typed columns.
    """
    home = type(x).__module__.partition(".")[0]
    kind = type(x).__name__
    if home == "pandas" and kind == "DataFrame":
        names, column_of = [str(name) for name in x.columns], _from_pandas
        columns = [x.iloc[:, at] for at in range(x.shape[1])]
        n = len(x)
    elif home == "polars" and kind == "DataFrame":
        names, column_of, columns, n = list(x.columns), _from_polars, x.get_columns(), x.height
    elif home == "pyarrow" and kind in ("Table", "RecordBatch"):
        names, column_of, columns, n = list(x.schema.names), _from_arrow, list(x.columns), x.num_rows
    else:
        return None
    roles = {str(name): role for name, role in (roles or {}).items()}
    if not (always or roles or any(_is_mixed(column, home) for column in columns)):
        return None
    pairs = zip(names, columns, strict=True)
    return Table([(name, *column_of(name, column, roles.get(name))) for name, column in pairs], n)


def _is_mixed(column: Any, home: str) -> bool:
    """Whether a column holds something else than numbers, or has gaps. Lists are features of their own."""
    if home == "pandas":
        numbers = column.dtype.kind in "biuf"
        return not numbers or bool(column.isna().any())
    if home == "polars":
        if column.dtype.is_nested():
            return False
        numbers = column.dtype.is_numeric() or str(column.dtype) == "Boolean"
        return not numbers or column.null_count() > 0 or (column.dtype.is_float() and bool(column.is_nan().any()))
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        return False
    if column.null_count:
        return True
    if pa.types.is_floating(column.type):
        import pyarrow.compute as pc

        return bool(pc.any(pc.is_nan(column)).as_py())
    return not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type))


def _from_pandas(name: str, column: Any, role: str | None) -> tuple[str, Any]:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = [str(level) for level in column.cat.categories]
        return "levels", (column.cat.codes.to_numpy().astype(np.int64).astype(np.uint32), levels)
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        plain = column.dt.tz_localize(None) if column.dt.tz is not None else column
        seconds = plain.to_numpy(dtype="datetime64[us]").astype(np.float64) / 1e6
        return "moment", np.where(column.isna().to_numpy(), np.nan, seconds)
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return "number", column.dt.total_seconds().to_numpy(dtype=np.float32)
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        kind = "boolean" if pd.api.types.is_bool_dtype(column.dtype) else "number"
        return kind, column.to_numpy(dtype=np.float32, na_value=np.nan)
    return _from_objects(name, column.tolist(), role)


def _from_polars(name: str, column: Any, role: str | None) -> tuple[str, Any]:
    import polars as pl

    if column.dtype in (pl.Date, pl.Datetime):
        seconds = column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6
        return "moment", seconds.astype(np.float64)
    if column.dtype == pl.Boolean or column.dtype.is_numeric():
        kind = "boolean" if column.dtype == pl.Boolean else "number"
        return kind, np.ascontiguousarray(column.cast(pl.Float32).to_numpy(), dtype=np.float32)
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    return _from_objects(name, column.to_list(), role)


def _from_arrow(name: str, column: Any, role: str | None) -> tuple[str, Any]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        cells = column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
        return "moment", np.array([np.nan if cell is None else cell / 1e6 for cell in cells])
    if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        kind = "boolean" if pa.types.is_boolean(column.type) else "number"
        return kind, np.array([np.nan if cell is None else cell for cell in column.to_pylist()], dtype=np.float32)
    return _from_objects(name, column.to_pylist(), role)


def _from_objects(name: str, cells: list[Any], role: str | None) -> tuple[str, Any]:
    """Cells of any kind: all numbers, all truths, or words. A column of both numbers and words is refused unless it was said what it is."""
    there = [(row, cell) for row, cell in enumerate(cells) if not is_missing(cell)]
    if role is None and there:
        numbers = [isinstance(cell, Real) and not isinstance(cell, (bool, np.bool_)) for _, cell in there]
        if all(numbers):
            return "number", np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=np.float32)
        if all(isinstance(cell, (bool, np.bool_)) for _, cell in there):
            return "boolean", np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=np.float32)
        if any(numbers):
            row, cell = there[numbers.index(not numbers[0])]
            first, other = there[0]
            raise ValueError(
                f"column {name!r} holds both numbers and words: row {first} has {other!r}, but row {row} has {cell!r}; convert it, or say what "
                f"it is, such as column_types={{{name!r}: 'category'}} (rows count from 0)"
            )
    return "words", [None if is_missing(cell) else str(cell) for cell in cells]
