//! Hostile files: mutated valid ones and random bytes, through every reader. No panic, no allocation that the file
//! does not justify.
//!
//! `PARTITA_FUZZ_CASES` sets the number of cases per format (default 2,000), `PARTITA_FUZZ_SEED` the first seed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../../../../fuzz/src/memory.rs"]
mod memory;
mod mutate;

use mutate::Mutator;
use partita::rows::Rows;
use partita_data::safetensors_io::TensorFile;
use partita_data::{OpenOptions, open, read_labels, read_vector};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The largest single allocation that a file of a few kilobytes may cause: readers keep buffers of this order.
const LARGEST: usize = 32 << 20;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn golden(names: &[&str]) -> Vec<Vec<u8>> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    names.iter().map(|name| std::fs::read(directory.join(name)).unwrap()).collect()
}

/// Everything that a program would do with a given file.
fn use_file(path: &Path) {
    let options = OpenOptions { memory: 1 << 20, ..Default::default() };
    if let Ok(features) = open(path, &options) {
        let mut row = vec![0f32; features.m()];
        for start in [0, features.n() / 2, features.n() - 1] {
            features.read(start, &mut row).unwrap();
        }
        assert!(features.ids().is_none_or(|ids| ids.len() == features.n()));
        assert!(features.feature_names().is_none_or(|names| names.len() == features.m()));
        features.release();
    }
    let _ = read_labels(path);
    let _ = read_vector(path);
    let _ = TensorFile::read(path);
}

/// Run all cases of one format and name the seed of the first that fails.
fn fuzz(extension: &str, names: &[&str]) {
    let seeds = golden(names);
    let directory = tempfile::tempdir().unwrap();
    let first = setting("PARTITA_FUZZ_SEED", 0);
    for case in first..first + setting("PARTITA_FUZZ_CASES", 2_000) {
        let bytes = Mutator::new(case).file(&seeds);
        // A new name each time: some file systems wait for the disk when a file is overwritten.
        let path = directory.path().join(format!("{case}.{extension}"));
        std::fs::write(&path, &bytes).unwrap();
        memory::forget_largest();
        let outcome = catch_unwind(AssertUnwindSafe(|| use_file(&path)));
        let largest = memory::largest_of_this_thread();
        std::fs::remove_file(&path).unwrap();
        if outcome.is_err() || largest > LARGEST {
            let kept = std::env::temp_dir().join(format!("partita-fuzz-{case}.{extension}"));
            std::fs::write(&kept, &bytes).unwrap();
            panic!(
                "case {case} of {extension}: allocated {largest} bytes at once; kept as {}",
                kept.display()
            );
        }
    }
}

#[test]
fn npy() {
    fuzz(
        "npy",
        &["x.npy", "x_f2.npy", "x_fortran_f8.npy", "x_v2.npy", "int_be_i4.npy", "x_3d.npy", "vector.npy"],
    );
}

#[test]
fn npz() {
    fuzz("npz", &["x.npz", "x_packed.npz", "x_packed_fortran.npz"]);
}

#[test]
fn parquet() {
    let names = ["wide.parquet", "lists.parquet", "fixed.parquet", "wide_snappy.parquet", "half.parquet"];
    fuzz("parquet", &names);
}

#[test]
fn arrow_file() {
    fuzz("arrow", &["wide.arrow", "lists.arrow", "fixed.arrow"]);
}

#[test]
fn arrow_stream() {
    fuzz("arrows", &["fixed.arrows"]);
}

#[test]
fn safetensors() {
    fuzz("safetensors", &["x_f32.safetensors", "x_bf16.safetensors", "int.safetensors", "two.safetensors"]);
}

#[test]
fn text() {
    fuzz(
        "csv",
        &["plain.csv", "ids.csv", "quoted.csv", "pandas.csv", "windows.csv", "savetxt.txt", "header.tsv"],
    );
}

#[test]
fn idx() {
    fuzz("idx", &["x.idx", "int-idx3-ubyte"]);
}

#[test]
fn idx_gz() {
    fuzz("idx.gz", &["x.idx.gz", "int-idx3-ubyte.gz", "labels.idx.gz"]);
}
