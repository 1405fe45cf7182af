"""How good a clustering is, against the truth. Nothing here ever selects a model."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from . import _native
from ._input import is_missing

__all__ = ["Scores", "accuracy", "ari", "confusion", "matching", "nmi", "scores"]


class Scores(NamedTuple):
    """ACC, NMI and ARI.

    Parameters
    ----------
    acc, nmi, ari : float
        Accuracy under the best matching, normalised mutual information, adjusted Rand index.

    Examples
    --------
    >>> Scores(1.0, 1.0, 1.0).acc
    1.0
    """

    acc: float
    nmi: float
    ari: float


def _codes(labels: Any) -> tuple[Any, Any]:
    """Labels as whole numbers from 0, -1 for what is missing (NaN, None, pandas' NA), and the values behind the numbers."""
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels must be 1D: shape is {labels.shape}")
    missing = np.zeros(labels.shape, dtype=bool)
    if labels.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in labels], dtype=bool)
    elif labels.dtype.kind not in "iub":
        # In arrays of numbers and dates what is missing does not equal itself.
        missing = labels != labels
    given = labels[~missing]
    if given.dtype.kind in "fO" and _are_whole(given):
        given = given.astype(np.int64)
    codes = np.full(labels.shape, -1, dtype=np.int64)
    values, codes[~missing] = _enumerated(given)
    return codes, values


def _are_whole(values: Any) -> bool:
    """Whether these are whole numbers, whatever type holds them."""
    if values.dtype.kind == "f":
        return bool(np.all(np.isfinite(values) & (values == np.floor(values))))
    return all(isinstance(v, Real) and float(v).is_integer() for v in values.tolist())


def _enumerated(values: Any) -> tuple[Any, Any]:
    """The different values in order, and the place of each in it."""
    if values.dtype.kind != "O":
        return np.unique(values, return_inverse=True)
    different = set(values.tolist())
    try:
        ordered = sorted(different)
    except TypeError:
        # Of several types, which have no order of their own.
        ordered = sorted(different, key=lambda value: (type(value).__name__, str(value)))
    places = {value: place for place, value in enumerate(ordered)}
    return np.fromiter(ordered, dtype=object), np.array([places[value] for value in values.tolist()], dtype=np.int64)


def _known(labels: Any, unknown: Any) -> tuple[Any, Any]:
    """As :func:`_codes`, with -1 also for the label that means unknown."""
    codes, values = _codes(labels)
    if unknown is not None:
        place = [place for place, value in enumerate(values.tolist()) if value == unknown]
        codes[np.isin(codes, place)] = -1
    return codes, values


def _value(values: Any, code: int | None) -> Any:
    """What a number stands for."""
    if code is None:
        return None
    value = values[code]
    return value.item() if isinstance(value, np.generic) else value


def _pair(truth: Any, predicted: Any, unknown: Any) -> tuple[Any, Any, Any, Any]:
    """Codes of both, of the rows where both are known, and the values behind them."""
    (truth, classes), (predicted, clusters) = _known(truth, unknown), _known(predicted, unknown)
    if truth.shape != predicted.shape:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{truth.shape[0]}, {predicted.shape[0]}]")
    both = (truth >= 0) & (predicted >= 0)
    return truth[both], predicted[both], classes, clusters


def scores(truth: Any, predicted: Any, *, unknown: Any = None) -> Scores:
    """ACC, NMI and ARI of a clustering.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels of any kind. Negative numbers are labels like others, so that the noise of DBSCAN counts as a cluster. Rows where either
        is missing (NaN, None) are left out.
    unknown : object, optional
        A label that means unknown, such as -1: rows where either has it are left out too.

    Returns
    -------
    Scores
        The three scores.

    Examples
    --------
    >>> scores([0, 0, 1, 1], [7, 7, 3, 3])
    Scores(acc=1.0, nmi=1.0, ari=1.0)
    >>> round(scores([0, 0, 1, 1, 1], [0, 0, 1, -1, -1]).ari, 3)
    0.545
    >>> scores([0, 0, 1, 1, 1], [0, 0, 1, -1, -1], unknown=-1).ari
    1.0
    """
    truth, predicted, _, _ = _pair(truth, predicted, unknown)
    return Scores(*_native.label_scores(truth, predicted)[:3])


def accuracy(truth: Any, predicted: Any, *, unknown: Any = None) -> float:
    """ACC: share of rows that are right under the best one-to-one matching of clusters to classes.

    Parameters
    ----------
    truth, predicted, unknown
        As in :func:`scores`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    return scores(truth, predicted, unknown=unknown).acc


def nmi(truth: Any, predicted: Any, *, unknown: Any = None) -> float:
    """Normalised mutual information, from 0 to 1.

    Parameters
    ----------
    truth, predicted, unknown
        As in :func:`scores`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return scores(truth, predicted, unknown=unknown).nmi


def ari(truth: Any, predicted: Any, *, unknown: Any = None) -> float:
    """Adjusted Rand index, at most 1.

    Parameters
    ----------
    truth, predicted, unknown
        As in :func:`scores`.

    Returns
    -------
    float
        0 for random labels, 1 for the same clustering.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return scores(truth, predicted, unknown=unknown).ari


def matching(truth: Any, predicted: Any, *, unknown: Any = None) -> dict[Any, Any]:
    """The class that each cluster is matched to, where there is one.

    Parameters
    ----------
    truth, predicted, unknown
        As in :func:`scores`.

    Returns
    -------
    dict
        From cluster to class; None for a cluster without one.

    Examples
    --------
    >>> matching(["cat", "cat", "dog"], [1, 1, 0])
    {0: 'dog', 1: 'cat'}
    """
    truth, predicted, classes, clusters = _pair(truth, predicted, unknown)
    return {_value(clusters, cluster): _value(classes, cls) for cluster, cls in _native.label_scores(truth, predicted)[3]}


def confusion(truth: Any, predicted: Any, *, unknown: Any = None) -> tuple[Any, Any, Any]:
    """How many rows of each class are in each cluster, clusters in the order of the classes they are matched to.

    Parameters
    ----------
    truth, predicted, unknown
        As in :func:`scores`.

    Returns
    -------
    counts : ndarray of shape (n_classes, n_clusters)
        Rows.
    classes, clusters : ndarray
        What stands for each row and column of ``counts``.

    Examples
    --------
    >>> confusion([0, 0, 1, 1], [1, 1, 0, 1])[0].tolist()
    [[2, 0], [1, 1]]
    """
    truth, predicted, classes, clusters = _pair(truth, predicted, unknown)
    matched = dict(_native.label_scores(truth, predicted)[3])
    rows, row = np.unique(truth, return_inverse=True)
    columns, column = np.unique(predicted, return_inverse=True)
    counts = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(counts, (row, column), 1)
    places = {code: place for place, code in enumerate(rows.tolist())}
    order = sorted(range(len(columns)), key=lambda c: places.get(matched.get(columns[c].item()), len(rows)))
    return counts[:, order], classes[rows], clusters[columns[order]]
