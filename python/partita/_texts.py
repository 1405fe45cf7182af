"""Texts: what counts as a list of them, and what the words of a model say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ._explain import ClusterPortrait, Explanation


class Texts(list):  # type: ignore[type-arg]
    """A list of texts where the estimator has rows.

    Examples
    --------
    >>> Texts(["a", "b"]).shape
    (2, -1)
    """

    @property
    def shape(self) -> tuple[int, int]:
        """How many there are; features they do not have yet."""
        return len(self), -1

    def check(self, k: Any, groups: Any, old_takes_texts: bool | None) -> None:
        """Refuse texts that are empty, and options that mean nothing for texts."""
        empty = next((row for row, text in enumerate(self) if not text.strip()), None)
        if empty is not None:
            raise ValueError(f"text {empty} is empty; leave such texts out")
        if k == 1:
            raise ValueError("texts cannot be put into one cluster; ask for at least 2")
        if groups is not None:
            raise ValueError("groups= has no meaning for texts; leave it out")
        if old_takes_texts is False:
            raise ValueError("this model was fitted to features and takes no texts")


def as_texts(x: Any) -> Texts | None:
    """The texts in a list, a one-dimensional array or a Series of str; None if it holds anything else.

    Examples
    --------
    >>> as_texts(np.array(["oil", "wheat"]))
    ['oil', 'wheat']
    >>> as_texts([[1.0, 2.0]]) is None
    True
    """
    if isinstance(x, np.ndarray):
        values = x.tolist() if x.ndim == 1 and x.dtype.kind in "UO" else None
    elif isinstance(x, (list, tuple)):
        values = x
    elif type(x).__name__ in ("Series", "ChunkedArray", "StringArray") and hasattr(x, "tolist" if hasattr(x, "tolist") else "to_list"):
        values = x.tolist() if hasattr(x, "tolist") else x.to_list()
    else:
        values = None
    if values is None or len(values) == 0 or not isinstance(values[0], str):
        return None
    odd = next((row for row, value in enumerate(values) if not isinstance(value, str)), None)
    if odd is not None:
        raise ValueError(f"text {odd} is {values[odd]!r} and no str; leave such texts out")
    return Texts(values)


def explain_texts(model: Any, texts: Texts, row: int | None, top: int) -> Any:
    """Which words send a text to its cluster, or which tell each cluster apart."""
    if row is None:
        told = json.loads(model._model.describe_texts(list(texts), model._threads(), model._weights_place()))["texts"]
        pairs = [[(word["word"], word["share"]) for word in portrait["words"][:top]] for portrait in told]
        return [ClusterPortrait(c, portrait["size"], words) for c, (portrait, words) in enumerate(zip(told, pairs, strict=True))]
    if not -len(texts) <= row < len(texts):
        raise IndexError(f"row {row} is out of bounds for {len(texts)} texts")
    why = json.loads(model._model.explain_text(texts[row], model._weights_place()))
    pairs = [(reason["feature"], reason["contribution"]) for reason in why["reasons"][:top]]
    return Explanation(why["cluster"], why["runner_up"], np.asarray(why["proba"], dtype=np.float32), why["base"], pairs)
