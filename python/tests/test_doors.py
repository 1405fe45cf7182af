"""The three doors: the same specification gives the same bytes through the command, its JSON, this package and the library.

Cases are random but the same every time; PARTITA_DOORS=200 runs more of them.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from sklearn.utils._param_validation import InvalidParameterError

from partita import EntropyClustering, _native

CASES = int(os.environ.get("PARTITA_DOORS", "25"))
# Exit code when the command's parser (clap) refuses the arguments; the message is then clap's own.
TYPED_WRONGLY = 2


@dataclass
class Case:
    """One specification, as each door takes it."""

    x: object
    k: int
    files: list = field(default_factory=list)
    flags: list = field(default_factory=list)
    spec: dict = field(default_factory=dict)
    arguments: dict = field(default_factory=dict)
    columns: list | None = None
    names: list | None = None
    known: object = None
    weights: object = None
    like: bool = False

    def option(self, flag, value, path, **arguments):
        """An option as it is typed, as a field of the specification, and as arguments of the estimator."""
        self.flags += [flag] if value is True else [flag, str(value)]
        place = self.spec
        for name in path[:-2]:
            place = place.setdefault(name, {})
        place[path[-2]] = path[-1]
        self.arguments |= arguments


def given(rng, share, has_meaning=True):
    """Whether to give an option. Now and then one is given where it has no meaning, so that refusals are compared too."""
    return rng.random() < (share if has_meaning else 0.03)


def rows(rng, k):
    """Clusters of different sizes, some far apart and some not."""
    sizes = rng.integers(12, 150 // k, size=k)
    m = int(rng.integers(3, 9))
    centres = rng.normal(size=(k, m)) * rng.uniform(1, 6)
    x = np.concatenate([rng.normal(size=(n, m)) + c for n, c in zip(sizes, centres, strict=True)])
    return rng.permutation(x).astype(np.float32)


def make(rng, directory):
    """A random case, with its files in the directory."""
    k = int(rng.integers(2, 6))
    case = Case(rows(rng, k), k)
    kind = rng.choice(["npy", "npy", "groups", "table", "columns", "sparse"])
    {"groups": as_groups, "table": as_table, "columns": as_columns, "sparse": as_sparse}.get(kind, as_array)(case, rng, directory)
    case.flags += ["-k", str(k)]
    case.spec |= {"k": k, "data": {"paths": [path.name for path in case.files]}}
    if case.columns:
        case.flags += ["--columns", ",".join(case.columns)]
        case.spec["data"]["columns"] = case.columns
    seed = (0, 7, 2**64 - 1)[rng.integers(3)]
    case.option("--seed", seed, ("seed", seed), random_state=seed)
    starts = int(rng.integers(1, 4))
    case.option("--restarts", starts, ("restarts", starts), n_init=starts)
    for choose in (prior, sizes, outliers, known, weights, loss, preparation, training):
        choose(case, rng, directory)
    case.like = case.files != [] and given(rng, 0.2)
    return case


def as_array(case, rng, directory):
    case.files = [directory / "x.npy"]
    np.save(case.files[0], case.x)


def as_groups(case, rng, directory):
    m = case.x.shape[1]
    first = int(rng.integers(1, m))
    case.files = [directory / "a.npy", directory / "b.npy"]
    for path, part in zip(case.files, np.split(case.x, [first], axis=1), strict=True):
        np.save(path, part)
    case.arguments["groups"] = [first, m - first]


def as_table(case, rng, directory):
    case.files = [directory / "x.csv"]
    case.names = [f"c{j}" for j in range(case.x.shape[1])]
    lines = [",".join(case.names)]
    lines += [",".join(f"{value:.9g}" for value in row) for row in case.x]
    case.files[0].write_text("\n".join(lines) + "\n")


def as_columns(case, rng, directory):
    as_table(case, rng, directory)
    m = case.x.shape[1]
    chosen = np.sort(rng.choice(m, size=int(rng.integers(2, m + 1)), replace=False))
    case.columns, case.x = [f"c{j}" for j in chosen], case.x[:, chosen]
    case.names = case.columns


def as_sparse(case, rng, directory):
    case.x = sp.csr_matrix(np.where(rng.random(case.x.shape) < 0.5, case.x, 0).astype(np.float32))
    case.x.sort_indices()


def prior(case, rng, directory):
    kind = rng.choice(["equal", "equal", "auto", "given", "wrong"], p=[0.3, 0.3, 0.15, 0.2, 0.05])
    if kind == "auto":
        case.option("--prior", "auto", ("prior", "auto"), prior="auto")
    if kind in ("given", "wrong"):
        shares = rng.multinomial(100 - 5 * case.k, np.full(case.k, 1 / case.k)) + 5
        shares = [int(share) / 100 for share in (shares if kind == "given" else shares[1:])]
        case.option("--prior", ",".join(map(repr, shares)), ("prior", {"shares": shares}), prior=shares)


def sizes(case, rng, directory):
    n = case.x.shape[0]
    if given(rng, 0.2):
        case.option("--balance", "exact", ("sizes", "balance", "exact"), balance="exact")
    free = "balance" not in case.arguments
    if given(rng, 0.3, free):
        least = float(
            rng.choice([round(rng.uniform(0.2, 0.9) / case.k, 2), rng.integers(1, n // case.k), n], p=[0.5, 0.45, 0.05])
        )
        case.option("--min-size", least, ("sizes", "min_size", least), min_size=least)
    if given(rng, 0.3, free):
        most = float(rng.choice([round(rng.uniform(1.1, 1.9) / case.k, 2), n // case.k + rng.integers(2, 20), 1000]))
        case.option("--max-size", most, ("sizes", "max_size", most), max_size=most)


def outliers(case, rng, directory):
    # From a generator of its own, so that the other options of every case stay what they are.
    rng = np.random.default_rng([16, case.x.shape[0], case.k])
    if given(rng, 0.25, not {"balance", "min_size", "max_size"} & set(case.arguments)):
        rule = (0.05, 0.2, "auto")[rng.integers(3)]
        case.option("--outliers", rule, ("outliers", rule), outliers=rule)


def known(case, rng, directory):
    if given(rng, 0.3):
        n = case.x.shape[0]
        case.known = np.where(rng.random(n) < 0.1, rng.integers(0, case.k, n), -1).astype(np.int32)
        np.save(directory / "known.npy", case.known)
        case.option("--known", "known.npy", ("known", "known.npy"))
        if given(rng, 0.5):
            case.option("--known-weight", 0.5, ("method", "known_weight", 0.5), known_weight=0.5)


def weights(case, rng, directory):
    if given(rng, 0.3):
        case.weights = rng.integers(1, 9, case.x.shape[0]) / 4
        (directory / "weights.csv").write_text("".join(f"{weight}\n" for weight in case.weights))
        case.option("--weights", "weights.csv", ("weights", "weights.csv"))


def loss(case, rng, directory):
    if given(rng, 0.6):
        name = str(rng.choice(["weak", "mi", "renyi:2", "renyi-labels:2", "sela", "miadm-dec", "miadm-depict", "miadm-exact", "hinge"]))
        case.option("--loss", name, ("method", "loss", name), loss=name)
    name = case.arguments.get("loss", "strong")
    if given(rng, 0.2, name != "hinge"):
        case.option("--lambda", 1.5, ("method", "lambda", 1.5), lam=1.5)
    if given(rng, 0.2):
        case.option("--gamma", 1e-4, ("method", "gamma", 1e-4), gamma=1e-4)
    if given(rng, 0.3, name == "strong"):
        case.option("--exact-labels", True, ("method", "exact_labels", True), label_solver="exact")
    elif given(rng, 0.3, name == "strong"):
        case.option("--em-iterations", 3, ("method", "em_iterations", 3), em_iterations=3)
    if given(rng, 0.3, name not in ("mi", "renyi:2", "hinge")):
        case.option("--refresh", "epoch", ("method", "refresh", "epoch"), refresh="epoch")


def preparation(case, rng, directory):
    if given(rng, 0.5):
        how = str(rng.choice(["none", "centre", "standardise", "robust", "l2", "sphere", "floor"]))
        case.option("--prepare", how, ("method", "prepare", how), prepare=how)
    if given(rng, 0.3):
        lift = str(rng.choice(["none", "quadratic", "rbf", "graph"]))
        case.option("--lift", lift, ("method", "lift", lift), lift=lift)
    if given(rng, 0.2, not {"loss", "label_solver", "refresh"} & set(case.arguments)):
        case.option("--neighbours", 3, ("method", "neighbours", {"exactly": 3}), neighbours=3)
    if given(rng, 0.2):
        case.option("--dims", "full", ("method", "dims", "full"), dims="full")
    elif given(rng, 0.25):
        case.option("--dims", 2, ("method", "dims", {"exactly": 2}), dims=2)
    if given(rng, 0.4):
        ours, theirs, typed = INITS[rng.integers(len(INITS))]
        case.option("--init", typed, ("method", "init", theirs), init=ours)


INITS = [("random", "random", "random"), ("k-means++", "plus-plus", "plus-plus"), ("kmeans", "k-means", "kmeans")]


def training(case, rng, directory):
    batched = not {"em_iterations", "refresh"} & set(case.arguments)
    how = str(rng.choice(["sgd", "adam", "lbfgs"], p=[0.6, 0.2, 0.2] if batched else [0.7, 0.28, 0.02]))
    if how != "sgd":
        case.option("--optimiser", how, ("method", "optimiser", how), optimiser=how)
    epochs = int(rng.integers(2, 6))
    if given(rng, 1, how != "lbfgs"):
        case.option("--epochs", epochs, ("method", "epochs", epochs), epochs=epochs)
    if given(rng, 0.2, how != "lbfgs"):
        case.option("--batch", 30, ("method", "batch", 30), batch_size=30)
    if given(rng, 0.3, how == "sgd"):
        case.option("--momentum", 0.5, ("method", "momentum", 0.5), momentum=0.5)
    if given(rng, 0.2, how != "lbfgs"):
        case.option("--learning-rate", 20.0, ("method", "learning_rate", 20.0), learning_rate=20.0)
    if given(rng, 0.2):
        case.option("--polish", 2, ("method", "polish", 2), polish=2)


def plain(text):
    """A message without the spelling that is specific to a door."""
    arguments = {ours: name for name, ours in _native.fields()}
    text = re.sub(r"\b([a-z_]+)=", lambda found: f"{arguments.get(found[1], found[1])} ", text)
    text = re.sub(r"--([a-z-]+)", lambda found: found[1].replace("-", "_"), text)
    text = re.sub(r"-k\b", "k", text).replace("`", "").removeprefix("partita: ")
    text = re.sub(r"^([a-z_]+):", lambda found: f"{arguments.get(found[1], found[1])}:", text)
    return re.sub(r"\s+([;,.]|$)", r"\1", re.sub(r"\s+", " ", text)).strip()


@dataclass
class Answer:
    """What a door answered: a model and labels, or a refusal."""

    model: bytes = b""
    labels: list = field(default_factory=list)
    refusal: str | None = None
    comparable: bool = True

    def agrees(self, other):
        if self.refusal is None or other.refusal is None:
            return (self.model, self.labels, self.refusal) == (other.model, other.labels, other.refusal)
        return not (self.comparable and other.comparable) or plain(self.refusal) == plain(other.refusal)


def of_process(directory, arguments):
    done = subprocess.run([str(a) for a in arguments], cwd=directory, capture_output=True, text=True)
    if done.returncode:
        return Answer(refusal=done.stderr, comparable=done.returncode != TYPED_WRONGLY)
    labels = np.load(directory / "labels.npy").tolist()
    answer = Answer((directory / "model.safetensors").read_bytes(), labels)
    (directory / "labels.npy").unlink()
    return answer


def of_package(case, directory):
    model = EntropyClustering(case.k, **case.arguments)
    if case.like:
        model = EntropyClustering.load(directory / "old.safetensors").set_params(**model.set_params(warm_start=True).get_params())
    try:
        x = case.x if case.names is None else pandas.DataFrame(case.x, columns=case.names)
        model.fit(x, known=case.known, sample_weight=case.weights)
    except ValueError as error:
        return Answer(refusal=str(error), comparable=not isinstance(error, InvalidParameterError))
    model.save(directory / "model.safetensors")
    return Answer((directory / "model.safetensors").read_bytes(), model.labels_.tolist())


def all_doors(case, directory, command, library):
    spec = directory / "spec.json"
    spec.write_text(json.dumps(case.spec))
    results = ["model.safetensors", "labels.npy"]
    if not case.files:
        parts = {"values": case.x.data, "columns": case.x.indices, "starts": case.x.indptr}
        for name, values in parts.items():
            np.save(directory / f"{name}.npy", values)
        sparse = [f"{name}.npy" for name in parts] + [case.x.shape[1]]
        return {"package": of_package(case, directory), "library": of_process(directory, [library, spec, *results, *sparse])}
    outputs = ["-o", results[0], "--labels-out", results[1]]
    names = [path.name for path in case.files]
    return {
        "package": of_package(case, directory),
        "library": of_process(directory, [library, spec, *results]),
        "specification": of_process(directory, [command, "fit", "--spec", spec, *outputs]),
        "flags": of_process(directory, [command, "fit", *names, *case.flags, *outputs]),
    }


@pytest.mark.parametrize("number", range(CASES))
def test_every_door_gives_the_same_bytes_or_the_same_refusal(number, tmp_path, command, library):
    case = make(np.random.default_rng([15, number]), tmp_path)
    if case.like:
        groups = case.arguments.get("groups")
        EntropyClustering(case.k, n_init=1, epochs=2, random_state=3, groups=groups).fit(case.x).save(
            tmp_path / "old.safetensors"
        )
        case.option("--like", "old.safetensors", ("like", "old.safetensors"))
    answers = all_doors(case, tmp_path, command, library)
    package = answers.pop("package")
    for door, answer in answers.items():
        assert answer.agrees(package), (
            f"{door} and the package differ for {' '.join(case.flags)}\n{answer.refusal!r}\n{package.refusal!r}"
        )


def test_the_cases_are_of_all_kinds(tmp_path):
    """Enough fits and enough refusals, and every option somewhere."""
    cases = [make(np.random.default_rng([15, number]), tmp_path) for number in range(200)]
    typed = {flag for case in cases for flag in case.flags if flag.startswith("-")}
    assert {"--balance", "--min-size", "--max-size", "--prior", "--known", "--weights", "--columns", "--dims"} <= typed
    assert "--outliers" in typed
    assert sum(case.like for case in cases) > 20 and sum(not case.files for case in cases) > 15
    assert sum(len(case.files) == 2 for case in cases) > 15
    for case in cases[:25]:
        case.like = False
    fits = sum(of_package(case, tmp_path).refusal is None for case in cases[:25])
    assert 15 <= fits < 25


@pytest.mark.parametrize(("options", "n"), [({"min_size": 0.14}, 50), ({"max_size": 1000}, 90)])
def test_limits_are_those_of_the_command(options, n, tmp_path, command):
    """Once, 0.14 of 50 rows meant 8 rows here and 7 in the command, and a limit above all rows was refused here only."""
    x = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = of_process(
        tmp_path, [command, "fit", "x.npy", "-k", 7, *flags, "-o", "model.safetensors", "--labels-out", "labels.npy"]
    )
    model = EntropyClustering(7, **options).fit(x)
    assert done.labels == model.labels_.tolist() and model.cluster_sizes_.min() >= (7 if n == 50 else 0)
    model.save(tmp_path / "python.safetensors")
    assert (tmp_path / "python.safetensors").read_bytes() == done.model
