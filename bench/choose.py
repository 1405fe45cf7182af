"""How many clusters: `partita fit X -k auto` beside the silhouette of K-means and the BIC of Gaussian mixtures.

    PARTITA_DATA=folder PYTHON bench/choose.py

PYTHON is an environment with numpy and scikit-learn. The folder holds `shapes.npz` and the features that `fit.py` needs. Every method chooses from
2 to 20 clusters, or to 60 for sets that have more than 20. A set with several references has several right answers. Labels are used for the
column K alone. The peers get 50 principal components at most. The seconds of Partita are those of processors, for the choice and the fit: on two idle cores it takes about half as long.
"""

import json
import os
import resource
import sys
import tempfile
import types
import warnings
from pathlib import Path

import common
import numpy as np
from sklearn import cluster, datasets, decomposition, metrics, mixture

# The sets are those of shapes.py, which also wants a method that is not needed here.
sys.modules.setdefault("genieclust", types.ModuleType("genieclust"))
import shapes

warnings.filterwarnings("ignore")


def silhouette(x, most):
    """The K of the highest mean silhouette over K-means, on 2,000 rows at most."""
    fits = {k: cluster.KMeans(k, n_init=3, random_state=0).fit_predict(x) for k in range(2, most + 1)}
    sample = min(len(x), 2000)
    return max(fits, key=lambda k: metrics.silhouette_score(x, fits[k], sample_size=sample, random_state=0))


def bic(x, most):
    """The K of the lowest BIC over mixtures of full Gaussians."""
    fits = {k: mixture.GaussianMixture(k, n_init=1, random_state=0).fit(x) for k in range(2, most + 1)}
    return min(fits, key=lambda k: fits[k].bic(x))


def reduced(x):
    """At most 50 principal components: in 1,280 dimensions Gaussians could not be estimated."""
    x = np.asarray(x, float)
    return decomposition.PCA(50, random_state=0).fit_transform(x) if x.shape[1] > 50 else x


def partita(binary, x, most):
    """What the command chooses, what else is plausible, and the verdict."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "x.npy"
        np.save(rows, x)
        told, _ = common.run([binary, "fit", rows, "-k", "auto" if most == 20 else f"2..{most}", "--json"])
    choice = json.loads(told)["choice"]
    note = "; nothing is found again" if choice["verdict"] == "unstable" else ""
    others = [str(k) for k in choice["plausible"] if k != choice["k"]]
    return choice["k"], choice["stability"], (", ".join(others) or "–") + note


def processor():
    """Seconds of processors that commands have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def features():
    """Images as features of a network, and digits as pixels."""
    folder = Path(os.environ.get("PARTITA_DATA", "."))
    digits = datasets.load_digits()
    yield "digits", digits.data.astype(np.float32), [digits.target + 1]
    for name in ("stl10-part", "cifar10-test"):
        labels = np.load(folder / f"{name}-labels-u8.npy").astype(int)
        yield name, np.load(folder / f"{name}-mobilenetv2-f16.npy").astype(np.float32), [labels + 1]


def table(title, sets, binary, peers):
    print(f"## {title}\n\n| set | rows | features | K | partita | stability | plausible too | {' | '.join(peers)} | seconds |")
    print("|---|---|---|---|---|---|---|" + "---|" * len(peers) + "---|")
    off = {name: [] for name in ("partita", *peers)}
    for name, x, references in sets:
        right = sorted({int(y.max()) for y in references})
        most = 20 if max(right) <= 20 else 60
        before = processor()
        k, stability, others = partita(binary, x.astype(np.float32), most)
        seconds = processor() - before
        found = {"partita": k, **{peer: find(reduced(x), most) for peer, find in peers.items()}}
        for method, k in found.items():
            off[method].append(min(abs(k - r) for r in right))
        told = " | ".join(str(found[peer]) for peer in peers)
        size = f"{x.shape[0]:,} | {x.shape[1]} | {', '.join(map(str, right))}"
        print(f"| {name} | {size} | {found['partita']} | {stability:.2f} | {others} | {told} | {seconds:.1f} |", flush=True)
    for what, value in (("right", lambda o: f"{sum(e == 0 for e in o)} of {len(o)}"), ("mean error", lambda o: f"{np.mean(o):.2f}")):
        print(f"| **{what}** | | | | {value(off['partita'])} | | | {' | '.join(value(off[peer]) for peer in peers)} | |")
    print()


def main():
    common.machine()
    binary = common.binary()
    if not binary:
        sys.exit("the command is missing: run cargo build --release")
    peers = {"silhouette": silhouette, "BIC": bic}
    wanted = sys.argv[1:] or ["fcps", "made", "sipu", "tables", "features"]
    stored = sorted(shapes.stored(), key=lambda s: (s[2][0].max() > 20, len(s[1]))) if {"fcps", "sipu"} & set(wanted) else []
    sets = {
        "fcps": ("FCPS", [s for s in stored if s[0].startswith("fcps/")]),
        "made": ("Made sets", shapes.made()),
        "sipu": ("SIPU", [s for s in stored if s[0].startswith("sipu/")]),
        "tables": ("Tables", shapes.tables()),
        "features": ("Features", features()),
    }
    for name in wanted:
        table(*sets[name], binary, peers)


if __name__ == "__main__":
    main()
