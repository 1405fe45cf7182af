"""Margins: of a labelling, with a proof; of given classifiers; and the way to the widest clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from . import _native
from ._input import as_matrix

__all__ = ["Separation", "Step", "of_labels", "path", "signed", "unsigned"]


@dataclass(frozen=True)
class Separation:
    """The margin of a labelling and its proof.

    Parameters
    ----------
    separated : bool or None
        Whether a linear classifier gives these labels; None if neither was proved within the iterations or the arithmetic.
    margin : float
        The margin that ``coef`` reaches; 0 if there is none.
    gap : float
        No classifier has a margin above ``margin + gap``.
    coef, intercept : ndarray or None
        The widest classifier, with ‖W‖ = 1.
    support, rivals, weights : ndarray
        Rows that hold the margin (or stand in each other's way), the clusters they hold it against, their weights in the dual.
    converged : bool
        Whether the gap is within the tolerance, or the proof that there is no margin complete. The gap is a proof either way.

    Examples
    --------
    >>> of_labels([[0.0], [1.0], [4.0], [5.0]], [0, 1, 0, 1]).separated
    False
    """

    separated: bool | None
    margin: float
    gap: float
    coef: Any
    intercept: Any
    support: Any
    rivals: Any
    weights: Any
    converged: bool


@dataclass(frozen=True)
class Step:
    """One step of :func:`path`.

    Parameters
    ----------
    norm, log_loss, log_gamma, margin : float
        ‖W‖, ln of the loss, ln of the γ whose minimum this is, and the margin.
    coef, intercept : ndarray
        The classifier.

    Examples
    --------
    >>> Step(1.0, -0.5, -2.0, 0.25, None, None).margin
    0.25
    """

    norm: float
    log_loss: float
    log_gamma: float
    margin: float
    coef: Any
    intercept: Any


def _double(x: Any) -> Any:
    x = np.ascontiguousarray(as_matrix(x), dtype=np.float64)
    if x.ndim != 2:
        raise ValueError(f"Expected 2D array, got {x.ndim}D array instead")
    return x


def _classifier(coef: Any, intercept: Any) -> tuple[Any, Any]:
    return _double(coef), np.ascontiguousarray(intercept, dtype=np.float64)


def of_labels(X: Any, labels: Any, *, tol: float = 1e-6, max_iter: int = 100_000, n_jobs: int | None = None) -> Separation:
    """The widest margin of a labelling over all linear classifiers, or the proof that it has none.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        A cluster for each, from 0; none may be empty.
    tol : float, default=1e-6
        Stop when the gap is at most this share of the margin.
    max_iter : int, default=100000
        Most steps; each is a pass over the rows.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    Separation
        The margin with its proof.

    Examples
    --------
    >>> widest = of_labels([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> round(widest.margin, 6), widest.support.tolist()
    (2.12132, [1, 2])
    """
    labels = np.asarray(labels)
    parts = _native.margin_of_labels(
        _double(X), labels.tolist(), int(labels.max()) + 1, tol, max_iter, effective_n_jobs(-1 if n_jobs is None else n_jobs)
    )
    return Separation(
        parts["separated"],
        parts["margin"],
        parts["gap"],
        parts.get("coef"),
        parts.get("intercept"),
        parts["rows"],
        parts["rivals"],
        parts["weights"],
        parts["converged"],
    )


def signed(X: Any, coef: Any, intercept: Any, labels: Any) -> Any:
    """Margins of rows for their labels: how far each leads its nearest rival, over ‖W‖; negative where it is wrong.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    coef, intercept : array-like
        The classifier.
    labels : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    ndarray of shape (n_samples,)
        Margins.

    Examples
    --------
    >>> signed([[2.0], [-2.0]], [[1.0], [-1.0]], [0.0, 0.0], [0, 0]).round(4).tolist()
    [2.8284, -2.8284]
    """
    return _native.classifier_margins(_double(X), *_classifier(coef, intercept), np.asarray(labels).tolist())


def unsigned(X: Any, coef: Any, intercept: Any) -> Any:
    """Margins of rows for the clusters that the classifier gives them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    coef, intercept : array-like
        The classifier.

    Returns
    -------
    ndarray of shape (n_samples,)
        Margins, not negative.

    Examples
    --------
    >>> unsigned([[2.0], [-2.0]], [[1.0], [-1.0]], [0.0, 0.0]).round(4).tolist()
    [2.8284, 2.8284]
    """
    return _native.classifier_margins(_double(X), *_classifier(coef, intercept))


def path(X: Any, coef: Any, intercept: Any, *, norms: Any, alpha: float = 1.0, n_jobs: int | None = None) -> list[Step]:
    """Follow the minimum of γ‖W‖² + mean R_α(σ) as γ falls: the margin grows towards its widest.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    coef, intercept : array-like
        Where it begins.
    norms : array-like
        Norms of W to visit, in this order.
    alpha : float, default=1.0
        Order of the Rényi entropy.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    list of Step
        One for each norm.

    Examples
    --------
    >>> x = [[0.0, 0.3], [1.0, -0.5], [4.0, 0.0], [5.0, 1.5]]
    >>> steps = path(x, [[-1.0, 0.5], [1.0, -0.5]], [2.5, -2.5], norms=[3.0, 30.0, 300.0])
    >>> steps[0].margin < steps[2].margin
    True
    """
    threads = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    found = _native.margin_path(_double(X), *_classifier(coef, intercept), alpha, [float(v) for v in norms], threads)
    return [Step(*step) for step in found]
