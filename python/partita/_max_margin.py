"""Max-margin clustering."""

from __future__ import annotations

from typing import Any

from ._entropy import EntropyClustering


class MaxMarginClustering(EntropyClustering):
    """Max-margin clustering: the hinge loss of nearly fair hard labels.

    :class:`EntropyClustering` with ``loss="hinge"``, its attributes and its methods. Of its parameters only those below are
    taken; the others (``balance``, ``min_size``, ``max_size``, ``outliers``, ``polish``, ``groups``, ``warm_start`` ...) have their
    defaults.

    Parameters
    ----------
    n_clusters : int or str, default=8
        Number of clusters, or ``"auto"`` to choose it.
    lam : float, optional
        The hinge loss has no such weight: its hard labels are held near the sizes of the prior instead. Leave it out.
    gamma : float, optional
        Weight γ of ‖W‖², in units of mean squared row norm 1; by default 1e-2 / n_clusters.
    prior, prepare, dims, init, n_init, epochs, max_iter, batch_size, random_state, n_jobs, verbose
        As in :class:`EntropyClustering`.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import MaxMarginClustering
    >>> x = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0, 0], [9, 0]], 100, axis=0)
    >>> MaxMarginClustering(n_clusters=2).fit(x).cluster_sizes_.tolist()
    [100, 100]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        lam: float | None = None,
        gamma: float | None = None,
        prior: Any = None,
        prepare: str = "auto",
        dims: int | str = "auto",
        init: str = "auto",
        n_init: int = 8,
        epochs: int | None = None,
        max_iter: int | None = None,
        batch_size: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters,
            loss="hinge",
            lam=lam,
            gamma=gamma,
            prior=prior,
            prepare=prepare,
            lift="none",
            dims=dims,
            init=init,
            n_init=n_init,
            epochs=epochs,
            max_iter=max_iter,
            batch_size=batch_size,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    @classmethod
    def _with(cls, given: dict[str, Any]) -> MaxMarginClustering:
        if given["loss"] != "hinge":
            raise ValueError(f"this model has the loss {given['loss']!r}, not 'hinge'; read it with EntropyClustering.load")
        if given["lift"] != "none":
            raise ValueError(f"this model has the lift {given['lift']!r}; read it with EntropyClustering.load")
        if given["outliers"] is not None:
            raise ValueError(f"this model has the outliers {given['outliers']!r}; read it with EntropyClustering.load")
        if given["groups"] is not None:
            raise ValueError(f"this model has the groups of features {given['groups']}; read it with EntropyClustering.load")
        return cls(**{name: given[name] for name in cls._get_param_names() if name in given})
