"""A model as ONNX, written without any library: the format is protocol buffers, and the graph has a dozen nodes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

# Numbers that the format gives to types, and the version of the operators used.
_FLOAT, _INT64 = 1, 7
_OPSET = 13


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _tensor(name: str, values: Any) -> bytes:
    values = np.ascontiguousarray(values)
    kind = _FLOAT if values.dtype == np.float32 else _INT64
    dims = b"".join(_number(1, size) for size in values.shape)
    raw = values.astype(values.dtype.newbyteorder("<")).tobytes()
    return dims + _number(2, kind) + _bytes(8, name) + _bytes(9, raw)


def _attribute(name: str, value: int | float | list[int]) -> bytes:
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, 2)
    return _bytes(1, name) + b"".join(_number(8, v) for v in value) + _number(20, 7)


class Graph:
    """Nodes and tensors in the making.

    Examples
    --------
    >>> graph = Graph()
    >>> graph.node("Relu", ["x"], "y")
    'y'
    """

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.tensors: list[bytes] = []

    def node(self, kind: str, inputs: list[str], output: str, **attributes: int | float | list[int]) -> str:
        """Add a node; returns the name of its output."""
        parts = [_bytes(1, name) for name in inputs] + [_bytes(2, output), _bytes(3, output), _bytes(4, kind)]
        parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        self.nodes.append(b"".join(parts))
        return output

    def constant(self, name: str, values: Any) -> str:
        """Add a tensor; returns its name."""
        self.tensors.append(_tensor(name, values))
        return name


def _value(name: str, kind: int, columns: int | None) -> bytes:
    shape = _bytes(1, _bytes(2, "rows"))
    if columns is not None:
        shape += _bytes(1, _number(1, columns))
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _columns(graph: Graph, i: int, begin: int, end: int) -> str:
    bounds = {"begin": begin, "end": end, "axis": 1}
    names = [graph.constant(f"{name}{i}", np.array([value])) for name, value in bounds.items()]
    return graph.node("Slice", ["X", *names], f"group{i}")


def _viewed(graph: Graph, model: Any) -> str:
    """What is done to rows before the weights, group by group."""
    views = model._model.views()
    parts, start = [], 0
    for i, (width, centre, normalises) in enumerate(views):
        rows = "X" if len(views) == 1 else _columns(graph, i, start, start + width)
        if centre is not None:
            rows = graph.node("Sub", [rows, graph.constant(f"centre{i}", centre)], f"centred{i}")
        if normalises:
            rows = _unit(graph, rows, i)
        parts.append(rows)
        start += width
    return parts[0] if len(parts) == 1 else graph.node("Concat", parts, "viewed", axis=1)


def _unit(graph: Graph, rows: str, i: int) -> str:
    """Rows divided by their norm: first by their largest entry, so that no square leaves the range of float32."""
    # A row at the centre stays there: 0 over anything is 0.
    floor = graph.constant(f"floor{i}", np.array([np.finfo(np.float32).tiny], dtype=np.float32))
    size = graph.node("ReduceMax", [graph.node("Abs", [rows], f"size{i}")], f"largest{i}", axes=[1], keepdims=1)
    rows = graph.node("Div", [rows, graph.node("Max", [size, floor], f"scale{i}")], f"scaled{i}")
    norm = graph.node("ReduceL2", [rows], f"norm{i}", axes=[1], keepdims=1)
    return graph.node("Div", [rows, graph.node("Max", [norm, floor], f"divisor{i}")], f"unit{i}")


def to_onnx(model: Any) -> bytes:
    """Serialise a fitted model.

    Parameters
    ----------
    model : EntropyClustering
        The model.

    Returns
    -------
    bytes
        An ONNX file: ``X`` float32 of shape (rows, n_features) in, ``label`` int64 and ``probabilities`` float32 out.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import EntropyClustering
    >>> len(to_onnx(EntropyClustering(n_clusters=2).fit(np.eye(6)))) > 100
    True
    """
    graph = Graph()
    # As the engine does it: the centre is subtracted first. Folded into b it would cancel badly far from the origin.
    weight, bias = (graph.constant(name, values) for name, values in zip("Wb", model._model.inner(), strict=True))
    logits = graph.node("Gemm", [_viewed(graph, model), weight, bias], "logits", transB=1)
    graph.node("Softmax", [logits], "probabilities", axis=1)
    graph.node("ArgMax", ["probabilities"], "label", axis=1, keepdims=0)
    k, m = model.coef_.shape
    content = b"".join(_bytes(1, node) for node in graph.nodes) + _bytes(2, "partita")
    content += b"".join(_bytes(5, tensor) for tensor in graph.tensors)
    content += _bytes(11, _value("X", _FLOAT, m))
    content += _bytes(12, _value("label", _INT64, None)) + _bytes(12, _value("probabilities", _FLOAT, k))
    return _number(1, 8) + _bytes(2, "partita") + _bytes(7, content) + _bytes(8, _number(2, _OPSET))
