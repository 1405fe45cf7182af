"""How good a clustering is, against the truth. Nothing here ever selects a model."""

from __future__ import annotations

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
    """Labels as whole numbers (negative ones stay: they mean unknown), and the values behind the numbers."""
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels must be 1D: shape is {labels.shape}")
    if labels.dtype.kind in "iub":
        return np.ascontiguousarray(labels, dtype=np.int64), None
    values, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), values


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
        Labels of any kind; rows with a negative number in either are left out.

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

    def value(values: Any, code: int | None) -> Any:
        return code if code is None or values is None else values[code].item()

    return {value(clusters, cluster): value(classes, cls) for cluster, cls in _all(truth, predicted)[3]}


def confusion(truth: Any, predicted: Any) -> tuple[Any, Any, Any]:
    """How many rows of each class are in each cluster, clusters in the order of the classes they are matched to.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        Labels.

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
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    matched = matching(truth, predicted)
    classes, rows = np.unique(truth, return_inverse=True)
    clusters, columns = np.unique(predicted, return_inverse=True)
    counts = np.zeros((len(classes), len(clusters)), dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    places = {value: place for place, value in enumerate(classes.tolist())}
    order = sorted(range(len(clusters)), key=lambda c: places.get(matched.get(clusters[c].item()), len(classes)))
    return counts[:, order], classes, clusters[order]
