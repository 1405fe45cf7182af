//! Headers of label files, gaps in arrays, prices and row numbers, and how lost clusters and a single seed are told.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use partita_data::synth::gaussian_mixture;
use serde_json::json;

const ROWS: usize = 60;

/// Two clusters of three features as an array, with the labels of the rows as text without a header.
fn lab() -> Lab {
    let (rows, labels) = gaussian_mixture(&[ROWS / 2; 2], 3, 14.0, 7);
    let lab = Lab::with_rows(&(rows, labels.clone()), 3);
    lab.write("labels.csv", labels.iter().map(|label| format!("{}\n", 2019 + label)).collect::<String>());
    lab
}

fn told(lab: &Lab, arguments: &str) -> String {
    let output = lab.run(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {said}");
    said
}

#[test]
fn the_first_line_of_a_file_of_labels_can_be_said_to_be_a_header() {
    let lab = lab();
    let text = String::from_utf8(lab.read("labels.csv")).unwrap();
    // A number above numbers is a label, unless it is said to be a header; and the other way round for a word.
    lab.write("numbered.csv", format!("7\n{text}"));
    lab.write("words.csv", text.replacen("2019", "unseen", 1).replace("20", "year 20"));
    lab.succeed("fit x.npy -k 2 -r 1 --labels-out pred.csv");
    lab.refused(3, "fit x.npy -k 2 --truth numbered.csv", &["has 61 labels"]);
    let report = lab.json("fit x.npy -k 2 -r 1 --truth numbered.csv --label-header yes");
    assert_eq!(number(&report, "/metrics/acc"), 1.0);
    // It says the same of all these files.
    let both = "fit x.npy -k 2 --known numbered.csv --truth labels.csv --label-header yes";
    lab.refused(3, both, &["labels.csv has 59 labels"]);
    let evaluate = "evaluate --truth numbered.csv --pred pred.csv";
    assert_eq!(number(&lab.json(&format!("{evaluate} --header yes")), "/acc"), 1.0);
    lab.refused(3, "evaluate --truth words.csv --pred pred.csv --header yes", &["59"]);
    let report = lab.json("evaluate --truth words.csv --pred labels.csv --header no");
    assert!((number(&report, "/acc") - 59.0 / 60.0).abs() < 1e-12, "{report}");
    lab.succeed("fit x.npy -k 2 -r 1 -o m.safetensors");
    let update = "update m.safetensors x.npy -o n.safetensors --truth numbered.csv --label-header yes";
    assert_eq!(number(&lab.json(update), "/metrics/acc"), 1.0);
    lab.refused(3, "fit x.npy -k 2 --label-header yes", &["--label-header", "--truth, --known or --weights"]);
    lab.refused(2, "update m.safetensors x.npy --label-header yes", &["--truth"]);
}

#[test]
fn weights_below_a_number_that_is_a_header() {
    let lab = lab();
    lab.write("w.csv", "5\n".to_owned() + &"1\n".repeat(ROWS));
    lab.refused(3, "fit x.npy -k 2 --weights w.csv", &["has 61 weights"]);
    lab.succeed("fit x.npy -k 2 -r 1 --weights w.csv --label-header yes --labels-out a.csv");
    lab.succeed("fit x.npy -k 2 -r 1 --labels-out b.csv");
    let clusters = |name: &str| lab.table(name).iter().map(|row| row[1].clone()).collect::<Vec<_>>();
    assert_eq!(clusters("a.csv"), clusters("b.csv"));
}

#[test]
fn labels_of_the_data_itself_are_read_as_the_data_is() {
    let lab = Lab::new();
    let (rows, labels) = gaussian_mixture(&[ROWS / 2; 2], 2, 14.0, 7);
    let line = |(row, label): (&[f32], &usize)| format!("{},{},{label}\n", row[0], row[1]);
    let lines: String = rows.chunks_exact(2).zip(&labels).map(line).collect();
    lab.write("years.csv", format!("2019,2020,2021\n{lines}"));
    let report = lab.json("fit years.csv -k 2 -r 1 --header yes --truth years.csv:2021");
    assert_eq!((number(&report, "/n"), number(&report, "/metrics/acc")), (60.0, 1.0));
    assert_eq!(report["columns"][0]["names"], json!(["2019", "2020"]));
}

#[test]
fn gaps_in_arrays_are_refused_left_out_or_filled() {
    let lab = lab();
    let mut rows = gaussian_mixture(&[ROWS / 2; 2], 3, 14.0, 7).0;
    (rows[3 * 3], rows[3 * 5 + 1]) = (f32::NAN, f32::INFINITY);
    lab.npy("gaps.npy", &rows, 3);
    lab.refused(3, "fit gaps.npy -k 2", &["gaps.npy: 2 values", "1 in column 0 (counted from 0)", "row 3"]);
    let fit = "fit gaps.npy -k 2 -r 1 --truth truth.npy -o m.safetensors --labels-out l.csv --missing";
    let report = lab.json(&format!("{fit} drop-rows"));
    assert_eq!((number(&report, "/n"), number(&report, "/metrics/acc")), (58.0, 1.0));
    let kept: Vec<String> = lab.table("l.csv").iter().map(|row| row[0].clone()).collect();
    assert_eq!((kept.len(), &kept[2..5]), (58, &["2".to_owned(), "4".into(), "6".into()][..]));
    lab.refused(3, "predict m.safetensors gaps.npy", &["--missing drop-rows"]);
    lab.succeed("predict m.safetensors gaps.npy --missing drop-rows -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    let report = lab.json(&format!("{fit} median"));
    assert_eq!((number(&report, "/n"), number(&report, "/missing/filled")), (60.0, 2.0));
    lab.succeed("predict m.safetensors gaps.npy -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
}

#[test]
fn prices_and_row_numbers_are_left_out_and_the_reason_is_said() {
    let lab = Lab::new();
    let (rows, _) = gaussian_mixture(&[ROWS / 2; 2], 2, 14.0, 7);
    let line = |(i, row): (usize, &[f32])| {
        format!("\"$2{},{:03}\",{},{},{}\n", i % 7, 7 * i, 10_001 + i, row[0], row[1])
    };
    let lines: String = rows.chunks_exact(2).enumerate().map(line).collect();
    lab.write("cars.csv", format!("price,stock,a,b\n{lines}"));
    let report = lab.json("fit cars.csv -k 2 -r 1 --labels-out l.csv");
    assert_eq!(report["columns"][0]["names"], json!(["a", "b"]));
    let said = told(&lab, "fit cars.csv -k 2 -r 1");
    assert!(said.contains("column 'stock' names the rows and is not a feature"), "{said}");
    let words = "'price' holds numbers with signs or separators, such as '$20,000', and is taken for words; write them as plain";
    assert!(said.contains(words), "{said}");
    assert_eq!(lab.table("l.csv")[59][0], "10060");
    // What is asked for by name is a feature, whatever it looks like.
    let report = lab.json("fit cars.csv -k 2 -r 1 --columns stock,a");
    assert_eq!(report["columns"][0]["names"], json!(["stock", "a"]));
}

#[test]
fn many_dead_clusters_are_told_once() {
    let lab = Lab::with_digits();
    let text = lab.succeed("fit x.npy -k 60 -r 1 --lambda 0 --epochs 3");
    assert_eq!(text.matches("warning").count(), 1, "{text}");
    assert!(
        text.contains(" clusters are dead: (almost) no row goes there (") && text.contains(", …)"),
        "{text}"
    );
}

#[test]
fn a_comparison_of_one_seed_says_so() {
    let lab = lab();
    let text = lab.succeed("compare x.npy -k 2 --methods kmeans --seeds 1 --restarts 1");
    assert!(text.contains("One seed, 1 restart each") && !text.contains("between seeds"), "{text}");
    let text = lab.succeed("compare x.npy -k 2 --methods kmeans --seeds 2 --restarts 2");
    assert!(text.contains("Mean ± sd over 2 seeds, 2 restarts each"), "{text}");
}
