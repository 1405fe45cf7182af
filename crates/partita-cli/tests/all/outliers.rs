//! Rows that belong to no cluster, by the same commands.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use partita_data::synth::gaussian_mixture;

/// Three clusters of 100 rows, and ten rows far from all of them, whose true label is 3.
fn noisy() -> (Vec<f32>, Vec<usize>) {
    let (mut rows, mut labels) = gaussian_mixture(&[100, 100, 100], 2, 12.0, 3);
    for i in 0..10 {
        let angle = i as f32 * 0.628;
        rows.extend([60.0 * angle.cos(), 60.0 * angle.sin()]);
        labels.push(3);
    }
    (rows, labels)
}

#[test]
fn rows_far_from_all_clusters_belong_to_none_in_every_output() {
    let lab = Lab::with_rows(&noisy(), 2);
    let fit = "fit x.npy -k 3 --outliers auto --truth truth.npy";
    let report = lab.json(&format!("{fit} -o m.safetensors --labels-out l.npy --save-spec s.json"));
    let count = number(&report, "/outliers/count");
    assert!((10.0..=20.0).contains(&count), "{report}");
    assert!((number(&report, "/outliers/share") - count / 310.0).abs() < 1e-9);
    assert_eq!(number(&report, "/unscored"), count);
    let sizes: f64 = report["cluster_sizes"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).sum();
    assert_eq!((sizes, number(&report, "/metrics/acc")), (310.0 - count, 1.0));
    let labels = lab.numbers("l.npy");
    assert!(labels[300..].iter().all(|label| *label == -1.0), "{labels:?}");

    let text = lab.succeed(&format!("{fit} --labels-out l.csv"));
    assert!(text.contains(&format!("outliers      {count} rows belong to no cluster (")), "{text}");
    assert!(text.contains(&format!("({count} outliers left out)")), "{text}");
    let header = String::from_utf8(lab.read("l.csv")).unwrap().lines().next().unwrap().to_owned();
    assert_eq!(header, "row,cluster,confidence,outlier_score");
    let threshold = number(&report, "/outliers/threshold");
    for (line, label) in lab.table("l.csv").iter().zip(&labels) {
        assert_eq!(line[1].parse::<f64>().unwrap(), *label);
        assert_eq!(line[3].parse::<f64>().unwrap() > threshold, *label < 0.0, "{line:?} {threshold}");
    }
    lab.succeed("evaluate --truth truth.npy --pred l.csv");

    lab.succeed("predict m.safetensors x.npy -o again.npy");
    assert_eq!(lab.numbers("again.npy"), labels);
    lab.succeed("predict m.safetensors x.npy -o again.csv");
    assert_eq!(lab.read("again.csv"), lab.read("l.csv"));
    assert_eq!(lab.succeed("predict m.safetensors x.npy").into_bytes(), lab.read("l.csv"));
    lab.succeed("fit --spec s.json -o same.safetensors");
    assert!(lab.read("same.safetensors") == lab.read("m.safetensors"));
}

#[test]
fn a_share_is_met_and_without_outliers_nothing_changes() {
    let lab = Lab::with_rows(&noisy(), 2);
    let plain = lab.json("fit x.npy -k 3 -o plain.safetensors --labels-out plain.npy");
    assert!(plain["outliers"].is_null() && plain["unscored"].is_null(), "{plain}");
    assert!(plain["params"].get("outliers").is_none());
    let report = lab.json("fit x.npy -k 3 --outliers 0.1 --labels-out l.npy");
    assert_eq!(number(&report, "/outliers/count"), 31.0);
    let (plain, labels) = (lab.numbers("plain.npy"), lab.numbers("l.npy"));
    assert!(labels.iter().zip(&plain).all(|(a, b)| *a == -1.0 || a == b));
    let model = String::from_utf8_lossy(&lab.read("plain.safetensors")).into_owned();
    assert!(!model.contains("outliers"));
}

#[test]
fn training_on_keeps_what_counts_as_an_outlier() {
    let lab = Lab::with_rows(&noisy(), 2);
    lab.succeed("fit x.npy -k 3 --outliers auto -o m.safetensors --labels-out l.npy");
    let (rows, _) = noisy();
    lab.npy("some.npy", &rows[..2 * 150], 2);
    lab.succeed("update m.safetensors some.npy -o next.safetensors");
    lab.succeed("predict next.safetensors x.npy -o next.npy");
    assert_eq!(lab.numbers("next.npy"), lab.numbers("l.npy"));
    lab.succeed("fit x.npy -k 3 --outliers auto --like m.safetensors --labels-out like.npy");
    assert_eq!(lab.numbers("like.npy"), lab.numbers("l.npy"));
}

#[test]
fn what_is_no_share_and_what_would_be_ignored_is_refused() {
    let lab = Lab::with_rows(&noisy(), 2);
    for rule in ["0", "1.5", "maybe", "-0.1", "nan"] {
        lab.refused(2, &format!("fit x.npy -k 3 --outliers {rule}"), &["--outliers", "auto, or a share"]);
    }
    lab.write("s.json", r#"{ "k": 3, "data": { "paths": ["x.npy"] }, "outliers": 1.5 }"#);
    lab.refused(3, "fit --spec s.json", &["--outliers", "1.5", "at most 0.5"]);
    lab.write("s.json", r#"{ "k": 3, "data": { "paths": ["x.npy"] }, "outliers": "maybe" }"#);
    lab.refused(3, "fit --spec s.json", &["outliers = maybe", "auto, or a share"]);
    for sizes in ["--balance exact", "--min-size 20", "--max-size 0.5"] {
        let words = ["--outliers", "--balance", "every row"];
        lab.refused(3, &format!("fit x.npy -k 3 --outliers auto {sizes}"), &words);
    }
    lab.succeed("fit x.npy -k 3 --lift none --outliers auto -o m.safetensors");
    lab.refused(3, "predict m.safetensors x.npy --balance exact", &["--outliers", "--balance"]);
    lab.refused(3, "export m.safetensors -o m.onnx", &["outliers", "ONNX"]);
    assert!(lab.exists("m.safetensors") && !lab.exists("m.onnx"));
}
