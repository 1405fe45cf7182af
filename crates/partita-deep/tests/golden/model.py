#!/usr/bin/env python3
"""Write `model-1.safetensors`, a network of Partita 0.1.0, and `model-1.json`, what it says of its images, beside this script.

Needs numpy, safetensors and the command: `model.py PATH/TO/partita`, built from version 0.1.0 with the feature `deep`. Every later
version must read the model as it is, so that it is not to be made again.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors import safe_open

here = Path(__file__).resolve().parent
random = np.random.default_rng(4)
bright = np.array([[200, 200, 30, 30], [30, 200, 30, 200], [200, 30, 30, 200]])
images = (bright[np.arange(24) % 3] + random.integers(0, 40, (24, 4))).astype(np.uint8)

with tempfile.TemporaryDirectory() as folder:
    packed, labels, proba = (Path(folder, name) for name in ["images-idx3-ubyte", "labels.npy", "proba.npy"])
    packed.write_bytes(struct.pack(">IIII", 0x803, len(images), 2, 2) + images.tobytes())
    model = here / "model-1.safetensors"
    options = "--net linear --k 3 --epochs 20 --head-rate 0.05 --batch 12 --seed 5 --vat 0 --loss mi --lambda 2".split()
    outputs = ["--output", model, "--labels-out", labels, "--proba-out", proba]
    subprocess.run([sys.argv[1], "fit", packed, *options, *outputs], check=True)
    said = {"labels": np.load(labels).tolist(), "proba": np.load(proba).ravel().tolist()}

with safe_open(model, "np") as file:
    tensors = {name: file.get_tensor(name).ravel().tolist() for name in file.keys()}
    stored = {"metadata": file.metadata(), "tensors": tensors, "images": images.ravel().tolist(), **said}
(here / "model-1.json").write_text(json.dumps(stored, indent=1) + "\n")
