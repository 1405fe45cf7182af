"""Numbers of other implementations that the encoders of texts are held against.

    PYTHON make.py [all-MiniLM-L6-v2]

PYTHON has numpy, scipy, scikit-learn, tokenizers and safetensors. Writes beside itself `tfidf.json` (scikit-learn's TfidfVectorizer), a small network of random
weights in `bert/`, and `bert.json`: its tokens by the package tokenizers and its rows by plain numpy in double precision. With the folder of all-MiniLM-L6-v2,
`minilm.json` has the same for that network; its weights are not kept here.
"""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from scipy.special import erf
from sklearn.feature_extraction.text import TfidfVectorizer
from tokenizers import BertWordPieceTokenizer, Tokenizer

HERE = Path(__file__).parent
NEWS = [
    "Crude oil prices rose 3 pct after OPEC's meeting; oil-exporting states agreed.",
    "OPEC ministers meet in Vienna to agree on the price of crude.",
    "The wheat harvest was poor: wheat exports fell, corn exports rose.",
    "Corn and wheat crops, a harvest of 12,5 mln tonnes.",
    "Der Weizenpreis stieg; die Ernte fiel geringer aus als im Vorjahr.",
    "Die Ernte: Weizen und Mais, größer als im Vorjahr.",
    "Цены на нефть выросли, ОПЕК встречается в Вене.",
    "Нефть и газ: цены выросли.",
]
TEXTS = [
    "The cat sat on the mat.",
    "Crude oil prices rose 3.5% to $12/bbl in 1986-87, OPEC's ministers said.",
    "Unaffable antidisestablishmentarianism!",
    "Ça coûte cher à Zürich; naïve façade, İstanbul, Ångström, Straße.",
    "日本語のテキスト and 漢字, 한국어 문장.",
    "tabs\tand\nnew lines\r\n, no-break\u00a0space, zero\u200bwidth, soft\u00adhyphen, \ufeffmark, nul\u0000l, \ufffd",
    "emoji 😀 and “quotes” — dashes… ¿qué? «non»",
    "हिन्दी में पाठ, ภาษาไทย, עברית שָׁלוֹם, العربيّة",
    "e\u0301 combining, ﬁ ligature, ½ ² ™ № ① Ⅳ",
    "a" * 101 + " b",
    "x",
    "",
    "word " * 300,
]


class Bert:
    """A network of the BERT type in double precision, one text at a time."""

    def __init__(self, folder, heads, layers):
        self.weights = {name: array.astype(np.float64) for name, array in load_file(folder / "model.safetensors").items()}
        self.heads, self.layers = heads, layers

    def row(self, ids):
        words, places, kinds = (self.weights[f"embeddings.{table}_embeddings.weight"] for table in ("word", "position", "token_type"))
        x = self.norm(words[ids] + places[: len(ids)] + kinds[0], "embeddings.LayerNorm")
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            x = self.norm(x + self.attend(x, f"{name}.attention"), f"{name}.attention.output.LayerNorm")
            wide = self.linear(x, f"{name}.intermediate.dense")
            wide *= (1 + erf(wide / np.sqrt(2))) / 2
            x = self.norm(x + self.linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def attend(self, x, name):
        tokens, width = x.shape
        parts = (self.linear(x, f"{name}.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (part.reshape(tokens, self.heads, -1).transpose(1, 0, 2) for part in parts)
        scores = query @ key.swapaxes(1, 2) / np.sqrt(width / self.heads)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return self.linear((scores @ value).transpose(1, 0, 2).reshape(x.shape), f"{name}.output.dense")

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        return x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + 1e-12) * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def tfidf():
    """Words of at least two letters or digits, one of them a letter, in at least two texts and at most half of them."""
    pattern = r"(?u)\b(?=\w*[^\W\d_])\w\w+\b"
    vectorizer = TfidfVectorizer(token_pattern=pattern, sublinear_tf=True, min_df=2, max_df=0.5)
    rows = vectorizer.fit_transform(NEWS).toarray()
    new = vectorizer.transform(["Oil, oil and OPEC: crude harvest?", "nothing known"]).toarray()
    found = {"texts": NEWS, "words": vectorizer.get_feature_names_out().tolist(), "idf": vectorizer.idf_.tolist()}
    found |= {"rows": rows.tolist(), "new": ["Oil, oil and OPEC: crude harvest?", "nothing known"], "new_rows": new.tolist()}
    (HERE / "tfidf.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def small(folder, hidden=24, layers=2, wide=40, places=40):
    """A small vocabulary of letters and a few words, and random weights."""
    folder.mkdir(exist_ok=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters), *"!$%,-./:;'“”—…", "日", "本", "漢"]
    pieces += ["the", "cat", "oil", "price", "##s", "##ing", "rose", "##able", "un", "new", "line", "word", "text"]
    pieces = list(dict.fromkeys(pieces))
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    config = {"model_type": "bert", "hidden_act": "gelu", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": 3}
    config |= {"intermediate_size": wide, "vocab_size": len(pieces), "max_position_embeddings": places, "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config) + "\n")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32}\n')
    rng = np.random.default_rng(5)
    tensors = {}

    def tensor(name, *shape, spread=0.3, around=0.0):
        tensors[name] = (around + spread * rng.normal(size=shape)).astype(np.float32)

    def linear(name, outputs, inputs):
        tensor(f"{name}.weight", outputs, inputs)
        tensor(f"{name}.bias", outputs)

    def norm(name):
        tensor(f"{name}.weight", hidden, around=1.0)
        tensor(f"{name}.bias", hidden)

    for table, count in (("word", len(pieces)), ("position", places), ("token_type", 2)):
        tensor(f"embeddings.{table}_embeddings.weight", count, hidden)
    norm("embeddings.LayerNorm")
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear(f"{name}.attention.{part}", hidden, hidden)
        norm(f"{name}.attention.output.LayerNorm")
        linear(f"{name}.intermediate.dense", wide, hidden)
        linear(f"{name}.output.dense", hidden, wide)
        norm(f"{name}.output.LayerNorm")
    save_file(tensors, folder / "model.safetensors")
    tokenizer = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)
    tokenizer.enable_truncation(32)
    write("bert.json", tokenizer, Bert(folder, 3, layers), lambda row: row.tolist())


def minilm(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    write("minilm.json", tokenizer, Bert(folder, 12, 6), lambda row: np.round(row[::8], 9).tolist())


def write(name, tokenizer, network, shown):
    """The tokens of all texts and their rows; of a large network, every eighth number."""
    tokens = [tokenizer.encode(text).ids for text in TEXTS]
    rows = [shown(network.row(ids)) for ids in tokens]
    found = {"texts": TEXTS, "tokens": tokens, "rows": rows}
    (HERE / name).write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    tfidf()
    small(HERE / "bert")
    if len(sys.argv) > 1:
        minilm(Path(sys.argv[1]))
