"""Tables 4 and 5 of the paper, cell by cell: networks on images. Needs Python 3.11 or later and nothing else.

    python run.py table4 --data DIR --out OUT                       # every cell, six seeds, on an NVIDIA graphics processor
    python run.py table5 --data DIR --out OUT --set stl10 --method ours --seed 0
    python run.py table5 --list                                     # the command of every cell
    python run.py table4 --dry-run --out OUT                        # every command for one epoch on a few made images

DIR holds a folder for each data set, as it is unpacked: mnist, cifar10, cifar100 and stl10. The recipes are in table4.toml and table5.toml beside this file.
OUT keeps the report of every run, so that the script goes on where it was. OUT/table4.toml has the results in the form of
reproduce/recorded/table4.toml, OUT/table4.json the same for programs; cells that were not run are there with the reason and the command.
"""

import argparse
import json
import platform
import shlex
import struct
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):
    raise SystemExit("run.py reads TOML, which Python can do from 3.11 on; use a newer Python")
import tomllib

HERE = Path(__file__).parent
# What a dry run has instead: a few small images and one epoch.
DRY = {"--epochs": "1", "--batch": "20", "--pretext": "1", "--pretext-batch": "20", "--iic": "1", "--device": "cpu"}


def listed(paths):
    return " ".join(shlex.quote(str(path)) for path in paths)


class Table:
    """A recipe with the folders it is used with."""

    def __init__(self, name, options):
        self.name, self.options = name, options
        self.recipe = tomllib.loads((HERE / f"{name}.toml").read_text())
        self.out = Path(options.out)

    def cells(self):
        """Names of the cells that were asked for: set after set, ours last."""
        wanted = self.options
        sets = [s for s in self.recipe["sets"] if wanted.set in (None, s)]
        methods = [m for m in self.recipe["methods"] if wanted.method in (None, m)]
        if not sets or not methods:
            known = ", ".join(self.recipe["sets"]) + "; " + ", ".join(self.recipe["methods"])
            raise SystemExit(f"{self.name} has no such set or method; it has {known}")
        return [(s, m) for s in sets for m in methods]

    def filled(self, template, name, **more):
        """A template with the options of a set in the place of their names."""
        about, folder = self.recipe["sets"][name], self.folder(name)
        words = {key: listed(folder / file for file in value) if isinstance(value, list) else value for key, value in about.items()}
        words |= {"weights": shlex.quote(str(self.weights(name))), "device": self.options.device} | more
        return template.format_map(words)

    def folder(self, name):
        return Path(self.options.data) / name

    def weights(self, name):
        if self.options.weights:
            return Path(self.options.weights) / f"{name}.pth"
        return self.out / f"{self.name}-{name}-pretext.safetensors"

    def command(self, name, method, seed):
        how = self.recipe["methods"][method]
        recipe = self.filled(how.get("recipe", self.recipe["recipe"]), name)
        return self.filled(self.recipe["command"], name, recipe=recipe, loss=self.filled(how["loss"], name), seed=seed)

    def pretext(self, name):
        """The command that makes the weights that a set starts from, if there is one and they are not there."""
        if "pretext" not in self.recipe or self.options.weights:
            return None
        return self.filled(self.recipe["pretext"], name)

    def missing(self, name):
        """The first file of a set that is not there."""
        about = self.recipe["sets"][name]
        files = [file for key in ("images", "test", "pretext_data") for file in about.get(key, [])]
        if self.options.weights and "pretext" in self.recipe:
            files.append(self.weights(name).absolute())
        paths = (self.folder(name) / file for file in files)
        return next((path for path in paths if not path.exists()), None)

    def words(self, command):
        """A command as it is run: with the program that was given, and small if it is a dry run."""
        words = shlex.split(command)
        words[0] = self.options.partita
        if self.options.dry_run:
            words = [DRY.get(before, word) for before, word in zip([""] + words, words)]
            at = words.index("--scan") + 1 if "--scan" in words else 0
            words[at] = "0,1,0" if at else words[at]
            words += ["--size", "8"]
        return words

    def report(self, key, command):
        """The report of a run, made once; a run that was stopped goes on from its last epoch."""
        path = self.out / f"{self.name}-{key}.json"
        if not path.exists():
            state = ["--checkpoint", str(path.with_suffix(".state.safetensors")), "--resume"]
            words = [*self.words(command), *([] if self.options.dry_run else state), "--json", "--quiet"]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
            path.write_text(done.stdout)
        return json.loads(path.read_text())

    def run(self, name, method):
        """A cell: its line of results, or why there is none."""
        seeds = [s for s in self.recipe["seeds"] if self.options.seed in (None, s)][: 1 if self.options.dry_run else None]
        about = {"set": name, "method": method, "net": self.recipe["sets"][name].get("net", self.recipe["net"])}
        command = Elsewhere(self.name, self.options).command(name, method, "$seed")
        missing = self.missing(name)
        if missing is not None:
            return about | {"why": f"{missing} is not there", "command": command}
        try:
            pretext = self.pretext(name)
            if pretext is not None:
                self.report(f"{name}-pretext", pretext)
            found = [self.report(f"{name}-{method}-{seed}", self.command(name, method, seed)) for seed in seeds]
        except (RuntimeError, OSError) as problem:
            return about | {"why": str(problem), "command": command}
        scores = [report["holdout"]["metrics"] if report["holdout"] else report["metrics"] for report in found]
        percent = {metric: [round(100 * score[metric], 2) for score in scores] for metric in ("acc", "nmi", "ari")}
        minutes = sum(report["seconds"] for report in found) / len(found) / 60
        machine = self.options.machine or f"{platform.machine()}, {self.options.device}"
        pretext = Elsewhere(self.name, self.options).pretext(name)
        note = "dry run on made images" if self.options.dry_run else f"weights by {pretext}" if pretext else ""
        budget = {"images": found[0]["n"], "epochs": len(found[0]["epochs"]), "seeds": seeds}
        rest = {"minutes": round(minutes, 2), "machine": machine, "command": command, "note": note}
        return about | budget | percent | rest


