"""Models as ONNX, made with the onnx library. Needs onnx 1.23 and numpy; writes *.onnx beside this script.

The tests of src/onnx.rs have the same models and expect the same bytes.
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper

HERE = Path(__file__).parent


def numbers(count, shift):
    """Numbers that are exact in every language: quarters from -1.25 to 1.25."""
    return ((np.arange(count) * 7 + shift) % 11 - 5).astype(np.float32) / 4


def tensor(name, values):
    values = np.asarray(values)
    kind = TensorProto.FLOAT if values.dtype == np.float32 else TensorProto.INT64
    return helper.make_tensor(name, kind, values.shape, values.tobytes(), raw=True)


def unit(i, rows):
    """A view divided by the norm of its rows."""
    floor = tensor(f"floor{i}", np.array([np.finfo(np.float32).tiny], np.float32))
    nodes = [
        ("Abs", [rows], f"size{i}", {}),
        ("ReduceMax", [f"size{i}"], f"largest{i}", {"axes": [1], "keepdims": 1}),
        ("Max", [f"largest{i}", f"floor{i}"], f"scale{i}", {}),
        ("Div", [rows, f"scale{i}"], f"scaled{i}", {}),
        ("ReduceL2", [f"scaled{i}"], f"norm{i}", {"axes": [1], "keepdims": 1}),
        ("Max", [f"norm{i}", f"floor{i}"], f"divisor{i}", {}),
        ("Div", [f"scaled{i}", f"divisor{i}"], f"unit{i}", {}),
    ]
    return nodes, [floor], f"unit{i}"


def view(i, width, centred, normalised, start, alone):
    """Nodes and tensors of one view, and the name of what they give."""
    nodes, tensors, rows = [], [], "X"
    if not alone:
        bounds = {"begin": start, "end": start + width, "axis": 1}
        tensors += [tensor(f"{name}{i}", np.array([value])) for name, value in bounds.items()]
        nodes += [("Slice", ["X", *(f"{name}{i}" for name in bounds)], f"group{i}", {})]
        rows = f"group{i}"
    if centred:
        tensors.append(tensor(f"centre{i}", numbers(width, i)))
        nodes.append(("Sub", [rows, f"centre{i}"], f"centred{i}", {}))
        rows = f"centred{i}"
    if normalised:
        more = unit(i, rows)
        nodes, tensors, rows = nodes + more[0], tensors + more[1], more[2]
    return nodes, tensors, rows


def model(k, views):
    """A model of k clusters; views are (width, centred, normalised)."""
    m = sum(width for width, _, _ in views)
    tensors = [tensor("W", numbers(k * m, 3).reshape(k, m)), tensor("b", numbers(k, 5))]
    nodes, parts, start = [], [], 0
    for i, (width, centred, normalised) in enumerate(views):
        more = view(i, width, centred, normalised, start, len(views) == 1)
        nodes, tensors, start = nodes + more[0], tensors + more[1], start + width
        parts.append(more[2])
    if len(parts) > 1:
        nodes.append(("Concat", parts, "viewed", {"axis": 1}))
        parts = ["viewed"]
    nodes += [
        ("Gemm", [parts[0], "W", "b"], "logits", {"transB": 1}),
        ("Softmax", ["logits"], "probabilities", {"axis": 1}),
        ("ArgMax", ["probabilities"], "label", {"axis": 1, "keepdims": 0}),
    ]
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, [out], out, **more) for kind, inputs, out, more in nodes],
        "partita",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["rows", m])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, ["rows"]),
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["rows", k]),
        ],
        tensors,
    )
    opset = helper.make_opsetid("", 13)
    # The empty name of the usual operators is left out.
    opset.ClearField("domain")
    made = helper.make_model(graph, producer_name="partita", ir_version=8, opset_imports=[opset])
    checker.check_model(made, full_check=True)
    return made.SerializeToString(deterministic=True)


for name, k, views in [
    ("views", 3, [(2, True, True), (1, False, False), (3, True, False)]),
    ("wide", 2, [(130, False, True)]),
    ("plain", 2, [(4, False, False)]),
]:
    (HERE / f"{name}.onnx").write_bytes(model(k, views))
