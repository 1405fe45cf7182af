"""Features of CIFAR images by a network: the command beside onnxruntime and, where it is installed, PyTorch, on the same images in one run.

    python bench/embed.py PARTITA resnet50-keras WEIGHTS.safetensors test_batch.bin [IMAGES] [THREADS]
    python bench/embed.py PARTITA mobilenetv2 crates/partita-embed/weights/mobilenetv2.safetensors test_batch.bin [IMAGES] [THREADS]

Needs numpy, safetensors, pillow, onnx and onnxruntime. All resize with Pillow's bicubic filter, ResNet-50 to 224 pixels and MobileNetV2 to 128, and take 32 images at a
time. Three rounds in turn; the least of each is told, as processor time and as wall time. `network alone` is onnxruntime without resizing.
"""

import importlib.util
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from safetensors.numpy import load_file

BATCH, ROUNDS = 32, 3
CAFFE = np.array([123.68, 116.779, 103.939], np.float32), np.ones(3, np.float32)
IMAGENET = 255 * np.array([0.485, 0.456, 0.406], np.float32), 255 * np.array([0.229, 0.224, 0.225], np.float32)


class Graph:
    """An ONNX graph of convolutions with the normalisations folded into them."""

    def __init__(self, tensors, epsilon):
        self.tensors, self.epsilon, self.nodes, self.constants = tensors, epsilon, [], []

    def node(self, kind, inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def convolution(self, x, conv, norm, stride=1, reverse=False):
        weight = self.tensors[conv + ".weight"].astype(np.float64)
        gamma, beta, mean, variance = (self.tensors[f"{norm}.{part}"].astype(np.float64) for part in ("weight", "bias", "running_mean", "running_var"))
        scale = gamma / np.sqrt(variance + self.epsilon)
        weight = (weight * scale[:, None, None, None])[:, ::-1] if reverse else weight * scale[:, None, None, None]
        kernel, groups = weight.shape[2], len(weight) if weight.shape[1] == 1 else 1
        inputs = [x, self.constant(weight), self.constant(beta - mean * scale)]
        return self.node("Conv", inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)

    def relu6(self, x):
        return self.node("Clip", [x, self.constant(0), self.constant(6)])

    def session(self, x, size, threads):
        self.nodes.append(helper.make_node("GlobalAveragePool", [x], ["y"]))
        shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", ["n", 3, size, size]), ("y", None))]
        graph = helper.make_graph(self.nodes, "features", shapes[:1], shapes[1:], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def resnet50(graph):
    x = graph.node("Relu", [graph.convolution("x", "conv1", "bn1", 2, reverse=True)])
    x = graph.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stage, blocks in enumerate((3, 4, 6, 3), 1):
        for block in range(blocks):
            at, stride = f"layer{stage}.{block}.", 2 if stage > 1 and block == 0 else 1
            past = graph.convolution(x, at + "downsample.0", at + "downsample.1", stride) if block == 0 else x
            for part in (1, 2, 3):
                x = graph.convolution(x, f"{at}conv{part}", f"{at}bn{part}", stride if part == 1 else 1)
                x = graph.node("Relu", [x]) if part < 3 else graph.node("Relu", [graph.node("Add", [x, past])])
    return x


def mobilenetv2(graph):
    x, block, width = graph.relu6(graph.convolution("x", "features.0.0", "features.0.1", 2)), 1, 32
    for widen, to, count, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            at, before, stride, part = f"features.{block}.conv.", x, first if i == 0 else 1, 0
            if widen > 1:
                x, part = graph.relu6(graph.convolution(x, f"{at}0", f"{at}1")), 3
            x = graph.relu6(graph.convolution(x, f"{at}{part}", f"{at}{part + 1}", stride))
            x = graph.convolution(x, f"{at}{part + 3}", f"{at}{part + 4}")
            x = graph.node("Add", [x, before]) if stride == 1 and width == to else x
            block, width = block + 1, to
    return graph.relu6(graph.convolution(x, "features.18.0", "features.18.1"))


NETWORKS = {"resnet50-keras": (resnet50, 1e-3, 224, CAFFE), "mobilenetv2": (mobilenetv2, 1e-5, 128, IMAGENET)}


def torch_network(name, weights, threads):
    """The network of the golden tests with these weights, if PyTorch is installed and it is ResNet-50."""
    if importlib.util.find_spec("torch") is None or name != "resnet50-keras":
        return None
    import torch
    from safetensors.torch import load_file as load

    torch.set_num_threads(threads)
    path = pathlib.Path(__file__).parent.parent / "crates/partita-deep/tests/golden/networks.py"
    spec = importlib.util.spec_from_file_location("networks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.ResNet([3, 4, 6, 3], True, False, keras=True)
    missing = net.load_state_dict({n: v for n, v in load(weights).items() if not n.startswith("fc.")}, strict=False).missing_keys
    assert not [n for n in missing if "num_batches" not in n], missing
    net.eval()

    def run(x):
        with torch.inference_mode():
            return net(torch.from_numpy(x)).numpy()

    return run


def prepared(rows, size, mean, deviation):
    """Records of a CIFAR file as a network takes them."""
    images = rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    large = np.stack([np.asarray(Image.fromarray(i).resize((size, size), Image.BICUBIC), np.float32) for i in images])
    return np.ascontiguousarray(((large - mean) / deviation).transpose(0, 3, 1, 2))


def spent(work, who):
    """Processor time, wall time and result of some work."""
    before, began = resource.getrusage(who), time.perf_counter()
    found = work()
    after = resource.getrusage(who)
    return sum(after[:2]) - sum(before[:2]), time.perf_counter() - began, found


def main(partita, name, weights, images, count="320", threads="2"):
    build, epsilon, size, normalise = NETWORKS[name]
    rows = np.fromfile(images, np.uint8).reshape(-1, 3073)[: int(count)]
    out = pathlib.Path(tempfile.mkdtemp())
    rows.tofile(out / "part.bin")
    graph = Graph(load_file(weights), epsilon)
    session = graph.session(build(graph), size, int(threads))
    ready = prepared(rows, size, *normalise)
    batches = range(0, len(rows), BATCH)

    def command():
        arguments = [partita, "embed", out / "part.bin", "--backbone", name, "--weights", weights, "--size", size]
        subprocess.run([str(a) for a in [*arguments, "-o", out / "found.npy", "-t", threads]], check=True, capture_output=True)
        return np.load(out / "found.npy")

    def by(step):
        return np.concatenate([step(prepared(rows[i : i + BATCH], size, *normalise)).reshape(-1, 1280 if size == 128 else 2048) for i in batches])

    def session_on(x):
        return session.run(None, {"x": x})[0]

    works = {
        "partita": (command, resource.RUSAGE_CHILDREN),
        "onnxruntime": (lambda: by(session_on), resource.RUSAGE_SELF),
        "onnxruntime, network alone": (lambda: np.concatenate([session_on(ready[i : i + BATCH]) for i in batches]).reshape(len(rows), -1), resource.RUSAGE_SELF),
    }
    step = torch_network(name, weights, int(threads))
    if step:
        works["PyTorch"] = (lambda: by(step), resource.RUSAGE_SELF)
    runs = {of: [] for of in works}
    for _ in range(ROUNDS):
        for of, (work, who) in works.items():
            runs[of].append(spent(work, who))
    reference = runs["onnxruntime"][0][2]
    print("| | images per second of processor time | images per second | largest difference of a feature |\n|---|---|---|---|")
    for label, of in runs.items():
        cpu, wall = min(r[0] for r in of), min(r[1] for r in of)
        print(f"| {label} | {len(rows) / cpu:.1f} | {len(rows) / wall:.1f} | {np.abs(of[0][2] - reference).max():.1e} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
