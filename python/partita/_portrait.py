"""What a cluster is like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Example:
    """A row that shows a cluster.

    Parameters
    ----------
    row : int
        Index of the row.
    probability : float
        Probability of the cluster.
    runner_up : int
        The most probable one of the other clusters.

    Examples
    --------
    >>> Example(row=3, probability=0.9, runner_up=1).row
    3
    """

    row: int
    probability: float
    runner_up: int


@dataclass(frozen=True)
class Nearest:
    """The nearest other cluster, as seen by the rows that have it as runner-up.

    Parameters
    ----------
    cluster : int
        Its number.
    rows : int
        Rows that have it as runner-up.
    median_lead, smallest_lead : float
        Of the cluster's logit over the runner-up's.
    median_margin, smallest_margin : float, optional
        The same over ‖W‖; none where the model has no weights of features.

    Examples
    --------
    >>> Nearest(1, 20, 5.0, 0.5, 0.1, 0.01).cluster
    1
    """

    cluster: int
    rows: int
    median_lead: float
    smallest_lead: float
    median_margin: float | None
    smallest_margin: float | None


@dataclass(frozen=True)
class Portrait:
    """What a cluster is like.

    Parameters
    ----------
    cluster : int
        Its number.
    size : int
        Rows in it.
    share : float
        Their share of all rows.
    mean_confidence : float, optional
        Mean probability of the cluster over its rows; none if it is empty.
    confidence : ndarray
        How many of its rows have a probability in each of equal bins from 0 to 1.
    typical, doubtful : list of Example
        Its rows of highest and of lowest probability.
    nearest : Nearest, optional
        The cluster that is the runner-up of most of its rows.
    features : list of (name, float)
        Features by what the step from the average row to the cluster's mean row adds to its lead over the other clusters, largest
        size first; empty where the model has no weights of features.
    name : str, optional
        What the cluster is called, if ``known`` gave it a name.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partita import EntropyClustering
    >>> iris = load_iris(as_frame=True).data
    >>> portraits = EntropyClustering(n_clusters=3).fit(iris).portraits(iris)
    >>> sum(portrait.size for portrait in portraits)
    150
    >>> portraits[0].typical[0].probability > portraits[0].doubtful[0].probability
    True
    >>> sorted(portraits[0].names) == sorted(iris.columns)
    True
    """

    cluster: int
    size: int
    share: float
    mean_confidence: float | None
    confidence: Any
    typical: list[Example]
    doubtful: list[Example]
    nearest: Nearest | None
    features: list[tuple[Any, float]]
    name: str | None = None

    @classmethod
    def of(cls, found: dict[str, Any], names: Any, clusters: Any = None) -> Portrait:
        """A portrait as the engine tells it, with the names of features and of clusters."""
        nearest = found["nearest"]
        if nearest is not None:
            margin = nearest.pop("margin") or {"median": None, "smallest": None}
            nearest = Nearest(**nearest, median_margin=margin["median"], smallest_margin=margin["smallest"])
        rest = {
            "confidence": np.asarray(found["confidence"]),
            "typical": [Example(**example) for example in found["typical"]],
            "doubtful": [Example(**example) for example in found["doubtful"]],
            "nearest": nearest,
            "features": [(names[f["feature"]], f["value"]) for f in found["features"]],
            "name": None if clusters is None else clusters[found["cluster"]],
        }
        return cls(**(found | rest))

    @property
    def names(self) -> list[Any]:
        """The names of the features."""
        return [name for name, _ in self.features]

    def __str__(self) -> str:
        name = "" if self.name is None else f" '{self.name}'"
        return f"cluster {self.cluster}{name} ({self.size} rows): " + ", ".join(map(str, self.names))
