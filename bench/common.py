"""What the benchmarks share: where things are, threads, medians and tables."""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = Path(os.environ.get("PARTITA_BIN", TARGET / "release" / "partita"))
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def with_threads(threads):
    """The environment in which numerical libraries use so many threads; they read it when they are imported."""
    return {**os.environ, **dict.fromkeys(POOLS, str(threads))}


def again(threads, *arguments):
    """Run the calling script once more with a number of threads, and return what it prints."""
    command = [sys.executable, sys.argv[0], *map(str, arguments)]
    return run(command, env=with_threads(threads))[0]


def run(command, **options):
    """Standard output of a command and its wall time in seconds, or an explanation of why it failed."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed with status {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout, seconds


def machine():
    """Say where the numbers come from: on a busy machine they mean little, above all those of two threads."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} when the run began\n")


def binary():
    """The release binary, or None after saying that it is missing."""
    if BINARY.exists():
        return BINARY
    print(f"(no {BINARY}: run `cargo build --release` first; only the peers are measured)\n")
    return None


def median_time(function, repeats):
    """Median wall time of a call in seconds, after one call that warms the caches."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Peak:
    """MB that a process needs at most while something runs, beyond what it held before (Linux)."""

    def __enter__(self):
        Path("/proc/self/clear_refs").write_text("5")  # the peak is what is held now
        self.before = self._status("VmRSS")
        return self

    def __exit__(self, *_):
        self.peak = self._status("VmHWM")
        self.added = self.peak - self.before

    @staticmethod
    def _status(field):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def table(header, rows):
    """Print a markdown table."""
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)
