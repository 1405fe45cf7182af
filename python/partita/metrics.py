"""How good a clustering is, against the truth. Nothing here ever selects a model."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from . import _native

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
    """Labels as whole numbers, negative where unknown, and the values behind the numbers if they are not the labels themselves.

    What is missing (NaN, None, pandas' NA) is unknown, and so are negative whole numbers, also those that a missing value beside
    them turned into floats.
    """
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels must be 1D: shape is {labels.shape}")
    if labels.dtype.kind in "iub":
        return np.ascontiguousarray(labels, dtype=np.int64), None
    # In arrays of numbers and dates what is missing does not equal itself.
    missing = np.array([_is_missing(value) for value in labels], dtype=bool) if labels.dtype.kind == "O" else labels != labels
    given = labels[~missing]
    codes = np.full(labels.shape, -1, dtype=np.int64)
    if _are_whole(given):
        codes[~missing] = given.astype(np.int64)
        return codes, None
    values, codes[~missing] = _enumerated(given)
    return codes, values


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _are_whole(values: Any) -> bool:
    """Whether these are whole numbers, whatever type holds them."""
    if values.dtype.kind == "f":
        return bool(np.all(np.isfinite(values) & (values == np.floor(values))))
    return values.dtype.kind == "O" and all(isinstance(v, Real) and float(v).is_integer() for v in values.tolist())


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


def _value(values: Any, code: int | None) -> Any:
    """What a number stands for."""
    if code is None or values is None:
        return code
    value = values[code]
    return value.item() if isinstance(value, np.generic) else value


def _all(truth: Any, predicted: Any) -> tuple[float, float, float, Any]:
    (truth, _), (predicted, _) = _codes(truth), _codes(predicted)
    if truth.shape != predicted.shape:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{truth.shape[0]}, {predicted.shape[0]}]")
    return _native.label_scores(truth, predicted)


def scores(truth: Any, predicted: Any) -> Scores:
    """ACC, NMI and ARI of a clustering.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels of any kind; rows where either is unknown (a negative whole number, NaN, None) are left out.

    Returns
    -------
    Scores
        The three scores.

    Examples
    --------
    >>> scores([0, 0, 1, 1], [7, 7, 3, 3])
    Scores(acc=1.0, nmi=1.0, ari=1.0)
    """
    return Scores(*_all(truth, predicted)[:3])


def accuracy(truth: Any, predicted: Any) -> float:
    """ACC: share of rows that are right under the best one-to-one matching of clusters to classes.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    return scores(truth, predicted).acc


def nmi(truth: Any, predicted: Any) -> float:
    """Normalised mutual information, from 0 to 1.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return scores(truth, predicted).nmi


def ari(truth: Any, predicted: Any) -> float:
    """Adjusted Rand index, at most 1.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels.

    Returns
    -------
    float
        0 for random labels, 1 for the same clustering.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return scores(truth, predicted).ari


def matching(truth: Any, predicted: Any) -> dict[Any, Any]:
    """The class that each cluster is matched to, where there is one.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels.

    Returns
    -------
    dict
        From cluster to class; None for a cluster without one.

    Examples
    --------
    >>> matching(["cat", "cat", "dog"], [1, 1, 0])
    {0: 'dog', 1: 'cat'}
    """
    classes, clusters = _codes(truth)[1], _codes(predicted)[1]
    return {_value(clusters, cluster): _value(classes, cls) for cluster, cls in _all(truth, predicted)[3]}


def confusion(truth: Any, predicted: Any) -> tuple[Any, Any, Any]:
    """How many rows of each class are in each cluster, clusters in the order of the classes they are matched to.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels; rows where either is unknown are left out.

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
    (truth, classes), (predicted, clusters) = _codes(truth), _codes(predicted)
    matched = dict(_all(truth, predicted)[3])
    both = (truth >= 0) & (predicted >= 0)
    rows, row = np.unique(truth[both], return_inverse=True)
    columns, column = np.unique(predicted[both], return_inverse=True)
    counts = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(counts, (row, column), 1)
    places = {code: place for place, code in enumerate(rows.tolist())}
    order = sorted(range(len(columns)), key=lambda c: places.get(matched.get(columns[c].item()), len(rows)))
    columns = columns[order]
    return counts[:, order], rows if classes is None else classes[rows], columns if clusters is None else clusters[columns]
