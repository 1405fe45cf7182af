"""The native half: one call for each thing the engine does."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__version__: str
USUAL_METHODS: list[str]
COLOURS: list[str]
HAS_NETWORKS: bool

_Progress = Callable[[str, float, float | None], object]
_Sparse = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], int]
# Name, kind and cells of each column.
_Table = list[tuple[str, str, Any]]
_Matrix = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.float16] | _Sparse | _Table
_PlainSparse = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], int]
_Plain = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.float16] | _PlainSparse
_Images = NDArray[np.uint8] | Sequence[str]

@final
class LinearModel:
    def predict(self, x: _Matrix, threads: int) -> NDArray[np.int32]: ...
    def assign(self, x: _Matrix, threads: int) -> NDArray[np.int32]: ...
    def outlier_scores(self, x: _Matrix, threads: int) -> NDArray[np.float32] | None: ...
    def predict_sized(self, x: _Matrix, threads: int, sizes: str) -> NDArray[np.int32]: ...
    def predict_proba(self, x: _Matrix, threads: int) -> NDArray[np.float32]: ...
    def logits(self, x: _Matrix, threads: int) -> NDArray[np.float32]: ...
    def explain(
        self, x: _Matrix, row: int
    ) -> tuple[NDArray[np.float32], int, int, float, NDArray[np.int64], NDArray[np.float64]]: ...
    def affine(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
    def inner(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
    def views(self) -> list[tuple[int, NDArray[np.float32] | None, bool]]: ...
    def widths(self) -> list[int]: ...
    def is_table(self) -> bool: ...
    @staticmethod
    def of_file(bytes: bytes, _params: str, _tables: str | None = None) -> LinearModel: ...
    def takes_texts(self) -> bool: ...
    def encode_texts(self, texts: list[str], threads: int, weights: str | None) -> NDArray[np.float32]: ...
    def explain_text(self, text: str, weights: str | None) -> str: ...
    def describe_texts(self, texts: list[str], threads: int, weights: str | None) -> str: ...
    def encode(self, x: _Matrix) -> NDArray[np.float32]: ...
    def features(self) -> list[str]: ...
    def explain_table(self, x: _Matrix, row: int) -> str: ...
    def table_portraits(self, x: _Matrix, labels: NDArray[np.int32]) -> str: ...
    def is_lifted(self) -> bool: ...
    def average(self) -> NDArray[np.float32]: ...
    def prior(self) -> NDArray[np.float64]: ...
    def params(self) -> str: ...
    def spec(self) -> str: ...
    def portraits(self, x: _Matrix, labels: NDArray[np.int32], options: str, threads: int) -> str: ...
    def to_onnx(self) -> bytes: ...
    def write_onnx(self, path: str | PathLike[str]) -> None: ...
    def names(self) -> tuple[list[str] | None, list[str]]: ...
    def save(self, path: str | PathLike[str], columns: list[str] | None, clusters: list[str]) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> LinearModel: ...
    @staticmethod
    def of_one_cluster(m: int) -> LinearModel: ...
    @staticmethod
    def restore(model: bytes, params: str, tables: str | None = None) -> LinearModel: ...

@final
class RivalModel:
    def predict_proba(self, x: _Matrix, threads: int) -> NDArray[np.float32]: ...
    def parts(self) -> dict[str, Any]: ...
    @staticmethod
    def restore(state: bytes) -> RivalModel: ...

@final
class NetworkModel:
    def predict_proba(self, images: _Images, threads: int) -> NDArray[np.float32]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> tuple[NetworkModel, int, list[str]]: ...

def fit_network(
    images: _Images,
    spec: str,
    resources: str,
    *,
    known: NDArray[np.int32] | None = None,
    names: list[str] | None = None,
    progress: _Progress | None = None,
) -> tuple[NetworkModel, NDArray[np.int32], str, list[str] | None, list[str]]: ...
def fit_linear(
    x: _Matrix,
    spec: str,
    *,
    threads: int,
    memory: int,
    weights: NDArray[np.float32] | None = None,
    known: NDArray[np.int32] | None = None,
    used: Sequence[int] | None = None,
    like: LinearModel | None = None,
    go_on: bool = False,
    widths: Sequence[int] | None = None,
    progress: _Progress | None = None,
) -> tuple[LinearModel, NDArray[np.int32], NDArray[np.float32] | None, str]: ...
def fit_texts(
    texts: Sequence[str],
    spec: str,
    *,
    threads: int,
    memory: int,
    weights: NDArray[np.float32] | None = None,
    known: NDArray[np.int32] | None = None,
    used: Sequence[int] | None = None,
    like: LinearModel | None = None,
    go_on: bool = False,
    progress: _Progress | None = None,
) -> tuple[LinearModel, NDArray[np.int32], NDArray[np.float32] | None, str]: ...
def fit_rival(
    x: _Matrix, name: str, options: str, shared: str, *, threads: int, progress: _Progress | None = None
) -> tuple[RivalModel, NDArray[np.int32], str]: ...
def fit_kmeans(
    x: _Plain,
    options: str,
    *,
    threads: int,
    weights: NDArray[np.float64] | None = None,
    centres: NDArray[np.float64] | None = None,
    progress: _Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32], str]: ...
def nearest_centres(
    x: _Plain, centres: NDArray[np.float64], *, spherical: bool, threads: int, weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int32], float]: ...
def centre_distances(
    x: _Plain, centres: NDArray[np.float64], *, spherical: bool, single: bool, threads: int
) -> NDArray[np.float32] | NDArray[np.float64]: ...
def fit_mixture(
    x: _Plain, options: str, *, threads: int, progress: _Progress | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], str]: ...
def judge_mixture(
    x: _Plain,
    shape: str,
    weights: Sequence[float],
    means: NDArray[np.float64],
    covariances: NDArray[np.float64],
    *,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def solve_labels(
    log_sigma: NDArray[np.float64],
    prior: Sequence[float],
    lam: float,
    name: str,
    *,
    iterations: int | None = None,
    tolerance: float | None = None,
    weights: NDArray[np.float64] | None = None,
    known: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.float64], int, float, bool]: ...
def self_labelled_loss(
    log_sigma: NDArray[np.float64],
    prior: Sequence[float],
    lam: float,
    name: str,
    *,
    iterations: int | None = None,
    weights: NDArray[np.float64] | None = None,
    known: NDArray[np.int32] | None = None,
) -> tuple[float, NDArray[np.float64]]: ...
def label_scores(
    truth: NDArray[np.int64], predicted: NDArray[np.int64]
) -> tuple[float, float, float, list[tuple[int, int | None]]]: ...
def choose_number(x: _Matrix, spec: str, splits: int, *, threads: int, progress: _Progress | None = None) -> str: ...
def compare_methods(
    x: _Matrix,
    methods: Sequence[str],
    setting: str,
    seeds: Sequence[int],
    *,
    threads: int,
    truth: NDArray[np.int64] | None = None,
    progress: _Progress | None = None,
) -> str: ...
def methods() -> list[tuple[str, str]]: ...
def portraits_of(proba: NDArray[np.float32], labels: NDArray[np.int32], options: str) -> str: ...
def fields() -> list[tuple[str, str]]: ...
def margin_of_labels(
    x: NDArray[np.float64], labels: Sequence[int], k: int, tolerance: float, max_iterations: int, threads: int
) -> dict[str, Any]: ...
def classifier_margins(
    x: NDArray[np.float64],
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    labels: Sequence[int] | None = None,
) -> NDArray[np.float64]: ...
def margin_path(
    x: NDArray[np.float64],
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    alpha: float,
    norms: Sequence[float],
    threads: int,
) -> list[tuple[float, float, float, float, NDArray[np.float64], NDArray[np.float64]]]: ...
