"""Every kind of input gives the same result as a float32 array of the same numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

from partita import EntropyClustering, KMeans
from partita._input import as_matrix, native


@pytest.fixture(scope="module")
def reference(digits):
    x, _ = digits
    return x, EntropyClustering(10, n_init=2).fit(x)


def same(x, reference):
    model = EntropyClustering(10, n_init=2).fit(x)
    assert np.array_equal(model.coef_, reference[1].coef_)
    assert np.array_equal(model.predict(x), reference[1].labels_)
    return model


# The digits are whole numbers up to 16, which every type can hold.
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8, np.int64, ">f4", ">f8", bool])
def test_types_of_numbers(reference, dtype):
    if dtype is bool:
        x = (reference[0] > 8).astype(bool)
        assert np.array_equal(KMeans(3).fit_predict(x), KMeans(3).fit_predict(x.astype(np.float32)))
    else:
        same(reference[0].astype(dtype), reference)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_strides(reference, dtype):
    x = reference[0].astype(dtype)
    same(np.asfortranarray(x), reference)
    wide = np.zeros((2 * len(x), 70), dtype)
    wide[::2, 3:67] = x
    same(wide[::2, 3:67], reference)
    same(x[:, ::-1][:, ::-1], reference)


def test_unaligned_rows(reference):
    x = reference[0]
    buffer = np.zeros(x.nbytes + 1, np.uint8)
    odd = buffer[1:].view(np.float32).reshape(x.shape)
    odd[:] = x
    assert not odd.flags.aligned
    same(odd, reference)


def test_memory_maps_and_read_only_rows(reference, tmp_path):
    np.save(tmp_path / "x.npy", reference[0])
    same(np.load(tmp_path / "x.npy", mmap_mode="r"), reference)


def test_streaming_gives_the_same_bits(reference):
    model = EntropyClustering(10, n_init=2, max_memory=0).fit(reference[0])
    assert np.array_equal(model.coef_, reference[1].coef_)


def test_pandas_keeps_names(reference):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(reference[0], columns=[f"pixel {i}" for i in range(64)])
    model = same(frame, reference)
    assert model.feature_names_in_[3] == "pixel 3"
    assert str(model.explain(frame, row=0).contributions[0][0]).startswith("pixel")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"pixel 0": "other"}))


def test_polars(reference):
    pl = pytest.importorskip("polars")
    same(pl.DataFrame(reference[0], schema=[f"c{i}" for i in range(64)]), reference)
    lists = pl.Series("x", reference[0], dtype=pl.Array(pl.Float32, 64))
    same(lists, reference)
    same(pl.DataFrame({"x": lists}), reference)


def test_pyarrow(reference):
    pa = pytest.importorskip("pyarrow")
    x = reference[0]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), 64)
    assert np.shares_memory(as_matrix(lists), np.asarray(lists.values.to_numpy()))
    same(lists, reference)
    same(pa.table({"x": lists}), reference)
    same(pa.table({"x": pa.chunked_array([lists[:100], lists[100:]])}), reference)
    same(pa.table({str(i): x[:, i] for i in range(64)}), reference)
    with pytest.raises(ValueError, match="no other columns"):
        EntropyClustering(2).fit(pa.table({"x": lists, "y": x[:, 0]}))
    with pytest.raises(ValueError, match="NaN"):
        EntropyClustering(2).fit(pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2)))


def test_torch(reference):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(reference[0].copy())
    assert np.shares_memory(as_matrix(tensor), tensor.numpy())
    same(tensor, reference)
    same(tensor.clone().requires_grad_(), reference)
    same(tensor.to(torch.bfloat16), reference)
    with pytest.raises(TypeError, match="meta device"):
        EntropyClustering(2).fit(tensor.to("meta"))


class Capsule:
    """Numbers that can be read through DLPack only."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class Convertible:
    """Numbers that can be read through `__array__` only."""

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return np.array(self.x, dtype=dtype, copy=copy)


def test_protocols(reference):
    x = reference[0].copy()
    assert np.shares_memory(as_matrix(Capsule(x)), x)
    same(Capsule(x), reference)
    same(Convertible(x), reference)
    same(x.tolist(), reference)


def test_rows_in_single_precision_are_read_where_they_are(reference):
    for x in (reference[0], reference[0][:, ::2], np.asfortranarray(reference[0])):
        assert native(as_matrix(x)) is x


@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_matrix", "coo_matrix"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_forms_agree(reference, form, dtype):
    x = sp.csr_matrix(reference[0])
    expected = EntropyClustering(10, n_init=2).fit(x)
    found = EntropyClustering(10, n_init=2).fit(getattr(sp, form)(x.astype(dtype)))
    assert np.array_equal(found.labels_, expected.labels_)


def test_sparse_and_dense_rows_have_the_same_probabilities(reference):
    x, model = reference
    sparse = sp.csr_matrix(x)
    assert np.abs(model.predict_proba(sparse) - model.predict_proba(x)).max() < 1e-4
    assert np.abs(model.decision_function(sparse) - model.decision_function(x)).max() < 2e-2
    portraits = zip(model.explain(sparse, top=3), model.explain(x, top=64), strict=True)
    assert all(set(few.names) <= set(all_of_them.names[:32]) for few, all_of_them in portraits)


def test_entries_given_twice_are_summed(reference):
    x = sp.csr_matrix(reference[0])
    double = sp.csr_matrix((np.repeat(x.data / 2, 2), np.repeat(x.indices, 2), 2 * x.indptr), shape=x.shape)
    before = double.nnz
    assert np.array_equal(EntropyClustering(10, n_init=2).fit(double).coef_, EntropyClustering(10, n_init=2).fit(x).coef_)
    assert double.nnz == before


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_are_checked_by_the_names_of_their_columns(kind):
    library = pytest.importorskip(kind)
    x = np.random.default_rng(0).normal(size=(40, 3))
    table = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[kind]

    def frame(names):
        return getattr(library, table)({name: x[:, j] for j, name in enumerate(names)})

    model = EntropyClustering(2, n_init=1).fit(frame(["a", "b", "c"]))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.predict(frame(["a", "b", "c"])), model.labels_)
    for names, words in [(["b", "a", "c"], "same order"), (["a", "b", "d"], "unseen at fit time:\n- d")]:
        with pytest.raises(ValueError, match=words):
            model.predict(frame(names))


@pytest.mark.parametrize(
    "column",
    [
        list,
        lambda names: np.array([name or "" for name in names]),
        lambda names: pytest.importorskip("pandas").Series(names),
        lambda names: pytest.importorskip("pandas").Categorical(names),
        lambda names: pytest.importorskip("polars").Series(names),
        lambda names: pytest.importorskip("pyarrow").array(names),
    ],
)
def test_known_names_come_in_columns_of_any_kind(blobs, column):
    x, y = blobs
    names = np.where(np.arange(400) % 8 == 0, np.array(["d", "c", "b", "a"], dtype=object)[y], None).tolist()
    model = EntropyClustering(4, n_init=1).fit(x, known=column(names))
    assert np.array_equal(model.labels_, 3 - y) and model.cluster_names_.tolist() == ["a", "b", "c", "d"]
