//! Files written by NumPy, PyArrow and safetensors (see `tests/golden/make.py`) all give the same bits.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::rows::Rows;
use partita_data::{DataError, Features, OpenOptions, open, read_labels};
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn load(name: &str, options: &OpenOptions) -> Features {
    open(golden(name), options).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn bits(features: &Features) -> Vec<u32> {
    let mut values = vec![0f32; features.n() * features.m()];
    features.read(0, &mut values).unwrap();
    values.iter().map(|v| v.to_bits()).collect()
}

/// Every file gives the same bits as the first, even when nothing may stay in memory.
fn all_alike(reference: &str, others: &[&str]) {
    let expected = bits(&load(reference, &OpenOptions::default()));
    for name in others {
        for memory in [1 << 30, 0] {
            let features = load(name, &OpenOptions { memory, ..Default::default() });
            assert_eq!((features.n(), features.m()), (23, 6), "{name}");
            assert_eq!(bits(&features), expected, "{name} with {memory} bytes of memory");
        }
    }
}

#[test]
fn the_matrix_is_the_one_that_was_written() {
    let features = load("x.npy", &OpenOptions::default());
    let expected: Vec<f32> = (0..23 * 6).map(|i| ((i * 37) % 256) as f32 / 4.0 - 32.0).collect();
    assert_eq!(features.as_f32_slice(), Some(&expected[..]));
}

#[test]
fn numpy_files_are_alike() {
    let floats = ["x_f2", "x_be_f2", "x_be_f4", "x_f8", "x_be_f8", "x_3d", "x_v2", "x_v3"];
    let fortran = ["x_fortran_f2", "x_fortran_f4", "x_fortran_f8"];
    let names: Vec<String> = floats.iter().chain(&fortran).map(|n| format!("{n}.npy")).collect();
    all_alike("x.npy", &names.iter().map(String::as_str).collect::<Vec<_>>());
    all_alike("x.npy", &["x.npz", "x_f2.npz", "x_packed.npz", "x_packed_fortran.npz"]);
}

#[test]
fn integer_files_are_alike() {
    let types = ["i1", "i2", "i4", "u1", "u2", "u4", "u8", "be_i4", "be_u8", "fortran_i4"];
    let names: Vec<String> = types.iter().map(|t| format!("int_{t}.npy")).collect();
    all_alike("int.npy", &names.iter().map(String::as_str).collect::<Vec<_>>());
    all_alike("int.npy", &["int.safetensors", "int-idx3-ubyte", "int-idx3-ubyte.gz"]);
}

#[test]
fn tables_are_alike() {
    all_alike(
        "x.npy",
        &["wide.parquet", "lists.parquet", "fixed.parquet", "wide_snappy.parquet", "half.parquet"],
    );
    all_alike("x.npy", &["wide.arrow", "lists.arrow", "fixed.arrow", "fixed.arrows"]);
    all_alike("x.npy", &["plain.csv", "header.csv", "ids.csv", "ids_plain.csv", "quoted.csv", "pandas.csv"]);
    all_alike("x.npy", &["header.tsv", "savetxt.txt", "windows.csv"]);
}

#[test]
fn tensors_and_idx_are_alike() {
    let tensors = ["x_f32.safetensors", "x_f16.safetensors", "x_f64.safetensors", "x_bf16.safetensors"];
    all_alike("x.npy", &tensors);
    all_alike("x.npy", &["x.idx", "x.idx.gz"]);
}

#[test]
fn text_gives_the_same_bits_as_the_array_for_any_float() {
    let options = OpenOptions::default();
    assert_eq!(bits(&load("odd.csv", &options)), bits(&load("odd.npy", &options)));
}

#[test]
fn arrays_whose_rows_lie_together_stay_in_the_file() {
    for (name, mapped) in [
        ("x.npy", true),
        ("x_be_f2.npy", true),
        ("x.npz", true),
        ("x_f16.safetensors", true),
        ("x.idx", true),
    ] {
        assert_eq!(load(name, &OpenOptions::default()).is_mapped(), mapped, "{name}");
    }
    assert!(!load("x_packed.npz", &OpenOptions::default()).is_mapped());
    assert!(load("x_packed.npz", &OpenOptions { memory: 100, ..Default::default() }).is_mapped());
}

#[test]
fn ids_and_names_come_along() {
    let options = OpenOptions::default();
    for name in ["wide.parquet", "wide.arrow", "ids.csv", "ids_plain.csv", "lists.parquet"] {
        let features = load(name, &options);
        assert_eq!(features.ids().unwrap()[22], "row 22", "{name}");
    }
    assert_eq!(load("quoted.csv", &options).ids().unwrap()[3], "row 3, so");
    assert_eq!(load("pandas.csv", &options).ids().unwrap()[3], "3");
    assert!(load("header.csv", &options).ids().is_none());
    for name in ["wide.parquet", "header.csv", "quoted.csv", "header.tsv", "windows.csv"] {
        assert_eq!(load(name, &options).feature_names().unwrap()[5], "f5", "{name}");
    }
    assert!(load("plain.csv", &options).feature_names().is_none());
    assert!(load("fixed.parquet", &options).notes().iter().any(|n| n.contains("'stars'")));
    assert!(load("x.npz", &options).notes().is_empty());
}

#[test]
fn parts_are_chosen_by_name() {
    let columns = OpenOptions { columns: vec!["f4".into(), "f1".into()], ..Default::default() };
    let all = load("x.npy", &OpenOptions::default());
    for name in ["wide.parquet", "wide.arrow", "header.csv", "quoted.csv"] {
        let features = load(name, &columns);
        let mut row = [0f32; 2];
        features.read(7, &mut row).unwrap();
        assert_eq!(row, [all.as_f32_slice().unwrap()[43], all.as_f32_slice().unwrap()[46]], "{name}");
    }
    let array = OpenOptions { array: Some("x".into()), ..Default::default() };
    for name in ["x.npz", "two.safetensors"] {
        assert_eq!(bits(&load(name, &array)), bits(&all), "{name}");
    }
    let wrong =
        OpenOptions { array: Some("nothing".into()), columns: vec!["nothing".into()], ..Default::default() };
    for name in ["x.npz", "two.safetensors", "wide.parquet", "header.csv"] {
        let error = open(golden(name), &wrong).unwrap_err();
        assert!(matches!(error, DataError::NoSuchName { .. }), "{name}: {error}");
    }
}

#[test]
fn what_cannot_be_features_is_refused_with_advice() {
    let refused = |name: &str| open(golden(name), &OpenOptions::default()).unwrap_err();
    assert!(refused("vector.npy").to_string().contains("reshape(-1, 1)"));
    assert!(matches!(refused("two.safetensors"), DataError::Choose { .. }));
    assert!(matches!(refused("labels.idx.gz"), DataError::Shape { .. }));
    assert!(matches!(refused("missing.npy"), DataError::Io { .. }));
    let unknown = refused("make.py").to_string();
    assert!(unknown.contains(".parquet") && unknown.contains(".py"), "{unknown}");
}

#[test]
fn missing_values_of_a_table_are_no_numbers() {
    let features = load("null.parquet", &OpenOptions::default());
    let values = features.as_f32_slice().unwrap();
    assert!(values.iter().filter(|v| v.is_nan()).count() == 1 && values[3].is_nan(), "{values:?}");
}

#[test]
fn labels_come_from_idx_and_parquet() {
    let expected: Vec<i64> = (0..23).map(|i| i % 5).collect();
    assert_eq!(read_labels(golden("labels.idx.gz")).unwrap().values, expected);
    let labels = read_labels(golden("labels.parquet")).unwrap();
    assert_eq!(labels.values[..3], [1, 0, 1]);
    assert_eq!(labels.values[22], -1);
    assert_eq!(labels.names.unwrap(), ["a", "b"]);
}

#[test]
fn a_packing_that_is_not_read_is_no_fault_of_the_file() {
    let told = open(golden("brotli.parquet"), &OpenOptions::default()).unwrap_err().to_string();
    assert!(told.contains("packed by Brotli") && told.contains("write it with zstd"), "{told}");
    assert!(!told.contains("not a valid"), "{told}");
}
