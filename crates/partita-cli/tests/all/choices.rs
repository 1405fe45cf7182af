//! Comparing methods and choosing K, as a user would do it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, cells};
use partita_data::synth::gaussian_mixture;
use serde_json::Value;

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
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["candidates"].as_array().unwrap().len(), 2);
    lab.refused(2, "choose-k x.npy --range 1..4", &["2..30"]);
    lab.refused(3, "choose-k x.npy --range 2..200", &["200 for 400 rows", "2/15"]);
    lab.refused(3, "choose-k x.npy --range 3..3", &["candidates", "at least 2"]);
}
