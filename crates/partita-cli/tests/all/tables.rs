//! Tables mean what their users think: columns by name, labels and ids that are no features, gaps, codes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use partita_data::synth::gaussian_mixture;
use serde_json::json;

const ROWS: usize = 90;
const KINDS: [&str; 3] = ["ash", "birch", "cedar"];

/// Three clusters of three features: the class and the cells of each row. The columns have different means, so that their order matters.
fn trees() -> Vec<(usize, [String; 3])> {
    let (values, labels) = gaussian_mixture(&[ROWS / 3; 3], 3, 14.0, 7);
    let cells = |row: &[f32]| [0, 1, 2].map(|j| (row[j] * (1 + 2 * j) as f32 + 10.0 * j as f32).to_string());
    // The classes take turns, so that an order by class is no order of the file.
    let of_class = |k: usize, i: usize| labels.iter().enumerate().filter(|(_, l)| **l == k).nth(i).unwrap().0;
    let row = |i: usize| (i % 3, cells(&values[3 * of_class(i % 3, i / 3)..][..3]));
    (0..ROWS).map(row).collect()
}

/// A table: a header, and what `line` makes of each row.
fn table(header: &str, line: impl Fn(usize, usize, &[String; 3]) -> String) -> String {
    let lines =
        trees().iter().enumerate().map(|(i, (k, cells))| line(i, *k, cells) + "\n").collect::<String>();
    format!("{header}\n{lines}")
}

fn abc() -> String {
    table("a,b,c", |_, _, v| v.join(","))
}

/// An order of the rows that is not that of the file.
fn elsewhere(i: usize) -> usize {
    (i * 37 + 11) % ROWS
}

#[test]
fn a_model_takes_its_columns_by_name_in_any_order() {
    let lab = Lab::new();
    lab.write("abc.csv", abc());
    lab.write("cab.csv", table("c,extra,a,b", |i, _, v| format!("{},{i}.5,{},{}", v[2], v[0], v[1])));
    lab.succeed("fit abc.csv -k 3 -o m.safetensors --labels-out l.csv");
    let output = lab.run("predict m.safetensors cab.csv -o again.csv");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("no columns of the model: 'extra'"), "{said}");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    lab.succeed("predict m.safetensors cab.csv --columns b,c,a -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    let why = |file: &str| lab.json(&format!("explain m.safetensors {file} --row 4"));
    assert_eq!(why("abc.csv"), why("cab.csv"));
    lab.succeed("update m.safetensors abc.csv -o one.safetensors");
    lab.succeed("update m.safetensors cab.csv -o two.safetensors");
    assert_eq!(lab.read("one.safetensors"), lab.read("two.safetensors"));
    lab.succeed("fit abc.csv -k 3 --like m.safetensors --labels-out one.csv");
    lab.succeed("fit cab.csv -k 3 --like m.safetensors --labels-out two.csv");
    assert_eq!(lab.read("one.csv"), lab.read("two.csv"));
}

#[test]
fn columns_that_a_model_needs_are_refused_by_name_if_they_are_missing() {
    let lab = Lab::new();
    lab.write("abc.csv", table("alpha,beta,gamma", |_, _, v| v.join(",")));
    lab.write("other.csv", table("alpha,betta,gamma", |_, _, v| v.join(",")));
    lab.succeed("fit abc.csv -k 3 -r 1 -o m.safetensors");
    for command in ["predict m.safetensors", "update m.safetensors", "explain --row 0 m.safetensors"] {
        let words = ["other.csv lacks 'beta'", "'betta' for 'beta'"];
        lab.refused(3, &format!("{command} other.csv"), &words);
    }
    lab.refused(3, "fit other.csv -k 3 --like m.safetensors", &["lacks 'beta'"]);
    lab.refused(3, "predict m.safetensors abc.csv --exclude beta", &["lacks 'beta'"]);
    // What has no names is taken in order, as it always was.
    lab.write("plain.csv", abc().lines().skip(1).map(|line| format!("{line}\n")).collect::<String>());
    let said = String::from_utf8(lab.run("predict m.safetensors plain.csv").stderr).unwrap();
    assert!(said.contains("taken to be 'alpha', 'beta', 'gamma'"), "{said}");
}

