//! A newcomer's session on a fresh folder: a table of customers, the same as Parquet, labels by id, and photos. Whatever is typed is
//! either answered rightly or refused with the next step.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, cells, number};
use crate::shop::{GAPS, ROWS, SEGMENTS, customers, folder};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Command, Output};

/// What is no part of the segments is left out; each would fall into two clusters by `member` alone.
const FIT: &str = "-k 3 --exclude member,name,country,signup_date --missing median";

/// The cluster of each customer, from CSV text that `fit` or `predict` wrote.
fn by_id(table: &str) -> BTreeMap<String, String> {
    cells(table).into_iter().map(|line| (line[0].clone(), line[1].clone())).collect()
}

fn labels(lab: &Lab, name: &str) -> BTreeMap<String, String> {
    by_id(&String::from_utf8(lab.read(name)).unwrap())
}

/// What a run that must succeed says on standard error.
fn notes(lab: &Lab, arguments: &str) -> String {
    let output = lab.run(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {said}");
    said
}

/// A run with a file as standard input.
fn piped(mut command: Command, lab: &Lab, input: &str) -> Output {
    command.stdin(File::open(lab.path(input)).unwrap()).output().unwrap()
}

#[test]
fn a_table_is_clustered_by_what_it_measures() {
    let lab = folder();
    lab.refused(2, "fit customers.csv", &["--k"]);
    lab.refused(3, "fit customer.csv -k 3", &["cannot open customer.csv"]);
    let gaps = [
        "12 values are missing",
        "column 'age'",
        "row 9 ('C-1063')",
        "--missing drop-rows or median",
        "--exclude",
    ];
    lab.refused(3, "fit customers.csv -k 3 --missing error", &gaps);
    lab.refused(3, "fit customers.csv -k 3 --exclude membr", &["membr", "'member'", "'zip_code'"]);
    lab.refused(3, "fit customers.csv -k 3 --columns age,incme", &["'incme'", "'income'"]);
    lab.refused(3, "fit customers.csv -k 300 --missing median", &["300 clusters", "210 rows", "at most"]);

    let said = notes(&lab, &format!("fit customers.csv {FIT} -o m.safetensors --labels-out l.csv"));
    for word in ["'customer_id' names the rows", "'zip_code'", "12 missing"] {
        assert!(said.contains(word), "'{word}' is not in: {said}");
    }
    let report = lab.json(&format!("fit customers.csv {FIT} --truth segments.csv"));
    assert_eq!(report["columns"][0]["names"], json!(["age", "income", "visits"]));
    assert_eq!(report["cluster_sizes"], json!([70, 70, 70]));
    assert_eq!(number(&report, "/metrics/acc"), 1.0);
    assert_eq!(lab.json("evaluate --truth segments.csv --pred l.csv")["acc"], json!(1.0));
    assert!(
        notes(&lab, "evaluate --truth segments.csv --pred l.csv")
            .contains("210 rows are matched by 'customer_id'")
    );

    lab.succeed(&format!("fit customers.parquet {FIT} --labels-out p.csv"));
    assert_eq!(lab.read("l.csv"), lab.read("p.csv"), "Parquet is clustered as CSV");
    lab.succeed(
        "fit customers.csv -k 3 --exclude member,name,country,signup_date --missing drop-rows -o d.safetensors --labels-out d.csv",
    );
    let whole = labels(&lab, "d.csv");
    assert_eq!(whole.len(), ROWS - GAPS);
    assert!(customers().iter().all(|c| whole.contains_key(&c.id) == c.age.is_some()));
    assert_eq!(lab.json("evaluate --truth segments.csv --pred d.csv")["acc"], json!(1.0));
}

#[test]
fn a_model_serves_the_tables_that_come_later() {
    let lab = folder();
    lab.succeed(&format!("fit customers.csv {FIT} -o m.safetensors --labels-out l.csv"));
    let expected = labels(&lab, "l.csv");
    for data in ["shuffled.csv", "customers.parquet"] {
        assert_eq!(by_id(&lab.succeed(&format!("predict m.safetensors {data}"))), expected, "{data}");
        let output = piped(lab.command("predict m.safetensors - -o -"), &lab, data);
        assert_eq!(by_id(&String::from_utf8(output.stdout).unwrap()), expected, "{data} as a stream");
    }
    let why = lab.json("explain m.safetensors shuffled.csv --id C-1007");
    assert_eq!(why["cluster"].to_string(), expected["C-1007"]);
    let parts = why["contributions"].as_array().unwrap();
    assert_eq!(parts.len(), 3);
    let lead = number(&why, "/base") + parts.iter().map(|part| number(part, "/contribution")).sum::<f64>();
    let share = |whose: &str| number(&why, &format!("/proba/{}", why[whose]));
    assert!((lead - (share("cluster") / share("runner_up")).ln()).abs() < 0.01, "{why}");
    lab.refused(2, "explain m.safetensors shuffled.csv", &["--row", "--id"]);
    lab.refused(3, "explain m.safetensors shuffled.csv --id C-1", &["no row is called 'C-1'"]);

    lab.write(
        "renamed.csv",
        String::from_utf8(lab.read("shuffled.csv")).unwrap().replacen("income", "incomes", 1),
    );
    for command in ["predict", "update"] {
        let words = ["renamed.csv lacks 'income'", "'incomes' for 'income'"];
        lab.refused(3, &format!("{command} m.safetensors renamed.csv"), &words);
    }
    lab.succeed("update m.safetensors shuffled.csv -o u.safetensors --labels-out u.csv");
    assert_eq!(labels(&lab, "u.csv"), expected, "clusters keep their numbers");
    let told = lab.succeed("export m.safetensors -o m.onnx");
    assert!(
        told.contains("age, income, visits (in this order)") && told.contains("not filled by ONNX"),
        "{told}"
    );
    for slip in ["predict customers.csv m.safetensors", "predict m.onnx customers.csv"] {
        lab.refused(3, slip, &["is no model of Partita", "the model comes before the data"]);
    }
}

#[test]
fn gaps_are_refused_with_what_the_model_can_do_about_them() {
    let lab = folder();
    lab.succeed(
        "fit customers.csv -k 3 -r 1 --columns age,income,visits --missing drop-rows -o d.safetensors",
    );
    lab.refused(3, "predict d.safetensors customers.csv --missing median", &["no medians", "drop-rows"]);
    lab.refused(
        3,
        "predict d.safetensors customers.csv",
        &["12 in column 'age'", "(--missing drop-rows does it)"],
    );
    let output = lab.run("predict d.safetensors customers.csv");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("--exclude"), "the model needs its columns: {said}");
    assert_eq!(
        cells(&lab.succeed("predict d.safetensors customers.csv --missing drop-rows")).len(),
        ROWS - GAPS
    );
    let explain = "explain d.safetensors customers.csv --missing drop-rows --id C-1063";
    lab.refused(3, explain, &["'C-1063' is left out because it has missing values"]);
}

