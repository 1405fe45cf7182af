//! Tables as people have them: numbers, categories, dates, gaps, ids, constants and free text.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, cells, number};
use crate::shop::folder;
use serde_json::json;

const ROWS: usize = 240;

/// Three kinds of guests who differ in fare, class and port, and not in anything else. Some ages, ports and days are missing.
fn guests(gaps: bool) -> Vec<[String; 10]> {
    let guest = |i: usize| {
        let kind = i % 3;
        let noise = |column: usize| ((i * (37 + 22 * column) + 13 * column) % 101) as f64 / 50.0 - 1.0;
        let often = |column: usize| (i * (31 + 6 * column) + column) % 10 > 0;
        let port = if often(1) { kind } else { (kind + 1) % 3 };
        let class = if often(2) { kind } else { (kind + 2) % 3 };
        let there =
            |every: usize, cell: String| if gaps && i % every == 5 % every { String::new() } else { cell };
        [
            format!("guest {}", 1000 + i * 7),
            format!("{:.2}", [8.0, 40.0, 300.0][kind] * (0.3 * noise(0)).exp()),
            there(11, format!("{:.0}", 35.0 + 12.0 * noise(3))),
            ["first", "second", "third"][class].to_owned(),
            there(19, ["Cherbourg", "Queenstown", "Southampton"][port].to_owned()),
            there(23, format!("19{:02}-{:02}-{:02}", 10 + i % 4, 1 + i * 5 % 12, 1 + i * 3 % 28)),
            ["true", "false"][i / 3 % 2].to_owned(),
            "RMS".to_owned(),
            format!("seen on deck {} with {} bags and {}", i * 13 % 240, i * 7 % 11, i),
            ["crew", "guest", "stray"][kind].to_owned(),
        ]
    };
    (0..ROWS).map(guest).collect()
}

const HEADER: &str = "name,fare,age,class,port,day,alone,ship,remark,kind";

fn table(rows: &[[String; 10]]) -> String {
    rows.iter().fold(format!("{HEADER}\n"), |text, row| text + &row.join(",") + "\n")
}

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("guests.csv", table(&guests(true)));
    lab
}

const FIT: &str = "fit guests.csv -k 3 --truth guests.csv:kind";

#[test]
fn a_table_is_clustered_by_its_plan_which_is_shown_first() {
    let lab = lab();
    let shown = lab.succeed(FIT);
    assert!(shown.trim_start().starts_with("plan"), "{shown}");
    for line in
        ["fare", "signed logarithm", "class", "3 levels", "time (1910-", "left out: ship (has one value)"]
    {
        assert!(shown.contains(line), "'{line}' is not in: {shown}");
    }
    assert!(shown.contains("remark (is different in most rows"), "{shown}");
    assert!(shown.contains("cluster 0") && shown.contains("fare lower (median"), "{shown}");
    let report = lab.json(FIT);
    assert!(number(&report, "/metrics/acc") > 0.9, "{}", report["metrics"]);
    assert_eq!(report["plans"][0]["columns"][0]["name"], "fare");
    assert_eq!(report["portraits"]["table"].as_array().unwrap().len(), 3);
    assert_eq!(
        report["columns"][0]["kinds"],
        json!(["number", "number", "category", "category", "date", "boolean"])
    );
}

#[test]
fn a_model_takes_raw_tables_with_levels_and_gaps_that_it_never_saw() {
    let lab = lab();
    lab.succeed(&format!("{FIT} -o m.safetensors --labels-out l.csv"));
    lab.succeed("predict m.safetensors guests.csv -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    let mut rows = guests(false);
    (0..4).for_each(|i| rows[i][4] = "Atlantis".to_owned());
    rows[4][1].clear();
    rows[5][3].clear();
    rows[6][5].clear();
    rows[7][6].clear();
    lab.write("new.csv", table(&rows));
    let found = cells(&lab.succeed("predict m.safetensors new.csv"));
    assert_eq!(found.len(), ROWS);
    let same = found.iter().zip(lab.table("l.csv")).filter(|(a, b)| a[1] == b[1]).count();
    assert!(same > 230, "{same}");
    // Other columns and another order do not matter; a column of the plan does.
    let lines = rows.iter().map(|r| format!("{},{},{},x,{},{},{}\n", r[6], r[5], r[4], r[3], r[2], r[1]));
    lab.write(
        "other.csv",
        lines.fold("alone,day,port,more,class,age,fare\n".to_owned(), |all, line| all + &line),
    );
    let other: Vec<String> =
        cells(&lab.succeed("predict m.safetensors other.csv")).into_iter().map(|c| c[1].clone()).collect();
    assert_eq!(other, found.iter().map(|c| c[1].clone()).collect::<Vec<_>>());
    lab.write("lacks.csv", table(&rows).replacen("port", "harbour", 1));
    lab.refused(3, "predict m.safetensors lacks.csv", &["lacks.csv lacks 'port'"]);
    lab.succeed("update m.safetensors new.csv -o u.safetensors --labels-out u.csv");
    lab.succeed("predict u.safetensors new.csv");
}

#[test]
fn a_row_is_explained_by_its_columns_in_their_units() {
    let lab = lab();
    lab.succeed(&format!("{FIT} -o m.safetensors"));
    let told = lab.succeed("explain m.safetensors guests.csv --row 2");
    assert!(told.contains("fare ") && told.contains("% of rows") && told.contains("class = "), "{told}");
    let why = lab.json("explain m.safetensors guests.csv --row 2");
    let parts = why["contributions"].as_array().unwrap();
    assert_eq!(parts.len(), 6);
    let lead = number(&why, "/base") + parts.iter().map(|part| number(part, "/contribution")).sum::<f64>();
    let share = |whose: &str| number(&why, &format!("/proba/{}", why[whose]));
    assert!((lead - (share("cluster") / share("runner_up")).ln()).abs() < 0.02, "{why}");
}

#[test]
fn columns_are_what_they_are_said_to_be() {
    let lab = lab();
    let report = lab.json(&format!("{FIT} --as fare=category --as age=skip --as day=text --as ship=id"));
    assert_eq!(report["columns"][0]["names"], json!(["class", "port", "alone"]));
    lab.refused(2, &format!("{FIT} --as fare=colour"), &["colour", "number, category"]);
    lab.refused(3, &format!("{FIT} --as fair=number"), &["'fair'", "'fare'"]);
    lab.write("odd.csv", table(&guests(true)).replacen("\nguest 1700,", "\nguest 1700,much", 1));
    let words = ["line 102", "('fare')", "'much", "category"];
    lab.refused(3, "fit odd.csv -k 3", &words);
    let output = lab.run("fit odd.csv -k 3 --as fare=number");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("one cell of column 'fare' is no number"), "{said}");
}

