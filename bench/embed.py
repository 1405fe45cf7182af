"""ResNet-50 features of CIFAR images: the command beside PyTorch and onnxruntime, on the same images in one run.

    python bench/embed.py PARTITA WEIGHTS.safetensors test_batch.bin [IMAGES]

WEIGHTS are those of `--backbone resnet50-keras`. Needs numpy, torch, safetensors, pillow, onnx, onnxscript and onnxruntime. Each of them has
two threads and batches of 32; all resize with Pillow's bicubic filter. Three rounds in turn; the least of each is told, as processor time and as wall time.
"""

import importlib.util
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file

THREADS, BATCH, ROUNDS = 2, 32, 3
MEANS = np.array([123.68, 116.779, 103.939], np.float32)[:, None, None]


def network(weights):
    """The network of the golden tests, which has our names, with these weights."""
    path = pathlib.Path(__file__).parent.parent / "crates/partita-deep/tests/golden/networks.py"
    spec = importlib.util.spec_from_file_location("networks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.ResNet([3, 4, 6, 3], True, False, keras=True)
    tensors = {name: value for name, value in load_file(weights).items() if not name.startswith("fc.")}
    missing = [name for name in net.load_state_dict(tensors, strict=False).missing_keys if "num_batches" not in name]
    assert not missing, missing
    return net.eval()


def prepared(rows):
    """Records of a CIFAR file as the network takes them."""
    images = rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    large = [np.asarray(Image.fromarray(i).resize((224, 224), Image.BICUBIC), np.float32).transpose(2, 0, 1) for i in images]
    return np.stack(large) - MEANS


def spent(work, who):
    """Processor time, wall time and result of some work."""
    before, began = resource.getrusage(who), time.perf_counter()
    found = work()
    after = resource.getrusage(who)
    return sum(after[:2]) - sum(before[:2]), time.perf_counter() - began, found


def main(partita, weights, images, count="320"):
    torch.set_num_threads(THREADS)
    rows = np.fromfile(images, np.uint8).reshape(-1, 3073)[: int(count)]
    out = pathlib.Path(tempfile.mkdtemp())
    rows.tofile(out / "part.bin")
    net = network(weights)
    torch.onnx.export(net, (torch.zeros(BATCH, 3, 224, 224),), str(out / "net.onnx"), input_names=["x"])
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(str(out / "net.onnx"), options, providers=["CPUExecutionProvider"])

    def command():
        arguments = [partita, "embed", out / "part.bin", "--backbone", "resnet50-keras", "--weights", weights, "--size", 224]
        subprocess.run([str(a) for a in [*arguments, "-o", out / "found.npy", "-t", THREADS]], check=True, capture_output=True)
        return np.load(out / "found.npy")

    def by(step):
        return np.concatenate([step(prepared(rows[i : i + BATCH])) for i in range(0, len(rows), BATCH)])

    def pytorch():
        with torch.inference_mode():
            return by(lambda x: net(torch.from_numpy(x)).numpy())

    works = {
        "partita": (command, resource.RUSAGE_CHILDREN),
        "PyTorch": (pytorch, resource.RUSAGE_SELF),
        "onnxruntime": (lambda: by(lambda x: session.run(None, {"x": x})[0]), resource.RUSAGE_SELF),
    }
    runs = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, (work, who) in works.items():
            runs[name].append(spent(work, who))
    reference = runs["PyTorch"][0][2]
    print("| | images per second of processor time | images per second | largest difference of a feature |\n|---|---|---|---|")
    for name, of in runs.items():
        cpu, wall = min(r[0] for r in of), min(r[1] for r in of)
        print(f"| {name} | {len(rows) / cpu:.1f} | {len(rows) / wall:.1f} | {np.abs(of[0][2] - reference).max():.1e} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
