"""Choosing the number of clusters without labels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from . import _native
from ._draw import colour
from ._entropy import EntropyClustering
from ._input import native
from ._progress import Progress


@dataclass(frozen=True)
class Choice:
    """A number of clusters, and what it rests on.

    Parameters
    ----------
    n_clusters : int
        The recommended number: the largest of the most stable ones.
    support : float
        Share of the splits in which no number was more stable.
    plausible : list of int
        Every number whose stability cannot be told from the best.
    candidates : list of dict
        All that were tried: ``k``, and for each split ``stability``, ``loss`` and ``prediction``.

    Examples
    --------
    >>> Choice(3, 1.0, [3], [{"k": 3, "stability": [0.9, 1.0]}]).stability
    {3: 0.95}
    """

    n_clusters: int
    support: float
    plausible: list[int]
    candidates: list[dict[str, Any]]

    @property
    def stability(self) -> dict[int, float]:
        """Mean stability of each number: how well the clusters of two models are found again, on rows that neither saw."""
        return {c["k"]: float(np.mean(c["stability"])) for c in self.candidates}

    def plot(self, *, backend: str | None = None, ax: Any = None, figsize: Any = None) -> Any:
        """Draw the stability of each number: its mean, and its range over the splits; see :func:`partita.plot.plot`."""
        from .plot import choice_panel, draw

        return draw([choice_panel(self.candidates, self.n_clusters)], "choose_k", backend=backend, ax=ax, figsize=figsize)

    def _repr_html_(self) -> str:
        cells = ""
        for number, value in self.stability.items():
            told = "chosen" if number == self.n_clusters else "plausible" if number in self.plausible else ""
            bar = f"<div style='background:{colour(0)};height:0.8em;width:{12 * max(0.0, value):.1f}em'></div>"
            cells += f"<tr><td>{number}</td><td>{value:.3f}</td><td>{bar}</td><td>{told}</td></tr>"
        words = f"{self.n_clusters} clusters; no number was more stable in {self.support:.0%} of the splits"
        return f"<p>{words}</p><table><tr><th>clusters</th><th>stability</th><th></th><th></th></tr>{cells}</table>"


def choose_k(
    X: Any,
    k: Iterable[int] = range(2, 21),
    *,
    unequal: bool = False,
    splits: int = 5,
    n_init: int = 4,
    prepare: str = "auto",
    lift: str = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Choice:
    """Find the number of clusters that different parts of the rows agree on.

    For each number and split, two models are fitted to different rows, and each cluster of one is looked for in the other, on rows that neither
    saw. Of the numbers for which they are found again best, the largest is recommended: merged clusters are as stable as those they are made of.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows; at least 7.5 for each cluster of the largest number.
    k : iterable of int, default=range(2, 21)
        Numbers to try.
    unequal : bool, default=False
        Clusters may differ in size: estimate their sizes in every fit, also of 32 features or more (about ten times slower).
    splits : int, default=5
        Random splits of the rows.
    n_init : int, default=4
        Independent starts of every fit.
    prepare, lift, random_state, n_jobs, verbose
        As in :class:`partita.EntropyClustering`.

    Returns
    -------
    Choice
        The recommendation.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import choose_k
    >>> x = np.random.default_rng(0).normal(size=(240, 2)) + np.repeat([[0, 0], [9, 1], [2, 8]], 80, axis=0)
    >>> choose_k(x, range(2, 6), n_init=2).n_clusters
    3
    """
    if isinstance(k, Integral) or not isinstance(k, Iterable):
        raise TypeError(f"k is the numbers of clusters to try, such as range(2, 21) or [3, 5, 8]. Got {k!r} instead.")
    numbers = list(k)
    if not numbers:
        raise ValueError("k is empty: give at least two numbers of clusters to choose from")
    model = EntropyClustering(n_init=n_init, prepare=prepare, lift=lift, random_state=random_state, n_jobs=n_jobs)
    for number in numbers:
        model.set_params(n_clusters=number)._validate_params()
    x = model._matrix(X, reset=True)
    tried = {"k": [int(number) for number in numbers], "unequal": bool(unequal), "prepare": prepare, "lift": lift}
    tried |= {"restarts": int(n_init), "seed": model._seed()}
    with Progress("choose_k") if verbose else nullcontext() as tell:
        found = json.loads(
            _native.choose_number(native(x), json.dumps(tried), int(splits), threads=model._threads(), progress=tell)
        )
    return Choice(found["best"], found["support"], found["plausible"], found["candidates"])