#[test]
fn a_column_of_labels_is_never_a_feature_of_the_same_file() {
    let lab = Lab::new();
    lab.write(
        "trees.csv",
        table("a,target,b,kind,c,w", |i, k, v| {
            format!("{},{k},{},{},{},{}.5", v[0], v[1], KINDS[k], v[2], i % 2)
        }),
    );
    let report =
        lab.json("fit trees.csv -k 3 -r 1 --truth trees.csv --known trees.csv:kind --weights trees.csv:w");
    assert_eq!(report["columns"][0]["names"], json!(["a", "b", "c"]));
    let out = report["columns"][0]["left_out"].clone();
    let expected = [("target", "truth"), ("kind", "known"), ("w", "weights")];
    assert_eq!(out, json!(expected.map(|(name, why)| json!({ "name": name, "why": why }))));
    assert_eq!(number(&report, "/metrics/acc"), 1.0);
    let said = String::from_utf8(lab.run("fit trees.csv -k 3 -r 1 --truth trees.csv").stderr).unwrap();
    assert!(said.contains("labels are taken from column 'target'"), "{said}");
    lab.refused(
        3,
        "fit trees.csv -k 3 --truth trees.csv:target --columns a,target",
        &["'target'", "true labels"],
    );
    lab.refused(
        3,
        "fit trees.csv -k 3 --truth trees.csv:nothing",
        &["no column named 'nothing'", "'target'"],
    );
    let compared = lab.succeed("compare trees.csv -k 3 --truth trees.csv:target --methods kmeans --seeds 1 --exclude w,kind --format json");
    assert!(compared.contains("\"m\": 3"), "{compared}");
}

#[test]
fn labels_that_are_different_in_every_row_are_no_labels() {
    let lab = Lab::new();
    lab.write("abc.csv", abc());
    lab.write("truth.csv", table("kind,place", |i, k, _| format!("{},{}", KINDS[k], 1000 + 7 * i)));
    lab.refused(3, "fit abc.csv -k 3 --truth truth.csv", &["'place' of truth.csv", "different in every row"]);
    lab.succeed("fit abc.csv -k 3 -r 1 --truth truth.csv:kind");
}

