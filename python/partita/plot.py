"""Pictures of a result: map, sizes, confidence, loss, confusion, choice. Drawn with matplotlib or Plotly, whichever is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from .metrics import confusion

__all__ = ["KINDS", "Panel", "panels", "plot"]

KINDS = ("map", "sizes", "confidence", "loss", "confusion", "choice")
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
    names : array-like, optional
        Names of the clusters.
    spread : pair of array-like, optional
        Lower and upper end of the values around a line.
    marked : int, optional
        A place on the x axis to point at.

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
    names: Any = field(default=None, repr=False)
    spread: Any = field(default=None, repr=False)
    marked: int | None = None

    def name(self, cluster: int) -> str:
        """What a cluster is called."""
        if cluster < 0:
            return "outlier"
        named = None if self.names is None else self.names[cluster]
        return f"cluster {cluster}" if named is None else str(named)


def _names(model: Any) -> Any:
    return getattr(model, "cluster_names_", None)


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
    return Panel("points", "map", plane[:, 0], second, "first direction", "second direction", labels, _names(model))


def _sizes(model: Any, X: Any, y: Any) -> Panel:
    labels = model.predict(X) if X is not None else model.labels_
    sizes = np.bincount(labels[labels >= 0], minlength=len(model.classes_))
    return Panel("bars", "sizes", np.arange(len(sizes)), sizes, "cluster", "rows", names=_names(model))


def _confidence(model: Any, X: Any, y: Any) -> Panel:
    sure = model.predict_proba(X).max(axis=1)
    counts, edges = np.histogram(sure, bins=40, range=(0, 1))
    return Panel("histogram", "confidence", (edges[:-1] + edges[1:]) / 2, counts, "probability of the cluster", "rows")


def _loss(model: Any, X: Any, y: Any) -> list[Panel]:
    """The loss, the two phases of a linear fit apart: the search, and the refinement that follows it."""
    losses = model.history_
    refined = max(0, model.n_iter_ - model.report_.get("steps", model.n_iter_))
    searched = len(losses) - refined
    if not 0 < searched < len(losses):
        return [Panel("line", "loss", np.arange(1, len(losses) + 1), losses, model._history_of, "loss")]
    first, second = losses[:searched], losses[searched:]
    return [
        Panel("line", "loss of the search", np.arange(1, searched + 1), first, model._history_of, "mean loss of a batch"),
        Panel("line", "loss of the refinement", np.arange(1, refined + 1), second, "step", "loss"),
    ]


def _choice(model: Any, X: Any, y: Any) -> Panel:
    return choice_panel(model.report_["choice"]["candidates"], model.n_clusters_)


def choice_panel(candidates: list[dict[str, Any]], chosen: int) -> Panel:
    """How stable each number of clusters is, and which was chosen."""
    numbers = np.array([candidate["k"] for candidate in candidates])
    values = [np.asarray(candidate["stability"]) for candidate in candidates]
    means = np.array([v.mean() for v in values])
    spread = ([v.min() for v in values], [v.max() for v in values])
    return Panel("line", "choice of K", numbers, means, "number of clusters", "stability", spread=spread, marked=chosen)


def _confusion(model: Any, X: Any, y: Any) -> Panel:
    counts, classes, clusters = confusion(y, model.predict(X))
    return Panel("cells", "confusion", clusters, classes, "cluster", "class", counts)


_MAKERS = {"map": _map, "sizes": _sizes, "confidence": _confidence, "loss": _loss, "confusion": _confusion, "choice": _choice}


def _possible(kind: str, model: Any, X: Any, y: Any) -> str | None:
    """Why a picture cannot be drawn, or None."""
    if kind in ("map", "confidence", "confusion") and X is None:
        return f"kind={kind!r} needs the rows: plot(X, kind={kind!r})"
    if kind == "confidence" and not hasattr(model, "predict_proba"):
        return f"{type(model).__name__} has no probabilities"
    if kind == "confusion" and y is None:
        return "kind='confusion' needs true labels: plot(X, kind='confusion', y=labels)"
    if kind == "choice" and not getattr(model, "report_", {}).get("choice"):
        return "the number of clusters was given; kind='choice' is for n_clusters='auto'"
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
    kind : {"map", "sizes", "confidence", "loss", "confusion", "choice"}, optional
        The picture; by default all that can be drawn.
    y : array-like, optional
        True labels, for the confusion.

    Returns
    -------
    list of Panel
        One for each picture; the loss has two if the fit has two phases.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import EntropyClustering
    >>> x = np.random.default_rng(0).normal(size=(60, 3))
    >>> [panel.title for panel in panels(EntropyClustering(n_clusters=2).fit(x), x)]
    ['map', 'sizes', 'confidence', 'loss of the search', 'loss of the refinement']
    """
    if kind is not None:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}. Got {kind!r} instead.")
        problem = _possible(kind, model, X, y)
        if problem:
            raise ValueError(problem)
        return _made(kind, model, X, y)
    return [panel for name in KINDS if _possible(name, model, X, y) is None for panel in _made(name, model, X, y)]


def _made(kind: str, model: Any, X: Any, y: Any) -> list[Panel]:
    made = _MAKERS[kind](model, X, y)
    return made if isinstance(made, list) else [made]


def plot(
    model: Any,
    X: Any = None,
    kind: str | None = None,
    *,
    y: Any = None,
    backend: str | None = None,
    ax: Any = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw a result.

    Parameters
    ----------
    model : estimator
        A fitted one.
    X, kind, y
        As in :func:`panels`.
    backend : {"matplotlib", "plotly"}, optional
        What draws; by default matplotlib if it is installed, otherwise Plotly.
    ax : matplotlib.axes.Axes or array of them, optional
        Where to draw, one for each picture; by default a figure is made, which a notebook shows by itself.
    figsize : (float, float), optional
        Width and height of that figure in inches.

    Returns
    -------
    matplotlib.figure.Figure, plotly.graph_objects.Figure, or ``ax``
        What was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import EntropyClustering
    >>> x = np.random.default_rng(0).normal(size=(60, 3))
    >>> figure = EntropyClustering(n_clusters=2).fit(x).plot(x, "sizes", backend="matplotlib")
    >>> len(figure.axes)
    1
    """
    return draw(panels(model, X, kind, y), type(model).__name__, backend=backend, ax=ax, figsize=figsize)


def draw(shown: list[Panel], title: str, *, backend: str | None = None, ax: Any = None, figsize: Any = None) -> Any:
    """Draw panels with the library that is asked for, or the one that is there."""
    for name in [backend] if backend else ["matplotlib", "plotly"]:
        if name not in ("matplotlib", "plotly"):
            raise ValueError(f"backend must be 'matplotlib' or 'plotly'. Got {name!r} instead.")
        if find_spec(name) is not None:
            from . import _draw

            return getattr(_draw, f"with_{name}")(shown, title, ax=ax, figsize=figsize)
    wanted = backend or "matplotlib"
    others = "" if backend is None else "; or leave backend out to draw with what is there"
    raise ImportError(f"drawing needs {backend or 'matplotlib or plotly'}: pip install {wanted}{others}")
