//! Text tables: what is found in them, and how their errors are reported.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::rows::Rows;
use partita_data::{DataError, Features, OpenOptions, Result, open};
use std::fmt::Write;

fn table(text: impl AsRef<[u8]>, options: &OpenOptions) -> Result<Features> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    open(&path, options)
}

fn fault(text: impl AsRef<[u8]>) -> DataError {
    table(text, &OpenOptions::default()).unwrap_err()
}

#[test]
fn ragged_lines_are_named() {
    assert!(matches!(fault("1,2\n3,4\n5\n"), DataError::Ragged { line: 3, found: 1, expected: 2, .. }));
    assert!(matches!(fault("a,b\n\n1,2\n3,4,5\n"), DataError::Ragged { line: 4, found: 3, .. }));
    let quoted = "id,a\n\"x\ny\",1\n\"z\",2,3\n";
    assert!(matches!(fault(quoted), DataError::Ragged { line: 4, found: 3, expected: 2, .. }));
}

#[test]
fn odd_cells_are_named_by_line_and_column() {
    let error = fault("# note\na,b\n1,2\n3,four\n5,6\n");
    assert!(matches!(error, DataError::NotNumeric { line: 4, ref cell, .. } if cell == "four"), "{error}");
    assert!(error.to_string().contains("column 2 ('b')"), "{error}");
    let error = fault("1,oops\n3,4\n");
    assert!(
        error.to_string().contains("line 1, column 2") && error.to_string().contains("header"),
        "{error}"
    );
    let error = fault("1.5;2\n\"3,5\";4\n");
    assert!(matches!(error, DataError::NotNumeric { line: 2, .. }), "{error}");
}

#[test]
fn decimal_commas_are_read_where_they_delimit_nothing() {
    for text in [
        "-6,377;7,117;4,5\n1;2,25;3e-1\n",
        "a;b;c\n-6,377;7,117;4,5\n1;2,25;0,3\n",
        "-6,377\t7,117\t4,5\n1\t2,25\t0,3\n",
        "\"-6,377\";\"7,117\";\"4,5\"\n1;2,25;3e-1\n",
    ] {
        let features = table(text, &OpenOptions::default()).unwrap();
        assert_eq!(features.as_f32_slice().unwrap(), [-6.377, 7.117, 4.5, 1.0, 2.25, 0.3], "{text}");
        assert!(features.notes().iter().any(|n| n.contains("decimal comma")), "{:?}", features.notes());
    }
    // A point among decimal commas has no clear meaning.
    let error = fault(format!("{}1.234,5;2\n", "1,5;2\n".repeat(30)));
    assert!(matches!(error, DataError::NotNumeric { line: 31, .. }), "{error}");
}

#[test]
fn lines_are_counted_across_pieces() {
    let mut text = String::from("a,b,c\n");
    for i in 0..400_000 {
        writeln!(text, "{i}.5,{},-1e-3", i * 2).unwrap();
    }
    let features = table(&text, &OpenOptions::default()).unwrap();
    assert_eq!((features.n(), features.m()), (400_000, 3));
    assert_eq!(features.as_f32_slice().unwrap()[3 * 399_999..], [399_999.5, 799_998.0, -1e-3]);
    text.push_str("1,2,x\n");
    assert!(matches!(fault(&text), DataError::NotNumeric { line: 400_002, .. }));
}

#[test]
fn text_columns_are_left_out_with_a_note() {
    let iris = "length,width,species\n5.1,3.5,setosa\n4.9,3.0,setosa\n";
    let features = table(iris, &OpenOptions::default()).unwrap();
    assert_eq!(features.feature_names().unwrap(), ["length", "width"]);
    assert!(features.notes()[0].contains("'species'"), "{:?}", features.notes());
    let chosen = OpenOptions { columns: vec!["species".into()], ..Default::default() };
    assert!(matches!(table(iris, &chosen), Err(DataError::Dtype { .. })));
}

#[test]
fn options_overrule_what_is_found() {
    let text = "1,2\n3,4\n5,6\n";
    let header = OpenOptions { header: Some(true), ..Default::default() };
    let features = table(text, &header).unwrap();
    assert_eq!((features.n(), features.feature_names().unwrap()), (2, &["1".to_owned(), "2".to_owned()][..]));
    let id = OpenOptions { id_column: Some("2".into()), ..Default::default() };
    let features = table(text, &id).unwrap();
    assert_eq!((features.m(), features.ids().unwrap()[2].as_str()), (1, "6"));
}

#[test]
fn cells_without_a_value_are_missing_and_odd_ones_are_not() {
    let text = "a,b\n1,2\n,NA\nnull,?\nnan,-\n3,4\n";
    let features = table(text, &OpenOptions::default()).unwrap();
    let missing = features.as_f32_slice().unwrap().iter().map(|v| v.is_nan());
    assert_eq!(missing.collect::<Vec<_>>(), [false, false, true, true, true, true, true, true, false, false]);
    assert!(matches!(fault("a,b\n1,2\n3,4\n5,none of them\n"), DataError::NotNumeric { line: 4, .. }));
}

#[test]
fn columns_come_in_the_order_of_a_model_across_pieces() {
    let mut text = String::from("a,id,b,c\n");
    for i in 0..200_000 {
        writeln!(text, "{i}.5,r{i},{},-{i}", i * 2).unwrap();
    }
    let like = Some(partita_data::Columns::named(["c", "a", "b"]));
    let features = table(&text, &OpenOptions { like, ..Default::default() }).unwrap();
    let last = 199_999.0;
    assert_eq!(features.as_f32_slice().unwrap()[3 * 199_999..], [-last, last + 0.5, 2.0 * last]);
    assert_eq!(features.ids().unwrap()[7], "r7");
}

#[test]
fn letters_of_windows_beyond_the_first_lines_are_read() {
    let mut text = "id,a\n".to_owned() + &(0..20_000).map(|i| format!("r{i},{i}.5\n")).collect::<String>();
    text.push_str("M?nchen,7.5\n");
    let bytes: Vec<u8> = text.bytes().map(|b| if b == b'?' { 0xfc } else { b }).collect();
    let features = table(&bytes, &OpenOptions::default()).unwrap();
    assert_eq!((features.n(), features.ids().unwrap()[20_000].as_str()), (20_001, "München"));
    assert!(features.notes().iter().any(|note| note.contains("Windows-1252")), "{:?}", features.notes());
    // What has to be converted may be larger than the memory for it.
    let small = OpenOptions { memory: 1 << 12, ..Default::default() };
    assert_eq!(table(&bytes, &small).unwrap().ids().unwrap()[20_000], "München");
}

#[test]
fn a_table_without_rows_is_empty_and_bytes_are_not_text() {
    assert!(matches!(fault("a,b\n"), DataError::Empty { .. }), "{}", fault("a,b\n"));
    assert!(matches!(fault("\n\n"), DataError::Empty { .. }));
    assert!(matches!(fault("# only a comment"), DataError::Empty { .. }));
    assert!(matches!(fault(b"1,2\n\xff\x00,4\n"), DataError::Corrupt { .. }));
    assert!(matches!(fault(""), DataError::UnknownFormat { .. }));
}
