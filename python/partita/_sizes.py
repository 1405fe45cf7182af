"""Limits on the sizes of clusters, and what they say about the prior."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def limits(min_size: float | None, max_size: float | None, n: int) -> tuple[int, int] | None:
    """Fewest and most rows of a cluster, if any limit was given; below 1 a limit is a share of the rows.

    Parameters
    ----------
    min_size, max_size : float, optional
        The limits.
    n : int
        Number of rows.

    Returns
    -------
    tuple of int, optional
        The limits in rows, rounded inwards so that they hold.

    Examples
    --------
    >>> limits(0.105, None, 100)
    (11, 100)
    """
    if min_size is None and max_size is None:
        return None

    def rows(size: float) -> float:
        return size * n if size < 1 else size

    least = 0 if min_size is None else math.ceil(rows(min_size))
    most = n if max_size is None else math.floor(rows(max_size))
    return least, most


def prior_option(prior: Any, k: int, bounds: tuple[int, int] | None, n: int) -> Any:
    """The engine's option for a prior and limits in rows."""
    if prior is not None and not isinstance(prior, str):
        return {"given": np.asarray(prior, dtype=np.float64).ravel().tolist()}
    # No cluster below a quarter of its equal share: what the engine takes for unknown sizes.
    floor = 0.25 / k
    if bounds is None:
        return "uniform" if prior is None else {"estimated": {"least": floor, "most": 1.0}}
    least, most = bounds
    if k * least > n or k * most < n or least > most:
        raise ValueError(
            f"{n} rows cannot be split into {k} clusters of {least} to {most} rows each; change min_size, max_size or n_clusters"
        )
    equal = 1.0 / k
    return {"estimated": {"least": min(max(least / n, floor), equal), "most": max(most / n, equal)}}