class Elsewhere(Table):
    """The same recipe without the folders of this machine, for what is kept."""

    def folder(self, name):
        return Path()

    def weights(self, name):
        return Path(super().weights(name).name)


def toml(line):
    """A line of results as TOML; JSON writes texts, numbers and lists in the same way."""
    if "why" in line:
        return f"# {line['set']}, {line['method']}: not run, because {line['why']}\n# {line['command']}\n"
    return "[[run]]\n" + "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in line.items())


def make_images(folder):
    """A few images of two kinds in the form of every data set."""

    def pixels(i, count):
        return bytes((170 * (i % 2) + (i * 31 + p * 7) * 2654435761 // 128 % 80) % 256 for p in range(count))

    for name in ("mnist", "cifar10", "cifar100", "stl10"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for part in ("train", "t10k"):
        images = b"".join(pixels(i, 64) for i in range(10))
        (folder / "mnist" / f"{part}-images-idx3-ubyte.gz").write_bytes(struct.pack(">IIII", 2051, 10, 8, 8) + images)
        (folder / "mnist" / f"{part}-labels-idx1-ubyte.gz").write_bytes(struct.pack(">II", 2049, 10) + bytes(i % 2 for i in range(10)))
    for file in ("test_batch", *(f"data_batch_{i}" for i in range(1, 6))):
        (folder / "cifar10" / f"{file}.bin").write_bytes(b"".join(bytes([i % 2]) + pixels(i, 3072) for i in range(4)))
    for part in ("train", "test"):
        # As many as there are clusters.
        (folder / "cifar100" / f"{part}.bin").write_bytes(b"".join(bytes([i % 2, i]) + pixels(i, 3072) for i in range(20)))
    for part in ("train", "test", "unlabeled"):
        (folder / "stl10" / f"{part}_X.bin").write_bytes(b"".join(pixels(i, 3072) * 9 for i in range(12)))
        if part != "unlabeled":
            (folder / "stl10" / f"{part}_y.bin").write_bytes(bytes(1 + i % 2 for i in range(12)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["table4", "table5"])
    parser.add_argument("--data", default="data", help="folder of the data sets")
    parser.add_argument("--out", default="reproduced-deep", help="folder for results")
    parser.add_argument("--weights", help="folder of SCAN's weights (cifar10.pth, cifar100.pth, stl10.pth) instead of a pretext of our own")
    parser.add_argument("--partita", default="partita", help="the command, built with the feature deep, cuda or wgpu")
    parser.add_argument("--device", default="cuda", help="cpu, wgpu or cuda")
    parser.add_argument("--machine", default="", help="what the results should say they were run on")
    parser.add_argument("--set", help="one data set only")
    parser.add_argument("--method", help="one method only")
    parser.add_argument("--seed", type=int, help="one seed only")
    parser.add_argument("--list", action="store_true", help="print the commands and run nothing")
    parser.add_argument("--dry-run", action="store_true", help="run every command for one epoch on a few made images")
    options = parser.parse_args()
    if options.dry_run:
        options.device, options.data = "cpu", str(Path(options.out) / "made")
    table = Table(options.table, options)
    cells = table.cells()
    if options.list:
        for name in dict.fromkeys(name for name, _ in cells):
            pretext = table.pretext(name)
            if pretext:
                print(f"# {name}, the pretext of all its cells\n{pretext}")
            for method in (method for other, method in cells if other == name):
                print(f"# {name}, {method}; the paper: {table.recipe['methods'][method]['paper'][name]}")
                print(table.command(name, method, "$seed"))
        return 0
    table.out.mkdir(parents=True, exist_ok=True)
    if options.dry_run:
        make_images(Path(options.data))
    lines = []
    for name, method in cells:
        line = table.run(name, method)
        lines.append(line)
        told = line["why"] if "why" in line else f"ACC {', '.join(map(str, line['acc']))}"
        print(f"{name}, {method}: {'not run: ' if 'why' in line else ''}{told}", flush=True)
        (table.out / f"{options.table}.toml").write_text("\n".join(map(toml, lines)))
        (table.out / f"{options.table}.json").write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n")
    return 1 if options.dry_run and any("why" in line for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
