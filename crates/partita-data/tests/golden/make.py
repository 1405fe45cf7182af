#!/usr/bin/env python3
"""Write the golden files beside this script: one matrix in every format and layout.

Needs numpy, pyarrow and safetensors. The values are multiples of 1/4 between -32 and 31.75, so that every float type
holds them exactly; `int` files hold small whole numbers instead. `odd.*` hold awkward f32 values (subnormal, huge,
many digits) for the round trip through text.
"""

import gzip
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from safetensors.numpy import save_file

here = Path(__file__).resolve().parent
n, m = 23, 6
grid = np.arange(n * m).reshape(n, m)
x = (((grid * 37) % 256) / 4 - 32).astype("<f4")
whole = ((grid * 29) % 100).astype("<i8")
names = [f"f{j}" for j in range(m)]
ids = [f"row {i}" for i in range(n)]


def gz(name, data):
    with open(here / name, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(data)


# NumPy
np.save(here / "x.npy", x)
for t in ["<f2", ">f2", ">f4", "<f8", ">f8"]:
    tag = ("be_" if t[0] == ">" else "") + t[1:]
    np.save(here / f"x_{tag}.npy", x.astype(t))
for t in ["<f2", "<f4", ">f8"]:
    np.save(here / f"x_fortran_{t[1:]}.npy", np.asfortranarray(x.astype(t)))
np.save(here / "x_3d.npy", x.reshape(n, 2, 3))
for version in [(2, 0), (3, 0)]:
    with open(here / f"x_v{version[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, x, version=version)
np.save(here / "int.npy", whole)
for t in ["|i1", "<i2", "<i4", "|u1", "<u2", "<u4", "<u8", ">i4", ">u8"]:
    tag = ("be_" if t[0] == ">" else "") + t[1:]
    np.save(here / f"int_{tag}.npy", whole.astype(t))
np.save(here / "int_fortran_i4.npy", np.asfortranarray(whole.astype("<i4")))
np.save(here / "vector.npy", x[:, 0])
np.savez(here / "x.npz", labels=np.arange(n), x=x)
np.savez(here / "x_f2.npz", x=x.astype("<f2"))
np.savez_compressed(here / "x_packed.npz", labels=np.arange(n), x=x)
np.savez_compressed(here / "x_packed_fortran.npz", x=np.asfortranarray(x.astype("<f8")))

# Arrow and Parquet: many columns, lists, fixed-size lists
wide = pa.table({"id": ids} | {name: x[:, j].astype("<f8" if j % 2 else "<f4") for j, name in enumerate(names)})
lists = pa.table({"text": ids, "x": pa.array(list(x.astype("<f8")), pa.list_(pa.float64()))})
fixed = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), m), "stars": np.arange(n)})
for name, table in [("wide", wide), ("lists", lists), ("fixed", fixed)]:
    pq.write_table(table, here / f"{name}.parquet", row_group_size=10, compression="zstd")
    feather.write_feather(table, here / f"{name}.arrow", compression="lz4", chunksize=7)
pq.write_table(wide, here / "wide_snappy.parquet", compression="snappy", data_page_version="2.0")
half = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(x.ravel().astype("<f2")), m)})
pq.write_table(half, here / "half.parquet", compression="gzip")
with pa.OSFile(str(here / "fixed.arrows"), "wb") as f, pa.ipc.new_stream(f, fixed.schema) as writer:
    writer.write_table(fixed, max_chunksize=7)
repeated = pa.table({"a": [1.0, 2.0, 3.0] * 100, "b": [4.0, 5.0, 6.0] * 100})
pq.write_table(repeated, here / "brotli.parquet", compression="brotli")
missing = pa.table({"a": [1.0, 2.0, 3.0], "b": [1.0, None, 3.0]})
pq.write_table(missing, here / "null.parquet")
pq.write_table(pa.table({"id": ids, "label": ["b", "a"] * 11 + [None]}), here / "labels.parquet")

# Text
rows = [[repr(float(v)) for v in row] for row in x]


def table(name, sep, header=None, first=None, quote=False):
    lines = [sep.join(header)] if header else []
    for i, row in enumerate(rows):
        cell = [] if first is None else [f'"{first[i]}"' if quote else first[i]]
        lines.append(sep.join(cell + row))
    (here / name).write_text("\n".join(lines) + "\n")


table("plain.csv", ",")
table("header.csv", ",", names)
table("ids.csv", ",", ["name", *names], ids)
table("ids_plain.csv", ";", None, ids)
table("quoted.csv", ",", ["name", *names], [f"row {i}, so" for i in range(n)], quote=True)
table("pandas.csv", ",", ["", *map(str, range(m))], [str(i) for i in range(n)])
table("header.tsv", "\t", names)
np.savetxt(here / "savetxt.txt", x, header="saved by numpy")
(here / "windows.csv").write_bytes(b"\xef\xbb\xbf" + (here / "header.csv").read_bytes().replace(b"\n", b"\r\n"))

# Awkward values, as text and as an array
rng = np.random.default_rng(0)
odd = rng.integers(0, 2**32, (40, 3), dtype=np.uint32).view("<f4")
odd = np.where(np.isfinite(odd), odd, np.float32(1e-45))
np.save(here / "odd.npy", odd)
(here / "odd.csv").write_text("\n".join(",".join(str(v) for v in row) for row in odd) + "\n")

# safetensors
import ml_dtypes  # noqa: E402  (only for brain floats)

for name, t in [("f32", "<f4"), ("f16", "<f2"), ("f64", "<f8"), ("bf16", ml_dtypes.bfloat16)]:
    save_file({"x": x.astype(t), "bias": np.zeros(3, "<f4")}, here / f"x_{name}.safetensors")
save_file({"x": whole.astype("<i2")}, here / "int.safetensors")
save_file({"x": x, "z": x}, here / "two.safetensors")

# idx: big-endian
codes = {"u1": 8, "i2": 11, "f4": 13}


def idx(t, array):
    return bytes([0, 0, codes[t], array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(">" + t).tobytes()


(here / "x.idx").write_bytes(idx("f4", x))
(here / "int-idx3-ubyte").write_bytes(idx("u1", whole.reshape(n, 3, 2)))
gz("int-idx3-ubyte.gz", idx("u1", whole.reshape(n, 3, 2)))
gz("x.idx.gz", idx("f4", x))
gz("labels.idx.gz", idx("u1", np.arange(n) % 5))
