//! A table from its plan to its rows, through a model file and back.

use super::*;
use crate::Encoder;
use partita::rows::Rows;
use partita_data::model_file::StoredEncoder;
use partita_data::{Cells, Frame, OpenOptions, Role, Why};
use std::path::Path;
use std::sync::Arc;

const ROWS: usize = 60;

fn columns() -> Vec<(String, Cells)> {
    let words = |of: &dyn Fn(usize) -> Option<String>| Cells::Words((0..ROWS).map(of).collect());
    let number = |i: usize| if i % 6 == 5 { f32::NAN } else { (i * 37 % 60) as f32 + 0.25 };
    vec![
        ("size".to_owned(), Cells::Numbers((0..ROWS).map(number).collect())),
        ("colour".to_owned(), words(&|i| (i % 7 > 0).then(|| ["red", "blue", "green"][i % 3].to_owned()))),
        ("since".to_owned(), Cells::Moments((0..ROWS).map(|i| 86_400.5 * (i * 31) as f64).collect())),
        ("true".to_owned(), Cells::Booleans((0..ROWS).map(|i| f32::from(u8::from(i % 4 == 0))).collect())),
        ("remark".to_owned(), words(&|i| Some(format!("remark {i} is a text")))),
        ("same".to_owned(), Cells::Numbers(vec![3.5; ROWS])),
        ("empty".to_owned(), words(&|_| None)),
    ]
}

fn frame(columns: Vec<(String, Cells)>) -> Frame {
    // The first column would be taken for the names of rows if it were words.
    Frame::of_columns(columns, &OpenOptions::default()).unwrap()
}

fn plan(frame: &Frame) -> TablePlan {
    match TablePlan::of(frame, PlanOptions::default()).unwrap() {
        Planned::Plan(plan) => plan,
        Planned::Plain(..) => panic!("a mixed table needs a plan"),
    }
}

fn rows(frame: &Frame, plan: &TablePlan) -> Vec<f32> {
    let encoded = EncodedTable::new(frame.clone(), Arc::new(plan.clone()), Path::new("t")).unwrap();
    let mut rows = vec![0.0; encoded.n() * encoded.m()];
    encoded.read(0, &mut rows).unwrap();
    rows
}

#[test]
fn columns_are_planned_and_what_says_nothing_is_left_out_with_the_reason() {
    let plan = plan(&frame(columns()));
    let names: Vec<&str> = plan.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["size", "colour", "since", "true"]);
    let out: Vec<(&str, Why)> = plan.left_out.iter().map(|out| (&*out.name, out.why)).collect();
    assert_eq!(out, [("remark", Why::Unique), ("same", Why::Constant), ("empty", Why::Empty)]);
    assert_eq!(plan.column_of(0), Some(0));
    assert_eq!(plan.column_of(plan.width() - 1), Some(3));
    let lines = plan.note().lines(20);
    assert!(lines[0].starts_with("size") && lines[0].contains("median"), "{lines:?}");
}

#[test]
fn encoded_rows_have_a_mean_of_zero_and_no_gaps() {
    let frame = frame(columns());
    let plan = plan(&frame);
    let (rows, width) = (rows(&frame, &plan), plan.width());
    assert!(rows.iter().all(|v| v.is_finite()));
    let names: Vec<String> = plan.columns.iter().flat_map(ColumnPlan::features).collect();
    for (j, name) in names.iter().enumerate().filter(|(_, name)| !name.contains(": ")) {
        let mean = rows.iter().skip(j).step_by(width).map(|v| f64::from(*v)).sum::<f64>() / ROWS as f64;
        assert!(mean.abs() < 1e-3, "{name}: {mean}");
    }
}

#[test]
fn a_stored_plan_makes_the_same_rows() {
    let frame = frame(columns());
    let plan = plan(&frame);
    let stored = TableEncoder::new(Arc::new(plan.clone())).stored();
    let text = serde_json::to_string(&stored.about).unwrap();
    let again = StoredEncoder { about: serde_json::from_str(&text).unwrap(), ..stored.clone() };
    let restored = TableEncoder::restore(&again).unwrap();
    assert_eq!(**restored.plan(), plan);
    let expected = rows(&frame, &plan);
    let mut out = vec![0.0; restored.features()];
    let cells = [Cell::Number(37.25), Cell::Word("blue"), Cell::Moment(31.0, 15.5), Cell::Number(0.0)];
    restored.encode(&[&cells], &mut out).unwrap();
    let second = &expected[plan.width()..2 * plan.width()];
    assert!(out.iter().zip(second).all(|(a, b)| (a - b).abs() < 1e-4), "{out:?} {second:?}");
    assert!(restored.encode(&[&cells[..2]], &mut out).is_err());
}

#[test]
fn broken_plans_are_refused() {
    let stored = TableEncoder::new(Arc::new(plan(&frame(columns())))).stored();
    let with = |about: serde_json::Value| TableEncoder::restore(&StoredEncoder { about, ..stored.clone() });
    let mut indicators = stored.about.clone();
    indicators["columns"][1]["indicators"] = serde_json::json!([]);
    let mut number = stored.about.clone();
    number["columns"][0]["scale"] = serde_json::json!(1e300);
    let mut none = stored.about.clone();
    none["columns"] = serde_json::json!([]);
    for about in [indicators, number, none, serde_json::json!({}), serde_json::json!("x")] {
        assert!(with(about).is_err());
    }
    assert!(TableEncoder::restore(&StoredEncoder { kind: "tfidf".into(), ..stored }).is_err());
}

#[test]
fn a_table_of_numbers_needs_no_plan_unless_it_has_gaps() {
    let numbers = |gap: f32| {
        let cells = |i: usize| if i == 7 { gap } else { i as f32 + 0.5 };
        vec![
            ("a".to_owned(), Cells::Numbers((0..ROWS).map(cells).collect())),
            ("b".to_owned(), Cells::Numbers((0..ROWS).map(|i| (i * 7 % 60) as f32 + 0.5).collect())),
        ]
    };
    let of = |gap: f32, options: PlanOptions| TablePlan::of(&frame(numbers(gap)), options).unwrap();
    assert!(matches!(of(1.0, PlanOptions::default()), Planned::Plain(kept, _) if kept == [0, 1]));
    assert!(matches!(of(f32::NAN, PlanOptions::default()), Planned::Plan(_)));
    let known = PlanOptions { gaps_are_known: true, ..PlanOptions::default() };
    assert!(matches!(of(f32::NAN, known), Planned::Plain(..)));
}

#[test]
fn what_a_column_is_said_to_be_counts() {
    let roles = vec![("remark".to_owned(), Role::Skip), ("size".to_owned(), Role::Category)];
    let options = OpenOptions { roles, ..OpenOptions::default() };
    let plan = plan(&Frame::of_columns(columns(), &options).unwrap());
    assert!(plan.columns.iter().all(|column| column.name != "remark"));
    assert!(plan.left_out.iter().any(|out| out.name == "remark" && out.why == Why::Excluded));
}
