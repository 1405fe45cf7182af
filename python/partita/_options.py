"""The options of the linear engine from the arguments of the estimator, and back."""

from __future__ import annotations

from typing import Any

from ._sizes import limits, prior_option

# Names of the estimator, and the engine's.
INIT = {"auto": "auto", "random": "random", "k-means++": "plus-plus", "kmeans": "k-means"}


def options(model: Any, n: int) -> dict[str, Any]:
    """The options of a fit of ``n`` rows; the names are those of the engine's own struct."""
    em = {"kind": "em", "iterations": int(model.em_iterations)}
    sgd = {"kind": "sgd", "momentum": float(model.momentum)}
    return {
        "k": int(model.n_clusters),
        "loss": model.loss,
        "lambda": None if model.lam is None else float(model.lam),
        "gamma": None if model.gamma is None else float(model.gamma),
        "prior": prior_option(model.prior, int(model.n_clusters), limits(model.min_size, model.max_size, n), n),
        "prepare": model.prepare,
        "dims": model._dims(),
        "init": INIT[model.init],
        "restarts": int(model.n_init),
        "seed": model._seed(),
        "epochs": None if model.epochs is None else int(model.epochs),
        "batch": None if model.batch_size is None else int(model.batch_size),
        "solver": em if model.label_solver == "em" else {"kind": "exact"},
        "refresh": model.refresh,
        "optimiser": sgd if model.optimiser == "sgd" else {"kind": model.optimiser},
        "learning_rate": None if model.learning_rate is None else float(model.learning_rate),
        "polish": int(model.polish),
    }


def arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the estimator from the options of the engine."""
    prior, dims, solver = options["prior"], options["dims"], options["solver"]
    given = prior.get("given") if isinstance(prior, dict) else None
    return {
        "n_clusters": options["k"],
        "loss": options["loss"],
        "lam": options["lambda"],
        "gamma": options["gamma"],
        "prior": given if given is not None or prior == "uniform" else "auto",
        "prepare": options["prepare"],
        "dims": dims["exactly"] if isinstance(dims, dict) else dims,
        "init": next(name for name, native_name in INIT.items() if native_name == options["init"]),
        "n_init": options["restarts"],
        "random_state": options["seed"],
        "epochs": options["epochs"],
        "batch_size": options["batch"],
        "label_solver": solver["kind"],
        "em_iterations": solver.get("iterations", 5),
        "refresh": options["refresh"],
        "optimiser": options["optimiser"]["kind"],
        "momentum": options["optimiser"].get("momentum", 0.0),
        "learning_rate": options["learning_rate"],
        "polish": options["polish"],
    }
