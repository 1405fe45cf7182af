"""Pictures show what they should, whichever library draws."""

import pickle

import numpy as np
import pytest

from partita import EntropyClustering, KMeans, choose_k
from partita._draw import colour
from partita.plot import panels, plot


@pytest.fixture(scope="module")
def fitted(digits):
    x, y = digits
    return EntropyClustering(10, n_init=2).fit(x), x, y


def test_panels_hold_the_numbers_of_the_model(fitted):
    model, x, y = fitted
    shown = {panel.title: panel for panel in panels(model, x, y=y)}
    assert list(shown) == ["map", "sizes", "confidence", "loss of the search", "loss of the refinement", "confusion"]
    assert np.array_equal(shown["map"].colour, model.labels_) and len(shown["map"].x) == 1797
    assert np.array_equal(shown["sizes"].y, model.cluster_sizes_)
    assert shown["confidence"].y.sum() == 1797
    phases = [shown["loss of the search"].y, shown["loss of the refinement"].y]
    assert np.array_equal(np.concatenate(phases), model.history_) and len(phases[1]) == 40
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
    assert len(figure.axes) == 6
    figure.savefig(tmp_path / "all.png", dpi=40)
    assert (tmp_path / "all.png").stat().st_size > 5000


def test_plotly_draws_all(fitted):
    pytest.importorskip("plotly")
    model, x, y = fitted
    figure = model.plot(x, y=y, backend="plotly")
    assert [trace.type for trace in figure.data] == ["scattergl"] * 10 + ["bar", "bar", "scatter", "scatter", "heatmap"]
    assert [trace.name for trace in figure.data if trace.showlegend is not False][:2] == ["cluster 0", "cluster 1"]
    assert len(figure.to_json()) > 10_000


def test_a_figure_shows_itself_without_pyplot(fitted):
    pytest.importorskip("matplotlib")
    model, x, _ = fitted
    figure = model.plot(x, "map", figsize=(4, 3))
    assert figure._repr_png_().startswith(b"\x89PNG") and tuple(figure.get_size_inches()) == (4, 3)
    names = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert names == [f"cluster {c}" for c in range(10)]
    assert len(pickle.loads(pickle.dumps(figure)).axes) == 1


def test_axes_of_ones_own_are_drawn_on(fitted):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots(1, 2)
    assert fitted[0].plot(kind="sizes", ax=axes[0]) is axes[0]
    assert axes[0].get_title() == "sizes" and len(axes[0].patches) == 10
    assert all(float(tick).is_integer() for tick in axes[0].get_xticks())
    assert fitted[0].plot(kind="loss", ax=axes) is axes
    assert axes[1].get_title() == "loss of the refinement"
    assert all(float(tick).is_integer() for tick in axes[1].get_xticks())


def test_many_clusters_have_colours_and_names_of_their_own(blobs):
    x, y = blobs
    known = np.array(["ant", "bee", "cat", "dog"], dtype=object)[y]
    shown = panels(EntropyClustering(4, n_init=1).fit(x, known=known), x, "map")[0]
    assert [shown.name(c) for c in range(-1, 4)] == ["outlier", "ant", "bee", "cat", "dog"]
    assert len({colour(c) for c in range(60)}) == 60


def test_the_choice_of_k_is_drawn_and_told():
    pytest.importorskip("matplotlib")
    x = np.random.default_rng(0).normal(size=(120, 4)) + np.repeat(9 * np.eye(3, 4), 40, axis=0)
    choice = choose_k(x, range(2, 5), n_init=1, splits=2)
    axes = choice.plot().axes[0]
    assert [float(v) for v in axes.get_lines()[0].get_xdata()] == [2, 3, 4]
    assert axes.get_legend().get_texts()[0].get_text() == f"{choice.n_clusters} chosen"
    assert choice._repr_html_().count("<tr>") == 4 and "chosen" in choice._repr_html_()
    model = EntropyClustering("2..4", n_init=1).fit(x)
    assert panels(model, kind="choice")[0].marked == model.n_clusters_


def test_an_explanation_is_a_table_in_a_notebook(fitted):
    model, x, _ = fitted
    why = model.explain(x, row=0, top=3, feature_names=[f"<{j}>" for j in range(64)])
    page = why._repr_html_()
    assert page.count("<tr>") == 5 and "&lt;" in page and f"cluster {why.cluster}" in page


def test_a_library_that_is_missing_is_named(fitted, monkeypatch):
    monkeypatch.setattr("partita.plot.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="needs plotly: pip install plotly"):
        fitted[0].plot(kind="sizes", backend="plotly")


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
        ({"kind": "choice"}, "for n_clusters='auto'"),
        ({"kind": "loss", "ax": object()}, "1 axes for 2 pictures"),
        ({"kind": "sizes", "backend": "plotly", "ax": object()}, "ax= is for matplotlib"),
        ({"kind": "sizes", "backend": "gnuplot"}, "backend must be"),
    ]:
        with pytest.raises(ValueError, match=words):
            plot(model, **arguments)
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="no history"):
        EntropyClustering.load(tmp_path / "model.safetensors").plot(kind="loss")
    with pytest.raises(ValueError, match="no probabilities"):
        KMeans(3, n_init=1).fit(x).plot(x, "confidence")