#[test]
fn gaps_are_planned_for_refused_left_out_or_filled() {
    let lab = lab();
    assert_eq!(number(&lab.json(FIT), "/n"), ROWS as f64);
    lab.refused(3, &format!("{FIT} --missing error"), &["in column 'age'", "in column 'port'", "--missing"]);
    let report = lab.json(&format!("{FIT} --missing drop-rows"));
    let whole = guests(true).iter().filter(|row| row.iter().all(|cell| !cell.is_empty())).count();
    assert_eq!((number(&report, "/n"), &report["missing"]["rows"]), (whole as f64, &json!(ROWS - whole)));
    let marked = |report: &serde_json::Value| report["plans"][0]["columns"][1]["features"].clone();
    assert_eq!(marked(&lab.json(FIT)), json!(2));
    assert_eq!(marked(&lab.json(&format!("{FIT} --missing median"))), json!(1));
}

#[test]
fn tables_of_numbers_alone_write_the_models_that_they_always_wrote() {
    let lab = lab();
    let numbers = |with_text: bool| {
        guests(false).iter().fold(
            if with_text { "fare,age,remark\n" } else { "fare,age\n" }.to_owned(),
            |text, row| {
                text + &row[1]
                    + ","
                    + &row[2]
                    + &if with_text { format!(",{}", row[8]) } else { String::new() }
                    + "\n"
            },
        )
    };
    lab.write("plain.csv", numbers(false));
    lab.write("text.csv", numbers(true));
    lab.succeed("fit plain.csv -k 3 -o plain.safetensors --labels-out plain.out.csv");
    let said = String::from_utf8(lab.run("fit text.csv -k 3 --labels-out text.out.csv").stderr).unwrap();
    assert!(said.contains("column 'remark' is different in most rows"), "{said}");
    assert_eq!(lab.read("plain.out.csv"), lab.read("text.out.csv"));
    let file = lab.read("plain.safetensors");
    assert!(!String::from_utf8_lossy(&file[..4000.min(file.len())]).contains("encoders"));
}

#[test]
fn strange_tables_are_answered_or_refused_and_never_crash() {
    let lab = Lab::new();
    let rows = guests(false);
    lab.write("one.csv", table(&rows[..1]));
    lab.refused(3, "fit one.csv -k 2", &["one.csv"]);
    let twice =
        rows.iter().fold("fare,fare,class\n".to_owned(), |t, r| t + &format!("{},{},{}\n", r[1], r[2], r[3]));
    lab.write("twice.csv", twice);
    lab.succeed("fit twice.csv -k 3 -o t.safetensors");
    lab.succeed("predict t.safetensors twice.csv");
    let empty = rows.iter().fold("fare,none,class\n".to_owned(), |t, r| t + &format!("{},,{}\n", r[1], r[3]));
    lab.write("empty.csv", empty);
    assert!(lab.succeed("fit empty.csv -k 3").contains("left out: none (has no value at all)"));
    let unique = rows
        .iter()
        .enumerate()
        .fold("fare,code,class\n".to_owned(), |t, (i, r)| t + &format!("{},x{i}y,{}\n", r[1], r[3]));
    lab.write("unique.csv", unique);
    assert!(lab.succeed("fit unique.csv -k 3").contains("left out: code (is different in most rows"));
    let wide = |row: usize| {
        (0..10_000)
            .map(|j| {
                if j % 10 == 0 {
                    ["a", "b"][(row + j / 10) % 2].to_owned()
                } else {
                    ((row * 37 + j) % 101).to_string() + ".5"
                }
            })
            .collect::<Vec<_>>()
            .join(",")
    };
    let header = (0..10_000).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",");
    lab.write("wide.csv", (0..40).fold(header + "\n", |t, row| t + &wide(row) + "\n"));
    let shown = lab.succeed("fit wide.csv -k 2 -r 1");
    assert!(shown.lines().take_while(|line| !line.contains("rows of")).count() <= 21, "{shown}");
    lab.write("nothing.csv", "a,b\nx,y\nx,y\nx,y\n");
    lab.refused(3, "fit nothing.csv -k 2", &["no column tells its rows apart"]);
}

#[test]
fn parquet_is_clustered_as_text() {
    let lab = folder();
    let left = "--exclude name,signup_date,zip_code";
    lab.succeed(&format!("fit customers.csv -k 3 {left} -o a.safetensors --labels-out a.csv"));
    lab.succeed(&format!("fit customers.parquet -k 3 {left} -o b.safetensors --labels-out b.csv"));
    assert_eq!(lab.read("a.csv"), lab.read("b.csv"));
    lab.succeed("predict a.safetensors customers.parquet -o c.csv");
    assert_eq!(lab.read("a.csv"), lab.read("c.csv"));
}
