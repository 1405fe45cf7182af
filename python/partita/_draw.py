"""Panels drawn with matplotlib or Plotly."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np

from ._native import COLOURS

# Of rows that belong to no cluster.
_GREY = "#999999"
# More names than these would hide the picture.
_MOST_NAMES = 30


def colour(cluster: int) -> str:
    """The colour that a cluster has in every picture; the first ones are those of the command's pictures too.

    Parameters
    ----------
    cluster : int
        Its number, negative for no cluster.

    Returns
    -------
    str
        A colour in hexadecimal digits; no two of the first hundred clusters have the same.

    Examples
    --------
    >>> len({colour(c) for c in range(100)})
    100
    """
    if cluster < 0:
        return _GREY
    if cluster < len(COLOURS):
        return COLOURS[cluster]
    # Steps of the golden ratio around the circle of hues come near no earlier one for long.
    turn = cluster - len(COLOURS)
    red, green, blue = colorsys.hls_to_rgb(turn * 0.618034 % 1.0, (0.42, 0.66, 0.30)[turn % 3], 0.65)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def with_matplotlib(panels: list[Any], title: str, *, ax: Any = None, figsize: Any = None) -> Any:
    """A matplotlib figure that shows itself in a notebook, made without pyplot, so that no window or global state is touched."""
    if ax is not None:
        given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(given) != len(panels):
            names = ", ".join(panel.title for panel in panels)
            raise ValueError(
                f"ax holds {len(given)} axes for {len(panels)} pictures ({names}); give one for each, or choose a kind"
            )
        for axes, panel in zip(given, panels, strict=True):
            _draw(axes, panel)
        return ax
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = _figure()(figsize=figsize or (5.6 * columns, 4.0 * rows), layout="constrained")
    for place, panel in enumerate(panels, 1):
        _draw(figure.add_subplot(rows, columns, place), panel)
    figure.suptitle(title)
    return figure


def _figure() -> Any:
    from io import BytesIO

    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows whether or not pyplot was imported."""

        def _repr_png_(self) -> bytes:
            file = BytesIO()
            self.savefig(file, format="png", dpi=80)
            return file.getvalue()

        def __reduce__(self) -> Any:
            # The class is made here, where a pickle would not find it.
            return Figure, (), self.__getstate__()

    return Shown


def _draw(axes: Any, panel: Any) -> None:
    _AXES[panel.kind](axes, panel)
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)


def _whole_numbers(axes: Any, x: bool = True) -> None:
    from matplotlib.ticker import MaxNLocator

    (axes.xaxis if x else axes.yaxis).set_major_locator(MaxNLocator(integer=True))


def _points(axes: Any, panel: Any) -> None:
    clusters = np.asarray(panel.colour)
    axes.scatter(panel.x, panel.y, s=6, c=[colour(c) for c in clusters], linewidths=0)
    there = np.unique(clusters)
    if len(there) <= _MOST_NAMES:
        marks = [axes.scatter([], [], s=20, c=[colour(c)], label=panel.name(c)) for c in there]
        axes.legend(handles=marks, fontsize=7, markerscale=1, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _bars(axes: Any, panel: Any) -> None:
    axes.bar(panel.x, panel.y, color=[colour(c) for c in panel.x])
    if panel.names is not None and len(panel.x) <= _MOST_NAMES:
        axes.set_xticks(panel.x, [panel.name(c) for c in panel.x], rotation=45, ha="right")
    elif len(panel.x) <= 20:
        axes.set_xticks(panel.x)
    else:
        _whole_numbers(axes)
    _whole_numbers(axes, x=False)


def _histogram(axes: Any, panel: Any) -> None:
    axes.bar(panel.x, panel.y, width=panel.x[1] - panel.x[0], color=COLOURS[0])
    _whole_numbers(axes, x=False)


def _line(axes: Any, panel: Any) -> None:
    axes.plot(panel.x, panel.y, marker="." if len(panel.x) < 30 else "", color=COLOURS[0])
    _whole_numbers(axes)
    if panel.spread is not None:
        axes.fill_between(panel.x, *panel.spread, color=COLOURS[0], alpha=0.15, linewidth=0)
    if panel.marked is not None:
        axes.axvline(panel.marked, color=COLOURS[1], linestyle="--", label=f"{panel.marked} chosen")
        axes.legend(fontsize=8, frameon=False)


def _cells(axes: Any, panel: Any) -> None:
    axes.imshow(panel.colour, aspect="auto", cmap="Blues")
    axes.set_xticks(range(len(panel.x)), [str(v) for v in panel.x])
    axes.set_yticks(range(len(panel.y)), [str(v) for v in panel.y])
    middle = panel.colour.max() / 2
    for (i, j), count in np.ndenumerate(panel.colour):
        axes.text(j, i, count, ha="center", va="center", fontsize=7, color="white" if count > middle else "black")


_AXES = {"points": _points, "bars": _bars, "histogram": _histogram, "line": _line, "cells": _cells}


def with_plotly(panels: list[Any], title: str, *, ax: Any = None, figsize: Any = None) -> Any:
    """A Plotly figure."""
    from plotly.subplots import make_subplots

    if ax is not None:
        raise ValueError("ax= is for matplotlib; leave it out, or give backend='matplotlib'")
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=[panel.title for panel in panels])
    for place, panel in enumerate(panels):
        row, column = place // columns + 1, place % columns + 1
        figure.add_traces(_traces(panel), rows=row, cols=column)
        whole = {"tickformat": "d"} if panel.kind in ("bars", "line") else {}
        figure.update_xaxes(title_text=panel.x_label, row=row, col=column, **whole)
        figure.update_yaxes(title_text=panel.y_label, row=row, col=column)
        if panel.marked is not None:
            figure.add_vline(x=panel.marked, line_dash="dash", line_color=COLOURS[1], row=row, col=column)
    # Its inches have 96 pixels.
    size = {"width": 96 * figsize[0], "height": 96 * figsize[1]} if figsize else {"height": 380 * rows}
    figure.update_layout(title=title, **size)
    return figure


def _traces(panel: Any) -> list[Any]:
    from plotly import graph_objects as go

    if panel.kind == "points":
        clusters = np.asarray(panel.colour)
        there = np.unique(clusters)
        return [
            go.Scattergl(
                x=np.asarray(panel.x)[clusters == c],
                y=np.asarray(panel.y)[clusters == c],
                mode="markers",
                marker={"size": 4, "color": colour(c)},
                name=panel.name(c),
                showlegend=len(there) <= _MOST_NAMES,
            )
            for c in there
        ]
    if panel.kind == "bars":
        names = panel.x if panel.names is None else [panel.name(c) for c in panel.x]
        return [go.Bar(x=names, y=panel.y, marker={"color": [colour(c) for c in panel.x]}, showlegend=False)]
    plain = {"color": COLOURS[0]}
    if panel.kind == "histogram":
        return [go.Bar(x=panel.x, y=panel.y, marker=plain, showlegend=False)]
    if panel.kind == "line":
        return [go.Scatter(x=panel.x, y=panel.y, mode="lines+markers", line=plain, showlegend=False)]
    names = [[str(v) for v in values] for values in (panel.x, panel.y)]
    return [go.Heatmap(z=panel.colour, x=names[0], y=names[1], colorscale="Blues", texttemplate="%{z}", showscale=False)]
