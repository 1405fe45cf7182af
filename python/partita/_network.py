"""Networks on images: features and clusters learnt together."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import WHOLE, Clusterer
from ._input import as_matrix, known_labels, names_of_clusters
from ._options import network_specification
from ._portrait import Portrait

_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")
_COUNT = Interval(Integral, 0, None, closed="left")
_PATH = [None, str, os.PathLike]


class NetworkClustering(Clusterer):
    """Decisive, fair clusters of images by a network that is trained for them.

    The loss is that of :class:`EntropyClustering`, on the outputs of a network instead of a linear map of given features, with
    self-augmentation or virtual adversarial training beside it; or IIC, or SCAN. The package must have been built with networks:
    ``pip install ./python --config-settings build-args="--features deep"``. The same seed gives the same bits as the command
    ``partita fit --net``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    net : str, default="mlp"
        ``"linear"``, ``"mlp"``, ``"vgg4"``, ``"resnet18"``, ``"resnet18-cifar"``, ``"resnet18-stl"``, ``"resnet50"``,
        ``"resnet50-keras"``, ``"mobilenetv2"`` or ``"efficientnet-lite0"``.
    size : int, optional
        Pixels of a side that images from files are given; by default they stay as they are.
    normalise : str, optional
        What is subtracted from pixels and what they are divided by: ``"plain"``, ``"imagenet"``, ``"cifar10"``, ``"cifar100"``,
        ``"mnist"``, ``"lite"``, ``"caffe"``, or means and deviations of the channels such as ``"0.5,0.4,0.3/0.2,0.2,0.2"``; by default as the
        weights at the start expect.
    loss, lam, label_solver, em_iterations, refresh
        As in :class:`EntropyClustering`.
    prior : array-like of shape (n_clusters,), optional
        Expected shares of the clusters; equal by default.
    augment : str, default=""
        How views of an image differ from it, as in ``"flip,rotate:10,crop:0.8"``: any of flip, rotate, crop, affine, colour,
        hue, jitter (the share of the images whose colours change), grey, blur.
    pairs : float, optional
        Weight of self-augmentation: an image and its view should be alike; by default 1 with ``augment``.
    views : int, default=1
        Views that are compared with an image in every step.
    vat : float, optional
        Weight of virtual adversarial training; by default 10 without ``augment``, 0 with it.
    vat_length : float, default=2.0
        Length of its disturbance, in units of the network's input.
    warm_up : int, default=0
        Epochs over which these weights rise from 0.
    forward : int, optional
        Epochs over which the forward divergence KL(y‖σ) fades out of the losses ``"strong"`` and ``"weak"``, from a weight of 1;
        by default half of ``epochs`` with ``"strong"`` and without ``known``, otherwise 0.
    iic : int, optional
        Invariant information clustering with so many heads, instead of ``loss``.
    over : int, optional
        Clusters of its over-clustering heads; by default 5 ``n_clusters``.
    scan : sequence of 3 int, optional
        SCAN, with the epochs of its three stages, instead of ``loss``. With 0 for the first, ``init_weights`` take its place; with 0
        for the third, the second is the last.
    pretext : int, optional
        Epochs in which the network first learns to tell images apart by their views (SimCLR).
    pretext_data : path-like or sequence of path-like, optional
        Files and folders of images to learn that from, or the first stage of ``scan``; by default those that are clustered.
    pretext_rate : float, optional
        Learning rate meanwhile, by default 1e-3.
    pretext_batch : int, optional
        Images of a batch meanwhile; by default as many as afterwards.
    pretext_optimiser : {"adam", "sgd"}, default="adam"
        Optimiser meanwhile; gradient descent has a momentum of 0.9.
    pretext_cosine : bool, default=False
        Lower the rate meanwhile from epoch to epoch along half a cosine.
    revive : bool, optional
        Whether clusters without images start again, each as one half of a large one; by default with the loss ``"strong"``.
    holdout : path-like or sequence of path-like, optional
        Files and folders of images that are not trained on, only clustered at the end; ``report_["holdout"]`` says how well their
        labels agree.
    holdout_truth : path-like, optional
        A file of their true labels, if they do not come with the images.
    init_weights : path-like, optional
        Weights to start from: a PyTorch state dict or ``.safetensors``.
    freeze : bool, default=False
        Train only the linear head.
    epochs, batch_size : int, optional
        Passes over the images, by default 30, and images of a batch, by default 250 or 10 a cluster.
    learning_rate : float, optional
        Rate of Adam, by default 1e-3.
    head_rate : float, optional
        Rate of the head; by default ``learning_rate``.
    weight_decay : float, default=0.0
        Weight decay.
    skip_bad : bool, default=False
        Leave out images of files that cannot be decoded, with a warning for each.
    checkpoint : path-like, optional
        A ``.safetensors`` file that keeps the state after every epoch.
    resume : bool, default=False
        Go on from the checkpoint, if it is there; with the same options the result is that of an uninterrupted run.
    metrics : path-like, optional
        A ``.jsonl`` file that grows by a line with every epoch.
    device : {"cpu", "wgpu", "cuda"}, default="cpu"
        The processor; the last two only if the package was built with the feature of that name.
    random_state, n_jobs, verbose
        As in :class:`EntropyClustering`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_images,)
        Cluster of each image.
    cluster_names_ : ndarray of shape (n_clusters,) or None
        Name of each cluster if ``known`` gave names.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Images in each cluster.
    history_ : ndarray
        Loss of each epoch, with all its parts.
    image_names_ : list of str or None
        Names of the images that came from files.
    loss_, n_iter_ : float, int
        The last of ``history_``, and how many there are.
    report_ : dict
        All that is known of the fit: the parts of the loss in each of its ``epochs``, decisiveness, ailments, and what was
        found for the images of ``holdout``.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import NetworkClustering
    >>> dark, light = np.full((20, 6, 6), 20, np.uint8), np.full((20, 6, 6), 230, np.uint8)
    >>> model = NetworkClustering(2, net="linear", epochs=5)
    >>> model.fit(np.concatenate([dark, light])).cluster_sizes_.tolist()
    [20, 20]
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: Clusterer._parameter_constraints[name] for name in ("random_state", "n_jobs", "verbose")},
        "n_clusters": [Interval(Integral, 2, None, closed="left")],
        "net": [str],
        "size": [None, WHOLE],
        "normalise": [None, str],
        "loss": [str],
        "lam": [None, _NOT_NEGATIVE],
        "prior": [None, "array-like"],
        "epochs": [None, WHOLE],
        "batch_size": [None, Interval(Integral, 2, None, closed="left")],
        "label_solver": [StrOptions({"em", "exact"})],
        "em_iterations": [WHOLE],
        "refresh": [StrOptions({"batch", "epoch"})],
        "learning_rate": [None, _POSITIVE],
        "augment": [str],
        "pairs": [None, _NOT_NEGATIVE],
        "views": [WHOLE],
        "vat": [None, _NOT_NEGATIVE],
        "vat_length": [_POSITIVE],
        "warm_up": [_COUNT],
        "forward": [None, _COUNT],
        "iic": [None, WHOLE],
        "over": [None, WHOLE],
        "scan": [None, "array-like"],
        "pretext": [None, WHOLE],
        "pretext_data": [*_PATH, list, tuple],
        "pretext_rate": [None, _POSITIVE],
        "pretext_batch": [None, Interval(Integral, 2, None, closed="left")],
        "pretext_optimiser": [StrOptions({"adam", "sgd"})],
        "pretext_cosine": ["boolean"],
        "revive": [None, "boolean"],
        "holdout": [*_PATH, list, tuple],
        "holdout_truth": _PATH,
        "init_weights": _PATH,
        "freeze": ["boolean"],
        "head_rate": [None, _POSITIVE],
        "weight_decay": [_NOT_NEGATIVE],
        "skip_bad": ["boolean"],
        "checkpoint": _PATH,
        "resume": ["boolean"],
        "metrics": _PATH,
        "device": [StrOptions({"cpu", "wgpu", "cuda"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        net: str = "mlp",
        size: int | None = None,
        normalise: str | None = None,
        loss: str = "strong",
        lam: float | None = None,
        prior: Any = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        label_solver: str = "em",
        em_iterations: int = 5,
        refresh: str = "batch",
        learning_rate: float | None = None,
        augment: str = "",
        pairs: float | None = None,
        views: int = 1,
        vat: float | None = None,
        vat_length: float = 2.0,
        warm_up: int = 0,
        forward: int | None = None,
        iic: int | None = None,
        over: int | None = None,
        scan: Any = None,
        pretext: int | None = None,
        pretext_data: Any = None,
        pretext_rate: float | None = None,
        pretext_batch: int | None = None,
        pretext_optimiser: str = "adam",
        pretext_cosine: bool = False,
        revive: bool | None = None,
        holdout: Any = None,
        holdout_truth: str | os.PathLike[str] | None = None,
        init_weights: str | os.PathLike[str] | None = None,
        freeze: bool = False,
        head_rate: float | None = None,
        weight_decay: float = 0.0,
        skip_bad: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        metrics: str | os.PathLike[str] | None = None,
        device: str = "cpu",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        given = locals()
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def fit(self, X: Any, y: Any = None, *, known: Any = None) -> NetworkClustering:
        """Train the network on images.

        Parameters
        ----------
        X : array-like of shape (n_images, height, width) or (n_images, height, width, channels), or paths
            Images, grey or with 1 or 3 channels: bytes, or floats from 0 to 1, which are rounded to bytes. Or a path or a list of
            paths: folders of pictures, and files of MNIST, CIFAR or STL-10.
        y : ignored
            For the sake of pipelines.
        known : array-like of shape (n_images,), optional
            Labels that are known for some images, as in :meth:`EntropyClustering.fit`.

        Returns
        -------
        NetworkClustering
            The fitted estimator.
        """
        self._validate_params()
        images = _images(X)
        n = len(images) if isinstance(images, np.ndarray) else None
        labels, cluster_names = (None, None) if known is None else known_labels(known, n, int(self.n_clusters))
        called = None if cluster_names is None else [str(name) for name in cluster_names if name is not None]
        with self._progress() as tell:
            model, found, told, names, notes = _native.fit_network(
                images,
                json.dumps(network_specification(self)),
                json.dumps(self._resources()),
                known=labels,
                names=called,
                progress=tell,
            )
        for note in notes:
            warnings.warn(note, stacklevel=2)
        self._model, self.labels_, self.image_names_, self.cluster_names_ = model, found, names, cluster_names
        self.report_ = json.loads(told)
        self.history_ = np.asarray([epoch["loss"] for epoch in self.report_["epochs"]])
        self.loss_, self.n_iter_ = float(self.history_[-1]), len(self.history_)
        self.stop_reason_ = "finished"
        self.cluster_sizes_ = np.bincount(found, minlength=self.n_clusters)
        self.classes_ = np.arange(self.n_clusters)
        if self.report_.get("advice"):
            warnings.warn(self.report_["advice"], ConvergenceWarning, stacklevel=2)
        return self

    def _resources(self) -> dict[str, Any]:
        """What the fit may use, and where it keeps what it needs to go on."""
        paths = {name: getattr(self, name) for name in ("checkpoint", "metrics")}
        given = {name: None if path is None else os.fspath(path) for name, path in paths.items()}
        return given | {"threads": self._threads(), "resume": bool(self.resume), "device": self.device}

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of all clusters, float32 of shape (n_images, n_clusters); rows sum to one.

        Images of files are made as large as those of the fit; arrays must have their shape.
        """
        check_is_fitted(self)
        return self._model.predict_proba(_images(X), self._threads())

    def predict(self, X: Any) -> Any:
        """Cluster of each image, shape (n_images,)."""
        return self.predict_proba(X).argmax(axis=1).astype(np.int32)

    def transform(self, X: Any) -> Any:
        """Probabilities of all clusters, as features for what comes next in a pipeline."""
        return self.predict_proba(X)

    def portraits(self, X: Any, *, examples: int = 10, bins: int = 20) -> list[Portrait]:
        """Describe every cluster, as :meth:`EntropyClustering.portraits` does; a network has no defining features.

        Parameters
        ----------
        X : array-like or paths
            Images, as in ``fit``.
        examples, bins : int
            Rows to name, and bins of the histogram of confidence.

        Returns
        -------
        list of Portrait
            One for each cluster.
        """
        proba = self.predict_proba(X)
        options = json.dumps({"examples": int(examples), "features": 0, "bins": int(bins)})
        told = _native.portraits_of(proba, proba.argmax(axis=1).astype(np.int32), options)
        return [Portrait.of(found, [], self.cluster_names_) for found in json.loads(told)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file that the command ``partita`` reads too (safetensors)."""
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NetworkClustering:
        """Read a network written by :meth:`save` or by ``partita fit --net``.

        Of the arguments only ``n_clusters`` comes back; the others have their defaults until they are set for the next fit. The names
        of clusters come back too.
        """
        model, k, names = _native.NetworkModel.load(os.fspath(path))
        loaded = cls(k)
        loaded._model, loaded.classes_, loaded.cluster_names_ = model, np.arange(k), names_of_clusters(names, k)
        return loaded

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the network as the bytes of its file."""
        state = dict(super().__getstate__())
        if "_model" in state:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.safetensors"
                self.save(path)
                state["_model"] = path.read_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_model" in state:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.safetensors"
                path.write_bytes(state["_model"])
                state = state | {"_model": _native.NetworkModel.load(os.fspath(path))[0]}
        super().__setstate__(state)


def _images(x: Any) -> Any:
    """Bytes of shape (images, channels, height, width), or a list of paths."""
    if isinstance(x, (str, os.PathLike)):
        return [os.fspath(x)]
    if isinstance(x, (list, tuple)) and x and all(isinstance(path, (str, os.PathLike)) for path in x):
        return [os.fspath(path) for path in x]
    images = np.asarray(as_matrix(x))
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4 or 0 in images.shape or images.shape[3] not in (1, 3):
        raise ValueError(
            f"X has the shape {np.shape(x)}; images have the shape (n_images, height, width), or (n_images, height, width, "
            "channels) with 1 or 3 channels. Or give paths of files and folders."
        )
    return np.ascontiguousarray(_bytes(images).transpose(0, 3, 1, 2))


def _bytes(images: Any) -> Any:
    """Pixels as bytes."""
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind != "f":
        raise ValueError(f"X has the dtype {images.dtype}; pixels are bytes (uint8), or floats from 0 to 1")
    # NaN is in no range.
    if not (images.min() >= 0 and images.max() <= 1):
        raise ValueError("X holds floats outside 0 to 1, or NaN; divide pixels by their largest value, or give bytes (uint8)")
    return np.rint(images * 255).astype(np.uint8)
