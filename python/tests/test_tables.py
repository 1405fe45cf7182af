"""Data frames with categories, dates and gaps are clustered as they are."""

import json
import os
import pickle
import subprocess

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita import EntropyClustering

pd = pytest.importorskip("pandas")


def shop(n=240):
    """Three kinds of customers who differ in income, city and plan, with gaps."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 3
    city = np.where(rng.random(n) < 0.9, kind, (kind + 1) % 3)
    frame = pd.DataFrame(
        {
            "customer_id": [f"C-{1000 + 7 * i}" for i in range(n)],
            "income": np.array([20.0, 60.0, 300.0])[kind] * np.exp(0.3 * rng.normal(size=n)),
            "city": pd.Categorical(np.array(["Bonn", "Kiel", "Ulm"])[city]),
            "plan": np.array(["free", "basic", "pro"])[np.where(rng.random(n) < 0.9, kind, (kind + 2) % 3)],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "age": pd.array(rng.integers(18, 80, n), dtype="Int64"),
            "member": pd.array(rng.random(n) < 0.5, dtype="boolean"),
        }
    )
    for column, rows in {"income": 11, "city": 13, "plan": 17, "since": 19, "age": 7, "member": 23}.items():
        frame.loc[frame.index[3::rows], column] = None if column == "plan" else pd.NA if column in ("age", "member") else np.nan if column != "since" else pd.NaT
    return frame, kind


def test_frames_with_categories_dates_and_gaps():
    frame, kind = shop()
    model = EntropyClustering(3).fit(frame)
    assert adjusted_rand_score(kind, model.labels_) > 0.7
    assert model.n_features_in_ == 7
    assert list(model.feature_names_in_) == list(frame.columns)
    assert np.array_equal(model.predict(frame), model.labels_)
    assert np.allclose(model.predict_proba(frame).sum(axis=1), 1, atol=1e-5)
    columns = {column["name"]: column["kind"] for column in model.report_["plans"][0]["columns"]}
    assert columns == {"income": "number", "city": "category", "plan": "category", "since": "date", "age": "number", "member": "boolean"}
    assert model.report_["plans"][0]["left_out"][0]["name"] == "customer_id"
    assert len(model.report_["portraits"]["table"]) == 3


def test_new_levels_new_gaps_and_other_orders_of_columns():
    frame, _ = shop()
    model = EntropyClustering(3).fit(frame)
    new = frame.astype({"city": object}).copy()
    new.loc[new.index[:4], "city"] = "Atlantis"
    new.loc[new.index[4:8], "income"] = np.nan
    found = model.predict(new[list(reversed(new.columns))])
    assert found.shape == (240,) and np.mean(found == model.labels_) > 0.95
    with pytest.raises(ValueError, match="lacks 'plan'"):
        model.predict(frame.drop(columns="plan"))
    with pytest.raises(ValueError, match="table with named columns"):
        model.predict(np.zeros((3, 7)))


def test_explanations_are_in_columns_and_units():
    frame, _ = shop()
    model = EntropyClustering(3).fit(frame)
    why = model.explain(frame, row=0)
    names = [name for name, _ in why.contributions]
    assert any(name.startswith("income ") for name in names) and any(name.startswith("city = ") for name in names)
    lead = np.log(why.proba[why.cluster] / why.proba[why.runner_up])
    assert abs(why.base + sum(value for _, value in why.contributions) - lead) < 0.02
    assert any("income" in name for portrait in model.explain(frame) for name in portrait.names)
    assert len(model.portraits(frame)) == 3


def test_models_of_tables_are_kept(tmp_path):
    frame, _ = shop()
    model = EntropyClustering(3).fit(frame)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.labels_)
    model.save(tmp_path / "m.safetensors")
    assert np.array_equal(EntropyClustering.load(tmp_path / "m.safetensors").predict(frame), model.labels_)
    again = EntropyClustering(3).fit(frame).partial_fit(frame)
    assert np.mean(again.predict(frame) == model.labels_) > 0.9


def test_polars_and_arrow_give_the_same():
    frame, _ = shop()
    expected = EntropyClustering(3).fit(frame).labels_
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    assert np.array_equal(EntropyClustering(3).fit(table).labels_, expected)
    assert np.array_equal(EntropyClustering(3).fit(pl.from_arrow(table)).labels_, expected)


def test_the_command_gives_the_same(tmp_path):
    if "PARTITA_COMMAND" not in os.environ:
        pytest.skip("the command is not built")
    frame, _ = shop()
    frame.to_csv(tmp_path / "shop.csv", index=False)
    command = [os.environ["PARTITA_COMMAND"], "fit", tmp_path / "shop.csv", "-k", "3", "--json", "--labels-out", tmp_path / "l.csv"]
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    labels = pd.read_csv(tmp_path / "l.csv")["cluster"]
    model = EntropyClustering(3).fit(frame)
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    assert [column["name"] for column in told["plans"][0]["columns"]] == [column["name"] for column in model.report_["plans"][0]["columns"]]


def test_what_columns_are_taken_for():
    frame, _ = shop()
    model = EntropyClustering(3, column_types={"age": "category", "since": "skip"}).fit(frame)
    kinds = {column["name"]: column["kind"] for column in model.report_["plans"][0]["columns"]}
    assert kinds.get("since") is None and kinds.get("age") in (None, "category")
    mixed = pd.DataFrame({"x": [1.5, "two", 3.5] * 10, "y": np.arange(30.0)})
    with pytest.raises(ValueError, match=r"column 'x' holds both numbers and words: row 0 has 1.5, but row 1 has 'two'"):
        EntropyClustering(2).fit(mixed)
    EntropyClustering(2, column_types={"x": "category"}).fit(mixed)
    with pytest.raises(ValueError, match="colour"):
        EntropyClustering(2, column_types={"x": "category", "y": "colour"}).fit(mixed)


def test_frames_of_numbers_stay_as_they_were():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(90, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 30, axis=0)
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    model = EntropyClustering(3).fit(frame)
    assert np.array_equal(model.coef_, EntropyClustering(3).fit(x).coef_) and "plans" not in model.report_
