"""Small data that every test can make."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs


@pytest.fixture(scope="session")
def blobs():
    """Four groups of 100 rows that are far apart, and their numbers."""
    x, y = make_blobs(400, n_features=5, centers=4, cluster_std=0.6, random_state=3)
    return x.astype(np.float32), y


@pytest.fixture(scope="session")
def digits():
    """The 1,797 handwritten digits of scikit-learn."""
    x, y = load_digits(return_X_y=True)
    return x.astype(np.float32), y


@pytest.fixture(scope="session")
def command():
    """The command `partita`, built by the script that runs these tests."""
    path = os.environ.get("PARTITA_COMMAND")
    if path is None:
        path = Path(__file__).resolve().parents[2] / "target" / "debug" / "partita"
    if not Path(path).is_file():
        pytest.skip("the command is not built: cargo build -p partita-cli, or set PARTITA_COMMAND")
    return str(Path(path).resolve())


@pytest.fixture(scope="session")
def library(command):
    """A program that runs jobs with the Rust library alone: the example of partita-job, built beside the command."""
    path = Path(command).resolve().parent / "examples" / "job"
    if not path.is_file():
        pytest.skip("the example is not built: cargo build -p partita-job --example job")
    return str(path)
