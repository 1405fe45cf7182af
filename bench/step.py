"""Microseconds of one training step: numpy's, and Partita's, in one run on one thread.

    bench/venv/bin/python bench/step.py

A step takes a batch of 250 rows of 1,280 features to 10 clusters: logits, softmax, 5 EM iterations for the
pseudo-labels, the gradient, and SGD with momentum. Its two matrix products are timed alone as well: they are what no
implementation can avoid.
"""

import sys

import common

BATCH, FEATURES, CLUSTERS, ITERATIONS = 250, 1280, 10, 5
FAIRNESS, DECAY, RATE, MOMENTUM = 100.0, 4e-5, 100.0, 0.9


def numpy_step():
    """Print the lines `name microseconds`, as the Rust bench does."""
    import numpy as np

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(BATCH, FEATURES)).astype(np.float32) / FEATURES**0.5
    weights = (rng.uniform(-1, 1, (CLUSTERS, FEATURES)) / FEATURES**0.5).astype(np.float32)
    bias = np.zeros(CLUSTERS, np.float32)
    speed, bias_speed = np.zeros_like(weights), np.zeros_like(bias)
    prior = np.full(CLUSTERS, 1 / CLUSTERS, np.float32)

    def pseudo_labels(sigma):
        labels = sigma
        for _ in range(ITERATIONS):
            pull = FAIRNESS * BATCH * prior * labels / labels.sum(0)
            labels = (sigma + pull) / (1 + pull.sum(1, keepdims=True))
        return labels

    def step():
        logits = rows @ weights.T + bias
        sigma = np.exp(logits - logits.max(1, keepdims=True))
        sigma /= sigma.sum(1, keepdims=True)
        gain = -np.log(np.maximum(pseudo_labels(sigma), np.float32(1e-30)))
        slope = sigma * (gain - (sigma * gain).sum(1, keepdims=True)) / BATCH
        update(slope.T @ rows, slope.sum(0))

    def update(gradient, bias_gradient):
        np.multiply(speed, MOMENTUM, out=speed)
        np.add(speed, gradient + 2 * DECAY * weights, out=speed)
        np.subtract(weights, RATE * speed, out=weights)
        np.multiply(bias_speed, MOMENTUM, out=bias_speed)
        np.add(bias_speed, bias_gradient, out=bias_speed)
        np.subtract(bias, RATE * bias_speed, out=bias)

    slopes = rng.normal(size=(BATCH, CLUSTERS)).astype(np.float32)
    print("step", 1e6 * common.median_time(step, 2000))
    print("products", 1e6 * common.median_time(lambda: (rows @ weights.T, slopes.T @ rows), 2000))
    print("pseudo_labels", 1e6 * common.median_time(lambda: pseudo_labels(np.abs(slopes)), 2000))


def parse(printed):
    """Lines `name microseconds`; cargo's own lines have other shapes."""
    pairs = (line.split() for line in printed.splitlines())
    return {pair[0]: float(pair[1]) for pair in pairs if len(pair) == 2 and is_number(pair[1])}


def is_number(text):
    try:
        return float(text) > 0
    except ValueError:
        return False


def main():
    common.machine()
    numpy = parse(common.again(1, "numpy"))
    command = ["cargo", "bench", "--quiet", "-p", "partita", "--bench", "step"]
    rust = {}
    if (common.ROOT / "crates/partita/benches/step.rs").exists():
        env = {**common.with_threads(1), "RAYON_NUM_THREADS": "1"}
        rust = parse(common.run(command, cwd=common.ROOT, env=env)[0])
    else:
        print("(no crates/partita/benches/step.rs: only numpy is measured)\n")
    print(f"### One step: batch {BATCH}, M = {FEATURES}, K = {CLUSTERS}, {ITERATIONS} EM iterations, one thread\n")
    rows = []
    for name in [*numpy, *(name for name in rust if name not in numpy)]:
        times = [f"{side[name]:.1f}" if name in side else "" for side in (numpy, rust)]
        ratio = f"{numpy[name] / rust[name]:.2f}" if name in numpy and name in rust else ""
        rows.append((name, *times, ratio))
    common.table(("part", "numpy µs", "partita µs", "numpy / partita"), rows)


if __name__ == "__main__":
    numpy_step() if sys.argv[1:] == ["numpy"] else main()
