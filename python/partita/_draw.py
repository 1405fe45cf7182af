"""Panels drawn with matplotlib or Plotly."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._native import COLOURS


# Of rows that belong to no cluster.
_GREY = "#999999"


def _colour(cluster: int) -> str:
    """The colour that a cluster has in every picture, also in the command's."""
    return _GREY if cluster < 0 else COLOURS[cluster % len(COLOURS)]


def with_matplotlib(panels: list[Any], title: str) -> Any:
    """A matplotlib figure, made without pyplot, so that no window or global state is touched."""
    from matplotlib.figure import Figure

    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.2 * columns, 4.0 * rows), layout="constrained")
    for place, panel in enumerate(panels, 1):
        axes = figure.add_subplot(rows, columns, place)
        _AXES[panel.kind](axes, panel)
        axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    figure.suptitle(title)
    return figure


def _points(axes: Any, panel: Any) -> None:
    colours = [_colour(c) for c in panel.colour]
    axes.scatter(panel.x, panel.y, s=6, c=colours, linewidths=0)


def _bars(axes: Any, panel: Any) -> None:
    axes.bar(panel.x, panel.y, color=[_colour(c) for c in panel.x])


def _histogram(axes: Any, panel: Any) -> None:
    axes.bar(panel.x, panel.y, width=panel.x[1] - panel.x[0], color=COLOURS[0])


def _line(axes: Any, panel: Any) -> None:
    axes.plot(panel.x, panel.y, marker="." if len(panel.x) < 30 else "", color=COLOURS[0])


def _cells(axes: Any, panel: Any) -> None:
    axes.imshow(panel.colour, aspect="auto", cmap="Blues")
    axes.set_xticks(range(len(panel.x)), [str(v) for v in panel.x])
    axes.set_yticks(range(len(panel.y)), [str(v) for v in panel.y])
    middle = panel.colour.max() / 2
    for (i, j), count in np.ndenumerate(panel.colour):
        axes.text(j, i, count, ha="center", va="center", fontsize=7, color="white" if count > middle else "black")


_AXES = {"points": _points, "bars": _bars, "histogram": _histogram, "line": _line, "cells": _cells}


def with_plotly(panels: list[Any], title: str) -> Any:
    """A Plotly figure."""
    from plotly.subplots import make_subplots

    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=[panel.title for panel in panels])
    for place, panel in enumerate(panels):
        row, column = place // columns + 1, place % columns + 1
        figure.add_trace(_trace(panel), row=row, col=column)
        figure.update_xaxes(title_text=panel.x_label, row=row, col=column)
        figure.update_yaxes(title_text=panel.y_label, row=row, col=column)
    figure.update_layout(title=title, showlegend=False, height=380 * rows)
    return figure


def _trace(panel: Any) -> Any:
    from plotly import graph_objects as go

    if panel.kind == "points":
        marker = {"size": 4, "color": [_colour(c) for c in panel.colour]}
        text = ["outlier" if c < 0 else f"cluster {c}" for c in panel.colour]
        return go.Scattergl(x=panel.x, y=panel.y, mode="markers", marker=marker, text=text)
    if panel.kind == "bars":
        return go.Bar(x=panel.x, y=panel.y, marker={"color": [_colour(c) for c in panel.x]})
    plain = {"color": COLOURS[0]}
    if panel.kind == "histogram":
        return go.Bar(x=panel.x, y=panel.y, marker=plain)
    if panel.kind == "line":
        return go.Scatter(x=panel.x, y=panel.y, mode="lines+markers", line=plain)
    names = [[str(v) for v in values] for values in (panel.x, panel.y)]
    return go.Heatmap(z=panel.colour, x=names[0], y=names[1], colorscale="Blues", texttemplate="%{z}")
