"""Why rows go where they go, and what defines a cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._draw import colour
from ._input import native


@dataclass(frozen=True)
class Explanation:
    """Why a row went where it went.

    Parameters
    ----------
    cluster, runner_up : int
        The most probable cluster and the next.
    proba : ndarray
        Probabilities of all clusters.
    base : float
        Lead of the cluster over the runner-up, in logits, when every feature is at its average.
    contributions : list of (name, float)
        What each feature adds to that lead, largest size first. All of them and ``base`` sum to the lead.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita import EntropyClustering
    >>> iris = load_iris(as_frame=True).data
    >>> why = EntropyClustering(n_clusters=3, lift="none").fit(iris).explain(iris, row=0)
    >>> why.contributions[0][0]
    'petal length (cm)'
    """

    cluster: int
    runner_up: int
    proba: Any
    base: float
    contributions: list[tuple[Any, float]]

    def __str__(self) -> str:
        head = f"cluster {self.cluster} (p = {self.proba[self.cluster]:.3f}), not {self.runner_up}"
        lines = [f"  {value:+8.3f}  {name}" for name, value in self.contributions]
        return "\n".join([head, f"  {self.base:+8.3f}  at average features", *lines])

    def _repr_html_(self) -> str:
        rows = [("at average features", self.base), *self.contributions]
        largest = max(abs(value) for _, value in rows) or 1.0
        cells = "".join(
            f"<tr><td>{escape(str(name))}</td><td style='text-align:right'>{value:+.3f}</td>"
            f"<td><div style='background:{colour(self.cluster if value > 0 else self.runner_up)};height:0.8em;"
            f"width:{12 * abs(value) / largest:.1f}em'></div></td></tr>"
            for name, value in rows
        )
        words = f"cluster {self.cluster} (p = {self.proba[self.cluster]:.3f}), not {self.runner_up}"
        return f"<p>{words}</p><table><tr><th>feature</th><th>adds to the lead</th><th></th></tr>{cells}</table>"


@dataclass(frozen=True)
class ClusterPortrait:
    """What defines a cluster.

    Parameters
    ----------
    cluster : int
        Its number.
    size : int
        Rows in it.
    features : list of (name, float)
        Features by what they add, on average over the cluster's rows, to its logit over the mean logit of all clusters. Of sparse
        rows, only features that the cluster has more of than the average row.

    Examples
    --------
    >>> ClusterPortrait(0, 12, [("oil", 1.5), ("crude", 1.25)]).names
    ['oil', 'crude']
    """

    cluster: int
    size: int
    features: list[tuple[Any, float]]

    @property
    def names(self) -> list[Any]:
        """The names of the features."""
        return [name for name, _ in self.features]

    def __str__(self) -> str:
        return f"cluster {self.cluster} ({self.size} rows): " + ", ".join(map(str, self.names))


def explain(model: Any, x: Any, row: int | None, top: int, feature_names: Any) -> Any:
    """Explain one row, or all clusters."""
    names = feature_names_of(model, x.shape[1], feature_names)
    if row is not None:
        return _explain_row(model, x, row, top, names)
    labels = model._model.predict(native(x), model._threads())
    if model._model.is_lifted():
        # The weights are not for features: how far a cluster is off counts, in standard deviations.
        weight = np.broadcast_to(1.0 / np.maximum(_raw_spread(x), np.finfo(float).tiny), (len(model.classes_), x.shape[1]))
    else:
        weight = model.coef_.astype(np.float64)
        weight -= weight.mean(axis=0)
    means, sizes = _cluster_means(model, x, labels)
    above = means - (model._model.average() if model.normalises_ else _raw_average(x))
    # That a word is missing speaks for most clusters and defines none.
    parts = weight * (np.maximum(above, 0.0) if sp.issparse(x) else above)
    order = np.argsort(-parts, axis=1, kind="stable")[:, :top]
    return [ClusterPortrait(c, int(sizes[c]), [(names[j], float(parts[c, j])) for j in order[c]]) for c in range(weight.shape[0])]


def _explain_row(model: Any, x: Any, row: int, top: int, names: Any) -> Explanation:
    if not -x.shape[0] <= row < x.shape[0]:
        raise IndexError(f"row {row} is out of bounds for {x.shape[0]} rows")
    proba, cluster, runner_up, base, features, values = model._model.explain(native(x), row % x.shape[0])
    pairs = [(names[j], float(v)) for j, v in zip(features[:top], values[:top], strict=True)]
    return Explanation(cluster, runner_up, proba, base, pairs)


def explain_table(model: Any, table: Any, row: int | None, top: int) -> Any:
    """The same in the words of a table: its columns with their values, or what sets clusters apart."""
    if row is None:
        labels = model._model.assign(model._model.encode(table.columns), model._threads())
        told = json.loads(model._model.table_portraits(table.columns, labels))
        sizes = np.bincount(labels[labels >= 0], minlength=len(model.classes_))
        pairs = [[(found["said"], found["strength"]) for found in portrait["differences"][:top]] for portrait in told]
        return [ClusterPortrait(c, int(sizes[c]), pairs[c]) for c in range(len(pairs))]
    if not -len(table) <= row < len(table):
        raise IndexError(f"row {row} is out of bounds for {len(table)} rows")
    why = json.loads(model._model.explain_table(table.columns, row % len(table)))
    pairs = [(reason["said"] or reason["feature"], reason["contribution"]) for reason in why["reasons"][:top]]
    return Explanation(why["cluster"], why["runner_up"], np.asarray(why["proba"], np.float32), why["base"], pairs)


def feature_names_of(model: Any, m: int, given: Any) -> Any:
    """The names given, or those seen in ``fit``, or numbers."""
    names = given if given is not None else getattr(model, "feature_names_in_", None)
    if names is None:
        return range(m)
    if len(names) != m:
        raise ValueError(f"feature_names has {len(names)} names, but X has {m} features")
    return [name if isinstance(name, str) else str(name) for name in names]


def _raw_average(x: Any) -> Any:
    return np.asarray(x.mean(axis=0, dtype=np.float64)).ravel()


def _raw_spread(x: Any) -> Any:
    if sp.issparse(x):
        return np.sqrt(np.maximum(np.asarray(x.multiply(x).mean(axis=0)).ravel() - _raw_average(x) ** 2, 0.0))
    return np.asarray(x.std(axis=0, dtype=np.float64)).ravel()


def _cluster_means(model: Any, x: Any, labels: Any) -> tuple[Any, Any]:
    """Mean row of each cluster after the views, by products that leave sparse rows sparse."""
    n, k = x.shape[0], len(model.classes_)
    sizes = np.bincount(labels, minlength=k)
    means = np.zeros((k, x.shape[1]))
    start = 0
    # Without norms the centre is part of the intercept already.
    views = model._model.views() if model.normalises_ else [(x.shape[1], None, False)]
    for width, centre, normalises in views:
        part = x if width == x.shape[1] else x[:, start : start + width]
        centre = np.zeros(width) if centre is None else centre.astype(np.float64)
        factors = _inverse_norms(part, centre) if normalises else np.ones(n)
        members = sp.csr_matrix((factors, (labels, np.arange(n))), shape=(k, n))
        total = np.asarray(members.sum(axis=1))
        means[:, start : start + width] = _product(members, part) - total * centre
        start += width
    return means / np.maximum(sizes, 1)[:, None], sizes


def _product(members: Any, x: Any) -> Any:
    if sp.issparse(x):
        return (members @ x).toarray()
    # scipy has no products in half precision.
    return members @ (x if x.dtype != np.float16 else x.astype(np.float32))


def _inverse_norms(x: Any, centre: Any) -> Any:
    """1/‖x − c‖ of each row, 0 at the centre."""
    squares = np.asarray(x.multiply(x).sum(axis=1)).ravel() if sp.issparse(x) else np.einsum("ij,ij->i", x, x, dtype=np.float64)
    rows = x if sp.issparse(x) or x.dtype != np.float16 else x.astype(np.float32)
    distances = squares - 2.0 * np.asarray(rows @ centre).ravel() + centre @ centre
    norms = np.sqrt(np.maximum(distances, 0.0))
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
