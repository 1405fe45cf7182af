"""The functions besides the estimators, compared with scikit-learn, scipy and their own definitions."""

import tracemalloc

import numpy as np
import pytest
from sklearn import cluster, mixture
from sklearn import metrics as reference
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import SVC

from partita import EntropyClustering, GaussianMixture, KMeans, choose_k, compare, margin, methods, metrics, pseudo_labels


def test_scores_are_scikit_learns(digits):
    rng = np.random.default_rng(0)
    truth = digits[1]
    predicted = np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 12, len(truth)), truth + 5)
    found = metrics.scores(truth, predicted)
    assert found.nmi == pytest.approx(reference.normalized_mutual_info_score(truth, predicted), abs=1e-12)
    assert found.ari == pytest.approx(reference.adjusted_rand_score(truth, predicted), abs=1e-12)
    matched = metrics.matching(truth, predicted)
    assert found.acc == pytest.approx(np.mean([matched.get(int(p)) == t for t, p in zip(truth, predicted, strict=True)]))
    counts, classes, clusters = metrics.confusion(truth, predicted)
    assert counts.sum() == len(truth) and np.trace(counts) == round(found.acc * len(truth))
    with pytest.raises(ValueError, match="inconsistent"):
        metrics.scores([0, 1], [0])
    with pytest.raises(ValueError, match="1D"):
        metrics.scores([[0, 1]], [0])


def test_negative_numbers_are_labels_like_others():
    for truth, predicted in [
        ([0, 0, 1, 1, 1], [0, 0, 1, -1, -1]),
        ([-1, -1, 1, 1], [1, -1, 1, 1]),
        ([-5, 3, 3], [0.0, -2.0, -2.0]),
    ]:
        assert metrics.ari(truth, predicted) == pytest.approx(reference.adjusted_rand_score(truth, predicted))
        assert metrics.nmi(truth, predicted) == pytest.approx(reference.normalized_mutual_info_score(truth, predicted))
    assert metrics.accuracy([0, 0, 1, 1, 1], [0, 0, 1, -1, -1]) == 0.8
    assert metrics.matching([-1, -1, 1], [0, 0, -1]) == {0: -1, -1: 1}
    counts, classes, clusters = metrics.confusion([-1, -1, 1], [0, 0, -1])
    assert (counts.tolist(), classes.tolist(), clusters.tolist()) == ([[2, 0], [0, 1]], [-1, 1], [0, -1])
    assert metrics.scores(["a", "?", "b"], [0, 0, 1], unknown="?") == (1.0, 1.0, 1.0)


def test_labels_of_any_kind_are_scored_and_what_is_missing_is_left_out():
    pd = pytest.importorskip("pandas")
    truth, predicted = np.array([0, 0, 1, 1, 2, -1, -1]), np.array([1, 1, 0, 0, 2, 0, 1])
    expected = metrics.scores(truth, predicted, unknown=-1)
    assert expected == metrics.scores(truth[:5], predicted[:5])
    assert metrics.scores(truth.astype(float), predicted, unknown=-1) == expected
    assert metrics.scores(np.where(truth < 0, np.nan, truth), predicted.astype(np.float32)) == expected
    counts, classes, clusters = metrics.confusion(truth.astype(float), predicted, unknown=-1)
    assert counts.tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 1]]
    assert classes.tolist() == [0, 1, 2] and clusters.tolist() == [1, 0, 2]
    names = np.array(["ant", "bee", "cat", None], dtype=object)[truth]
    series = pd.Series(names)
    for words in (names, series, series.astype("category"), pd.Categorical(names), pd.Series(names, dtype="str")):
        assert metrics.scores(words, predicted) == expected
        assert metrics.matching(words, predicted) == {0: "bee", 1: "ant", 2: "cat"}
        counts, classes, _ = metrics.confusion(words, predicted)
        assert counts.sum() == 5 and classes.tolist() == ["ant", "bee", "cat"]
    nullable = pd.Series(truth, dtype="Int64").mask(truth < 0)
    assert metrics.scores(nullable, predicted) == expected and metrics.matching(nullable, predicted)[1] == 0
    assert metrics.matching(np.array([0.5, 0.5, 2.5, np.nan]), [0, 0, 1, 1]) == {0: 0.5, 1: 2.5}
    assert metrics.matching(np.array(["a", "a", 3], dtype=object), [0, 0, 1]) == {0: "a", 1: 3}


