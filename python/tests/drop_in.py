"""scikit-learn's own tests of an estimator, run on ours: the test module is loaded anew with our class in the place of theirs."""

import importlib.util
from contextlib import contextmanager

import pytest


@contextmanager
def replaced(package, name, ours):
    """While this lasts, ``from package import name`` gives our class."""
    theirs = getattr(package, name)
    setattr(package, name, ours)
    try:
        yield
    finally:
        setattr(package, name, theirs)


def tests_of(module, package, name, ours):
    """The tests of an installed test module, for ``ours``."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        pytest.skip(f"scikit-learn was installed without {module}", allow_module_level=True)
    loaded = importlib.util.module_from_spec(spec)
    with replaced(package, name, ours):
        spec.loader.exec_module(loaded)
    return {key: value for key, value in vars(loaded).items() if key.startswith("test_")}


def skip_if_declared(request, declared):
    """Skip a test that is declared as not applicable, by its name or by a part of its parameters."""
    for part, reason in declared.items():
        if part in (request.node.originalname, request.node.name) or (part.startswith("[") and part[1:-1] in request.node.name):
            pytest.skip(f"not applicable: {reason}")
