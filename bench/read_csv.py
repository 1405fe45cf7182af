"""Reading a table of numbers from CSV, beside pandas, polars and pyarrow, in one run.

    PYTHON bench/read_csv.py [MEGABYTES]

PYTHON is an environment with numpy, pandas, polars and pyarrow. Ours is the example `read_speed` of partita-data
(`cargo build --release -p partita-data --example read_speed`). The file is made in a temporary folder and read once before anything is
timed. All read numbers in single precision, with the same number of threads: pandas has one thread only.
"""

import json
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import common

EXAMPLE = common.TARGET / "release" / "examples" / "read_speed"
FEATURES, REPEATS = 32, 7


def make(path, megabytes, digits):
    """Random numbers as text, with so many digits, or with all that double precision has."""
    import numpy as np

    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write(",".join(f"f{j}" for j in range(FEATURES)) + "\n")
        while file.tell() < megabytes * 10**6:
            rows = rng.standard_normal((2_000, FEATURES))
            shown = (lambda v: repr(float(v))) if digits is None else (lambda v: f"{v:.{digits}f}")
            file.writelines(",".join(map(shown, row)) + "\n" for row in rows)


def peer(name, path, threads):
    """Read the file once and once more, and print the seconds and processor seconds of the second time and a sum of all numbers."""
    import numpy as np

    if name == "pandas":
        import pandas

        def read():
            return pandas.read_csv(path, dtype=np.float32, engine="c").to_numpy()
    elif name == "polars":
        import polars

        def read():
            schema = {f"f{j}": polars.Float32 for j in range(FEATURES)}
            return polars.read_csv(path, schema=schema).to_numpy()
    else:
        import pyarrow
        import pyarrow.csv

        pyarrow.set_cpu_count(threads)
        types = {f"f{j}": pyarrow.float32() for j in range(FEATURES)}
        options = pyarrow.csv.ConvertOptions(column_types=types)
        reading = pyarrow.csv.ReadOptions(use_threads=threads > 1)

        def read():
            table = pyarrow.csv.read_csv(path, read_options=reading, convert_options=options)
            return np.column_stack([column.to_numpy() for column in table.columns])

    read()
    start, busy = time.perf_counter(), time.process_time()
    found = read()
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"seconds": seconds, "busy": busy, "sum": float(found.sum(dtype="f8")), "shape": found.shape}))


def measured(name, path, threads):
    """Seconds, and processor seconds, of one reading."""
    env = {**common.with_threads(threads), "POLARS_MAX_THREADS": str(threads), "RAYON_NUM_THREADS": str(threads)}
    if name != "partita":
        out, _ = common.run([sys.executable, sys.argv[0], "peer", name, path, threads], env=env)
        told = json.loads(out)
        return told["seconds"], told["busy"]
    out, _ = common.run([EXAMPLE, path, path], env=env)
    last = out.splitlines()[-1]
    return tuple(float(re.search(rf"{word} ([0-9.]+) s", last)[1]) for word in ("open", "processor"))


def compare(path, kind):
    rows = []
    size = path.stat().st_size / 1e6
    for threads in (1, 2):
        names = ["partita", "polars", "pyarrow"] + (["pandas"] if threads == 1 else [])
        times = {name: [] for name in names}
        for _ in range(REPEATS):
            for name in names:
                times[name].append(measured(name, path, threads))
        for name, found in times.items():
            wall, busy = zip(*found, strict=True)
            rows.append(
                (str(threads), name, f"{min(wall):.2f}", f"{statistics.median(wall):.2f}", f"{size / min(wall):.0f}", f"{min(busy):.2f}")
            )
    print(f"### {size:.0f} MB, {FEATURES} columns, {kind}, {REPEATS} rounds in turns\n")
    common.table(("threads", "", "s, least", "s, median", "MB/s, least time", "processor s, least"), rows)


def main():
    if sys.argv[1:2] == ["peer"]:
        return peer(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    if not EXAMPLE.exists():
        sys.exit(f"{EXAMPLE} is missing: cargo build --release -p partita-data --example read_speed")
    common.machine()
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory(dir=os.environ.get("PARTITA_SCRATCH")) as folder:
        for kind, digits in (("6 decimals", 6), ("all digits of double precision", None)):
            path = Path(folder) / "table.csv"
            make(path, megabytes, digits)
            compare(path, kind)


if __name__ == "__main__":
    main()
