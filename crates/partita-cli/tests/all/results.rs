//! What the commands write and print.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, cells, number};
use partita_data::synth::gaussian_mixture;

fn three_blobs() -> Lab {
    Lab::with_rows(&gaussian_mixture(&[60, 70, 80], 5, 12.0, 1), 5)
}

#[test]
fn fit_writes_a_model_labels_and_probabilities_that_agree() {
    let lab = three_blobs();
    let text = lab.succeed(
        "fit x.npy -k 3 --restarts 2 -o m.safetensors --labels-out l.csv --proba-out p.npy --truth truth.npy",
    );
    assert!(text.contains("210 rows of 5 features in 3 clusters") && text.contains("ACC 1.0000"), "{text}");
    let (table, proba) = (lab.table("l.csv"), lab.numbers("p.npy"));
    assert_eq!((table.len(), proba.len()), (210, 630));
    for (i, (line, p)) in table.iter().zip(proba.chunks_exact(3)).enumerate() {
        assert_eq!(line[0], i.to_string());
        let cluster: usize = line[1].parse().unwrap();
        let confidence: f64 = line[2].parse::<f32>().unwrap().into();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{p:?}");
        assert!(p.iter().all(|v| *v <= p[cluster]) && p[cluster] == confidence, "{p:?} {line:?}");
    }
}

#[test]
fn predict_on_the_training_rows_gives_the_labels_of_the_fit() {
    let lab = Lab::with_digits();
    lab.succeed(
        "fit x.npy -k 10 --restarts 1 --epochs 5 -o m.safetensors --labels-out l.csv --proba-out p.npy",
    );
    lab.succeed("fit x.npy -k 10 --restarts 1 --epochs 5 --labels-out l.npy");
    lab.succeed("predict m.safetensors x.npy -o again.csv");
    lab.succeed("predict m.safetensors x.npy -o again.npy");
    lab.succeed("predict m.safetensors x.npy --proba -o p_again.npy");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    assert_eq!(lab.read("l.npy"), lab.read("again.npy"));
    assert_eq!(lab.read("p.npy"), lab.read("p_again.npy"));
    let printed = lab.succeed("predict m.safetensors x.npy");
    assert_eq!(printed.into_bytes(), lab.read("l.csv"));
    let labels: Vec<f64> = lab.table("l.csv").iter().map(|line| line[1].parse().unwrap()).collect();
    assert_eq!(labels, lab.numbers("l.npy"));
}

#[test]
fn probabilities_are_printed_with_a_column_for_each_cluster() {
    let lab = three_blobs();
    lab.succeed("fit x.npy -k 3 --restarts 1 -o m.safetensors --proba-out p.npy");
    let printed = lab.succeed("predict m.safetensors x.npy --proba");
    assert!(printed.starts_with("row,p0,p1,p2\n"), "{printed}");
    let values = cells(&printed).into_iter().flat_map(|line| line[1..].to_vec());
    let values: Vec<f64> = values.map(|cell| cell.parse::<f32>().unwrap().into()).collect();
    assert_eq!(values, lab.numbers("p.npy"));
}

#[test]
fn names_of_rows_come_back_with_their_labels() {
    let lab = Lab::new();
    let text: String = (0..40).map(|i| format!("cell-{i},{},{}\n", i % 2 * 9, i)).collect();
    lab.write("x.csv", format!("name,a,b\n{text}"));
    lab.succeed("fit x.csv -k 2 --restarts 1 --columns a -o m.safetensors --labels-out l.csv");
    let table = lab.table("l.csv");
    assert!(lab.read("l.csv").starts_with(b"id,cluster,confidence\n"));
    for (i, line) in table.iter().enumerate() {
        assert_eq!((&*line[0], &line[1]), (&*format!("cell-{i}"), &table[i % 2][1]));
    }
}

