"""Threads, forks, signals, and what an import costs."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from partita import EntropyClustering, GaussianMixture, KMeans, SoftKMeans, choose_k, compare, margin

LONG = {"n_clusters": 10, "epochs": 100_000, "n_init": 8}


def rows(n=2000):
    return np.random.default_rng(0).normal(size=(n, 20)).astype(np.float32)


def test_other_threads_run_during_a_fit():
    """Another thread counts while a fit runs; if the lock were held, it could not."""
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    before = counted[0]
    EntropyClustering(10, epochs=200).fit(rows())
    during = counted[0] - before
    done.set()
    counter.join()
    assert during > 10


def test_fits_in_several_threads_do_not_disturb_each_other():
    x = rows()
    expected = [EntropyClustering(5, random_state=s, n_init=2).fit(x).labels_ for s in range(4)]
    found = [None] * 4

    def fit(s):
        found[s] = EntropyClustering(5, random_state=s, n_init=2).fit(x).labels_

    threads = [threading.Thread(target=fit, args=(s,)) for s in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def child(queue):
    queue.put(EntropyClustering(5, n_init=2).fit(rows()).labels_)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_can_fit_after_its_parent_did():
    expected = EntropyClustering(5, n_init=2).fit(rows()).labels_
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    found = queue.get(timeout=120)
    process.join(timeout=60)
    assert np.array_equal(found, expected)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to the own process")
def test_ctrl_c_stops_a_fit_and_leaves_the_old_one():
    model = EntropyClustering(10, n_init=1).fit(rows())
    labels = model.labels_
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(**LONG).fit(rows())
    assert model.labels_ is labels


def endless(name):
    """A call that would run for a long time without a break."""
    rng = np.random.default_rng(0)
    many, wide = rng.normal(size=(50_000, 20)), rng.normal(size=(1500, 1000))
    return {
        "mixture": lambda: GaussianMixture(10, max_iter=10**6, tol=0.0).fit(many),
        "kmeans": lambda: KMeans(500, n_init=1, max_iter=10**6, tol=0.0).fit(many),
        "soft": lambda: SoftKMeans(100, n_init=1, max_iter=10**6, tol=0.0).fit(many),
        "margin": lambda: margin.of_labels(wide, np.arange(1500) % 2, tol=1e-12),
        "path": lambda: margin.path(many, rng.normal(size=(50, 20)), np.zeros(50), norms=np.geomspace(1, 1e6, 1000)),
    }[name]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to the own process")
@pytest.mark.parametrize("name", ["mixture", "kmeans", "soft", "margin", "path"])
def test_ctrl_c_stops_what_is_one_long_run(name):
    call, began = endless(name), time.monotonic()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        timer.cancel()
    assert time.monotonic() - began < 10


def test_an_exception_of_the_progress_stops_the_fit(monkeypatch):
    def fail(*_):
        raise RuntimeError("enough")

    monkeypatch.setattr("partita._progress.Progress.__call__", fail)
    with pytest.raises(RuntimeError, match="enough"):
        EntropyClustering(**LONG, verbose=1).fit(rows())


def test_progress_is_shown_with_tqdm_and_without(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    EntropyClustering(10, epochs=150, verbose=1).fit(rows())
    assert "100" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    EntropyClustering(10, epochs=150, verbose=1).fit(rows())
    assert "%, training" in capsys.readouterr().err


def test_bars_are_closed(monkeypatch):
    closed = []
    monkeypatch.setattr("partita._progress.Progress.__exit__", lambda self, *_: closed.append(self.title))
    choose_k(rows(100), [2, 3], splits=2, n_init=1, verbose=1)
    compare(rows(100), 2, methods=["kmeans"], seeds=1, n_init=1, verbose=1)
    assert closed == ["choose_k", "compare"]


def test_importing_the_package_does_not_import_scikit_learn():
    code = "import sys, partita; print([m for m in ('sklearn', 'scipy', 'pandas', 'torch', 'matplotlib') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_number_of_threads_does_not_matter_to_rivals():
    x = rows()
    one, two = (KMeans(5, n_jobs=j).fit(x) for j in (1, 2))
    assert np.array_equal(one.labels_, two.labels_) and one.inertia_ == two.inertia_
