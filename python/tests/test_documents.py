"""What the documents promise works: the notebook, the README, the stubs."""

import doctest
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import partita

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


MODULES = sorted(module.name for module in pkgutil.iter_modules(partita.__path__) if module.name != "_native")


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings_give_what_they_show(name):
    if name == "torch":
        pytest.importorskip("torch")
    if name == "_network" and not partita._native.HAS_NETWORKS:
        pytest.skip("this build has no networks: build with --features deep")
    module = import_module(f"partita.{name}" if name else "partita")
    assert doctest.testmod(module).failed == 0


def test_the_notebook_runs_from_top_to_bottom():
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    notebook = nbformat.read(HERE.parent / "notebooks" / "quickstart.ipynb", as_version=4)
    client(notebook, timeout=300).execute()
    printed = "".join(o.get("text", "") for cell in notebook.cells for o in cell.get("outputs", []))
    assert "EntropyClustering Scores" in printed and "True" in printed
    shown = [o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", [])]
    pictures = [data["image/png"] for data in shown if "image/png" in data]
    assert len(pictures) == 2 and all(len(picture) > 5000 for picture in pictures)
    pages = "".join("".join(data.get("text/html", "")) for data in shown)
    assert "adds to the lead" in pages and "stability" in pages


@pytest.mark.parametrize("document", [ROOT / "README.md", ROOT / "python" / "README.md"])
def test_examples_in_the_readme_run(document):
    examples = re.findall(r"```python\n(.*?)```", document.read_text(), re.S)
    assert examples, f"{document} shows no Python"
    for example in examples:
        exec(compile(example, str(document), "exec"), {})


def test_stubs_are_those_of_the_native_half(tmp_path):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "partita._native"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_has_an_example_that_is_run():
    for name in partita.__all__:
        item = getattr(partita, name)
        if callable(item):
            assert ">>>" in (item.__doc__ or ""), name
