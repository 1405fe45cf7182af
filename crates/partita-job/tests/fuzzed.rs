//! The seeds of the fuzz targets, and all files that once broke one, through the same functions that cargo-fuzz calls: no panic, and no
//! more memory than a small file justifies. `fuzz/seeds/TARGET` has a folder of seeds for every target; those whose name begins with
//! `found-` broke it once.
//!
//! `PARTITA_WRITE_SEEDS=1 cargo test --workspace --features partita-cli/deep,partita-python/deep --test fuzzed` writes the seeds again, for
//! example after the layout of models or checkpoints has changed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../../fuzz/src/memory.rs"]
mod memory;
#[path = "fuzzed/seeds.rs"]
mod seeds;
#[path = "../../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use targets::TARGETS;

/// Bytes of a seed at most; those of images packed into one file are larger.
const LARGEST_SEED: u64 = 16 << 10;

fn place(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target)
}

fn files(target: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(place(target)).unwrap_or_else(|e| panic!("seeds of {target}: {e}"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_seed_is_read_or_refused() {
    if std::env::var_os("PARTITA_WRITE_SEEDS").is_some() {
        seeds::write();
    }
    for (name, target) in TARGETS {
        let mut accepted = 0;
        for file in files(name) {
            let bytes = fs::read(&file).unwrap();
            memory::forget_largest();
            accepted += usize::from(target(&bytes));
            let largest = memory::largest_of_all_threads();
            assert!(largest <= memory::MOST, "{}: {largest} bytes at once", file.display());
        }
        assert!(
            accepted > 0,
            "no seed of {name} is accepted; write the seeds again (see the top of this file)"
        );
    }
}

#[test]
fn seeds_are_small_and_every_target_is_declared() {
    let manifest = fs::read_to_string(place("../Cargo.toml")).unwrap();
    let mut all = 0;
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is no target of cargo-fuzz");
        for file in files(name) {
            let size = file.metadata().unwrap().len();
            assert!(size <= LARGEST_SEED || name == "packed", "{} has {size} bytes", file.display());
            all += size;
        }
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    assert!(all < 1 << 19, "all seeds have {all} bytes");
}
