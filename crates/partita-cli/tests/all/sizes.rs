//! Sizes: estimated, bounded, guaranteed; and cluster numbers that stay the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use partita_data::synth::gaussian_mixture;
use serde_json::Value;

fn sizes(report: &Value) -> Vec<usize> {
    report["cluster_sizes"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}

#[test]
fn unknown_sizes_are_estimated_and_serve_better_than_equal_ones() {
    let lab = Lab::with_rows(&gaussian_mixture(&[1400, 400, 200], 10, 6.0, 4), 10);
    let equal = lab.json("fit x.npy -k 3 --truth truth.npy --lift none --prior equal");
    let auto = lab.json("fit x.npy -k 3 --truth truth.npy --lift none --prior auto");
    let mut shares: Vec<f64> = sizes(&auto).iter().map(|&s| s as f64 / 2000.0).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    for (share, truth) in shares.iter().zip([0.7, 0.2, 0.1]) {
        assert!((share - truth).abs() < 0.03, "{shares:?}");
    }
    let (equal, auto) = (number(&equal, "/metrics/acc"), number(&auto, "/metrics/acc"));
    assert!(auto > equal + 0.1, "{auto} estimated, {equal} with equal sizes");
}

#[test]
fn exact_balance_gives_every_cluster_its_size() {
    let lab = Lab::with_rows(&gaussian_mixture(&[500, 300, 201], 4, 3.0, 1), 4);
    let report = lab.json("fit x.npy -k 3 --balance exact -o m.safetensors --labels-out l.npy");
    let mut found = sizes(&report);
    found.sort_unstable();
    assert_eq!(found, [333, 334, 334]);
    assert!(number(&report, "/balance/gap") < 1e-9 && number(&report, "/balance/moved") > 0.0);
    let labels = lab.numbers("l.npy");
    let written: Vec<usize> = (0..3).map(|c| labels.iter().filter(|l| **l == f64::from(c)).count()).collect();
    assert_eq!(written, sizes(&report));
    // The model knows its prior: predicting with the same guarantee gives the same labels.
    lab.succeed("predict m.safetensors x.npy --balance exact -o again.npy");
    assert_eq!(lab.numbers("again.npy"), labels);
}

#[test]
fn limits_on_sizes_hold_in_rows_and_in_shares() {
    let lab = Lab::with_rows(&gaussian_mixture(&[700, 200, 100], 4, 6.0, 2), 4);
    for limits in ["--min-size 150 --max-size 600", "--min-size 0.15 --max-size 0.6"] {
        let report = lab.json(&format!("fit x.npy -k 3 {limits}"));
        assert!(sizes(&report).iter().all(|s| (150..=600).contains(s)), "{report}");
    }
    lab.refused(3, "fit x.npy -k 3 --min-size 400", &["1000 rows", "3 clusters", "--min-size"]);
    lab.refused(2, "fit x.npy -k 3 --min-size 9 --balance exact", &["--balance", "--min-size"]);
    lab.refused(2, "fit x.npy -k 3 --max-size 0", &["above 0"]);
}

#[test]
fn limits_that_every_clustering_meets_are_no_obstacle() {
    let lab = Lab::with_rows(&gaussian_mixture(&[30, 30, 30], 4, 12.0, 2), 4);
    assert_eq!(sizes(&lab.json("fit x.npy -k 3 --max-size 1000 -o m.safetensors")), [30; 3]);
    lab.succeed("predict m.safetensors x.npy --max-size 1000");
    // 0.14 · 50 is a little more than 7 in binary.
    let lab = Lab::with_rows(&gaussian_mixture(&[50], 4, 12.0, 2), 4);
    assert!(sizes(&lab.json("fit x.npy -k 7 --min-size 0.14")).iter().all(|s| *s >= 7));
    lab.refused(3, "fit x.npy -k 7 --min-size 1e300", &["50 rows", "7 clusters"]);
}

#[test]
fn probabilities_have_no_sizes() {
    let lab = Lab::with_rows(&gaussian_mixture(&[30, 30], 4, 12.0, 2), 4);
    lab.succeed("fit x.npy -k 2 -r 1 -o m.safetensors");
    for sizes in ["--balance exact", "--min-size 3", "--max-size 0.9"] {
        lab.refused(3, &format!("predict m.safetensors x.npy --proba {sizes}"), &["--proba", "--balance"]);
    }
}

#[test]
fn a_refit_and_an_update_keep_the_numbers_of_clusters() {
    let (rows, labels) = gaussian_mixture(&[300; 5], 6, 10.0, 3);
    let lab = Lab::with_rows(&(rows.clone(), labels), 6);
    lab.succeed("fit x.npy -k 5 -o old.safetensors --labels-out old.npy");
    // More than half of the same rows, slightly shifted, and another seed.
    let moved: Vec<f32> = rows[..900 * 6].iter().map(|v| v + 0.3).collect();
    lab.npy("new.npy", &moved, 6);
    lab.succeed("fit new.npy -k 5 --seed 9 --like old.safetensors --labels-out like.npy");
    lab.succeed("update old.safetensors new.npy -o next.safetensors --labels-out next.npy");
    lab.succeed("fit new.npy -k 6 --seed 9 --like old.safetensors --labels-out more.npy");
    let old = lab.numbers("old.npy");
    let same = |name: &str| old.iter().zip(lab.numbers(name)).filter(|(a, b)| **a == *b).count();
    assert!(same("like.npy") > 890 && same("next.npy") > 890, "{} {}", same("like.npy"), same("next.npy"));
    // A sixth cluster takes rows from the others, but the others keep their numbers.
    assert!(same("more.npy") > 600, "{}", same("more.npy"));
    lab.npy("wide.npy", &moved, 9);
    lab.refused(3, "update old.safetensors wide.npy -o n.safetensors", &["takes 6 features", "has 9"]);
}

#[test]
fn a_collapse_is_explained() {
    let lab = Lab::with_digits();
    let report = lab.json("fit x.npy -k 10 --lambda 0");
    assert!(!report["ailments"].as_array().unwrap().is_empty());
    let advice = report["advice"].as_str().unwrap();
    assert!(advice.contains("lambda = 0") && advice.contains("use lambda = 100"), "{advice}");
    let text = lab.succeed("fit x.npy -k 10 --lambda 0");
    assert!(text.contains("dead: (almost) no row") && text.contains("use lambda = 100"), "{text}");
}
