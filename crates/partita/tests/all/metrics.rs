//! Metrics, compared with scikit-learn's values made by `tests/golden/metrics.py`.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helper functions

use ndarray::ArrayView2;
use partita::metrics::{Contingency, accuracy, ari, matching, nmi, scores, silhouette};
use proptest::prelude::*;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/metrics.json")).unwrap()
}

fn integers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect()
}

fn assert_close(name: &str, metric: &str, ours: f64, theirs: &Value) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() <= 1e-12, "{metric} of {name}: ours {ours}, scikit-learn {theirs}");
}

#[test]
fn scores_equal_those_of_scikit_learn() {
    for case in golden()["labelings"].as_array().unwrap() {
        let (truth, predicted) = (integers(&case["truth"]), integers(&case["predicted"]));
        let name = case["name"].as_str().unwrap();
        assert_close(name, "ACC", accuracy(&truth, &predicted).unwrap(), &case["acc"]);
        assert_close(name, "NMI", nmi(&truth, &predicted).unwrap(), &case["nmi"]);
        assert_close(name, "ARI", ari(&truth, &predicted).unwrap(), &case["ari"]);
    }
}

#[test]
fn silhouettes_equal_those_of_scikit_learn() {
    for case in golden()["silhouettes"].as_array().unwrap() {
        let values: Vec<f32> =
            case["rows"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect();
        let labels = integers(&case["labels"]);
        let m = case["m"].as_u64().unwrap() as usize;
        let rows = ArrayView2::from_shape((labels.len(), m), &values).unwrap();
        let score = silhouette(&rows, &labels, usize::MAX, 0).unwrap().unwrap();
        assert_close(case["name"].as_str().unwrap(), "silhouette", score, &case["score"]);
    }
}

#[test]
fn the_matching_is_named_by_the_labels_themselves() {
    let truth = [100i64, 100, 100, 200, 200, 300, -1];
    let predicted = [9usize, 9, 4, 4, 4, 6, 4];
    let best = matching(&truth, &predicted).unwrap();
    assert_eq!(best.pairs, [(4, Some(200)), (6, Some(300)), (9, Some(100))]);
    assert_eq!((best.correct, best.total), (5, 6));
    assert_eq!((best.class_of(9), best.class_of(5)), (Some(100), None));
}

#[test]
fn clusters_beyond_the_number_of_classes_stay_without_a_class() {
    let best = matching(&[0, 0, 0, 0], &[0, 0, 1, 2]).unwrap();
    assert_eq!(best.pairs, [(0, Some(0)), (1, None), (2, None)]);
    assert_eq!(best.accuracy(), 0.5);
}

#[test]
fn a_million_singletons_need_no_square_table() {
    let labels: Vec<usize> = (0..1_000_000).collect();
    let table = Contingency::new(&labels, &labels).unwrap();
    assert_eq!(table.cells().len(), labels.len());
    assert_eq!((table.matching().accuracy(), table.ari()), (1.0, 1.0));
    assert!((table.nmi() - 1.0).abs() < 1e-12);
}

proptest! {
    #[test]
    fn names_of_clusters_do_not_matter(
        rows in prop::collection::vec((0i64..6, 0i64..9), 1..120),
        rename in Just((0i64..9).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (truth, predicted): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let renamed: Vec<_> = predicted.iter().map(|&k| rename[k as usize] * 1000).collect();
        let (a, b) = (scores(&truth, &predicted).unwrap(), scores(&truth, &renamed).unwrap());
        prop_assert!(a.acc == b.acc && a.ari == b.ari && (a.nmi - b.nmi).abs() < 1e-12, "{a:?} {b:?}");
    }

    #[test]
    fn swapping_the_labelings_changes_no_score(rows in prop::collection::vec((0i64..6, 0i64..9), 1..120)) {
        let (a, b): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let (x, y) = (scores(&a, &b).unwrap(), scores(&b, &a).unwrap());
        prop_assert!(x.acc == y.acc && x.ari == y.ari && (x.nmi - y.nmi).abs() < 1e-12, "{x:?} {y:?}");
    }
}
