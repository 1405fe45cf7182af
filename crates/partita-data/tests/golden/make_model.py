#!/usr/bin/env python3
"""Write `model-1.safetensors`, a model of Partita 0.1.0, and `model-1.json`, what is in it, beside this script.

Needs numpy, safetensors and the command: `make_model.py PATH/TO/partita`, built from version 0.1.0. Every later version must
read the model as it is, so that it is not to be made again.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors import safe_open

here = Path(__file__).resolve().parent
random = np.random.default_rng(3)
places = np.array([[3, 0, 1, 0], [0, 3, 0, 1], [-3, -3, 2, 2]])
rows = (places[np.arange(18) % 3] + random.normal(size=(18, 4)).round(1)).astype("<f4")

with tempfile.TemporaryDirectory() as folder:
    parts = [Path(folder, name) for name in ["left.npy", "right.npy"]]
    for part, values in zip(parts, np.hsplit(rows, 2)):
        np.save(part, values)
    labels = Path(folder, "labels.npy")
    model = here / "model-1.safetensors"
    options = "--k 3 --prior 0.4,0.3,0.3 --prepare sphere --restarts 2 --seed 5 --loss renyi:2 --lambda 0.7".split()
    command = [sys.argv[1], "fit", *parts, *options, "--output", model, "--labels-out", labels]
    subprocess.run(command, check=True)
    labels = np.load(labels).tolist()

with safe_open(model, "np") as file:
    tensors = {name: file.get_tensor(name).ravel().tolist() for name in file.keys()}
    stored = {"metadata": file.metadata(), "tensors": tensors, "rows": rows.ravel().tolist(), "labels": labels}
(here / "model-1.json").write_text(json.dumps(stored, indent=1) + "\n")
