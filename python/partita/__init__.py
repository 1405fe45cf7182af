"""Discriminative entropy clustering: decisive, fair, max-margin clusters without labels.

Estimators follow scikit-learn's conventions and run in Rust.

Examples
--------
>>> from sklearn.datasets import load_digits
>>> from partita import EntropyClustering
>>> EntropyClustering(n_clusters=10).fit_predict(load_digits().data).shape
(1797,)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._native import __version__

if TYPE_CHECKING:
    from . import margin, metrics, plot, torch
    from ._choose import Choice, choose_k
    from ._compare import Comparison, compare, methods
    from ._entropy import EntropyClustering
    from ._explain import ClusterPortrait, Explanation
    from ._kmeans import KMeans
    from ._max_margin import MaxMarginClustering
    from ._mixture import GaussianMixture
    from ._network import NetworkClustering
    from ._portrait import Portrait
    from ._pseudo import pseudo_labels
    from ._soft_kmeans import SoftKMeans
    from ._temi import Temi
    from ._turtle import Turtle

# What is imported only when it is first used: scikit-learn alone takes longer than all of this package.
_HOMES = {
    "EntropyClustering": "_entropy",
    "MaxMarginClustering": "_max_margin",
    "NetworkClustering": "_network",
    "KMeans": "_kmeans",
    "SoftKMeans": "_soft_kmeans",
    "GaussianMixture": "_mixture",
    "Turtle": "_turtle",
    "Temi": "_temi",
    "ClusterPortrait": "_explain",
    "Explanation": "_explain",
    "Portrait": "_portrait",
    "pseudo_labels": "_pseudo",
    "choose_k": "_choose",
    "Choice": "_choose",
    "compare": "_compare",
    "Comparison": "_compare",
    "methods": "_compare",
}
_MODULES = ("margin", "metrics", "plot")

__all__ = [
    "__version__",
    "EntropyClustering",
    "MaxMarginClustering",
    "NetworkClustering",
    "KMeans",
    "SoftKMeans",
    "GaussianMixture",
    "Turtle",
    "Temi",
    "ClusterPortrait",
    "Explanation",
    "Portrait",
    "pseudo_labels",
    "choose_k",
    "Choice",
    "compare",
    "Comparison",
    "methods",
    "margin",
    "metrics",
    "plot",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name == "torch":
        return _torch()
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _torch() -> Any:
    """``partita.torch``: not among the public names, since PyTorch may not be there and users have a ``torch`` of their own."""
    try:
        return import_module(".torch", __name__)
    except ImportError as error:
        # What looks an attribute up expects this, and asks no further.
        raise AttributeError(f"module {__name__!r} has no attribute 'torch': {error}") from error


def __dir__() -> list[str]:
    return sorted(__all__)
