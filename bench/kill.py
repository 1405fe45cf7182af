#!/usr/bin/env python3
"""Kill commands with SIGKILL at random moments, and look at what they leave: all outputs old, or all new, and whole.

    cargo build --release --features deep
    python3 bench/kill.py target/release/partita --moments 50

Needs nothing but Python. Prints a line for each command: how often all outputs were old or new, and how often something else. A temporary file
(.partita-*) that is left behind is counted, too.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

KEPT = (".partial", ".lock", "state.safetensors")


def npy(path, rows):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header = header.ljust(117) + "\n"
    values = [v for row in rows for v in row]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + struct.pack(f"<{len(values)}f", *values))


def data(folder):
    rng = random.Random(1)
    npy(folder / "x.npy", [[rng.gauss(9 * (i % 4 == j % 4), 1) for j in range(40)] for i in range(1500)])
    pixels = bytes(rng.randrange(120) + 120 * (i // 64 % 3 == i % 3) for i in range(300 * 64))
    # As CIFAR-10 has them: a label, then three channels of 32×32.
    (folder / "c.bin").write_bytes(bytes(rng.randrange(256) for _ in range(120 * 3073)))
    (folder / "d-images-idx3-ubyte").write_bytes(bytes([0, 0, 8, 3]) + struct.pack(">3I", 300, 8, 8) + pixels)


def commands():
    """Name, outputs, and the command that writes other ones for each number."""
    net = "fit d-images-idx3-ubyte -k 3 --net mlp --epochs 2 -o n.safetensors --labels-out n.csv --backbone-out b.safetensors -s"
    return [
        ("fit", ["m.safetensors", "l.csv", "p.npy"],
         lambda s: f"fit x.npy -k 4 -r 2 --epochs 2 -o m.safetensors --labels-out l.csv --proba-out p.npy -s {s}"),
        ("update", ["u.safetensors", "v.csv"],
         lambda s: f"update u.safetensors x.npy --labels-out v.csv --epochs {1 + s}"),
        ("choose-k", ["r.json", "c.png"],
         lambda s: f"choose-k x.npy --range 2..4 --splits 2 -r 1 -o r.json --picture c.png -s {s}"),
        ("embed", ["f.npy", "f.names.csv"],
         lambda s: f"embed c.bin --weights w.safetensors --size {32 + 8 * s} -o f.npy"),
        ("fit --net", ["n.safetensors", "n.csv", "b.safetensors"], lambda s: f"{net} {s}"),
    ]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("partita", type=pathlib.Path)
    options.add_argument("--moments", type=int, default=50)
    options.add_argument("--only", help="one command by its name")
    asked = options.parse_args()
    partita = asked.partita.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kill-"))
    data(folder)

    def start(arguments):
        words = [partita, *arguments.split(), "--quiet"]
        return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def finish(arguments):
        began = time.monotonic()
        assert start(arguments).wait() == 0, arguments
        return time.monotonic() - began

    finish("fit x.npy -k 4 -r 1 --epochs 1 -o u0.safetensors")
    finish("fit c.bin -k 3 --net mobilenetv2 --epochs 1 --batch 40 --backbone-out w.safetensors -o z.safetensors")
    rng, broken = random.Random(2), 0
    for name, outputs, command in commands():
        if asked.only not in (None, name):
            continue
        shutil.copy(folder / "u0.safetensors", folder / "u.safetensors")

        def read():
            return [(folder / output).read_bytes() if (folder / output).exists() else None for output in outputs]

        def restore(contents):
            for output, content in zip(outputs, contents):
                (folder / output).write_bytes(content)
            for left in folder.iterdir():
                if left.name.startswith(".partita-") or left.name.endswith(KEPT):
                    left.unlink()

        finish(command(0))
        old = read()
        seconds = finish(command(1))
        new = read()
        assert old[0] != new[0], name
        tally = {"old": 0, "new": 0, "broken": 0, "temporary": 0}
        for _ in range(asked.moments):
            restore(old)
            run = start(command(1))
            # Half of the moments near the end, where files are written; a busy machine may take longer than before.
            share = rng.uniform(0, 1.05) if rng.random() < 0.5 else rng.uniform(0.8, 1.8)
            time.sleep(seconds * share)
            os.kill(run.pid, signal.SIGKILL)
            # The helper that gives several files their names outlives the program by a moment, and holds this pipe.
            run.communicate()
            found = read()
            tally["old" if found == old else "new" if found == new else "broken"] += 1
            tally["temporary"] += sum(left.name.startswith(".partita-") for left in folder.iterdir())
        broken += tally["broken"]
        print(f"{name:<10} {seconds:5.2f} s: " + ", ".join(f"{count} {what}" for what, count in tally.items()), flush=True)
    shutil.rmtree(folder)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
