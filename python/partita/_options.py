"""The specification of a fit from the arguments of the estimator, and back."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._base import SPELLINGS

# Names of the estimator, and the specification's, where they differ.
INIT = {"auto": "auto", "random": "random", "k-means++": "plus-plus", "kmeans": "k-means"}
_TOP = {"n_clusters": "k", "n_init": "restarts", "outliers": "outliers"}
_SIZES = {name: name for name in ("balance", "min_size", "max_size")}
_METHOD = {
    "lam": "lambda",
    "batch_size": "batch",
    **{name: name for name in ("loss", "gamma", "prepare", "lift", "epochs", "em_iterations", "refresh", "optimiser")},
    **{name: name for name in ("momentum", "learning_rate", "polish", "known_weight")},
}
# Names that other libraries have for ours; None unless given.
ALIASES = {"epochs": "max_iter", "optimiser": "optimizer"}
_USUAL = {"epochs": None, "optimiser": "sgd"}
_NETWORK = ("net", "size", "normalise", "augment", "pairs", "views", "vat", "vat_length", "warm_up", "forward", "iic", "over", "pretext")
_NETWORK += ("pretext_rate", "pretext_batch", "pretext_optimiser", "pretext_cosine", "revive")
_NETWORK += ("freeze", "head_rate", "weight_decay", "skip_bad")


def _plain(value: Any) -> Any:
    """A number of any type as one that JSON can write."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def _given(model: Any, names: dict[str, str]) -> dict[str, Any]:
    return {theirs: _plain(getattr(model, ours)) for ours, theirs in names.items()}


def one_of(model: Any, ours: str, theirs: str) -> Any:
    """The value that was given by our name or by the other, which must not contradict each other."""
    mine, other = getattr(model, ours), getattr(model, theirs)
    if other is None:
        return mine
    if mine not in (_USUAL[ours], other):
        raise ValueError(f"{ours}={mine!r} and {theirs}={other!r} are two names of one option; give one of them")
    return other


def sizes(model: Any) -> dict[str, Any]:
    """The sizes that labels must have."""
    return _given(model, _SIZES)


def specification(model: Any) -> dict[str, Any]:
    """What the estimator is asked to do; the names are those of a file that ``partita fit --spec`` reads."""
    prior = "usual" if model.prior is None else model.prior
    if not isinstance(prior, str):
        prior = {"shares": np.asarray(prior, dtype=np.float64).ravel().tolist()}
    neighbours = "auto" if model.neighbours == "auto" else {"exactly": int(model.neighbours)}
    rest = {
        "dims": model._dims(),
        "neighbours": neighbours,
        "init": INIT[model.init],
        "exact_labels": model.label_solver == "exact",
    }
    method = _given(model, _METHOD) | rest
    method["prepare"] = SPELLINGS.get(model.prepare, model.prepare)
    for ours, theirs in ALIASES.items():
        method[ours] = _plain(one_of(model, ours, theirs))
    encoder = [] if model.encoder is None else [model.encoder] if isinstance(model.encoder, str) else [str(name) for name in model.encoder]
    weights = None if model.encoder_weights is None else os.fspath(model.encoder_weights)
    roles = {str(name): str(role) for name, role in (getattr(model, "column_types", None) or {}).items()}
    data = {"as": roles, "encoder": encoder, "encoder_weights": weights}
    given = {name: value for name, value in data.items() if value}
    spec = _given(model, _TOP) | {"seed": model._seed(), "prior": prior, "sizes": sizes(model), "method": method}
    return spec | ({"data": given} if given else {})


def _paths(given: Any) -> list[str]:
    """No path, one path or several, as a list."""
    if given is None:
        return []
    return [os.fspath(path) for path in ([given] if isinstance(given, (str, os.PathLike)) else given)]


def network_specification(model: Any) -> dict[str, Any]:
    """What an estimator with a network is asked to do."""
    prior = "equal" if model.prior is None else {"shares": np.asarray(model.prior, dtype=np.float64).ravel().tolist()}
    method = {theirs: _plain(getattr(model, ours)) for ours, theirs in _METHOD.items() if hasattr(model, ours)}
    method["exact_labels"] = model.label_solver == "exact"
    network = {name: _plain(getattr(model, name)) for name in _NETWORK}
    for name in ("init_weights", "holdout_truth"):
        path = getattr(model, name)
        network[name] = None if path is None else os.fspath(path)
    for name in ("pretext_data", "holdout"):
        network[name] = _paths(getattr(model, name))
    network["scan"] = None if model.scan is None else [int(epochs) for epochs in model.scan]
    return {"k": int(model.n_clusters), "seed": model._seed(), "prior": prior, "method": method, "network": network}


def arguments(spec: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the estimator from a specification."""
    prior, method = spec["prior"], spec["method"]
    dims, init, neighbours = method["dims"], method["init"], method["neighbours"]
    return {
        **{ours: spec[theirs] for ours, theirs in _TOP.items()},
        **{ours: method[theirs] for ours, theirs in _METHOD.items()},
        "random_state": spec["seed"],
        "prior": prior["shares"] if isinstance(prior, dict) else None if prior == "usual" else prior,
        "neighbours": neighbours["exactly"] if isinstance(neighbours, dict) else neighbours,
        "dims": dims["exactly"] if isinstance(dims, dict) else dims,
        "init": next(ours for ours, theirs in INIT.items() if theirs == init),
        "label_solver": "exact" if method["exact_labels"] else "em",
    }
