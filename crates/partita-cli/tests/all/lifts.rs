//! Feature maps before the softmax: clusters of any shape, by the same commands.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};

/// Two rings of as many rows, one inside the other, with their labels.
fn rings(n: usize) -> (Vec<f32>, Vec<usize>) {
    let point = |i: usize| {
        let angle = (i / 2) as f32 * 2.399_963;
        let radius = if i.is_multiple_of(2) { 1.0 } else { 4.0 } + 0.1 * (i as f32 * 1.7).sin();
        [radius * angle.cos(), radius * angle.sin()]
    };
    ((0..n).flat_map(point).collect(), (0..n).map(|i| i % 2).collect())
}

#[test]
fn rings_are_told_apart_and_the_model_serves_every_command() {
    let lab = Lab::with_rows(&rings(500), 2);
    let report = lab.json(
        "fit x.npy -k 2 --lift graph --prior auto --truth truth.npy -o m.safetensors --labels-out l.npy --save-spec s.json",
    );
    assert!(number(&report, "/metrics/ari") > 0.999, "{report}");
    assert_eq!(report["params"]["lift"], "graph");
    lab.succeed("predict m.safetensors x.npy -o again.npy");
    assert_eq!(lab.numbers("again.npy"), lab.numbers("l.npy"));
    lab.succeed("fit --spec s.json -o same.safetensors");
    assert!(lab.read("same.safetensors") == lab.read("m.safetensors"));
    let why = lab.json("explain m.safetensors x.npy --row 3");
    assert_eq!(why["contributions"].as_array().unwrap().len(), 2, "{why}");
    lab.succeed("update m.safetensors x.npy -o next.safetensors");
    lab.succeed("predict next.safetensors x.npy -o next.npy");
    assert_eq!(lab.numbers("next.npy"), lab.numbers("l.npy"));
    lab.succeed("export m.safetensors -o m.onnx");
    let compared = "compare x.npy -k 2 --truth truth.npy --methods partita,ours --seeds 1 --format json";
    let compared = serde_json::from_str(&lab.succeed(compared)).unwrap();
    let accuracy = |i: usize| number(&compared, &format!("/methods/{i}/runs/0/scores/acc"));
    assert!(accuracy(0) > 0.999 && accuracy(1) < 0.9, "{compared}");
    lab.refused(3, "fit x.npy -k 2 --lift graph --dims 2", &["--dims", "--lift"]);
}