def test_kmeans_is_as_good_as_scikit_learns(digits):
    x, _ = digits
    ours, theirs = KMeans(10, n_init=8).fit(x), cluster.KMeans(10, n_init=8, random_state=0).fit(x)
    assert ours.inertia_ < 1.002 * theirs.inertia_
    assert ours.score(x) == pytest.approx(-ours.inertia_, rel=1e-12)
    one = theirs.__class__(10, init=ours.cluster_centers_.astype(np.float32), n_init=1).fit(x)
    assert one.inertia_ == pytest.approx(ours.inertia_, rel=1e-4)
    expected = np.linalg.norm(x[:, None, :] - ours.cluster_centers_[None], axis=2)
    assert np.abs(ours.transform(x) - expected).max() < 1e-4
    assert np.array_equal(ours.transform(x).argmin(axis=1), ours.labels_)


def test_sparse_kmeans_has_centres_in_the_units_of_the_data():
    words = [["goal", "team", "match"], ["oil", "barrel", "crude"], ["star", "planet", "orbit"]]
    rng = np.random.default_rng(0)
    vectorizer = TfidfVectorizer()
    x = vectorizer.fit_transform([" ".join(rng.choice(words[i % 3], 4)) for i in range(150)])
    model = KMeans(3, n_init=5).fit(x)
    names = vectorizer.get_feature_names_out()
    top = [sorted(names[np.argsort(-centre)[:3]]) for centre in model.cluster_centers_]
    assert sorted(top) == sorted(sorted(group) for group in words)
    dense = KMeans(3, n_init=5).fit(x.toarray())
    assert np.array_equal(dense.labels_, model.labels_)
    np.testing.assert_allclose(model.transform(x), dense.transform(x.toarray()), atol=1e-9)
    assert model.inertia_ == pytest.approx(dense.inertia_, rel=1e-12)


def test_weights_count_in_kmeans_and_rows_without_are_no_seeds(blobs):
    x, y = blobs
    weights = (y < 2).astype(float)
    model = KMeans(2, n_init=4).fit(x, sample_weight=weights)
    means = np.array([x[y == c].mean(axis=0) for c in (0, 1)])
    np.testing.assert_allclose(np.sort(model.cluster_centers_, axis=0), np.sort(means, axis=0), atol=1e-4)
    for init in ("k-means++", "random"):
        with pytest.warns(ConvergenceWarning):
            start = KMeans(8, init=init, n_init=1, max_iter=1).fit(x, sample_weight=weights).cluster_centers_
        assert np.linalg.norm(start[:, None] - means, axis=2).min(axis=1).max() < 5
    with pytest.raises(ValueError, match="zero"):
        KMeans(2).fit(x, sample_weight=np.zeros(400))


def test_double_precision_stays_in_kmeans_and_mixtures(blobs):
    x = np.round(blobs[0].astype(np.float64) * 1024)
    for far in (0.0, 1e9):
        model, mixture_ = KMeans(4, n_init=2).fit(x + far), GaussianMixture(4).fit(x + far)
        assert model.cluster_centers_.dtype == mixture_.means_.dtype == model.transform(x).dtype == np.float64
        means = np.array([x[model.labels_ == c].mean(axis=0) for c in range(4)])
        np.testing.assert_allclose(model.cluster_centers_ - far, means, atol=1e-6)
        assert np.array_equal(np.sort(model.cluster_sizes_), [100] * 4)
        assert mixture_.score(x + far) == pytest.approx(GaussianMixture(4).fit(x).score(x), rel=1e-9)


