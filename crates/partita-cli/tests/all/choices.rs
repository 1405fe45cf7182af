//! Comparing methods and choosing K, as a user would do it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, cells, number};
use partita_data::synth::gaussian_mixture;
use serde_json::{Value, json};

fn blobs() -> Lab {
    Lab::with_rows(&gaussian_mixture(&[100; 4], 5, 8.0, 1), 5)
}

#[test]
fn a_comparison_comes_in_every_form() {
    let lab = blobs();
    let compare = "compare x.npy -k 4 --truth truth.npy --methods ours,kmeans,renyi:3 --seeds 2 --restarts 2";
    let markdown = lab.succeed(compare);
    for word in ["| ours ", "| kmeans ", "| renyi:3 ", "100.0 ± 0.0", "p: paired permutation test"] {
        assert!(markdown.contains(word), "{word}: {markdown}");
    }
    let runs = cells(&lab.succeed(&format!("{compare} --format csv")));
    assert_eq!(runs.len(), 6);
    assert_eq!(runs.iter().filter(|run| run[10] == "1").count(), 3, "one best run for each method");
    lab.succeed(&format!("{compare} --format html -o page.html"));
    assert!(String::from_utf8(lab.read("page.html")).unwrap().contains("<td>ours</td>"));
    let json: Value = serde_json::from_str(&lab.succeed(&format!("{compare} --format json"))).unwrap();
    assert_eq!(json["methods"][1]["runs"][0]["scores"]["acc"], 1.0);
    assert_eq!(json["methods"][1]["p_value"], 1.0);
}

#[test]
fn without_truth_a_comparison_reports_what_needs_none() {
    let lab = blobs();
    let text = lab.succeed("compare x.npy -k 4 --methods ours,gmm-full --seeds 2 --restarts 1");
    assert!(text.contains("silhouette") && !text.contains("ACC"), "{text}");
    lab.refused(3, "compare x.npy -k 4 --methods best", &["best", "--help"]);
    lab.refused(3, "compare x.npy -k 4 --methods ours,ours", &["ours", "twice"]);
    lab.refused(3, "compare x.npy -k 401 --seeds 1", &["401"]);
    lab.refused(2, "compare x.npy -k 4 --seeds 0", &["--seeds"]);
}

#[test]
fn methods_that_fail_are_told_in_every_form() {
    let lab = blobs();
    for format in ["md", "csv", "json", "html"] {
        let command = format!("compare x.npy -k 4 --epochs 0 --seeds 1 --format {format} --methods");
        let output = lab.run(&format!("{command} ours,kmeans"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && message.contains("ours could not be run"), "{format}: {message}");
        lab.refused(3, &format!("{command} ours,rim"), &["no method", "ours could not", "rim could not"]);
    }
}

#[test]
fn the_number_of_blobs_is_chosen_and_drawn() {
    let lab = blobs();
    let text = lab.succeed("choose-k x.npy --range 2..6 --splits 3 --restarts 2 --picture curve.svg");
    assert!(text.starts_with("### K = 4"), "{text}");
    let drawn = String::from_utf8(lab.read("curve.svg")).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.matches("<circle").count() == 18);
    let text =
        lab.succeed("choose-k x.npy --range 4..4 --gamma 1e-5,1e-2 --splits 2 --restarts 1 --format json");
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["candidates"].as_array().unwrap().len(), 2);
    let place = told["place"].as_u64().unwrap() as usize;
    assert_eq!((&told["best"], &told["candidates"][place]["k"]), (&json!(4), &json!(4)));
    lab.refused(2, "choose-k x.npy --range 1..4", &["2..30"]);
    lab.refused(3, "choose-k x.npy --range 2..200", &["200 for 400 rows", "2/15"]);
    lab.refused(3, "choose-k x.npy --range 3..3", &["candidates", "at least 2"]);
}

#[test]
fn a_fit_chooses_its_number_of_clusters_and_says_why() {
    let lab = blobs();
    let report = lab.json("fit x.npy -k auto -r 2 --truth truth.npy --save-spec s.json -o auto.safetensors");
    assert_eq!((&report["k"], &report["choice"]["k"]), (&json!(4), &json!(4)), "{report}");
    assert_eq!(report["choice"]["candidates"].as_array().unwrap().len(), 19);
    assert!(
        number(&report, "/choice/stability") > 0.95 && number(&report, "/metrics/ari") > 0.95,
        "{report}"
    );
    let asked: Value = serde_json::from_slice(&lab.read("s.json")).unwrap();
    assert_eq!(asked["k"], "auto");
    // The model is that of a fit with this number, and the specification leads to it again.
    assert!(lab.json("fit x.npy -k 4 -r 2 -o four.safetensors")["choice"].is_null());
    lab.succeed("fit --spec s.json -o again.safetensors");
    for other in ["four.safetensors", "again.safetensors"] {
        assert!(lab.read(other) == lab.read("auto.safetensors"), "{other}");
    }
    let text = lab.succeed("fit x.npy -k 3..5 -r 2");
    assert!(text.contains("choice        K = 4: stability"), "{text}");
}

#[test]
fn what_needs_the_number_of_clusters_is_refused_while_it_is_chosen() {
    let lab = blobs();
    for (option, flag) in [
        ("--prior 0.5,0.5", "--prior"),
        ("--known truth.npy", "--known"),
        ("--balance exact", "--balance"),
        ("--min-size 5", "--min-size"),
        ("--max-size 0.5", "--max-size"),
    ] {
        lab.refused(3, &format!("fit x.npy -k auto {option}"), &[flag, "to be chosen", "number for -k"]);
    }
    lab.refused(2, "fit x.npy -k some", &["auto", "2..30"]);
    lab.refused(3, "fit x.npy -k 2..200", &["200 for 400 rows", "2/15"]);
}

#[test]
fn rows_without_clusters_are_said_to_have_none() {
    let (values, labels) = gaussian_mixture(&[200], 6, 1.0, 2);
    let lab = Lab::with_rows(&(values, labels), 6);
    let text = lab.succeed("choose-k x.npy --range 2..4 --splits 2 --restarts 1");
    assert!(text.starts_with("### no number of clusters is found again"), "{text}");
    let text = lab.succeed("fit x.npy -k 2..4 -r 1");
    assert!(text.contains("no number of clusters is found again"), "{text}");
}
