//! Specifications: what `--save-spec` writes, what `--spec` reads, and options typed next to it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use partita_data::synth::gaussian_mixture;
use serde_json::Value;

fn blobs() -> Lab {
    let lab = Lab::with_rows(&gaussian_mixture(&[60, 70, 80], 5, 8.0, 1), 5);
    let truth = lab.numbers("truth.npy");
    lab.labels("known.npy", truth.iter().enumerate().map(|(i, &l)| if i % 7 == 0 { l as i32 } else { -1 }));
    lab.write("w.csv", (0..210).map(|i| format!("{}\n", 1 + i % 3)).collect::<String>());
    lab.write("prior.txt", "0.3,0.3,0.4\n");
    lab.npy("more.npy", &gaussian_mixture(&[60, 70, 80], 2, 8.0, 5).0, 2);
    lab
}

#[test]
fn a_saved_specification_gives_the_same_bytes_again() {
    let lab = blobs();
    lab.succeed("fit x.npy -k 3 -r 1 -o old.safetensors");
    for options in [
        "",
        "--seed 7 -r 2 --loss mi --lambda 1.5 --gamma 1e-5 --prepare l2 --dims full --init kmeans",
        "--prior prior.txt --known known.npy --known-weight 1 --weights w.csv --truth truth.npy",
        "--prior 0.2,0.3,0.5 --optimiser lbfgs",
        "--prior auto --min-size 0.14 --max-size 100 -r 1",
        "more.npy --balance exact --epochs 3 --batch 50 --exact-labels --refresh epoch",
        "--like old.safetensors --optimiser sgd --momentum 0.5 --learning-rate 30 --em-iterations 3 --polish 2",
    ] {
        lab.succeed(&format!(
            "fit x.npy {options} -k 3 -o a.safetensors --labels-out a.csv --save-spec a.json"
        ));
        lab.succeed("fit --spec a.json -o b.safetensors --labels-out b.csv --save-spec b.json");
        for (a, b) in [("a.safetensors", "b.safetensors"), ("a.csv", "b.csv"), ("a.json", "b.json")] {
            assert_eq!(lab.read(a), lab.read(b), "{options}: {a}");
        }
    }
}

#[test]
fn a_saved_specification_says_everything() {
    let lab = blobs();
    let told = lab.succeed("fit x.npy -k 3 -r 2 --min-size 10 --save-spec s.json");
    assert!(told.contains("specification s.json"), "{told}");
    let spec: Value = serde_json::from_slice(&lab.read("s.json")).unwrap();
    assert_eq!((number(&spec, "/version"), number(&spec, "/k"), number(&spec, "/restarts")), (1.0, 3.0, 2.0));
    assert_eq!(number(&spec, "/sizes/min_size"), 10.0);
    assert_eq!(spec["data"]["paths"][0], "x.npy");
    assert_eq!(spec["method"]["loss"], "strong");
    assert!(spec["method"]["lambda"].is_null() && spec["network"].is_null());
}

#[test]
fn what_is_typed_wins_over_the_specification() {
    let lab = blobs();
    let spec = r#"{ "k": 3, "restarts": 3, "seed": 5, "data": { "paths": ["more.npy"] }, "method": { "loss": "mi" } }"#;
    lab.write("s.json", spec);
    let report = lab.json("fit --spec s.json");
    let numbers = |report: &Value| {
        [
            number(report, "/m"),
            number(report, "/k"),
            number(report, "/params/restarts"),
            number(report, "/params/seed"),
        ]
    };
    assert_eq!((numbers(&report), &report["params"]["loss"]), ([2.0, 3.0, 3.0, 5.0], &"mi".into()));
    let report = lab.json("fit x.npy --spec s.json -k 4 --restarts 8 --seed 0 --loss strong");
    assert_eq!((numbers(&report), &report["params"]["loss"]), ([5.0, 4.0, 8.0, 0.0], &"strong".into()));
    // Everything that is not given has its default.
    lab.write("empty.json", "{}");
    lab.succeed("fit x.npy -k 3 --spec empty.json -o a.safetensors");
    lab.succeed("fit x.npy -k 3 -o b.safetensors");
    assert_eq!(lab.read("a.safetensors"), lab.read("b.safetensors"));
}

#[test]
fn specifications_that_cannot_be_used_are_refused() {
    let lab = blobs();
    for (text, words) in [
        (r#"{ "k": 3, "clusters": 3 }"#, &["s.json", "clusters"][..]),
        (r#"{ "method": { "lamda": 3 } }"#, &["s.json", "`lamda`", "`lambda`"]),
        ("{ \"k\": 3,\n \"seed\": -1 }", &["s.json", "line 2"]),
        ("no JSON", &["s.json", "line 1"]),
        (r#"{ "version": 99, "k": 3 }"#, &["version 99", "newer program"]),
        (r#"{ "data": { "paths": ["x.npy"] } }"#, &["-k is needed"]),
        (r#"{ "k": 3 }"#, &["DATA is needed"]),
        (r#"{ "k": 3, "sizes": { "min_size": -1 } }"#, &["--min-size -1", "above 0"]),
        (r#"{ "k": 3, "sizes": { "min_size": 3, "balance": "exact" } }"#, &["--min-size", "--balance"]),
        (r#"{ "k": 3, "restarts": 1000000 }"#, &["--restarts", "at most 10000"]),
        (
            r#"{ "k": 3, "method": { "optimiser": "adam", "momentum": 0.5 } }"#,
            &["--momentum", "has no meaning"],
        ),
    ] {
        lab.write("s.json", text);
        lab.refused(3, "fit --spec s.json -o m.safetensors", words);
    }
    lab.refused(3, "fit --spec nowhere.json", &["nowhere.json", "No such file"]);
}

#[test]
fn a_specification_is_an_output_like_others() {
    let lab = blobs();
    lab.write("s.json", r#"{ "k": 3, "data": { "paths": ["x.npy"] } }"#);
    lab.refused(3, "fit x.npy -k 3 --save-spec s.txt", &["s.txt", ".json", "name the file so"]);
    lab.refused(5, "fit x.npy -k 3 --save-spec nowhere/s.json", &["nowhere does not exist"]);
    for output in ["--save-spec s.json", "--save-spec ./s.json"] {
        lab.refused(3, &format!("fit --spec s.json {output}"), &["s.json", "would be lost"]);
    }
    lab.refused(3, "fit --spec s.json --labels-out x.npy", &["x.npy", "would be lost"]);
    lab.refused(3, "fit x.npy -k 3 --weights w.json --save-spec w.json", &["w.json", "would be lost"]);
}

#[cfg(not(feature = "deep"))]
#[test]
fn a_network_is_refused_by_a_program_without_them() {
    let lab = blobs();
    lab.write("s.json", r#"{ "k": 3, "data": { "paths": ["x.npy"] }, "network": { "net": "mlp" } }"#);
    lab.refused(3, "fit --spec s.json", &["without networks", "deep"]);
}