def test_transform_of_kmeans_needs_no_more_memory_than_its_result():
    x = np.random.default_rng(0).normal(size=(20_000, 200))
    model = KMeans(4, n_init=1, max_iter=3, tol=1.0).fit(x[:200])
    tracemalloc.start()
    model.transform(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.nbytes / 4


def test_spherical_kmeans_does_not_see_lengths(blobs):
    x, _ = blobs
    lengths = np.random.default_rng(0).uniform(0.1, 9, (400, 1)).astype(np.float32)
    a, b = (KMeans(4, spherical=True).fit(v) for v in (x, x * lengths))
    assert metrics.ari(a.labels_, b.labels_) > 0.99
    assert np.array_equal(a.transform(x).argmin(axis=1), a.labels_)


def test_spherical_kmeans_is_that_of_the_cosine():
    rng = np.random.default_rng(0)
    angles = np.repeat([0.2, 0.7, 1.2], 100) + rng.normal(size=300) * 0.05
    lengths = rng.uniform(1, 50, 300)
    x = np.column_stack([np.cos(angles), np.sin(angles)]) * lengths[:, None]
    model = KMeans(3, spherical=True).fit(x)
    assert metrics.accuracy(np.repeat([0, 1, 2], 100), model.labels_) > 0.99
    unit = x / lengths[:, None]
    means = np.array([unit[model.labels_ == c].mean(axis=0) for c in range(3)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    assert np.abs(model.cluster_centers_ - means).max() < 1e-5
    assert model.inertia_ == pytest.approx(((unit - means[model.labels_]) ** 2).sum(), rel=1e-3)
    assert model.score(x) == pytest.approx(-model.inertia_, rel=1e-3)


def test_mixtures_are_as_likely_as_scikit_learns(blobs):
    x, y = blobs
    ours = GaussianMixture(4).fit(x)
    theirs = mixture.GaussianMixture(4, random_state=0).fit(x)
    assert metrics.ari(ours.labels_, theirs.predict(x)) > 0.99
    assert np.allclose(np.sort(ours.weights_), np.sort(theirs.weights_), atol=1e-3)
    assert ours.score_samples(x).shape == (400,) and ours.score(x) > ours.score(x + 3)


@pytest.mark.parametrize("solver", ["exact", "newton", "weak", "renyi:2", "sela", "miadm-exact", "miadm-dec", "miadm-depict", "em"])
def test_every_solver_gives_labels(solver):
    rng = np.random.default_rng(0)
    sigma = rng.dirichlet([0.5] * 4, 200)
    y = pseudo_labels(sigma, lam=5.0, solver=solver)
    assert np.allclose(y.sum(axis=1), 1) and y.min() >= 0


def test_em_converges_to_the_optimum_that_newton_finds():
    sigma = np.random.default_rng(0).dirichlet([0.5] * 4, 200)
    prior = [0.4, 0.3, 0.2, 0.1]
    exact = pseudo_labels(sigma, prior, 5.0, solver="exact")
    assert np.abs(pseudo_labels(sigma, prior, 5.0, solver="newton") - exact).max() < 1e-5
    assert np.abs(pseudo_labels(sigma, prior, 5.0, iterations=20_000) - exact).max() < 1e-5

    def loss(y):
        mean = y.mean(axis=0)
        return -(sigma * np.log(y)).sum(axis=1).mean() + 5 * np.sum(prior * np.log(prior / mean))

    assert loss(exact) < loss(pseudo_labels(sigma, prior, 5.0)) < loss(sigma)


def test_known_rows_and_weights_enter_pseudo_labels():
    sigma = np.random.default_rng(0).dirichlet([0.5] * 3, 50)
    known = np.full(50, -1)
    known[4] = 2
    assert pseudo_labels(sigma, known=known)[4].tolist() == [0, 0, 1]
    twice = pseudo_labels(np.vstack([sigma, sigma[:10]]), solver="exact")[:50]
    weighted = pseudo_labels(sigma, solver="exact", sample_weight=np.r_[np.full(10, 2.0), np.ones(40)])
    assert np.abs(twice - weighted).max() < 1e-6


def test_the_margin_is_that_of_a_support_vector_machine():
    rng = np.random.default_rng(1)
    x = np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 6])
    labels = np.repeat([0, 1], 40)
    found = margin.of_labels(x, labels)
    machine = SVC(kernel="linear", C=1e9, tol=1e-9).fit(x, labels)
    # The multi-class definition is √2 times the distance to the boundary.
    assert found.separated and found.margin == pytest.approx(np.sqrt(2) / np.linalg.norm(machine.coef_), rel=1e-5)
    assert set(found.support) == set(machine.support_)
    signed = margin.signed(x, found.coef, found.intercept, labels)
    assert signed.min() == pytest.approx(found.margin) == margin.unsigned(x, found.coef, found.intercept).min()
    assert found.converged
    mixed = margin.of_labels(x, rng.permutation(labels))
    assert mixed.separated is False and mixed.converged


def test_what_was_not_decided_is_not_called_inseparable():
    x = np.random.default_rng(0).normal(size=(200, 60))
    labels = np.arange(200) % 2
    early = margin.of_labels(x, labels, max_iter=1)
    assert early.separated is None and not early.converged and early.gap > 0
    assert margin.of_labels(x, labels).separated in (True, False)


def test_the_path_ends_at_the_widest_margin():
    x = np.array([[0.0, 0.3], [1.0, -0.5], [4.0, 0.0], [5.0, 1.5]])
    widest = margin.of_labels(x, [0, 0, 1, 1])
    steps = margin.path(x, [[-1.0, 0.5], [1.0, -0.5]], [2.5, -2.5], norms=np.geomspace(5, 1000, 8) / widest.margin)
    assert [s.margin for s in steps] == sorted(s.margin for s in steps)
    assert 0.99 * widest.margin < steps[-1].margin <= widest.margin * (1 + 1e-9)


def test_an_estimator_chooses_its_number_of_clusters():
    x = np.random.default_rng(0).normal(size=(300, 4)) + np.repeat(9 * np.eye(3, 4), 100, axis=0)
    model = EntropyClustering(n_clusters="auto", n_init=2).fit(x)
    assert model.n_clusters == "auto" and model.n_clusters_ == len(model.classes_) == len(model.coef_) == 3
    choice = model.report_["choice"]
    assert choice["k"] == 3 and 3 in choice["plausible"] and choice["verdict"] == "clear"
    assert np.array_equal(EntropyClustering(n_clusters=3, n_init=2).fit(x).labels_, model.labels_)
    assert model.partial_fit(x[:150]).n_clusters_ == 3
    for wrong, words in [("some", "2..30"), ("2..200", "200 for 300 rows")]:
        with pytest.raises(ValueError, match=words):
            EntropyClustering(n_clusters=wrong).fit(x)
    with pytest.raises(ValueError, match="known= has no meaning"):
        EntropyClustering(n_clusters="auto").fit(x, known=np.zeros(300, int))


def test_k_is_chosen_where_parts_agree():
    # The groups are at equal distances, so that no two of them belong together.
    x = np.random.default_rng(0).normal(size=(300, 4)) + np.repeat(9 * np.eye(3, 4), 100, axis=0)
    choice = choose_k(x, range(2, 6), n_init=2)
    assert choice.n_clusters == 3 and 3 in choice.plausible
    assert max(choice.stability, key=choice.stability.get) == 3
    with pytest.raises(ValueError, match="at least 2"):
        choose_k(x, [3])
    with pytest.raises(ValueError, match="empty"):
        choose_k(x, [])


def test_methods_are_compared_and_failures_told(blobs):
    x, y = blobs
    found = compare(x, 4, y, methods=["ours", "kmeans", "gmm-full"], seeds=[3, 4])
    assert [row["method"] for row in found.rows()] == ["ours", "kmeans", "gmm-full"]
    assert all(row["ACC"] > 0.99 for row in found.rows())
    assert [run["seed"] for run in found.results[0]["runs"]] == [3, 4]
    assert "| ours |" in str(found) and "<td>kmeans</td>" in found._repr_html_()
    assert "silhouette" in compare(x, 4, methods=["kmeans"], seeds=2).rows()[0]
    assert len(methods()) >= 27
    with pytest.raises(ValueError, match="method = k-means"):
        compare(x, 4, methods=["k-means"])
