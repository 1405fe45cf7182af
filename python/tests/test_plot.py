"""Pictures show what they should, whichever library draws."""

import numpy as np
import pytest

from partita import EntropyClustering, KMeans
from partita.plot import KINDS, panels, plot


@pytest.fixture(scope="module")
def fitted(digits):
    x, y = digits
    return EntropyClustering(10, n_init=2).fit(x), x, y


def test_panels_hold_the_numbers_of_the_model(fitted):
    model, x, y = fitted
    shown = {panel.title: panel for panel in panels(model, x, y=y)}
    assert list(shown) == list(KINDS)
    assert np.array_equal(shown["map"].colour, model.labels_) and len(shown["map"].x) == 1797
    assert np.array_equal(shown["sizes"].y, model.cluster_sizes_)
    assert shown["confidence"].y.sum() == 1797
    assert np.array_equal(shown["loss"].y, model.history_)
    assert shown["confusion"].colour.sum() == 1797 and len(shown["confusion"].x) == 10


def test_the_axis_of_the_loss_says_what_it_counts(fitted):
    model, x, _ = fitted
    assert panels(model, kind="loss")[0].x_label == "epoch"
    assert panels(KMeans(3, n_init=2).fit(x), kind="loss")[0].x_label == "start"


def test_classes_may_have_names(fitted):
    model, x, y = fitted
    names = np.array([f"digit {digit}" for digit in y], dtype=object)
    names[:100] = None
    shown = panels(model, x, "confusion", y=names)[0]
    assert shown.colour.sum() == 1697 and shown.y[3] == "digit 3"


def test_matplotlib_draws_all_without_a_window(fitted, tmp_path):
    pytest.importorskip("matplotlib")
    model, x, y = fitted
    figure = model.plot(x, y=y, backend="matplotlib")
    assert len(figure.axes) == 5
    figure.savefig(tmp_path / "all.png", dpi=40)
    assert (tmp_path / "all.png").stat().st_size > 5000


def test_plotly_draws_all(fitted):
    pytest.importorskip("plotly")
    model, x, y = fitted
    figure = model.plot(x, y=y, backend="plotly")
    assert [trace.type for trace in figure.data] == ["scattergl", "bar", "bar", "scatter", "heatmap"]
    assert len(figure.to_json()) > 10_000


def test_sparse_rows_and_hard_methods_are_drawn_too(fitted):
    sp = pytest.importorskip("scipy.sparse")
    model, x, _ = fitted
    assert len(panels(model, sp.csr_matrix(x), "map")[0].x) == 1797
    assert [p.title for p in panels(KMeans(10, n_init=1).fit(x), x)] == ["map", "sizes", "loss"]


def test_what_cannot_be_drawn_is_refused(fitted, tmp_path):
    model, x, _ = fitted
    for arguments, words in [
        ({"kind": "map"}, "needs the rows"),
        ({"X": x, "kind": "confusion"}, "true labels"),
        ({"kind": "pie"}, "must be one of"),
        ({"kind": "sizes", "backend": "gnuplot"}, "backend must be"),
    ]:
        with pytest.raises(ValueError, match=words):
            plot(model, **arguments)
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="no history"):
        EntropyClustering.load(tmp_path / "model.safetensors").plot(kind="loss")
    with pytest.raises(ValueError, match="no probabilities"):
        KMeans(3, n_init=1).fit(x).plot(x, "confidence")
