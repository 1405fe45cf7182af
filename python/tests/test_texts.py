"""Lists of texts: fitted, predicted, explained, saved."""

import pickle

import numpy as np
import pandas
import pytest

from partita import EntropyClustering

WORDS = {
    "oil": "crude barrel opec refinery drilling petroleum wells tanker".split(),
    "grain": "wheat corn harvest bushel soybean crop acreage farmers".split(),
    "bank": "loan interest deposit lending mortgage treasury bond credit".split(),
}


def texts(each=30):
    """Texts of three subjects in turn, and their subjects."""
    rng = np.random.default_rng(3)
    subjects = [subject for _ in range(each) for subject in WORDS]
    return [" ".join([*rng.choice(WORDS[subject], 4), "said", "the"]) for subject in subjects], subjects


def test_texts_are_clustered_by_what_they_are_about():
    x, subjects = texts()
    model = EntropyClustering(3).fit(x)
    assert len({(label, subject) for label, subject in zip(model.labels_.tolist(), subjects, strict=True)}) == 3
    assert all(set(words) <= set(next(own for own in WORDS.values() if words[0] in own)) for words in model.cluster_words_)
    assert model.predict(["wheat and corn", "opec"]).tolist() == [model.labels_[1], model.labels_[0]]
    assert model.explain(["crude oil of opec"], row=0).contributions[0][0] in ("crude", "opec")
    assert model.explain(x)[0].names[0] in model.cluster_words_[0]


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda x: np.array(x, dtype=object), pandas.Series])
def test_every_form_of_the_same_texts_gives_the_same(form):
    x, _ = texts()
    expected = EntropyClustering(3).fit(x)
    np.testing.assert_array_equal(EntropyClustering(3).fit(form(x)).predict_proba(form(x)), expected.predict_proba(x))


def test_models_of_texts_come_back(tmp_path):
    x, _ = texts()
    model = EntropyClustering(3).fit(x)
    model.save(tmp_path / "m.safetensors")
    for again in (EntropyClustering.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    model.partial_fit(x[:40])
    assert model.n_features_in_ == sum(model._model.widths()) and len(model.cluster_words_) == 3


def test_what_is_no_text_is_refused():
    x, _ = texts()
    model = EntropyClustering(3).fit(x)
    with pytest.raises(ValueError, match="fitted to texts"):
        model.predict(np.zeros((3, model.n_features_in_)))
    with pytest.raises(ValueError, match="text 1 is empty"):
        EntropyClustering(3).fit([x[0], " ", *x])
    with pytest.raises(ValueError, match="text 2 is None"):
        EntropyClustering(3).fit([x[0], x[1], None])
    with pytest.raises(ValueError, match="word2vec"):
        EntropyClustering(3, encoder="word2vec").fit(x)
