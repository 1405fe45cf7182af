//! Texts as a user has them: lines, JSON lines, columns of tables; from the fit to explanations.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// What three subjects are written with; every text has some words of its subject and some that all share.
const SUBJECTS: [(&str, [&str; 12]); 3] = [
    (
        "oil",
        [
            "crude",
            "barrel",
            "opec",
            "refinery",
            "drilling",
            "petroleum",
            "wells",
            "tanker",
            "rig",
            "pipeline",
            "fuel",
            "offshore",
        ],
    ),
    (
        "grain",
        [
            "wheat", "corn", "harvest", "bushel", "soybean", "crop", "acreage", "farmers", "barley", "silo",
            "planting", "drought",
        ],
    ),
    (
        "bank",
        [
            "loan",
            "interest",
            "deposit",
            "lending",
            "mortgage",
            "treasury",
            "bond",
            "credit",
            "bankers",
            "discount",
            "yield",
            "liquidity",
        ],
    ),
];
const SHARED: [&str; 6] = ["the", "said", "year", "price", "market", "company"];

/// So many texts of each subject in turn, with their subjects.
fn texts(each: usize) -> Vec<(String, &'static str)> {
    let text = |i: usize| {
        let (subject, words) = SUBJECTS[i % 3];
        let own = (0..6).map(|j| words[(i / 3 * 5 + j * (1 + i / 3 % 5)) % words.len()]);
        let shared = (0..4).map(|j| SHARED[(i + j * 2) % SHARED.len()]);
        (own.chain(shared).collect::<Vec<_>>().join(" "), subject)
    };
    (0..3 * each).map(text).collect()
}

fn lines(each: usize) -> String {
    texts(each).into_iter().map(|(text, _)| text + "\n").collect()
}

fn json_lines(each: usize) -> String {
    let line = |(i, (text, subject)): (usize, (String, &str))| {
        format!("{{\"id\": \"t{i}\", \"n\": {i}, \"text\": \"{text}\", \"subject\": \"{subject}\"}}\n")
    };
    texts(each).into_iter().enumerate().map(line).collect()
}

fn csv(each: usize) -> String {
    let line =
        |(i, (text, subject)): (usize, (String, &str))| format!("t{i},{i},\"{text}, and more\",{subject}\n");
    let rows: String = texts(each).into_iter().enumerate().map(line).collect();
    format!("id,n,review,subject\n{rows}")
}

