//! The same table as text and as Parquet is read alike.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use parquet::arrow::ArrowWriter;
use partita_data::{Features, OpenOptions, Source, Why, open, read_label_table, read_weights};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const N: usize = 30;

/// A table of ids, names, categories, booleans, gaps, codes and counts.
fn columns() -> Vec<(&'static str, ArrayRef, Vec<String>)> {
    let kinds = ["ash", "birch", "cedar"];
    let word = |i: usize| kinds[i % 3].to_owned();
    let gap = |i: usize| (i != 4).then_some(i as f64 * 0.5);
    let texts = |cell: &dyn Fn(usize) -> String| (0..N).map(cell).collect::<Vec<String>>();
    vec![
        (
            "tree_id",
            Arc::new(Int64Array::from_iter_values((0..N).map(|i| 900 - 7 * i as i64))),
            texts(&|i| (900 - 7 * i).to_string()),
        ),
        (
            "height",
            Arc::new(Float64Array::from_iter((0..N).map(gap))),
            texts(&|i| gap(i).map_or(String::new(), |v| v.to_string())),
        ),
        (
            "alive",
            Arc::new(BooleanArray::from_iter((0..N).map(|i| Some(i % 2 == 0)))),
            texts(&|i| if i % 2 == 0 { "True".into() } else { "False".into() }),
        ),
        (
            "kind",
            Arc::new((0..N).map(|i| Some(kinds[i % 3])).collect::<DictionaryArray<Int32Type>>()),
            texts(&word),
        ),
        ("note", Arc::new(StringArray::from_iter_values((0..N).map(word))), texts(&word)),
        (
            "zip",
            Arc::new(Int64Array::from_iter_values((0..N).map(|i| 1000 + (i % 4) as i64))),
            texts(&|i| (1000 + i % 4).to_string()),
        ),
        (
            "rings",
            Arc::new(Int64Array::from_iter_values((0..N).map(|i| (i * i % 11) as i64))),
            texts(&|i| (i * i % 11).to_string()),
        ),
    ]
}

fn files() -> (TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let (text, table) = (directory.path().join("t.csv"), directory.path().join("t.parquet"));
    let all = columns();
    let header = all.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(",");
    let line = |i: usize| all.iter().map(|(.., cells)| cells[i].as_str()).collect::<Vec<_>>().join(",");
    std::fs::write(&text, format!("{header}\n{}\n", (0..N).map(line).collect::<Vec<_>>().join("\n")))
        .unwrap();
    let batch = RecordBatch::try_from_iter(all.into_iter().map(|(name, array, _)| (name, array))).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&table).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    (directory, text, table)
}

#[test]
fn booleans_categories_ids_and_codes_are_read_alike() {
    let (_keep, text, table) = files();
    let [a, b] = [&text, &table].map(|path| open(path, &OpenOptions::default()).unwrap());
    assert_eq!(a.columns(), b.columns());
    assert_eq!(a.feature_names().unwrap(), ["height", "alive", "rings"]);
    let why: Vec<Why> = a.columns().unwrap().left_out.iter().map(|out| out.why).collect();
    assert_eq!(why, [Why::Id, Why::Text, Why::Text, Why::Code]);
    let bits = |f: &Features| f.as_f32_slice().unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&a), bits(&b));
    assert_eq!(a.as_f32_slice().unwrap()[..6], [0.0, 1.0, 0.0, 0.5, 0.0, 1.0]);
    assert_eq!((a.ids(), a.notes()), (b.ids(), b.notes()));
}

#[test]
fn labels_and_weights_of_a_column_are_read_alike() {
    let (_keep, text, table) = files();
    let of = |path: &PathBuf, column: &str| {
        let (path, column) = (path.clone(), Some(column.to_owned()));
        Source { path, column, header: None }
    };
    for column in ["kind", "note", "rings", "7"] {
        let [a, b] = [&text, &table].map(|path| read_label_table(&of(path, column), None).unwrap());
        assert_eq!(a, b, "{column}");
        assert_eq!(a.ids.unwrap().values[1], "893", "{column}");
    }
    let [a, b] = [&text, &table].map(|path| read_weights(&of(path, "rings")).unwrap());
    assert_eq!(a, b);
}
