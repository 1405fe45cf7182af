//! Files hold what their names say, JSON is one object, and what is printed can be turned off.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, cells};
use partita_data::synth::gaussian_mixture;
use serde_json::{Value, json};

fn blobs() -> Lab {
    Lab::with_rows(&gaussian_mixture(&[60; 3], 3, 12.0, 1), 3)
}

#[test]
fn results_are_written_as_their_names_say() {
    let lab = blobs();
    let choose = "choose-k x.npy --range 2..4 --splits 3 --restarts 1";
    lab.succeed(&format!("{choose} -o r.json --picture c.png"));
    let told: Value = serde_json::from_slice(&lab.read("r.json")).unwrap();
    assert_eq!(told["best"], 3, "the number of clusters, not a place");
    assert!(lab.read("c.png").starts_with(b"\x89PNG"));
    lab.succeed(&format!("{choose} -o r.html --picture c.svg"));
    assert!(lab.read("r.html").starts_with(b"<!doctype html>") && lab.read("c.svg").starts_with(b"<svg"));
    lab.succeed(&format!("{choose} -o r.csv"));
    let runs = lab.table("r.csv");
    assert_eq!(runs.len(), 9, "a line for each of three splits of three numbers");
    assert!(
        runs.iter().all(|run| run.len() == 10 && run[4..8].iter().all(|cell| cell.parse::<f64>().is_ok())),
        "{runs:?}"
    );
    let recommended: Vec<&str> = runs.iter().filter(|run| run[9] == "1").map(|run| &*run[0]).collect();
    assert_eq!(recommended, ["3"; 3]);
    let compare = "compare x.npy -k 3 --methods kmeans --seeds 2 --restarts 1";
    lab.succeed(&format!("{compare} -o m.csv"));
    assert_eq!(lab.table("m.csv").len(), 2);
    assert_eq!(cells(&lab.succeed(&format!("{compare} --format csv -o -"))).len(), 2, "- is standard output");
    for (arguments, word) in [
        (format!("{choose} -o r.html --format csv"), "the name says html, but --format says csv"),
        (format!("{choose} -o r.xlsx"), ".md, .csv, .json or .html"),
        (format!("{choose} --picture c.pdf"), ".svg or .png"),
        (format!("{compare} -o r.txt"), "--format"),
        ("fit x.npy -k 3 -o -".to_owned(), "standard output"),
    ] {
        lab.refused(3, &arguments, &[word]);
    }
}

#[test]
fn predictions_come_as_one_object() {
    let lab = blobs();
    lab.succeed("fit x.npy -k 3 -o m.safetensors");
    let told = lab.json("predict m.safetensors x.npy");
    assert_eq!((&told["n"], &told["cluster_sizes"]), (&json!(180), &json!([60, 60, 60])));
    assert_eq!(told["labels"].as_array().unwrap().len(), 180);
    assert!(told["confidence"][0].as_f64().unwrap() > 0.5 && told["ids"].is_null());
    let all = lab.json("predict m.safetensors x.npy --proba");
    assert_eq!(all["proba"][179].as_array().unwrap().len(), 3);
    let short = lab.json("predict m.safetensors x.npy -o l.csv");
    assert_eq!((&short["output"], &short["labels"]), (&json!("l.csv"), &Value::Null));
    assert_eq!(lab.table("l.csv").len(), 180);
}

#[test]
fn a_fit_that_keeps_nothing_says_so_and_how_to_keep_it() {
    let lab = blobs();
    let told = lab.succeed("fit x.npy -k 3 -r 1");
    assert!(
        told.contains("kept          nothing; -o MODEL.safetensors") && told.contains("--labels-out"),
        "{told}"
    );
    let told = lab.succeed("fit x.npy -k 3 -r 1 --labels-out l.csv");
    assert!(!told.contains("nothing;"), "{told}");
}

#[test]
fn quiet_leaves_results_and_errors() {
    let lab = blobs();
    lab.write("x.csv", "name,a,b\n".to_owned() + &"p,1,2\nq,5,9\nr,1,3\ns,6,9\n".repeat(5));
    for arguments in ["fit x.csv -k 2 -o m.safetensors", "update m.safetensors x.csv", "demo -o d.png"] {
        let output = lab.run(&format!("{arguments} --quiet"));
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    let output = lab.run("predict -q m.safetensors x.csv");
    assert!(output.stderr.is_empty(), "{output:?}");
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 21);
    lab.refused(3, "fit nothing.csv -k 2 -q", &["nothing.csv"]);
}

#[test]
fn every_command_shows_an_example_and_few_features_are_explained() {
    let lab = Lab::new();
    let all = lab.succeed("--help");
    let commands: Vec<&str> = all
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 11, "{commands:?}");
    for command in &commands {
        let help = lab.succeed(&format!("{command} --help"));
        assert!(
            help.contains("Example") && help.contains(&format!("partita {command} ")),
            "{command}: {help}"
        );
    }
    let fit = lab.succeed("fit --help");
    assert!(
        fit.contains("Few features are fewer than 32") && fit.contains("the column called label"),
        "{fit}"
    );
}

#[test]
fn threads_have_a_limit() {
    blobs().refused(3, "fit x.npy -k 3 --threads 4000", &["--threads 4000", "at most 512"]);
}

#[test]
fn numbers_that_single_precision_cannot_hold_are_named_with_the_true_reason() {
    let lab = Lab::new();
    let table = |value: &str| format!("a,b\n1,2\n{value},3\n4,5\n2,1\n");
    lab.write("x.csv", table("1e39"));
    lab.refused(
        3,
        "fit x.csv -k 2",
        &["row 1 of column 'a', which is inf", "too large for single precision"],
    );
    lab.write("x.csv", table("3.4e38"));
    lab.refused(3, "fit x.csv -k 2", &["3.4e38", "differences overflow", "divide the column"]);
}
