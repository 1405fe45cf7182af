//! Labels from every kind of file that can hold them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use partita_data::{DataError, read_labels, read_vector};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

fn file(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, content).unwrap();
    (directory, path)
}

fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.bytes());
    out.extend(bytes);
    out
}

#[test]
fn whole_numbers_of_any_type_are_labels() {
    let floats: Vec<u8> = [2f64, 0.0, f64::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
    for (descr, shape, bytes, expected) in [
        ("|u1", "(3,)", &[2u8, 0, 255][..], vec![2, 0, 255]),
        ("|i1", "(3, 1)", &[2, 0, 255][..], vec![2, 0, -1]),
        ("|b1", "(2,)", &[0, 1][..], vec![0, 1]),
        (">i2", "(2,)", &[0, 7, 1, 0][..], vec![7, 256]),
        ("<f8", "(3,)", &floats[..], vec![2, 0, -1]),
    ] {
        let (_keep, path) = file("y.npy", npy(descr, shape, bytes));
        assert_eq!(read_labels(path).unwrap().values, expected, "{descr}");
    }
}

#[test]
fn a_blank_line_of_a_single_column_is_an_unknown_label() {
    for text in ["label\n0\n\n2\n\n\n1\n", "0\r\n\r\n2\r\n\r\n\r\n1\r\n", "label\n0\n\"\"\n2\n\n-1\n1"] {
        let (_keep, path) = file("y.csv", text);
        assert_eq!(read_labels(path).unwrap().values, [0, -1, 2, -1, -1, 1], "{text:?}");
    }
}

#[test]
fn blank_lines_at_either_end_of_a_single_column_are_unknown_labels() {
    for text in ["\n0\n1\n\n\n", "label\n\n0\n1\n\n\n", "\r\n0\r\n1\r\n\r\n\r\n", "NA\n0\n1\n?\nnull\n"] {
        let (_keep, path) = file("y.csv", text);
        assert_eq!(read_labels(path).unwrap().values, [-1, 0, 1, -1, -1], "{text:?}");
    }
    // With several columns, a blank line is not a row, and the last cell may be empty.
    for text in ["\nid,label\na,0\n\nb,\n\n", "a\t0\nb\t", "a\t0\nb\t\n \n"] {
        let (_keep, path) = file("y.csv", text);
        assert_eq!(read_labels(path).unwrap().values, [0, -1], "{text:?}");
    }
    let (_keep, path) = file("y.csv", "\n\n");
    assert!(matches!(read_labels(path), Err(DataError::Empty { .. })));
}

#[test]
fn names_of_classes_may_have_spaces() {
    let (_keep, path) = file("y.txt", "red apple\ngreen apple\nred pear\n");
    let labels = read_labels(path).unwrap();
    assert_eq!(labels.names.unwrap(), ["green apple", "red apple", "red pear"]);
    for text in ["0.5 7\n0.25 8\n", "a b\n1 7\n2 8\n"] {
        let (_keep, path) = file("y.txt", text);
        assert_eq!(read_labels(path).unwrap().values, [7, 8], "{text}");
    }
}

#[test]
fn a_word_among_numbers_is_unknown_or_refused() {
    for unknown in ["NA", "N/A", "nan", "NaN", "null", "?"] {
        let (_keep, path) = file("y.csv", format!("10\n{unknown}\n2\n"));
        assert_eq!(read_labels(path).unwrap().values, [10, -1, 2], "{unknown}");
        let (_keep, path) = file("y.csv", format!("dog\n{unknown}\ncat\n-1\n"));
        assert_eq!(read_labels(path).unwrap().values, [1, -1, 0, -1], "{unknown}");
    }
    for text in ["dog\n-1\ncat\n", "a,dog\nb,-1\nc,cat\n", "a,dog\nb,nan\nc,cat\n"] {
        let (_keep, path) = file("y.csv", text);
        assert_eq!(read_labels(path).unwrap().values, [1, -1, 0], "{text}");
    }
    for text in ["10\n-1\nl2\n2\n", "label\n10\n2\no\n", "cat\ndog\n3\n"] {
        let (_keep, path) = file("y.csv", text);
        let error = read_labels(path).unwrap_err();
        assert!(matches!(error, DataError::Label { row: 2, .. }), "{error}");
        assert!(error.to_string().contains("all words"), "{error}");
    }
}

#[test]
fn a_label_that_could_name_the_column_is_a_label_if_it_occurs_again() {
    for text in ["y\nn\ny\n", "a,y\nb,n\nc,y\n", "y,y\nn,n\ny,y\n"] {
        let (_keep, path) = file("y.csv", text);
        assert_eq!(read_labels(path).unwrap().values, [1, 0, 1], "{text}");
    }
    // The other column shows that the first line is a header.
    let (_keep, path) = file("y.csv", "y,score\ny,0.5\nn,0.25\ny,1\n");
    assert_eq!(read_labels(path).unwrap().values, [1, 0, 1]);
}

#[test]
fn large_labels_of_parquet_stay_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("y.parquet");
    let column: ArrayRef = Arc::new(Float64Array::from(vec![Some(16_777_216.0), Some(16_777_217.0), None]));
    let batch = RecordBatch::try_from_iter([("label", column)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert_eq!(read_labels(path).unwrap().values, [16_777_216, 16_777_217, -1]);
}

#[test]
fn labels_that_are_not_labels_are_named() {
    let half: Vec<u8> = [1f32, 0.5].iter().flat_map(|v| v.to_le_bytes()).collect();
    let (_keep, path) = file("y.npy", npy("<f4", "(2,)", &half));
    let error = read_labels(path).unwrap_err();
    assert!(matches!(error, DataError::Label { row: 1, .. }), "{error}");
    let (_keep, path) = file("y.npy", npy("|i1", "(2,)", &[0, 254]));
    assert!(read_labels(path).unwrap_err().to_string().contains("row 1"));
    let (_keep, path) = file("y.npy", npy("|i1", "(2, 2)", &[0, 1, 0, 1]));
    assert!(matches!(read_labels(path), Err(DataError::Shape { .. })));
}

#[test]
fn text_labels_become_classes_in_sorted_order() {
    let (_keep, path) = file("y.csv", "dog\ncat\n\"a, b\"\ncat\n");
    let labels = read_labels(path).unwrap();
    assert_eq!(labels.values, [2, 1, 0, 1]);
    assert_eq!(labels.names.as_deref().unwrap(), ["a, b", "cat", "dog"]);
    assert_eq!(labels.classes(), 3);
}

#[test]
fn the_label_column_is_found() {
    for (name, text, expected) in [
        ("y.csv", "3\n1\n\"\"\n0\n", vec![3, 1, -1, 0]),
        ("y.csv", "label\n3\n1\n", vec![3, 1]),
        ("y.csv", "number\n3\n1\n", vec![3, 1]),
        ("y.csv", "id,cluster,confidence\na,1,0.5\nb,,0.2\nc,0,1\n", vec![1, -1, 0]),
        ("y.tsv", "1\t2.5\t7\n1\t2.5\t8\n", vec![7, 8]),
        ("y.txt", "# saved\n1.000e+00\n2.000e+00\n", vec![1, 2]),
    ] {
        let (_keep, path) = file(name, text);
        assert_eq!(read_labels(path).unwrap().values, expected, "{text}");
    }
}

#[test]
fn ragged_tables_are_named_by_line() {
    let (_keep, path) = file("y.csv", "a,label\nx,1\ny\n");
    assert!(matches!(read_labels(path), Err(DataError::Ragged { line: 3, found: 1, expected: 2, .. })));
}

#[test]
fn vectors_come_from_arrays_and_text() {
    let bytes: Vec<u8> = [0.25f64, 0.75].iter().flat_map(|v| v.to_le_bytes()).collect();
    let (_keep, path) = file("u.npy", npy("<f8", "(1, 2)", &bytes));
    assert_eq!(read_vector(path).unwrap(), [0.25, 0.75]);
    for text in ["0.25, 0.75", "0.25\n0.75\n", "prior\n0.25\n0.75", "[0.25; 0.75]"] {
        let (_keep, path) = file("u.txt", text);
        assert_eq!(read_vector(path).unwrap(), [0.25, 0.75], "{text}");
    }
    let (_keep, path) = file("u.csv", "0.5\n0.2x\n");
    assert!(matches!(read_vector(path), Err(DataError::NotNumeric { line: 2, .. })));
    let (_keep, path) = file("u.csv", "");
    assert!(matches!(read_vector(path), Err(DataError::Empty { .. })));
}
