#!/usr/bin/env python3
"""Write crates/partita-data/data/digits.csv.gz from scikit-learn's copy of the UCI digits.

One line per image: 64 pixels from 0 to 16, then the digit. Needs scikit-learn.
"""

import gzip
from pathlib import Path

from sklearn.datasets import load_digits

digits = load_digits()
lines = [",".join(str(int(v)) for v in [*x, y]) for x, y in zip(digits.data, digits.target)]
out = Path(__file__).resolve().parent.parent / "crates/partita-data/data/digits.csv.gz"
# A fixed time stamp and no name, so that the same input gives the same bytes.
with open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
    packed.write(("\n".join(lines) + "\n").encode())
print(f"{out}: {len(lines)} images, {out.stat().st_size} bytes; pixel sum {digits.data.sum():.0f}")
