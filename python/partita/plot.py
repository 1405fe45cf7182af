"""Pictures of a result: map, sizes, confidence, loss, confusion. Drawn with matplotlib or Plotly, whichever is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from .metrics import confusion

__all__ = ["KINDS", "Panel", "panels", "plot"]

KINDS = ("map", "sizes", "confidence", "loss", "confusion")
_MOST_POINTS = 20_000


@dataclass(frozen=True)
class Panel:
    """What one picture shows, apart from how it is drawn.

    Parameters
    ----------
    kind : {"points", "bars", "histogram", "line", "cells"}
        How values become marks.
    title, x_label, y_label : str
        Texts.
    x, y : array-like
        Places of the marks; of cells, the names of columns and rows.
    colour : array-like, optional
        Clusters of points, or values of cells.

    Examples
    --------
    >>> Panel("line", "loss", [0, 1], [2.0, 1.5], "epoch", "loss").title
    'loss'
    """

    kind: str
    title: str
    x: Any
    y: Any
    x_label: str = ""
    y_label: str = ""
    colour: Any = field(default=None, repr=False)


def _map(model: Any, X: Any, y: Any) -> Panel:
    """Rows on the plane of their two main directions as the model sees them."""
    x = model._matrix(X, reset=False)
    chosen = np.random.default_rng(0).permutation(x.shape[0])[:_MOST_POINTS]
    x = x[np.sort(chosen)]
    labels = model.predict(x)
    from sklearn.decomposition import TruncatedSVD

    # The mean lies between clusters, so that the plane through it shows what lies around it.
    dense = isinstance(x, np.ndarray)
    if dense:
        x = x.astype(np.float32)
        x = x - x.mean(axis=0)
    plane = TruncatedSVD(min(2, x.shape[1]), random_state=0).fit_transform(x) if x.shape[1] > 2 else x
    second = plane[:, 1] if plane.shape[1] > 1 else np.zeros(len(plane))
    return Panel("points", "map", plane[:, 0], second, "first direction", "second direction", labels)


def _sizes(model: Any, X: Any, y: Any) -> Panel:
    labels = model.predict(X) if X is not None else model.labels_
    sizes = np.bincount(labels[labels >= 0], minlength=len(model.classes_))
    return Panel("bars", "sizes", np.arange(len(sizes)), sizes, "cluster", "rows")


def _confidence(model: Any, X: Any, y: Any) -> Panel:
    sure = model.predict_proba(X).max(axis=1)
    counts, edges = np.histogram(sure, bins=40, range=(0, 1))
    return Panel("histogram", "confidence", (edges[:-1] + edges[1:]) / 2, counts, "probability of the cluster", "rows")


def _loss(model: Any, X: Any, y: Any) -> Panel:
    return Panel("line", "loss", np.arange(1, len(model.history_) + 1), model.history_, model._history_of, "loss")


def _confusion(model: Any, X: Any, y: Any) -> Panel:
    counts, classes, clusters = confusion(y, model.predict(X))
    return Panel("cells", "confusion", clusters, classes, "cluster", "class", counts)


_MAKERS = {"map": _map, "sizes": _sizes, "confidence": _confidence, "loss": _loss, "confusion": _confusion}


def _possible(kind: str, model: Any, X: Any, y: Any) -> str | None:
    """Why a picture cannot be drawn, or None."""
    if kind in ("map", "confidence", "confusion") and X is None:
        return f"kind={kind!r} needs the rows: plot(X, kind={kind!r})"
    if kind == "confidence" and not hasattr(model, "predict_proba"):
        return f"{type(model).__name__} has no probabilities"
    if kind == "confusion" and y is None:
        return "kind='confusion' needs true labels: plot(X, kind='confusion', y=labels)"
    if kind == "loss" and not hasattr(model, "history_"):
        return "the model was loaded from a file, which has no history"
    if kind == "sizes" and X is None and not hasattr(model, "labels_"):
        return "the model was loaded from a file, which has no labels; give the rows"
    return None


def panels(model: Any, X: Any = None, kind: str | None = None, y: Any = None) -> list[Panel]:
    """What :func:`plot` draws.

    Parameters
    ----------
    model : estimator
        A fitted one.
    X : array-like or sparse matrix, optional
        Rows; map, confidence and confusion need them.
    kind : {"map", "sizes", "confidence", "loss", "confusion"}, optional
        The picture; by default all that can be drawn.
    y : array-like, optional
        True labels, for the confusion.

    Returns
    -------
    list of Panel
        One for each picture.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import EntropyClustering
    >>> x = np.random.default_rng(0).normal(size=(60, 3))
    >>> [panel.title for panel in panels(EntropyClustering(n_clusters=2).fit(x), x)]
    ['map', 'sizes', 'confidence', 'loss']
    """
    if kind is not None:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}. Got {kind!r} instead.")
        problem = _possible(kind, model, X, y)
        if problem:
            raise ValueError(problem)
        return [_MAKERS[kind](model, X, y)]
    return [_MAKERS[name](model, X, y) for name in KINDS if _possible(name, model, X, y) is None]


def plot(model: Any, X: Any = None, kind: str | None = None, *, y: Any = None, backend: str | None = None) -> Any:
    """Draw a result.

    Parameters
    ----------
    model : estimator
        A fitted one.
    X, kind, y
        As in :func:`panels`.
    backend : {"matplotlib", "plotly"}, optional
        What draws; by default matplotlib if it is installed, otherwise Plotly.

    Returns
    -------
    matplotlib.figure.Figure or plotly.graph_objects.Figure
        The figure.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import EntropyClustering
    >>> x = np.random.default_rng(0).normal(size=(60, 3))
    >>> figure = EntropyClustering(n_clusters=2).fit(x).plot(x, "sizes", backend="matplotlib")
    >>> len(figure.axes)
    1
    """
    shown = panels(model, X, kind, y)
    for name in [backend] if backend else ["matplotlib", "plotly"]:
        if name not in ("matplotlib", "plotly"):
            raise ValueError(f"backend must be 'matplotlib' or 'plotly'. Got {name!r} instead.")
        if find_spec(name) is not None:
            from . import _draw

            return getattr(_draw, f"with_{name}")(shown, type(model).__name__)
    raise ImportError("drawing needs matplotlib or plotly: pip install matplotlib")
