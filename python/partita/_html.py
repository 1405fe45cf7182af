"""What a fitted estimator adds to its picture in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ._draw import colour


def summary(model: Any) -> str:
    """Sizes of the clusters as bars, and the loss.

    Parameters
    ----------
    model : estimator
        A fitted one.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import KMeans
    >>> "<table" in summary(KMeans(n_clusters=2).fit(np.eye(4)))
    True
    """
    sizes = getattr(model, "cluster_sizes_", None)
    if sizes is None:
        return ""
    largest = max(1, int(np.max(sizes)))
    bar = '<div style="background:{};height:0.8em;width:{:.1f}em"></div>'
    rows = [
        f"<tr><td>{c}</td><td>{size}</td><td>{bar.format(colour(c), 12 * size / largest)}</td></tr>"
        for c, size in enumerate(sizes)
    ]
    facts = [f"loss {model.loss_:.4g}", f"{model.n_iter_} steps", str(model.stop_reason_)]
    advice = model.report_.get("advice")
    note = f"<p>{escape(advice)}</p>" if advice else ""
    head = "<tr><th>cluster</th><th>rows</th><th></th></tr>"
    return f"<p>{escape(', '.join(facts))}</p>{note}<table>{head}{''.join(rows)}</table>"
