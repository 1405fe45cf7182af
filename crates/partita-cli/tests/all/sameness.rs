//! What must not matter: threads, formats, the memory budget, the scale and the origin of the features.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, csv_text};
use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use partita_data::model_file::{ModelFile, Names};
use partita_data::{DIGITS_FEATURES, digits};
use std::fs::{self, File};
use std::process::Stdio;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

const FIT: &str = "-k 10 --restarts 2 -o m.safetensors --labels-out l.csv";

/// The bytes of the model and of the labels of a fit.
fn fitted(lab: &Lab, arguments: &str) -> (Vec<u8>, Vec<u8>) {
    lab.succeed(&format!("fit {arguments} {FIT}"));
    (lab.read("m.safetensors"), lab.read("l.csv"))
}

/// The clusters alone.
fn clusters(lab: &Lab, arguments: &str) -> Vec<String> {
    fitted(lab, arguments);
    lab.table("l.csv").into_iter().map(|line| line[1].clone()).collect()
}

fn write_parquet(lab: &Lab, name: &str, rows: &[f32], m: usize) {
    let column = |j: usize| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(rows.iter().skip(j).step_by(m).copied()))
    };
    let batch = RecordBatch::try_from_iter((0..m).map(|j| (format!("f{j}"), column(j)))).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(lab.path(name)).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn threads_and_memory_do_not_change_a_bit() {
    let lab = Lab::with_digits();
    let expected = fitted(&lab, "x.npy --threads 1");
    assert_eq!(fitted(&lab, "x.npy --threads 2"), expected);
    assert_eq!(fitted(&lab, "x.npy --threads 2 --memory 1K"), expected);
    assert_eq!(fitted(&lab, "x.npy --threads 1 --memory 0"), expected);
    assert_ne!(fitted(&lab, "x.npy --seed 4").0, expected.0, "the seed should matter");
}

/// If a reader started its own threads, they would stay to the end, and the variable would set their number.
#[cfg(target_os = "linux")]
#[test]
fn a_table_is_read_by_the_threads_asked_for() {
    let lab = Lab::new();
    lab.write("x.csv", csv_text(&digits().0, DIGITS_FEATURES));
    let mut command = lab.command("fit x.csv -k 10 --threads 1");
    let mut child = command.env("RAYON_NUM_THREADS", "37").stdout(Stdio::null()).spawn().unwrap();
    let (tasks, mut most) = (format!("/proc/{}/task", child.id()), 0);
    while child.try_wait().unwrap().is_none() {
        most = most.max(fs::read_dir(&tasks).map_or(0, Iterator::count));
        sleep(Duration::from_millis(1));
    }
    assert!((1..37).contains(&most), "{most} threads");
}

#[test]
fn formats_do_not_change_a_bit() {
    let lab = Lab::with_digits();
    // Thirds are not exact in binary or decimal, so a reader that rounds twice would be noticed.
    let rows: Vec<f32> = digits().0.iter().map(|v| v / 3.0).collect();
    lab.npy("x.npy", &rows, DIGITS_FEATURES);
    lab.write("x.csv", csv_text(&rows, DIGITS_FEATURES));
    write_parquet(&lab, "x.parquet", &rows, DIGITS_FEATURES);
    let expected = fitted(&lab, "x.npy");
    for other in ["x.csv", "x.parquet", "x.csv --memory 1K", "x.parquet --memory 1K"] {
        let (named, labels) = fitted(&lab, other);
        assert!((without_names(&lab, &named), labels) == expected, "{other}");
    }
}

/// A model as it would be without the names of its columns, which only tables have.
fn without_names(lab: &Lab, model: &[u8]) -> Vec<u8> {
    lab.write("named.safetensors", model);
    let file = ModelFile::read(lab.path("named.safetensors")).unwrap();
    assert!(!file.names.columns.is_empty());
    ModelFile { names: Names::default(), ..file }.write(lab.path("plain.safetensors")).unwrap();
    lab.read("plain.safetensors")
}

fn same_labels_when_multiplied_by(factors: &[f32]) {
    let lab = Lab::with_digits();
    let expected = clusters(&lab, "x.npy");
    for factor in factors {
        let scaled: Vec<f32> = digits().0.iter().map(|v| v * factor).collect();
        lab.npy("scaled.npy", &scaled, DIGITS_FEATURES);
        let found = clusters(&lab, "scaled.npy");
        let different = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
        assert_eq!(different, 0, "labels changed when features were multiplied by {factor}");
    }
}

#[test]
fn a_common_scale_by_a_power_of_two_does_not_change_labels() {
    same_labels_when_multiplied_by(&[1024.0, 1.0 / 4096.0]);
}

#[test]
fn a_common_scale_does_not_change_labels() {
    same_labels_when_multiplied_by(&[1000.0, 0.1]);
}

#[test]
fn a_shift_of_the_features_does_not_change_labels() {
    let lab = Lab::with_digits();
    let expected = clusters(&lab, "x.npy");
    let shift = |j: usize| ((j * 37) % 101) as f32 - 50.0;
    let shifted: Vec<f32> = digits()
        .0
        .chunks(DIGITS_FEATURES)
        .flat_map(|row| row.iter().enumerate().map(|(j, v)| v + shift(j)))
        .collect();
    lab.npy("shifted.npy", &shifted, DIGITS_FEATURES);
    assert_eq!(clusters(&lab, "shifted.npy"), expected);
}