#[test]
fn lines_are_clustered_by_what_they_are_about() {
    let lab = Lab::new();
    lab.write("x.txt", lines(40));
    lab.write(
        "truth.csv",
        texts(40).into_iter().fold("subject\n".to_owned(), |all, (_, subject)| all + subject + "\n"),
    );
    let report = lab
        .json("fit x.txt -k 3 --truth truth.csv:subject -o m.safetensors --labels-out l.csv --name-clusters");
    assert_eq!(number(&report, "/metrics/acc"), 1.0, "{report}");
    for portrait in report["portraits"]["texts"].as_array().unwrap() {
        let words: Vec<&str> =
            portrait["words"].as_array().unwrap().iter().map(|word| word["word"].as_str().unwrap()).collect();
        let own =
            |words: &[&str]| SUBJECTS.iter().any(|(_, all)| words.iter().all(|word| all.contains(word)));
        assert!(words.len() > 3 && own(&words), "{words:?}");
        assert_eq!(portrait["typical"].as_array().unwrap().len(), 3);
    }
    assert!(report["cluster_names"][0].as_str().unwrap().contains('/'), "{report}");
    let said = lab.succeed("fit x.txt -k 3");
    assert!(said.contains("cluster 0 ") && said.contains("(40)"), "{said}");
    // Raw texts in, clusters out; the words that speak for them are named.
    lab.write("new.txt", "opec crude barrel\nwheat harvest\nzzz qqq\n");
    let output = lab.run("predict m.safetensors new.txt");
    let (out, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(out.lines().count(), 4, "{out}");
    assert!(notes.contains("1 text has no word that is known (row 2)"), "{notes}");
    let why = lab.json("explain m.safetensors new.txt --row 0");
    let first = why["contributions"][0]["feature"].as_str().unwrap();
    assert!(["opec", "crude", "barrel"].contains(&first), "{why}");
    let lead: f64 =
        why["contributions"].as_array().unwrap().iter().map(|c| c["contribution"].as_f64().unwrap()).sum();
    let proba: Vec<f64> = serde_json::from_value(why["proba"].clone()).unwrap();
    let mut sorted = proba.clone();
    sorted.sort_by(f64::total_cmp);
    let expected = (sorted[2] / sorted[1]).ln();
    assert!((number(&why, "/base") + lead - expected).abs() < 1e-2 * expected.abs().max(1.0), "{why}");
}

#[test]
fn every_form_of_the_same_texts_gives_the_same_clusters() {
    let lab = Lab::new();
    lab.write("x.txt", lines(30));
    lab.write("x.jsonl", json_lines(30));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(json_lines(30).as_bytes()).unwrap();
    lab.write("x.jsonl.gz", packed.finish().unwrap());
    let windows: Vec<u8> =
        std::iter::once(0xfeff).chain(lines(30).encode_utf16()).flat_map(u16::to_le_bytes).collect();
    lab.write("wide.txt", windows);
    let labels = |data: &str| {
        lab.succeed(&format!("fit {data} -k 3 --labels-out l.npy"));
        lab.numbers("l.npy")
    };
    let expected = labels("x.txt");
    for data in ["x.jsonl", "x.jsonl.gz", "x.jsonl --text text", "wide.txt"] {
        assert_eq!(labels(data), expected, "{data}");
    }
    for threads in [1, 3] {
        assert_eq!(labels(&format!("x.txt -t {threads}")), expected);
    }
}

#[test]
fn columns_of_tables_are_texts_if_they_are_asked_for() {
    let lab = Lab::new();
    lab.write("x.csv", csv(30));
    lab.write("more.csv", "review,id\n\"wheat, corn and harvest\",a\n");
    let report =
        lab.json("fit x.csv -k 3 --text review --truth x.csv:subject -o m.safetensors --labels-out l.csv");
    assert_eq!(number(&report, "/metrics/acc"), 1.0, "{report}");
    assert_eq!(lab.table("l.csv")[4][0], "t4");
    // The model knows the column.
    assert!(lab.succeed("predict m.safetensors more.csv").lines().nth(1).unwrap().starts_with("a,"));
    lab.json("update m.safetensors x.csv -o next.safetensors");
    lab.json("fit x.csv -k 3 --text review,subject --like m.safetensors");
    lab.succeed("compare x.csv -k 3 --text review --truth x.csv:subject --methods ours,kmeans --seeds 1");
    let chosen = lab.json("fit x.csv -k 2..4 --text review");
    assert_eq!(number(&chosen, "/k"), number(&chosen, "/choice/k"), "{}", chosen["choice"]);
    lab.refused(3, "fit x.csv -k 3 --text revue", &["revue", "review"]);
    lab.refused(3, "fit x.csv -k 3 --text review --columns n", &["--columns", "no meaning for texts"]);
}

#[test]
fn fields_of_json_lines_are_found_or_asked_for() {
    let lab = Lab::new();
    lab.write("x.jsonl", json_lines(30));
    let report = lab.json("fit x.jsonl -k 3 --truth x.jsonl:subject --labels-out l.csv");
    assert_eq!(number(&report, "/metrics/acc"), 1.0, "{report}");
    assert_eq!(lab.table("l.csv")[7][0], "t7");
    lab.write("odd.jsonl", json_lines(30).replace("\"text\"", "\"said\""));
    lab.refused(3, "fit odd.jsonl -k 3", &["no field that is clearly", "option text", "'said'"]);
    lab.refused(3, "fit odd.jsonl -k 3 --text sad", &["no field named 'sad'", "'said'"]);
    lab.succeed("fit odd.jsonl -k 3 --text said");
    let broken = json_lines(30).replacen("\"n\": 4,", "\"n\": 4", 1);
    lab.write("broken.jsonl", broken);
    lab.refused(3, "fit broken.jsonl -k 3", &["line 5, byte", "expected `,`"]);
    lab.write("list.jsonl", "[1, 2]\n[3]\n");
    lab.refused(3, "fit list.jsonl -k 2", &["line 1", "an object such as"]);
}

#[test]
fn empty_lines_are_left_out_and_the_others_keep_their_numbers() {
    let lab = Lab::new();
    let with_gaps = lines(30).replace('\n', "\n\n");
    lab.write("x.txt", with_gaps);
    let output = lab.run("fit x.txt -k 3 --labels-out l.csv");
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && notes.contains("90 of 180 texts are empty and left out"), "{notes}");
    let rows: Vec<String> = lab.table("l.csv").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(rows.len(), 90);
    assert_eq!(rows[..3], ["0", "2", "4"]);
}