#[test]
fn labels_by_id_name_and_judge_the_clusters() {
    let lab = folder();
    lab.succeed(&format!("fit customers.csv {FIT} --known known.csv -o m.safetensors --labels-out l.csv"));
    let segment: BTreeMap<String, &str> =
        customers().into_iter().map(|c| (c.id, SEGMENTS[c.segment])).collect();
    for line in lab.table("l.csv").iter().chain(&cells(&lab.succeed("predict m.safetensors shuffled.csv"))) {
        assert_eq!(line[2], segment[&line[0]], "{line:?}");
    }
    let report = lab.json("predict m.safetensors shuffled.csv");
    assert_eq!(report["cluster_names"], json!(["manager", "retired", "student"]));
    assert_eq!(report["cluster_sizes"], json!([70, 70, 70]));
    assert_eq!(lab.json("explain m.safetensors shuffled.csv --id C-1000")["name"], json!("student"));
    lab.refused(
        3,
        "fit customers.csv -k 2 --missing median --known known.csv",
        &["manager, retired, student", "-k 3"],
    );

    lab.refused(3, "evaluate --truth known.csv --pred l.csv", &["(198 rows of the data)", "an empty label"]);
    lab.refused(3, "evaluate --truth segments.csv:segmnt --pred l.csv", &["'segmnt'", "'segment'"]);
    lab.succeed(&format!("fit customers.csv {FIT} --labels-out n.npy"));
    let said = notes(&lab, "evaluate --truth segments.csv --pred n.npy");
    assert!(said.contains("matched in order, since the data has no 'customer_id'"), "{said}");

    let strange = String::from_utf8(lab.read("segments.csv")).unwrap().replace("C-", "K-");
    lab.write("strange.csv", strange);
    for command in ["evaluate --pred l.csv", "fit customers.csv -k 3 --missing median"] {
        lab.refused(
            3,
            &format!("{command} --truth strange.csv"),
            &["strange.csv has no label for 'C-1000'", "none matches"],
        );
    }
    lab.refused(
        3,
        "fit customers.csv -k 3 --missing median --known strange.csv",
        &["'K-", "correct or remove"],
    );
}

