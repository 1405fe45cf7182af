"""Telling how far a fit is: a bar through tqdm if that is there, lines otherwise."""

from __future__ import annotations

import sys
from types import TracebackType


class Progress:
    """Receives ``(stage, done, loss)`` from the engine a few times a second.

    Parameters
    ----------
    title : str
        What is running.

    Examples
    --------
    >>> with Progress("EntropyClustering") as tell:  # doctest: +SKIP
    ...     tell("training", 0.5, 1.25)
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.told = -1
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self.bar = None
        else:
            self.bar = tqdm(total=100, desc=title, unit="%", leave=True)

    def __call__(self, stage: str, done: float, loss: float | None) -> None:
        percent = min(100, int(100 * done))
        if self.bar is not None:
            self.bar.n = percent
            self.bar.set_postfix_str(stage if loss is None else f"{stage}, loss {loss:.4f}")
        elif percent // 10 > self.told // 10 or self.told < 0:
            note = "" if loss is None else f", loss {loss:.4f}"
            print(f"{self.title}: {percent:3d} %, {stage}{note}", file=sys.stderr)
        self.told = percent

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self.bar is not None:
            if kind is None:
                self.bar.n = 100
                self.bar.refresh()
            self.bar.close()