#[test]
fn texts_that_cannot_be_clustered_are_refused_by_what_they_lack() {
    let lab = Lab::new();
    for (name, text, words) in [
        ("one.txt", "only a single text here\n".to_owned(), "no two texts have a word in common"),
        ("same.txt", "the same old words\n".repeat(9), "in more than half of them"),
        ("signs.txt", "!!! ???\n...\n;;; x y\n".repeat(3), "have no words"),
        ("blank.jsonl", "{\"text\": \" \"}\n{\"text\": null}\n\n".to_owned(), "all of them are empty"),
        ("few.txt", "wheat corn\ncorn wheat oil\noil crude\ncrude oil opec\n".to_owned(), "ask for at most"),
    ] {
        lab.write(name, text);
        let output = lab.run(&format!("fit {name} -k 5 -o m.safetensors"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(words), "{name}: {message}");
        assert!(!message.contains("panicked") && !lab.exists("m.safetensors"), "{message}");
    }
    lab.write("x.txt", lines(5));
    lab.npy("x.npy", &[1.0; 12], 2);
    lab.refused(3, "fit x.txt x.npy -k 2", &["x.txt holds texts, which cannot stand beside other files"]);
    lab.refused(3, "fit x.txt -k 2 --encoder word2vec", &["word2vec", "tfidf and minilm"]);
    lab.refused(
        3,
        "fit x.txt -k 2 --encoder minilm",
        &["the weights of minilm are not found", "--encoder-weights"],
    );
    lab.succeed("fit x.txt -k 3 -o m.safetensors");
    lab.refused(3, "predict m.safetensors x.npy", &["the model takes texts", "x.npy"]);
    lab.refused(3, "predict m.safetensors x.txt --encoder tfidf", &["--encoder", "which knows its own"]);
}

#[test]
fn long_lines_and_other_alphabets_are_texts_too() {
    let lab = Lab::new();
    let long = "crude barrel opec ".repeat(600_000);
    lab.write("x.txt", lines(20) + &long + "\n");
    assert!(lab.succeed("fit x.txt -k 3").starts_with("61 rows"));
    let greek: String = (0..40)
        .map(|i| {
            if i % 2 == 0 {
                "πετρέλαιο βαρέλι τιμή\n"
            } else {
                "σιτάρι καλαμπόκι σοδειά\n"
            }
        })
        .collect();
    lab.write("greek.txt", greek);
    let report = lab.json("fit greek.txt -k 2");
    assert_eq!(report["cluster_sizes"], serde_json::json!([20, 20]));
    lab.write("windows.txt", b"caf\xe9 cr\xe8me br\xfbl\xe9e\nFor\xeat de l'\xe9t\xe9\ncaf\xe9 et cr\xe8me\nl'\xe9t\xe9 en for\xeat\n");
    let report = lab.json("fit windows.txt -k 2");
    assert_eq!(report["cluster_sizes"], serde_json::json!([2, 2]), "{report}");
}