#[test]
fn rows_are_matched_by_id_where_both_files_have_one() {
    let lab = Lab::new();
    lab.write("trees.csv", table("id,a,b,c", |i, _, v| format!("t{i},{}", v.join(","))));
    let rows = trees();
    let line = |i: usize| format!("t{},{}\n", elsewhere(i), KINDS[rows[elsewhere(i)].0]);
    let truth: String = (0..ROWS).map(line).collect();
    lab.write("truth.csv", format!("id,kind\n{truth}"));
    let output = lab.run("fit trees.csv -k 3 --truth truth.csv --labels-out l.csv --json");
    let (told, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(told.contains("\"acc\":1.0") && said.contains("90 rows are matched by 'id'"), "{said}{told}");
    assert_eq!(number(&lab.json("evaluate --truth truth.csv --pred l.csv"), "/acc"), 1.0);
    assert_eq!(number(&lab.json("evaluate --truth l.csv --pred truth.csv"), "/acc"), 1.0);
    // Known labels may be those of a few rows.
    let few: String = (0..12).map(line).collect();
    lab.write("known.csv", format!("id,kind\n{few}"));
    assert_eq!(
        number(&lab.json("fit trees.csv -k 3 --known known.csv --truth truth.csv"), "/metrics/acc"),
        1.0
    );
    lab.refused(3, "fit trees.csv -k 3 --truth known.csv", &["known.csv has no label for", "78 rows"]);
    lab.write("twice.csv", format!("id,kind\n{truth}t5,ash\n"));
    lab.refused(3, "fit trees.csv -k 3 --truth twice.csv", &["'t5' occurs twice", "twice.csv"]);
    lab.write("slip.csv", format!("id,kind\n{few}t_5,ash\n"));
    lab.refused(3, "fit trees.csv -k 3 --known slip.csv", &["slip.csv names 't_5'"]);
}

#[test]
fn ids_and_codes_are_no_features_and_the_columns_are_shown() {
    let lab = Lab::new();
    let line = |i: usize, _: usize, v: &[String; 3]| {
        format!("{},{},{},{i},{}", 700_000 - 31 * i, 10_000 + i % 7, 33 * i + 5, v.join(","))
    };
    lab.write("trees.csv", table("customer_id,zip code,document_number,step,a,b,c", line));
    let shown = lab.succeed("fit trees.csv -k 3 -r 1 --labels-out l.csv");
    assert!(shown.contains("90 rows of 3 features") && shown.contains("columns       a, b, c\n"), "{shown}");
    assert_eq!(lab.table("l.csv")[2][0], "699938");
    let report = lab.json("fit trees.csv -k 3 -r 1 --exclude b");
    assert_eq!(report["columns"][0]["names"], json!(["a", "c"]));
    assert_eq!(number(&lab.json("fit trees.csv -k 3 -r 1 --columns step,a"), "/m"), 2.0);
    lab.refused(3, "fit trees.csv -k 3 --exclude nothing", &["--exclude nothing", "no column"]);
}

#[test]
fn words_as_known_labels_name_the_clusters_everywhere() {
    let lab = Lab::new();
    lab.write("trees.csv", table("id,a,b,c", |i, _, v| format!("t{i},{}", v.join(","))));
    lab.write(
        "known.csv",
        table("id,kind", |i, k, _| format!("t{i},{}", if i % 4 == 0 { KINDS[k] } else { "" })),
    );
    let shown = lab.succeed("fit trees.csv -k 3 --known known.csv -o m.safetensors --labels-out l.csv");
    assert!(shown.contains("sizes         ash 30, birch 30, cedar 30"), "{shown}");
    let line = |row: &[String]| (row[1].parse::<usize>().unwrap(), row[2].clone());
    for (row, (k, _)) in lab.table("l.csv").iter().zip(trees()) {
        assert_eq!(line(row), (k, KINDS[k].to_owned()));
    }
    assert!(String::from_utf8(lab.read("l.csv")).unwrap().starts_with("id,cluster,name,confidence\n"));
    lab.succeed("predict m.safetensors trees.csv -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    assert_eq!(lab.succeed("predict m.safetensors trees.csv").as_bytes(), lab.read("l.csv"));
    assert!(lab.succeed("predict m.safetensors trees.csv --proba").starts_with("id,p_ash,p_birch,p_cedar\n"));
    assert!(
        lab.succeed("explain m.safetensors trees.csv --id t4").contains("row 4 ('t4') goes to cluster birch")
    );
    assert_eq!(lab.json("update m.safetensors trees.csv")["cluster_names"], json!(KINDS));
    assert_eq!(lab.json("fit trees.csv -k 3 --like m.safetensors")["cluster_names"], json!(KINDS));
    lab.refused(3, "fit trees.csv -k 2 --known known.csv", &["3 classes (ash, birch, cedar)", "give -k 3"]);
    lab.refused(3, "explain m.safetensors trees.csv --id t999", &["no row is called 't999'"]);
}

#[test]
fn a_header_of_numbers_is_doubted_and_can_be_said() {
    let lab = Lab::new();
    lab.write("years.csv", table("2019,2020,2021", |_, _, v| v.join(",")));
    let said = String::from_utf8(lab.run("fit years.csv -k 3 -r 1 --header no").stderr).unwrap();
    assert!(!said.contains("header"), "{said}");
    let said = String::from_utf8(lab.run("fit years.csv -k 3 -r 1").stderr).unwrap();
    assert!(said.contains("first line (2019, 2020, 2021) is read as a row"), "{said}");
    let report = lab.json("fit years.csv -k 3 -r 1 --header yes");
    assert_eq!(
        (number(&report, "/n"), &report["columns"][0]["names"]),
        (90.0, &json!(["2019", "2020", "2021"]))
    );
}

#[test]
fn the_header_of_a_file_of_labels_is_no_label() {
    let lab = Lab::new();
    lab.write("abc.csv", abc());
    for header in ["kind", "species"] {
        lab.write("truth.csv", table(header, |_, k, _| KINDS[k].to_owned()));
        assert_eq!(
            number(&lab.json("fit abc.csv -k 3 --truth truth.csv --labels-out l.csv"), "/metrics/acc"),
            1.0
        );
        assert_eq!(number(&lab.json("evaluate --truth truth.csv --pred l.csv"), "/acc"), 1.0);
    }
    // With few known labels only their number shows it.
    lab.write("known.csv", table("kind", |i, k, _| if i < 3 { KINDS[k].to_owned() } else { String::new() }));
    let report = lab.json("fit abc.csv -k 3 --known known.csv");
    assert_eq!(report["cluster_names"], json!(KINDS));
}

/// The trees with three kinds of gaps: in rows 3, 5 and 7, one of them in two columns.
fn with_gaps() -> String {
    table("id,alpha,beta,gamma", |i, _, v| match i {
        3 => format!("t3,,{},{}", v[1], v[2]),
        5 => format!("t5,{},NaN,{}", v[0], v[2]),
        7 => format!("t7,inf,NA,{}", v[2]),
        _ => format!("t{i},{}", v.join(",")),
    })
}

#[test]
fn missing_values_are_counted_by_column_and_named() {
    let lab = Lab::new();
    lab.write("gaps.csv", with_gaps());
    lab.write("trees.csv", table("id,alpha,beta,gamma", |i, _, v| format!("t{i},{}", v.join(","))));
    lab.succeed("fit trees.csv -k 3 -r 1 -o m.safetensors");
    let words = [
        "gaps.csv: 4 values",
        "2 in column 'alpha', 2 in column 'beta'",
        "row 3 ('t3') of column 'alpha'",
        "--missing drop-rows",
    ];
    for command in [
        "fit -k 3 --missing error",
        "predict m.safetensors",
        "update m.safetensors",
        "choose-k --range 2..3 --missing error",
        "compare -k 3 --methods kmeans --missing error",
    ] {
        lab.refused(3, &format!("{command} gaps.csv"), &words);
    }
    lab.refused(3, "predict m.safetensors gaps.csv --missing median", &["knows no medians", "--missing"]);
}

#[test]
fn rows_with_missing_values_can_be_left_out() {
    let lab = Lab::new();
    lab.write("gaps.csv", with_gaps());
    lab.write("truth.csv", table("label", |_, k, _| k.to_string()));
    let report = lab.json("fit gaps.csv -k 3 --missing drop-rows --truth truth.csv --labels-out l.csv");
    assert_eq!((number(&report, "/n"), number(&report, "/metrics/acc")), (87.0, 1.0));
    assert_eq!(report["missing"], json!({ "rows": 3, "filled": 0 }));
    let names: Vec<String> = lab.table("l.csv").iter().map(|row| row[0].clone()).collect();
    assert_eq!((names.len(), &names[3..6]), (87, &["t4".to_owned(), "t6".into(), "t8".into()][..]));
    // Without names, rows keep their numbers, and can still be compared with labels of all rows.
    lab.write(
        "plain.csv",
        with_gaps().lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect::<String>(),
    );
    lab.succeed("fit plain.csv -k 3 --missing drop-rows --labels-out l.csv");
    assert_eq!(lab.table("l.csv")[3][0], "4");
    assert_eq!(number(&lab.json("evaluate --truth truth.csv --pred l.csv"), "/acc"), 1.0);
}

#[test]
fn missing_values_can_be_filled_and_the_model_remembers_with_what() {
    let lab = Lab::new();
    lab.write("gaps.csv", with_gaps());
    lab.write("some.csv", "alpha,beta,gamma\n1,,2\n");
    let report = lab.json("fit gaps.csv -k 3 --missing median -o m.safetensors --labels-out l.csv");
    assert_eq!((number(&report, "/n"), number(&report, "/missing/filled")), (90.0, 4.0));
    let output = lab.run("predict m.safetensors gaps.csv -o again.csv");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("4 missing values in 3 rows are filled with the medians of the model"), "{said}");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    assert_eq!(lab.succeed("predict m.safetensors some.csv").lines().count(), 2);
    lab.refused(3, "predict m.safetensors some.csv --missing error", &["column 'beta'"]);
}

#[test]
fn text_that_excel_writes_gives_the_same_clusters() {
    let lab = Lab::new();
    let text = table("größe,b,c", |_, _, v| v.join(","));
    lab.write("utf8.csv", &text);
    lab.succeed("fit utf8.csv -k 3 -r 2 --labels-out utf8.out.csv -o m.safetensors");
    let utf16 = |order: fn(u16) -> [u8; 2]| {
        format!("\u{feff}{text}").encode_utf16().flat_map(order).collect::<Vec<u8>>()
    };
    let windows: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    lab.write("little.csv", utf16(u16::to_le_bytes));
    lab.write("big.csv", utf16(u16::to_be_bytes));
    lab.write("windows.csv", &windows);
    lab.write("mac.csv", text.replace('\n', "\r"));
    lab.write("bars.csv", text.replace(',', "|"));
    lab.write("semicolons.csv", text.replace(',', ";"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    lab.write("packed.csv.gz", packed.finish().unwrap());
    for name in
        ["little.csv", "big.csv", "windows.csv", "mac.csv", "bars.csv", "semicolons.csv", "packed.csv.gz"]
    {
        lab.succeed(&format!("fit {name} -k 3 -r 2 --labels-out out.csv -o n.safetensors"));
        assert_eq!(lab.read("out.csv"), lab.read("utf8.out.csv"), "{name}");
        assert_eq!(lab.read("n.safetensors"), lab.read("m.safetensors"), "{name}");
    }
    let said = String::from_utf8(lab.run("fit windows.csv -k 3 -r 1").stderr).unwrap();
    assert!(said.contains("Windows-1252"), "{said}");
    lab.write("book.xlsx", [b"PK\x03\x04", &[0u8; 26][..], b"[Content_Types].xml", &[0; 40]].concat());
    lab.refused(3, "fit book.xlsx -k 3", &["book.xlsx", "spreadsheet", "save the sheet as CSV"]);
}
