"""The tables of docs/results/deep.md that need many fits of networks. Results are kept in OUT, so that a run goes on where it was.

    python bench/deep_tables.py PARTITA OUT mnist MNIST_FOLDER
    python bench/deep_tables.py PARTITA OUT ablation MNIST_FOLDER
    python bench/deep_tables.py PARTITA OUT semi MNIST_FOLDER FEATURES.npy LABELS.npy
    python bench/deep_tables.py PARTITA OUT resnet CIFAR10_FOLDER START.pth

PARTITA is the command built with the feature `deep`; the folders hold the files of MNIST (idx.gz) and CIFAR-10 (binary);
START.pth is made by resnet_start.py.
"""

import gzip
import json
import pathlib
import struct
import subprocess
import sys

import numpy as np

SHARES = [0.1, 0.05, 0.01]


class Bench:
    def __init__(self, partita, out):
        self.partita, self.out = partita, pathlib.Path(out)
        self.out.mkdir(parents=True, exist_ok=True)

    def fit(self, name, images, *options):
        """The report of a fit, made once."""
        path = self.out / f"{name}.json"
        if not path.exists():
            images = images if isinstance(images, list) else [images]
            model = self.out / f"{name}.safetensors"
            command = [self.partita, "fit", *images, "-k", 10, "-o", model, "--json", *options]
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{name}: {done.stderr}")
            path.write_text(done.stdout)
        return json.loads(path.read_text())

    def predict(self, name, images):
        """The clusters of unseen images, as a file."""
        found = self.out / f"{name}.test.npy"
        command = [self.partita, "predict", self.out / f"{name}.safetensors", images, "-o", found]
        subprocess.run([str(c) for c in command], check=True, capture_output=True)
        return found

    def test(self, name, images, labels):
        """Share of unseen images whose cluster is their class, without matching."""
        return float((np.load(self.predict(name, images)) == labels).mean())

    def matched(self, name, images, labels):
        """ACC of unseen images, clusters matched with classes."""
        truth = self.out / "truth.npy"
        np.save(truth, labels)
        command = [self.partita, "evaluate", "--truth", truth, "--pred", self.predict(name, images), "--json"]
        done = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)["acc"]


def mnist_part(folder, out, name, rows):
    """Some of the training images as idx files, and their labels."""
    x = gzip.open(pathlib.Path(folder) / "train-images-idx3-ubyte.gz").read()[16:]
    y = gzip.open(pathlib.Path(folder) / "train-labels-idx1-ubyte.gz").read()[8:]
    x = np.frombuffer(x, np.uint8).reshape(-1, 784)[rows]
    y = np.frombuffer(y, np.uint8)[rows]
    path = out / f"{name}-images-idx3-ubyte"
    path.write_bytes(struct.pack(">IIII", 2051, len(x), 28, 28) + x.tobytes())
    (out / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, len(y)) + y.tobytes())
    return path, y.astype(np.int32)


def mnist(bench, folder):
    """All 70,000 images, random weights, no labels."""
    images = [pathlib.Path(folder) / f"{part}-images-idx3-ubyte.gz" for part in ("train", "t10k")]
    methods = {
        "ours": ([], 3),
        "ours, the loss alone": (["--forward", 0], 3),
        "IMSAT": (["--loss", "mi", "--lambda", 4], 1),
        "SeLa": (["--loss", "sela"], 1),
        "MIADM★, DEC's labels": (["--loss", "miadm-dec"], 1),
        "IIC": (["--iic", 5, "--augment", "rotate:10,affine:0.1"], 1),
    }
    print("| method | ACC | NMI | seconds |\n|---|---|---|---|")
    for method, (options, seeds) in methods.items():
        runs = [bench.fit(f"mnist-{method}-{s}", images, "--net", "mlp", "--epochs", 12, "--seed", s, *options) for s in range(seeds)]
        acc = [100 * r["metrics"]["acc"] for r in runs]
        nmi = [100 * r["metrics"]["nmi"] for r in runs]
        each = ", ".join(f"{a:.1f}" for a in acc)
        print(f"| {method} | {np.mean(acc):.1f} ({each}) | {np.mean(nmi):.1f} | {np.mean([r['seconds'] for r in runs]):.0f} |", flush=True)


def ablation(bench, folder):
    """Which part does what, on 10,000 images."""
    images, _ = mnist_part(folder, bench.out, "m10k", slice(0, 10_000))
    losses = {
        "reverse (ours)": ["--loss", "strong"],
        "reverse, the loss alone": ["--loss", "strong", "--forward", 0],
        "forward (MIADM, exact labels)": ["--loss", "miadm-exact"],
    }
    helps = {
        "none": ["--vat", 0],
        "self-augmentation": ["--augment", "rotate:10,affine:0.1", "--pairs", 1],
        "VAT": ["--vat", 10],
    }
    print("| cross-entropy | labels | " + " | ".join(helps) + " |\n|---|---|---|---|---|")
    for loss, chosen in losses.items():
        for refresh in ("batch", "epoch"):
            cells = []
            for helper, options in helps.items():
                key = f"ablation-{loss}-{refresh}-{helper}"
                run = bench.fit(key, images, "--net", "mlp", "--epochs", 12, *chosen, "--refresh", refresh, *options)
                cells.append(f"{100 * run['metrics']['acc']:.1f}")
            print(f"| {loss} | every {refresh} | " + " | ".join(cells) + " |", flush=True)


