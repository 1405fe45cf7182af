"""Many methods on the same rows, from the same seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from . import _native
from ._entropy import EntropyClustering
from ._input import native
from ._progress import Progress
from .metrics import _codes


def methods() -> dict[str, str]:
    """The methods that can be compared, and what each is.

    Returns
    -------
    dict
        From name to description.

    Examples
    --------
    >>> from partita import methods
    >>> methods()["kmeans"]
    'K-means'
    """
    return dict(_native.methods())


@dataclass(frozen=True)
class Comparison:
    """What methods reached.

    Parameters
    ----------
    results : list of dict
        For each method its ``name``, its ``runs`` (seed, loss, seconds, scores, silhouette, decisiveness, margin), the run
        with the lowest loss of its own (``best``), the ``agreement`` of the runs, the ``p_value`` against the first method, and
        why it failed, if it did (``failure``).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita import compare
    >>> x, y = load_iris(return_X_y=True)
    >>> print(compare(x, 3, y, methods=["kmeans"], seeds=2))  # doctest: +ELLIPSIS
    | method | ACC | NMI | ARI | agreement | p | loss | seconds |
    |---|---|---|---|---|---|---|---|
    | kmeans | 0.89... |
    """

    results: list[dict[str, Any]]

    def rows(self) -> list[dict[str, Any]]:
        """Means over the runs, a dict for each method; ready for ``pandas.DataFrame``."""
        return [self._row(result) for result in self.results]

    def _row(self, result: dict[str, Any]) -> dict[str, Any]:
        runs = result["runs"]

        def mean(number: Any) -> float | None:
            values = [number(run) for run in runs if number(run) is not None]
            return float(np.mean(values)) if values else None

        row: dict[str, Any] = {"method": result["name"]}
        if any(run["scores"] for r in self.results for run in r["runs"]):
            for name in ("acc", "nmi", "ari"):
                row[name.upper()] = mean(lambda run, name=name: run["scores"] and run["scores"][name])
        else:
            row["silhouette"] = mean(lambda run: run["silhouette"])
            row["doubt"] = mean(lambda run: run["decisiveness"])
        row["agreement"], row["p"] = result["agreement"], result["p_value"]
        row["loss"], row["seconds"] = mean(lambda run: run["loss"]), mean(lambda run: run["seconds"])
        if result["failure"]:
            row["failure"] = result["failure"]
        return row

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))

        def text(value: Any) -> str:
            return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

        return names, [[text(row.get(name)) for name in names] for row in rows]

    def __str__(self) -> str:
        names, rows = self._cells()
        lines = [names, ["---"] * len(names), *rows]
        return "\n".join("|" + "|".join(line) + "|" if line[0] == "---" else "| " + " | ".join(line) + " |" for line in lines)

    def _repr_html_(self) -> str:
        names, rows = self._cells()
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><tr>{head}</tr>{body}</table>"


def compare(
    X: Any,
    n_clusters: int,
    y: Any = None,
    *,
    methods: str | Iterable[str] = tuple(_native.USUAL_METHODS),
    seeds: int | Iterable[int] = 6,
    n_init: int = 8,
    prepare: str = "auto",
    dims: int | str | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Run clustering methods on the same rows and seeds, and say what they reach.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    n_clusters : int
        Number of clusters.
    y : array-like of shape (n_samples,), optional
        True labels of any kind, only to report ACC, NMI and ARI; rows where they are missing (None, NaN) are left out. Without them the silhouette
        is reported.
    methods : str or iterable of str
        A name or several; see :func:`partita.methods`. ``"all"`` stands for every one.
    seeds : int or iterable of int, default=6
        Runs of each method, from seed 0; or the seeds themselves.
    n_init : int, default=8
        Independent starts of each run, for methods that choose among them by their own loss.
    prepare, n_jobs, verbose
        As in :class:`partita.EntropyClustering`.
    dims : int, "full" or None
        Dimensions for every method; each method's own by default.

    Returns
    -------
    Comparison
        All runs. It prints as a table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita import compare
    >>> x, y = load_iris(return_X_y=True)
    >>> [row["method"] for row in compare(x, 3, y, methods=["ours", "kmeans"], seeds=2).rows()]
    ['ours', 'kmeans']
    """
    model = EntropyClustering(n_clusters, n_init=n_init, prepare=prepare, n_jobs=n_jobs)
    model._validate_params()
    x = model._matrix(X, reset=True)
    truth = None if y is None else _codes(y)[0]
    if truth is not None and truth.shape[0] != x.shape[0]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{x.shape[0]}, {truth.shape[0]}]")
    options = {
        "k": int(n_clusters),
        "restarts": int(n_init),
        "epochs": None,
        "prepare": prepare,
        "dims": {"exactly": int(dims)} if isinstance(dims, (int, np.integer)) else dims,
    }
    names = [methods] if isinstance(methods, str) else list(methods)
    numbers = list(range(seeds)) if isinstance(seeds, (int, np.integer)) else [int(seed) for seed in seeds]
    with Progress("compare") if verbose else nullcontext() as tell:
        found = _native.compare_methods(
            native(x), names, json.dumps(options), numbers, threads=model._threads(), truth=truth, progress=tell
        )
    return Comparison(json.loads(found)["methods"])
