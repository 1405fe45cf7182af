"""Texts through the sparse path: Partita and scikit-learn's KMeans on the same TF-IDF matrix, in one run.

    PARTITA_DATA=folder PYTHON bench/text.py

PYTHON is an environment with the package installed by `pip install ./python`. The folder holds `reuters/reuters.jsonl`: one
document a line with `title`, `body` and `topics`. Documents of a single topic are kept, all of them are clustered at K = 10, and
ACC and NMI are those of the documents of the ten largest topics. Each method runs on one thread, in a process of its
own, so that its peak memory is its own.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import common

CLUSTERS, SEEDS = 10, range(6)


def documents():
    path = Path(os.environ.get("PARTITA_DATA", ".")) / "reuters" / "reuters.jsonl"
    if not path.is_file():
        sys.exit(f"{path} is missing: set PARTITA_DATA to the folder that holds reuters/reuters.jsonl")
    texts, topics = [], []
    for line in path.open(encoding="utf-8"):
        document = json.loads(line)
        if len(document["topics"] or []) == 1 and document["body"]:
            texts.append(f"{document['title']}\n{document['body']}")
            topics.append(document["topics"][0])
    return texts, topics


def matrix():
    """TF-IDF of all single-topic documents, the names of its columns, and classes: -1 beyond the ten largest topics."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, topics = documents()
    largest = [topic for topic, _ in Counter(topics).most_common(CLUSTERS)]
    vectorizer = TfidfVectorizer(stop_words="english", min_df=3, sublinear_tf=True, dtype=np.float32)
    x = vectorizer.fit_transform(texts)
    classes = np.array([largest.index(topic) if topic in largest else -1 for topic in topics])
    return x, vectorizer.get_feature_names_out(), classes, largest


def make(method, seed):
    import partita
    import sklearn.cluster

    return {
        "partita EntropyClustering": lambda: partita.EntropyClustering(CLUSTERS, random_state=seed, n_jobs=1),
        'partita EntropyClustering, prior="auto"': lambda: partita.EntropyClustering(
            CLUSTERS, prior="auto", random_state=seed, n_jobs=1
        ),
        "partita KMeans": lambda: partita.KMeans(CLUSTERS, n_init=8, random_state=seed, n_jobs=1),
        "scikit-learn KMeans(n_init=8)": lambda: sklearn.cluster.KMeans(CLUSTERS, n_init=8, random_state=seed),
    }[method]()


METHODS = (
    "partita EntropyClustering",
    'partita EntropyClustering, prior="auto"',
    "partita KMeans",
    "scikit-learn KMeans(n_init=8)",
)


def measure(method):
    """One method in this process; a line of JSON."""
    import numpy as np

    x, names, classes, _ = matrix()
    make(method, 0)
    runs = []
    with common.Peak() as memory:
        for seed in SEEDS:
            model = make(method, seed)
            start = time.perf_counter()
            model.fit(x)
            runs.append({"seconds": time.perf_counter() - start, "labels": model.labels_})
    from partita import metrics

    for run in runs:
        run["acc"], run["nmi"], _ = metrics.scores(classes, run.pop("labels"))
    words = []
    if hasattr(model, "explain"):
        words = [(p.size, [str(n) for n in p.names]) for p in model.explain(x, top=10, feature_names=names)]
    told = {"peak": memory.peak, "added": memory.added, "runs": runs, "words": words, "shape": list(x.shape), "nnz": int(x.nnz)}
    told["known"] = int(np.sum(classes >= 0))
    print(json.dumps(told))


def spread(values):
    return f"{sum(values) / len(values):.3f} ({min(values):.3f}–{max(values):.3f})"


def main():
    if len(sys.argv) > 1:
        return measure(sys.argv[1])
    common.machine()
    rows, words = [], {}
    for method in METHODS:
        out = subprocess.run([sys.executable, sys.argv[0], method], capture_output=True, text=True, env=common.with_threads(1))
        if out.returncode:
            sys.exit(out.stderr)
        told = json.loads(out.stdout)
        runs, words[method] = told["runs"], told["words"]
        seconds = sorted(run["seconds"] for run in runs)[len(runs) // 2]
        rows.append(
            (
                method,
                spread([run["acc"] for run in runs]),
                spread([run["nmi"] for run in runs]),
                f"{seconds:.2f}",
                f"{told['peak']:.0f}",
                f"{told['added']:.0f}",
            )
        )
    n, m = told["shape"]
    filled = f"{told['nnz']} entries ({4e-6 * n * m:.0f} MB if filled)"
    print(f"{n} documents, {m} words, {filled}; {told['known']} of the ten largest topics\n")
    table_head = ("", "ACC, mean (range)", "NMI, mean (range)", "s, median", "peak MB of the process", "of which the fit added")
    common.table(table_head, rows)
    for method in METHODS[:2]:
        print(f"Words of the clusters, {method}, seed {SEEDS[-1]}:\n")
        common.table(("documents", "words"), [(str(size), ", ".join(names)) for size, names in words[method]])


if __name__ == "__main__":
    main()