def known_rows(labels, share, seed):
    """Labels of a share of the rows, as many of every class; -1 elsewhere."""
    rng = np.random.default_rng(seed)
    each = max(1, round(share * len(labels) / 10))
    known = np.full(len(labels), -1, np.int32)
    for c in range(10):
        chosen = rng.choice(np.flatnonzero(labels == c), each, replace=False)
        known[chosen] = c
    return known


def semi(bench, folder, features, labels):
    """A share of the labels known: accuracy on images that were not seen."""
    methods = {
        "only seeds": None,
        "+ RIM": ["--loss", "mi"],
        "+ SeLa": ["--loss", "sela"],
        "+ MIADM★, DEC's labels": ["--loss", "miadm-dec"],
        "+ ours": ["--loss", "strong"],
    }
    x, y = np.load(features), np.load(labels).astype(np.int32)
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[: len(x) * 4 // 5], order[len(x) * 4 // 5 :]
    np.save(bench.out / "train.npy", x[train])
    np.save(bench.out / "test.npy", x[test])
    print("CIFAR-10 features, 6 draws of the labels:\n\n| | 10 % | 5 % | 1 % |\n|---|---|---|---|")
    for method, options in methods.items():
        cells = []
        for share in SHARES:
            found = []
            for seed in range(6):
                known = known_rows(y[train], share, seed)
                rows, key = bench.out / "train.npy", f"semi-{method}-{share}-{seed}"
                if options is None:
                    rows = bench.out / "seeds.npy"
                    np.save(rows, x[train][known >= 0])
                    known = known[known >= 0]
                np.save(bench.out / "known.npy", known)
                bench.fit(key, rows, "--known", bench.out / "known.npy", "--seed", seed, *(options or []))
                found.append(100 * bench.test(key, bench.out / "test.npy", y[test]))
            cells.append(f"{np.mean(found):.1f} ± {np.std(found, ddof=1):.1f}")
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)

    images, y = mnist_part(folder, bench.out, "m5k", slice(0, 5000))
    unseen, truth = mnist_part(folder, bench.out, "t5k", slice(5000, 10_000))
    views = ["--augment", "rotate:10,affine:0.1"]
    weights = bench.out / "pretext.weights.safetensors"
    bench.fit("pretext", images, "--net", "mlp", *views, "--pretext", 30, "--freeze", "--epochs", 1, "--backbone-out", weights)
    tuned = ["--net", "mlp", "--init-weights", weights, "--learning-rate", 1e-4, "--head-rate", 1e-3]
    del methods["+ RIM"]
    methods["+ IMSAT"] = ["--loss", "mi", "--lambda", 4]
    methods["+ IIC"] = ["--iic", 1]
    print("\nMLP fine-tuned on 5,000 MNIST images:\n\n| | 10 % | 5 % | 1 % |\n|---|---|---|---|")
    for method, options in methods.items():
        cells = []
        for share in SHARES:
            known, key = known_rows(y, share, 0), f"semi-mlp-{method}-{share}"
            if options is None:
                # As many steps as the others have, on the labelled images alone.
                chosen = np.flatnonzero(known >= 0)
                rows, _ = mnist_part(folder, bench.out, "seeds", chosen)
                known, batch = known[chosen], min(250, len(chosen))
                more = ["--vat", 0, "--batch", batch, "--epochs", 300 * batch // len(chosen)]
            else:
                rows, more = images, [*views, "--epochs", 15, *options]
            np.save(bench.out / "known.npy", known)
            bench.fit(key, rows, *tuned, "--known", bench.out / "known.npy", *more)
            cells.append(f"{100 * bench.test(key, unseen, truth):.1f}")
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


def resnet(bench, folder, start):
    """The paper's recipe for ResNet-18, on 2,000 images of 16×16 pixels; 8,000 others are only predicted."""
    rows = np.fromfile(pathlib.Path(folder) / "test_batch.bin", np.uint8).reshape(-1, 3073)
    images, others = bench.out / "c2000.bin", bench.out / "c2000-others.bin"
    rows[:2000].tofile(images)
    rows[2000:].tofile(others)
    net = ["--net", "resnet18-cifar", "--size", 16, "--init-weights", start, "--augment", "flip,crop:0.6,colour:0.4"]
    recipe = ["--epochs", 50, "--batch", 200, "--weight-decay", 1e-4, "--pairs", 0.2, "--head-rate", 1e-3, "--forward", 0]
    rates = {"0 (only the head learns)": ["--freeze"], "1e-5": ["--learning-rate", 1e-5], "1e-4": ["--learning-rate", 1e-4]}
    print("| rate of the backbone | ACC | NMI | ACC of others | loss, first epoch | loss, last | seconds |\n|---|---|---|---|---|---|---|")
    for rate, options in rates.items():
        name = f"resnet-{rate.split()[0]}"
        run = bench.fit(name, images, *net, *recipe, *options)
        acc, nmi = (100 * run["metrics"][m] for m in ("acc", "nmi"))
        other = 100 * bench.matched(name, others, rows[2000:, 0].astype(np.int32))
        first, last = (run["epochs"][e]["loss"] for e in (0, -1))
        print(f"| {rate} | {acc:.1f} | {nmi:.1f} | {other:.1f} | {first:.3f} | {last:.3f} | {run['seconds']:.0f} |", flush=True)


if __name__ == "__main__":
    tables = {table.__name__: table for table in (mnist, ablation, semi, resnet)}
    tables[sys.argv[3]](Bench(sys.argv[1], sys.argv[2]), *sys.argv[4:])