#[test]
fn the_number_of_clusters_and_the_rivals_are_found() {
    let lab = folder();
    let choose = "choose-k customers.csv --missing median --exclude member,name,country,signup_date --range 2..4 --splits 3 -r 2";
    let choice: serde_json::Value =
        serde_json::from_str(&lab.succeed(&format!("{choose} --format json -o -"))).unwrap();
    assert_eq!(choice["best"], json!(3));
    lab.refused(3, &format!("{choose} -o choice.xyz"), &["choice.xyz", ".html"]);
    let compare = "compare customers.csv --exclude member,name,country,signup_date --truth segments.csv --missing median --seeds 1 --methods";
    let compared: serde_json::Value =
        serde_json::from_str(&lab.succeed(&format!("{compare} partita,kmeans -k 3 --format json -o -")))
            .unwrap();
    assert_eq!((&compared["n"], &compared["m"]), (&json!(ROWS), &json!(3)));
    for method in ["0", "1"] {
        assert_eq!(number(&compared, &format!("/methods/{method}/runs/0/scores/acc")), 1.0);
    }
    lab.refused(3, &format!("{compare} kmean -k 3"), &["kmean", "compare --help"]);
    lab.refused(3, &format!("{compare} kmeans -k 300"), &["300 clusters", "210 rows"]);
}

/// Tiny photos of three colours in folders of their own.
#[cfg(feature = "deep")]
fn photos() -> Lab {
    const SIDE: usize = 8;
    let lab = Lab::new();
    for (folder, colour) in [("sand", [220, 190, 110]), ("sky", [60, 120, 220]), ("wood", [70, 110, 40])] {
        std::fs::create_dir_all(lab.path("photos").join(folder)).unwrap();
        for photo in 0..16 {
            let pixel = |i: usize| (colour[i % 3] + (i * 31 + photo * 17) % 41 - 20) as u8;
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, SIDE as u32, SIDE as u32);
            encoder.set_color(png::ColorType::Rgb);
            let pixels: Vec<u8> = (0..SIDE * SIDE * 3).map(pixel).collect();
            encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
            lab.write(&format!("photos/{folder}/{photo:02}.png"), bytes);
        }
    }
    lab
}

#[cfg(feature = "deep")]
#[test]
fn photos_are_clustered_by_a_network() {
    let lab = photos();
    lab.refused(3, "fit photos -k 3", &["photos is a folder", "partita embed", "--net"]);
    lab.refused(3, "fit photos/sky/00.png -k 3", &["it is a picture", "partita embed"]);
    lab.refused(2, "embed photos -o f.parquet", &["--weights"]);
    let fit = "fit photos -k 3 --net mlp";
    let report = lab.json(&format!("{fit} -o m.safetensors --labels-out l.csv"));
    assert_eq!(number(&report, "/metrics/acc"), 1.0, "the names of the folders are the truth");
    let found = labels(&lab, "l.csv");
    assert_eq!(found.len(), 48);
    assert!(found.iter().all(|(name, cluster)| {
        let folder = name.rsplit_once('/').unwrap().0;
        found[&format!("{folder}/00.png")] == *cluster
    }));
    assert_eq!(by_id(&lab.succeed("predict m.safetensors photos")), found);
    let cut = lab.read("photos/sky/03.png");
    lab.write("photos/sky/03.png", &cut[..cut.len() / 2]);
    lab.refused(3, fit, &["photos/sky/03.png", "--skip-bad"]);
    assert_eq!(by_id(&lab.succeed("predict m.safetensors photos --skip-bad")).len(), 47);
    lab.refused(3, "export m.safetensors -o m.onnx", &["the model of a network"]);
}
