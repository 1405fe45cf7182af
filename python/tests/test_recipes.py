"""The commands of the paper's tables of networks, each for one epoch on a few made images."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from partita import _native

SCRIPT = Path(__file__).resolve().parents[2] / "crates" / "partita-study" / "reproduce" / "deep" / "run.py"
pytestmark = [
    pytest.mark.skipif(not _native.HAS_NETWORKS, reason="this build has no networks: build with --features deep"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="the script reads TOML, which Python can do from 3.11 on"),
]


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize(("table", "cells"), [("table4", 24), ("table5", 12)])
def test_every_command_works(command, tmp_path, table, cells):
    import tomllib

    done = run(table, "--dry-run", "--partita", command, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = tomllib.loads((tmp_path / f"{table}.toml").read_text())["run"]
    assert len(runs) == cells == len(json.loads((tmp_path / f"{table}.json").read_text()))
    for line in runs:
        assert line["epochs"] == 1 and line["seeds"] == [0] and "dry run" in line["note"], line
        assert len(line["acc"]) == len(line["nmi"]) == len(line["ari"]) == 1, line
        assert line["command"].startswith("partita fit ") and line["command"].endswith("--seed $seed"), line
        assert str(tmp_path) not in line["command"], "what is kept names no folder of a machine"


def test_what_cannot_be_run_says_why_and_gives_the_command(command, tmp_path):
    done = run("table5", "--data", tmp_path, "--out", tmp_path / "out", "--partita", command, "--set", "stl10", "--method", "ours")
    assert done.returncode == 0 and "not run" in done.stdout and "train_X.bin is not there" in done.stdout
    told = (tmp_path / "out" / "table5.toml").read_text()
    assert "# stl10, ours: not run" in told and "--net resnet18-stl" in told
    (line,) = json.loads((tmp_path / "out" / "table5.json").read_text())
    assert "is not there" in line["why"] and "--pairs 0.5" in line["command"]
    assert run("table4", "--set", "imagenet").returncode != 0


def test_all_commands_are_listed():
    listed = run("table5", "--list").stdout
    assert listed.count("partita fit ") == 12 + 3 and listed.count("--pretext 500") == 3
    assert "--scan 0,100,0" in listed and "--head-rate 1e-1" in listed
