"""The linear engine: a softmax of a linear map, trained to be decisive and fair."""

from __future__ import annotations

import json
import os
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _native
from ._base import WHOLE, Clusterer
from ._explain import explain, explain_table, feature_names_of
from ._input import known_labels, names_of_clusters, native, warn_of_lost_digits
from ._one import REPORT as ONE_CLUSTER
from ._one import OneCluster
from ._options import INIT, arguments, one_of, specification
from ._portrait import Portrait
from ._table import Table, as_table
from ._texts import Texts, as_texts, explain_texts

_POSITIVE = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_SIZE = Interval(Real, 0, None, closed="neither")


class EntropyClustering(Clusterer):
    """Decisive, fair clusters of rows by a linear softmax model.

    A model σ = softmax(W x + b) is trained to be sure of every row and to use all clusters as much as expected, with wide
    margins between them: min γ‖W‖² + mean H(σ, y) + λ KL(u‖ȳ) over W, b and pseudo-labels y, for a prior u over the sizes
    of clusters. The same seed gives the same bits as the command ``partita fit``, whatever the number of threads.

    Parameters
    ----------
    n_clusters : int or str, default=8
        Number of clusters. ``"auto"`` chooses it from 2 to 20 as :func:`partita.choose_k` does, ``"2..30"`` from that range; ``report_["choice"]`` says
        why, and which others are plausible.
    loss : str, default="strong"
        ``"strong"`` and ``"weak"`` (fairness KL(u‖ȳ) or KL(ȳ‖u) with pseudo-labels), ``"mi"`` (mutual information; RIM with
        γ > 0), ``"renyi:ALPHA"``, ``"renyi-labels:ALPHA"``, ``"sela"``, ``"miadm-depict"`` (MIADM with its authors' labels
        σ/√σ̄), ``"miadm-dec"`` (with DEC's, σ²/σ̄), ``"miadm-exact"`` (with the optimal ones) or ``"hinge"`` (max-margin clustering).
    lam : float, optional
        λ (a keyword of Python's, hence the name), the weight of fairness: how much it costs if clusters do not have the sizes of the prior. By
        default 100 for strong and weak, 10 for renyi-labels, 1 for mi, renyi and miadm. For sela the
        power of σ, by default 20. The hinge loss has none.
    gamma : float, optional
        γ, the weight of ‖W‖²: larger means wider margins and less sure probabilities. In units of mean squared row norm 1; by default
        2e-4 / n_clusters, for hinge 1e-2 / n_clusters, less where features are few and clusters crowded.
    prior : array-like of shape (n_clusters,), "equal" or "auto", optional
        Expected shares of the clusters: given, equal, or estimated. By default estimated where rows show them clearly, otherwise equal.
    balance : {"exact"}, optional
        Give clusters exactly the sizes of the prior (within one row), by moving the rows that lose least.
    min_size, max_size : float, optional
        Fewest and most rows of a cluster; below 1, shares of the rows. They hold for ``labels_``, not for ``predict``.
    outliers : float or "auto", optional
        Which rows belong to no cluster and get the label -1, as noise does elsewhere: a share of the rows (at most 0.5), those in the sparsest places
        beside their clusters, or with ``"auto"`` those beyond a fence that their distribution gives. By default every row belongs to a cluster.
    prepare : str, default="auto"
        What is done to rows first: ``"auto"``, ``"none"``, ``"centre"``, ``"standardise"``, ``"robust"``, ``"l2"``,
        ``"sphere"`` or ``"floor"``. All that is affine is folded back into the model.
    lift : {"auto", "none", "quadratic", "rbf", "graph"}, default="auto"
        A feature map before the softmax. ``"graph"`` maps rows to where they lie in the graph of nearest neighbours, so that clusters may have any
        shape; ``"quadratic"`` to the Gaussians of a mixture that they may come from; ``"rbf"`` to how near they are to each of a few landmarks.
        ``coef_`` and ``intercept_`` are then for lifted rows. ``"auto"`` takes the graph for rows of fewer than 32 features in which it finds
        clusters, for other such rows the mixture, and for more features none.
    neighbours : int or "auto", default="auto"
        Each row is averaged with so many nearest neighbours; the averages find the pseudo-labels, and rows learn them by their own features.
        ``"auto"`` takes 15 for more than 16 clusters of at least 32 features, with 80 rows for each, and otherwise none.
    dims : int, "auto" or "full", default="auto"
        Dimensions to train on: at most 128 principal components (``"auto"``), all features (``"full"``), or so many principal components.
    init : {"auto", "random", "k-means++", "kmeans"}, default="auto"
        Where training starts.
    n_init : int, default=8
        Independent starts, trained together; the one with the lowest loss is kept.
    epochs, batch_size : int, optional
        Passes over the rows, and rows of a batch; by default they adapt to the data.
    label_solver : {"em", "exact"}, default="em"
        How pseudo-labels are found.
    em_iterations : int, default=5
        EM iterations for the pseudo-labels of a batch.
    refresh : {"batch", "epoch"}, default="batch"
        Whether pseudo-labels are found anew in every batch, or once in every epoch for all of its batches.
    optimiser : {"sgd", "adam", "lbfgs"}, default="sgd"
        How the weights follow the gradient.
    optimizer, max_iter : optional
        Other names for ``optimiser`` and ``epochs``; give one of each pair. ``prepare`` takes ``"center"`` and ``"standardize"`` too.
    momentum : float, default=0.0
        Momentum of sgd.
    learning_rate : float, optional
        Learning rate in units of mean squared row norm 1.
    polish : int, default=0
        Iterations of L-BFGS on all rows after training, for a minimum to more digits.
    encoder : str or list of str, optional
        What makes rows of texts: ``"tfidf"`` (weights of words), ``"minilm"`` (a small network, whose weights have to be on this machine) or both. By default
        tfidf, and both where the weights of minilm are found.
    encoder_weights : path-like, optional
        Folder with the weights of the encoder, before the usual places are searched.
    known_weight : float, default=0.0
        Weight of the mean cross-entropy of the rows that ``known`` names, added to the loss of all rows; 1 is the paper's. At 0 such a
        row counts as much as any other: its pseudo-label is known. Where few rows are known, ``optimiser="adam"`` is steadier: its steps
        do not grow with the weight.
    groups : list of int, optional
        Widths of groups of columns that stand side by side, such as 512 of an image and 384 of its text; each group is prepared on its own and
        has the same weight. These are groups of features; scikit-learn's word is for groups of rows.
    column_types : dict, optional
        What columns of a table are taken for, by name: ``"number"``, ``"category"``, ``"date"``, ``"text"`` (left out), ``"id"`` (left out) or ``"skip"``; by
        default their cells decide.
    warm_start : bool, default=False
        Start from the model of the last fit, and keep its cluster numbers unless known labels give others.
    max_memory : int, default=2**30
        Bytes of prepared rows to hold; beyond that they are read anew, batch by batch, with the same result.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, from 0 to 2**64 - 1; None draws one. The default is a number, unlike scikit-learn's, so that a fit can be
        repeated to the bit, here and with the command.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : int, default=0
        Whether to show progress, with tqdm if it is installed.

    Notes
    -----
    Most fits need ``n_clusters`` alone. The parameters in groups: what the clusters should be (``n_clusters``, ``prior``, ``balance``, ``min_size``,
    ``max_size``, ``outliers``); how rows are seen (``prepare``, ``lift``, ``neighbours``, ``dims``, ``groups``); what is minimised (``loss``, ``lam``,
    ``gamma``); how (``init``, ``n_init``, ``epochs``, ``batch_size``, ``optimiser``, ``momentum``, ``learning_rate``, ``polish``, and for pseudo-labels
    ``label_solver``, ``em_iterations``, ``refresh``); and what it may use (``max_memory``, ``n_jobs``).

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, -1 for outliers.
    n_clusters_ : int
        Number of clusters, as given or as chosen.
    outlier_scores_ : ndarray of shape (n_samples,) or None
        How sparse the place of each row is beside its cluster: 0 for usual rows, near 1 far from everything. None without ``outliers``.
    coef_ : ndarray of shape (n_clusters, n_features)
        W, on raw rows; on rows after :attr:`centre_` and the norm if ``normalises_``.
    intercept_ : ndarray of shape (n_clusters,)
        b.
    centre_ : ndarray of shape (n_features,) or None
        Subtracted from rows before ``coef_``, where that could not be folded into ``intercept_``.
    normalises_ : bool
        Whether rows are then divided by their norm.
    loss_ : float
        Loss of the chosen start, norm included.
    n_iter_ : int
        Steps that the chosen start made.
    stop_reason_ : {"converged", "finished"}
        Why training stopped.
    history_ : ndarray
        Mean batch loss in each epoch of the chosen start.
    prior_ : ndarray of shape (n_clusters,)
        Prior over sizes, as given or as estimated.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Rows in each cluster, outliers not counted.
    cluster_names_ : ndarray of shape (n_clusters,) or None
        Name of each cluster if ``known`` gave names, None for a cluster without one; ``cluster_names_[labels_]`` names the rows.
    cluster_words_ : list of list of str
        Of texts alone: the words that tell each cluster apart, the best first.
    classes_ : ndarray of shape (n_clusters,)
        Numbers of the clusters, for what asks for the columns of ``predict_proba``.
    report_ : dict
        All that is known of the fit: decisiveness, fairness, margins, losses of the restarts and their agreement, ailments.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import EntropyClustering
    >>> x = np.random.default_rng(0).normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    >>> model = EntropyClustering(n_clusters=3).fit(x)
    >>> model.cluster_sizes_.tolist()
    [100, 100, 100]
    >>> bool(np.all(model.predict(x) == model.labels_))
    True
    >>> model.predict_proba(x[:1]).sum().round(6).item()
    1.0

    The number of clusters can be chosen:

    >>> EntropyClustering(n_clusters="auto").fit(x).n_clusters_
    3

    Labels that are known for some rows name their clusters:

    >>> known = np.full(300, None)
    >>> known[[0, 100, 200]] = ["low", "right", "high"]
    >>> model = EntropyClustering(n_clusters=3).fit(x, known=known)
    >>> model.cluster_names_[model.labels_[[5, 105, 205]]].tolist()
    ['low', 'right', 'high']

    Lists of texts are clustered by their words, or by a network that has read much:

    >>> texts = ["crude oil rose", "oil and crude fell", "wheat crop rose", "the crop of wheat"] * 5
    >>> model = EntropyClustering(n_clusters=2).fit(texts)
    >>> bool(model.predict(["more oil"])[0] == model.labels_[0])
    True

    Rows that belong nowhere can be left out:

    >>> far = np.vstack([x, [[30.0, 30.0]]])
    >>> model = EntropyClustering(n_clusters=3, outliers="auto").fit(far)
    >>> model.labels_[-1].item(), model.predict([[40.0, -20.0]]).item()
    (-1, -1)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **Clusterer._parameter_constraints,
        "n_clusters": [WHOLE, str],
        "loss": [str],
        "lam": [None, _NOT_NEGATIVE],
        "gamma": [None, _NOT_NEGATIVE],
        "prior": [None, StrOptions({"auto", "equal"}), "array-like"],
        "lift": [StrOptions({"auto", "none", "quadratic", "rbf", "graph"})],
        "neighbours": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "balance": [None, StrOptions({"exact"})],
        "min_size": [None, _SIZE],
        "max_size": [None, _SIZE],
        "outliers": [None, StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "init": [StrOptions(set(INIT))],
        "n_init": [WHOLE],
        "epochs": [None, WHOLE],
        "batch_size": [None, Interval(Integral, 2, None, closed="left")],
        "label_solver": [StrOptions({"em", "exact"})],
        "em_iterations": [WHOLE],
        "refresh": [StrOptions({"batch", "epoch"})],
        "optimiser": [StrOptions({"sgd", "adam", "lbfgs"})],
        "optimizer": [None, StrOptions({"sgd", "adam", "lbfgs"})],
        "max_iter": [None, WHOLE],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [None, _POSITIVE],
        "polish": [Interval(Integral, 0, None, closed="left")],
        "encoder": [None, str, list, tuple],
        "encoder_weights": [None, str, os.PathLike],
        "known_weight": [Interval(Real, 0, None, closed="left")],
        "groups": [None, "array-like"],
        "column_types": [None, dict],
        "warm_start": ["boolean"],
        "max_memory": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        loss: str = "strong",
        lam: float | None = None,
        gamma: float | None = None,
        prior: Any = None,
        balance: str | None = None,
        min_size: float | None = None,
        max_size: float | None = None,
        outliers: float | str | None = None,
        prepare: str = "auto",
        lift: str = "auto",
        neighbours: int | str = "auto",
        dims: int | str = "auto",
        init: str = "auto",
        n_init: int = 8,
        epochs: int | None = None,
        batch_size: int | None = None,
        label_solver: str = "em",
        em_iterations: int = 5,
        refresh: str = "batch",
        optimiser: str = "sgd",
        optimizer: str | None = None,
        max_iter: int | None = None,
        momentum: float = 0.0,
        learning_rate: float | None = None,
        polish: int = 0,
        encoder: Any = None,
        encoder_weights: Any = None,
        known_weight: float = 0.0,
        groups: Any = None,
        column_types: dict[str, str] | None = None,
        warm_start: bool = False,
        max_memory: int = 2**30,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.loss = loss
        self.lam = lam
        self.gamma = gamma
        self.prior = prior
        self.balance = balance
        self.min_size = min_size
        self.max_size = max_size
        self.outliers = outliers
        self.prepare = prepare
        self.lift = lift
        self.neighbours = neighbours
        self.dims = dims
        self.init = init
        self.n_init = n_init
        self.epochs = epochs
        self.batch_size = batch_size
        self.label_solver = label_solver
        self.em_iterations = em_iterations
        self.refresh = refresh
        self.optimiser = optimiser
        self.optimizer = optimizer
        self.max_iter = max_iter
        self.momentum = momentum
        self.learning_rate = learning_rate
        self.polish = polish
        self.encoder = encoder
        self.encoder_weights = encoder_weights
        self.known_weight = known_weight
        self.groups = groups
        self.column_types = column_types
        self.warm_start = warm_start
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, known: Any = None) -> EntropyClustering:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows: numpy (float32 is read in place, float64 and float16 block by block), memory maps, pandas, polars, pyarrow,
            CPU tensors, scipy sparse matrices. Tables may hold categories, dates and gaps: ``report_["plans"]`` says what was done to each
            column, and ``report_["portraits"]`` describes the clusters by them.
        y : ignored
            As in all of scikit-learn's clusterers: the truth is for scoring, not for training.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row. Rows of weight 0 take no part in training.
        known : array-like of shape (n_samples,), optional
            Labels that are known for some rows: cluster numbers from 0, or names; None, NaN or -1 for the other rows. Training follows
            them, and their clusters get these numbers, or the names in ``cluster_names_``. In a pipeline they go in as
            ``fit(X, STEP__known=labels)``, or by ``set_fit_request(known=True)``.

        Returns
        -------
        EntropyClustering
            The fitted estimator.
        """
        self._validate_params()
        x = self._rows(X, reset=True, fewest=2)
        like = getattr(self, "_model", None) if self.warm_start else None
        if like is not None:
            k = len(self.coef_) if isinstance(self.n_clusters, str) else self.n_clusters
            raw, takes = isinstance(x, (Table, Texts)), (self._model.is_table(), self._model.takes_texts())
            same = takes == (isinstance(x, Table), isinstance(x, Texts)) and (raw or sum(self._model.widths()) == x.shape[1])
            like = like if same and len(self.coef_) == k else None
        return self._train(x, known, sample_weight, like)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, known: Any = None) -> EntropyClustering:
        """Go on training with more rows, from where the last fit ended.

        The first call is an ordinary fit. Later ones make one pass over the new rows (or ``epochs``) and the 40 steps of
        refinement that end every fit; with ``optimiser="lbfgs"`` they descend on the new rows to the end. The new rows alone are
        asked to have the sizes of the prior, and there must be at least as many different ones as clusters. ``min_size`` and
        ``max_size`` in rows hold for each call by itself; as shares they suit batches of any size. Cluster numbers stay unless
        known labels give others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        y : ignored
            As in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row.
        known : array-like of shape (n_samples,), optional
            Labels that are known for some of the new rows, as in ``fit``. Names that clusters have already stay theirs.

        Returns
        -------
        EntropyClustering
            The fitted estimator.
        """
        self._validate_params()
        first = not self.__sklearn_is_fitted__()
        x = self._rows(X, reset=first, fewest=2)
        return self._train(x, known, sample_weight, None if first else self._model, go_on=not first)

    def _rows(self, X: Any, reset: bool, fewest: int = 1) -> Any:
        """X as a matrix or, if it holds more than numbers, as the columns of a table or as texts."""
        takes = not reset and self._model.takes_texts()
        texts = as_texts(X) if reset or takes else None
        if takes and texts is None:
            raise ValueError("this model was fitted to texts and takes texts: a list of str, a 1d array or a Series of them")
        if texts is not None:
            return texts
        table = as_table(X, getattr(self, "column_types", None), always=not reset and self._model.is_table())
        if table is None:
            if not reset and self._model.is_table():
                raise ValueError("the model was fitted to a table with named columns; give such a table (pandas, polars or pyarrow)")
            return self._matrix(X, reset=reset, fewest=fewest)
        if getattr(self, "groups", None) is not None:
            raise ValueError("groups= has no meaning for a table with categories, dates or gaps, whose columns count alike; leave it out")
        if len(table) < fewest:
            raise ValueError(f"Found a table with {len(table)} row(s) while a minimum of {fewest} is required by {type(self).__name__}.")
        if reset:
            validate_data(self, X, reset=True, skip_check_array=True)
        return table

    def _seen(self, X: Any) -> Any:
        """X as the model sees it: a table as the rows that its plan makes."""
        x = self._rows(X, reset=False)
        if isinstance(x, Texts):
            return self._model.encode_texts(list(x), self._threads(), self._weights_place())
        return self._model.encode(x.columns) if isinstance(x, Table) else native(x)

    def _ask(self, method: str, X: Any, *more: Any) -> Any:
        check_is_fitted(self)
        return getattr(self._model, method)(self._seen(X), self._threads(), *more)

    def _train(self, x: Any, labels: Any, sample_weight: Any, like: Any, go_on: bool = False) -> EntropyClustering:
        """Fit, from the model ``like`` if there is one."""
        n, k = x.shape[0], self.n_clusters
        if isinstance(x, Texts):
            x.check(k, self.groups, None if like is None else like.takes_texts())
        if isinstance(k, str) and go_on:
            k = self.n_clusters_
        if isinstance(x, np.ndarray) and x.dtype == np.float64 and k != 1:
            warn_of_lost_digits(x, getattr(self, "feature_names_in_", None))
        known, names = None, getattr(self, "cluster_names_", None) if like is not None else None
        # With one cluster labels say nothing.
        if labels is not None and k != 1:
            known, names = known_labels(labels, n, n if isinstance(k, str) else int(k), names)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, x, dtype=np.float32, ensure_non_negative=True)
        if k == 1 and self.outliers is not None:
            raise ValueError("outliers= has no meaning for one cluster, which takes every row; leave it out")
        if k == 1:
            model, labels, scores, report = OneCluster(x.shape[1]), np.zeros(n, np.int32), None, ONE_CLUSTER
        else:
            model, labels, scores, report = self._run_engine(x, known, weights, like, go_on)
        # Only now, so that a fit that fails leaves the last one.
        self._model = model
        self._take_report(labels, report)
        self.history_ = np.asarray(report["trace"])
        self.outlier_scores_ = scores
        self.cluster_names_ = names
        if isinstance(x, Texts):
            self.n_features_in_ = sum(model.widths())
            told = report["portraits"] or json.loads(model.describe_texts(list(x), self._threads(), self._weights_place()))
            self.cluster_words_ = [[word["word"] for word in portrait["words"]] for portrait in told["texts"]]
        self.cluster_sizes_ = np.bincount(self.labels_[self.labels_ >= 0], minlength=self.n_clusters_)
        self._take_model()
        self._warn_of_sizes()
        if one_of(self, "optimiser", "optimizer") == "lbfgs" and self.stop_reason_ == "finished":
            words = "L-BFGS made all its iterations and the loss still fell; a larger gamma or fewer clusters converge sooner"
            warnings.warn(words, ConvergenceWarning, stacklevel=3)
        return self

    def _run_engine(self, x: Any, known: Any, weights: Any, like: Any, go_on: bool) -> Any:
        """Model, labels and outlier scores of all rows, and report. Rows of weight 0 take no part in training."""
        used = None if weights is None or weights.all() else np.flatnonzero(weights).tolist()
        texts = isinstance(x, Texts)
        rest = {} if texts else {"widths": None if self.groups is None else [int(w) for w in self.groups]}
        with self._progress() as tell:
            model, labels, scores, told = (_native.fit_texts if texts else _native.fit_linear)(
                list(x) if texts else x.columns if isinstance(x, Table) else native(x),
                json.dumps(specification(self)),
                threads=self._threads(),
                memory=int(self.max_memory),
                weights=weights,
                known=known,
                used=used,
                like=like,
                go_on=go_on,
                progress=tell,
                **rest,
            )
        return model, labels, scores, json.loads(told)

    def _weights_place(self) -> str | None:
        return None if self.encoder_weights is None else os.fspath(self.encoder_weights)

    def _take_model(self) -> None:
        self.coef_, self.intercept_ = self._model.affine()
        self.prior_ = self._model.prior()
        views = self._model.views()
        self.normalises_ = any(normalises for _, _, normalises in views)
        centres = [np.zeros(width, np.float32) if centre is None else centre for width, centre, _ in views]
        self.centre_ = np.concatenate(centres) if self.normalises_ else None

    def predict(self, X: Any, *, balance: str | None = None) -> Any:
        """Assign rows to clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        balance : {"exact"}, optional
            Give the clusters of these rows exactly the sizes of the prior.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of each row, -1 for outliers if the model was fitted with ``outliers``.
        """
        if balance not in (None, "exact"):
            raise ValueError(f"balance must be 'exact' or None. Got {balance!r} instead.")
        if balance is None:
            return self._ask("assign", X)
        return self._ask("predict_sized", X, json.dumps({"balance": balance}))

    def score_outliers(self, X: Any) -> Any:
        """How sparse the places of rows are beside their clusters, float32 of shape (n_samples,).

        0 means that a row's place is as dense as its cluster usually is, 0.5 that its neighbours are twice as far; far from everything it nears 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores from 0 to 1; ``predict`` gives -1 to those above ``report_["outliers"]["threshold"]``.
        """
        scores = self._ask("outlier_scores", X)
        if scores is None:
            raise ValueError("this model knows no outliers; fit it with outliers='auto' or a share of the rows")
        return scores

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of all clusters, float32 of shape (n_samples, n_clusters); rows sum to one."""
        return self._ask("predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Logits W x + b, float32 of shape (n_samples, n_clusters)."""
        return self._ask("logits", X)

    def transform(self, X: Any) -> Any:
        """Probabilities of all clusters, as features for what comes next in a pipeline."""
        return self.predict_proba(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """How decided and fair rows are, without labels, and how finely: H(u)/10 − mean H(σ) − KL(σ̄‖u), in nats.

        More clusters are worth something, at most ln(n_clusters)/10, but only if rows are told apart by nine tenths of what they could be. So scores
        of different numbers of clusters can be compared, as a search over ``n_clusters`` does; ``n_clusters="auto"`` and :func:`partita.choose_k` look
        closer, at what is found again in other rows, and are more reliable: the tenth was chosen on ten small sets, the digits among them, and prefers eight
        clusters to two on the breast cancer data. A model that knows nothing has −0.9 ln(n_clusters).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, best such that were not trained on.
        y : ignored
            The truth never selects.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row.

        Returns
        -------
        float
            The score, at most ln(n_clusters)/10.
        """
        proba = self.predict_proba(X).astype(np.float64)
        doubt = -np.sum(proba * np.log(np.maximum(proba, np.finfo(np.float64).tiny)), axis=1)
        mean = np.average(proba, axis=0, weights=sample_weight)
        unfairness = np.sum(mean * np.log(np.maximum(mean, np.finfo(np.float64).tiny) / self.prior_))
        whole = -np.sum(self.prior_ * np.log(np.maximum(self.prior_, np.finfo(np.float64).tiny)))
        return float(0.1 * whole - np.average(doubt, weights=sample_weight) - unfairness)

    def explain(self, X: Any, row: int | None = None, *, top: int = 10, feature_names: Any = None) -> Any:
        """Say which features send rows to their clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        row : int, optional
            The row to explain. Without it, every cluster is: by what its features add, on average over its rows, to its lead over
            the average cluster.
        top : int, default=10
            Features to name, largest first.
        feature_names : array-like of shape (n_features,), optional
            Names; by default those seen in ``fit``, or numbers.

        Returns
        -------
        Explanation or list of ClusterPortrait
            Why the row went where it went, or what defines each cluster.
        """
        check_is_fitted(self)
        x = self._rows(X, reset=False)
        if isinstance(x, Texts):
            return explain_texts(self, x, row, top)
        if isinstance(x, Table):
            return explain_table(self, x, row, top)
        return explain(self, x, row, top, feature_names)

    def portraits(
        self, X: Any, *, examples: int = 10, top: int = 10, bins: int = 20, feature_names: Any = None
    ) -> list[Portrait]:
        """Describe every cluster: its size, how sure the model is of its rows, which rows show it best, what sets it apart.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; each counts for its most probable cluster.
        examples : int, default=10
            How many of the most typical rows and of the most doubtful ones.
        top : int, default=10
            How many defining features.
        bins : int, default=20
            Bins of the histogram of confidence.
        feature_names : array-like of shape (n_features,), optional
            Names; by default those seen in ``fit``, or numbers.

        Returns
        -------
        list of Portrait
            One for each cluster.
        """
        check_is_fitted(self)
        x = self._seen(X)
        given = self._model.features() if feature_names is None and self._model.is_table() else feature_names
        names = feature_names_of(self, sum(self._model.widths()), given)
        options = {"examples": int(examples), "features": int(top), "bins": int(bins)}
        labels = self._model.predict(x, self._threads())
        told = self._model.portraits(x, labels, json.dumps(options), self._threads())
        return [Portrait.of(found, names, self.cluster_names_) for found in json.loads(told)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that the command ``partita`` reads too (safetensors).

        The options of the engine are in it, and the names of features and clusters, if they have any. Those of this package alone are not: ``balance``, ``min_size``, ``max_size``,
        ``warm_start``, ``max_memory``, ``n_jobs`` and ``verbose``.
        """
        check_is_fitted(self)
        columns = getattr(self, "feature_names_in_", None)
        names = [] if self.cluster_names_ is None else [str(name) for name in self.cluster_names_ if name is not None]
        self._model.save(os.fspath(path), None if columns is None else [str(name) for name in columns], names)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EntropyClustering:
        """Read a model written by :meth:`save` or by the command ``partita fit``.

        Labels and the report of the fit are not in the file; everything that takes rows works. Nor are ``balance``, ``min_size``
        and ``max_size``, which have their defaults again: set them before the next fit. What they said about the prior is
        ``prior="auto"`` now.
        """
        model = _native.LinearModel.load(os.fspath(path))
        widths = model.widths()
        given = arguments(json.loads(model.spec()))
        loaded = cls._with(given | {"groups": widths if len(widths) > 1 else None})
        loaded._model = model
        loaded._take_model()
        loaded.n_features_in_ = sum(widths)
        loaded.n_clusters_ = loaded.n_clusters
        loaded.classes_ = np.arange(loaded.n_clusters)
        columns, names = model.names()
        if columns is not None:
            loaded.feature_names_in_ = np.asarray(columns, dtype=object)
        loaded.cluster_names_ = names_of_clusters(names, loaded.n_clusters)
        return loaded

    @classmethod
    def _with(cls, given: dict[str, Any]) -> EntropyClustering:
        """An estimator with the options of a model file."""
        return cls(**given)

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The model as ONNX: float32 rows in, ``label`` (int64) and ``probabilities`` out.

        Parameters
        ----------
        path : path-like, optional
            Where to write it.

        Returns
        -------
        bytes
            The serialised model.
        """
        check_is_fitted(self)
        if path is not None:
            self._model.write_onnx(os.fspath(path))
        return self._model.to_onnx()
