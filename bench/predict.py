"""Time of `partita predict` on a file of 1 GB, against numpy's loading of it and against reading its bytes.

    bench/venv/bin/python bench/predict.py

The file is made in a temporary folder and read once before anything is timed, so that all find it in the system's cache:
what is measured is work, not the disk.
"""

import statistics
import tempfile
import time
from pathlib import Path

import common
import numpy as np

FEATURES, CLUSTERS = 1280, 10
ROWS = 10**9 // (4 * FEATURES)
REPEATS = 5


def make(path, rows):
    """Random features, written in blocks: they never need 1 GB of memory."""
    rng = np.random.default_rng(0)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, FEATURES))
    for start in range(0, rows, 10_000):
        block = out[start : start + 10_000]
        block[:] = rng.random(block.shape, dtype=np.float32)
    out.flush()


def read_bytes(path):
    buffer = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(folder, binary):
    data, sample, model, labels = (folder / name for name in ("data.npy", "sample.npy", "model.safetensors", "labels.npy"))
    make(data, ROWS)
    tasks = {"read the bytes": lambda: read_bytes(data), "numpy.load": lambda: np.load(data)}
    if binary:
        make(sample, 2_000)
        common.run([binary, "fit", sample, "-k", CLUSTERS, "--restarts", 1, "-o", model])
        for threads in (1, 2):
            command = [binary, "predict", model, data, "--threads", threads, "-o", labels]
            name = f"partita predict, {threads} thread{'s'[: threads > 1]}"
            tasks[name] = lambda command=command: common.run(command)
    read_bytes(data)
    # In turns, so that a busy moment of the machine does not hit one of them alone.
    times = {name: [] for name in tasks}
    for _ in range(REPEATS):
        for name, task in tasks.items():
            times[name].append(timed(task))
    return {name: statistics.median(runs) for name, runs in times.items()}


def main():
    common.machine()
    binary = common.binary()
    with tempfile.TemporaryDirectory() as folder:
        medians = measure(Path(folder), binary)
    print(f"### Predict: {ROWS} rows of {FEATURES} features (1 GB), warm cache, median of {REPEATS}\n")
    first = medians["read the bytes"]
    rows = [(name, f"{s:.3f}", f"{1 / s:.2f}", f"{s / first:.2f}") for name, s in medians.items()]
    common.table(("task", "s", "GB/s", "time / read the bytes"), rows)


if __name__ == "__main__":
    main()