#[test]
fn options_that_a_file_cannot_follow_are_told() {
    let lab = three_blobs();
    for (option, word) in
        [("--columns a,b", "no table"), ("--id-column a", "no table"), ("--array a", "named arrays")]
    {
        let output = lab.run(&format!("fit x.npy -k 3 --restarts 1 {option}"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && message.contains("note: x.npy") && message.contains(word),
            "{message}"
        );
    }
}

#[test]
fn json_is_one_object_that_tells_everything() {
    let lab = three_blobs();
    let report = lab.json("fit x.npy -k 3 --restarts 4 --seed 7 --truth truth.npy -o m.safetensors");
    assert_eq!(
        (number(&report, "/n"), number(&report, "/m"), number(&report, "/k")),
        (210.0, 5.0, 3.0),
        "{report}"
    );
    for name in ["loss", "decisiveness", "fairness", "margin", "agreement", "seconds"] {
        assert!(number(&report, &format!("/{name}")).is_finite(), "{name}");
    }
    let sizes: f64 = (0..3).map(|c| number(&report, &format!("/cluster_sizes/{c}"))).sum();
    assert_eq!(sizes, 210.0);
    let restarts = report["restarts"].as_array().unwrap();
    assert_eq!(restarts.len(), 4);
    let losses: Vec<f64> = restarts.iter().map(|r| number(r, "/loss")).collect();
    assert!(restarts.iter().all(|r| number(r, "/seed") == 7.0));
    assert_eq!(losses.iter().copied().fold(f64::INFINITY, f64::min), number(&report, "/loss"));
    assert!(["finished", "converged"].contains(&report["stop"].as_str().unwrap()));
    for name in ["acc", "nmi", "ari"] {
        assert!((number(&report, &format!("/metrics/{name}")) - 1.0).abs() < 1e-12, "{name}");
    }
    assert!(lab.json("fit x.npy -k 3 --restarts 1")["metrics"].is_null());
}

#[test]
fn evaluate_compares_two_label_files_whatever_their_format() {
    let lab = Lab::new();
    lab.write("truth.csv", "label\ncat\ncat\ndog\ndog\n");
    lab.labels("pred.npy", [1, 1, 0, 1]);
    assert_eq!(number(&lab.json("evaluate --truth truth.csv --pred pred.npy"), "/acc"), 0.75);
    let text = lab.succeed("evaluate --truth truth.csv --pred pred.npy");
    assert!(text.starts_with("ACC 0.7500  NMI ") && text.contains("ARI "), "{text}");
    assert!(!text.contains("left out"), "{text}");
}

#[test]
fn evaluate_says_how_many_rows_it_left_out() {
    let lab = Lab::new();
    lab.write("truth.csv", "label\ncat\ncat\ndog\n\n");
    lab.labels("pred.npy", [1, -1, 0, 1]);
    let text = lab.succeed("evaluate --truth truth.csv --pred pred.npy");
    assert!(text.starts_with("ACC 1.0000") && text.contains("(2 of 4 rows left out"), "{text}");
    assert_eq!(number(&lab.json("evaluate --truth truth.csv --pred pred.npy"), "/left_out"), 2.0);
}

#[test]
fn explanations_add_up_to_the_lead_in_logits() {
    for prepare in ["auto", "standardise", "l2"] {
        let lab = Lab::with_digits();
        lab.succeed(&format!("fit x.npy -k 10 --restarts 1 --epochs 5 --prepare {prepare} -o m.safetensors"));
        for row in [0, 5, 1796] {
            let why = lab.json(&format!("explain m.safetensors x.npy --row {row} --top 64"));
            let list = why["contributions"].as_array().unwrap();
            assert_eq!(list.len(), 64);
            let sum: f64 = list.iter().map(|c| number(c, "/contribution")).sum();
            let p = |name: &str| number(&why, &format!("/proba/{}", why[name]));
            let lead = (p("cluster") / p("runner_up")).ln();
            assert!((number(&why, "/base") + sum - lead).abs() < 1e-3 * (1.0 + lead), "{prepare}, {row}");
        }
        let text = lab.succeed("explain m.safetensors x.npy --row 3 --top 5");
        assert_eq!(text.matches("feature ").count(), 5, "{text}");
    }
}

#[test]
fn explanations_name_the_columns() {
    let lab = Lab::new();
    let text: String = (0..40).map(|i| format!("{},{}\n", i % 2 * 9, i % 3)).collect();
    lab.write("x.csv", format!("height,width\n{text}"));
    lab.succeed("fit x.csv -k 2 --restarts 1 -o m.safetensors");
    let why = lab.json("explain m.safetensors x.csv --row 1 --top 1");
    assert_eq!(why["contributions"][0]["feature"], "height");
}

#[test]
fn completions_exist_for_the_usual_shells() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = lab.succeed(&format!("completions {shell}"));
        assert!(script.contains("partita") && script.contains("labels-out"), "{shell}");
    }
}

#[test]
fn the_demo_draws_a_png() {
    let lab = Lab::new();
    let text = lab.succeed("demo -o picture.png --seed 1");
    assert!(text.contains("1797 rows") && text.contains("ACC 0.") && text.contains("picture.png"), "{text}");
    assert!(lab.read("picture.png").starts_with(b"\x89PNG\r\n"));
}

#[test]
fn a_model_is_exported_for_other_programs() {
    let lab = Lab::with_digits();
    lab.succeed("fit x.npy -k 3 --restarts 1 --epochs 1 -o m.safetensors");
    assert!(lab.succeed("export m.safetensors -o m.onnx").contains("m.onnx"));
    let bytes = lab.read("m.onnx");
    for word in ["partita", "Gemm", "Softmax", "probabilities"] {
        assert!(bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
    }
    lab.refused(3, "export m.safetensors -o m.pb", &["m.pb", ".onnx"]);
    lab.refused(3, "export x.npy -o n.onnx", &["x.npy"]);
    lab.refused(5, "export m.safetensors -o nowhere/m.onnx", &["nowhere"]);
}
