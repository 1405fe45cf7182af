//! A function for every kind of file that a user may give: it reads the bytes as the program would, and uses what it read. It returns
//! whether the file was accepted. Nothing may panic, hang, or take memory that the bytes do not justify.
//!
//! cargo-fuzz calls these functions with bytes of its own making, and an ordinary test with all seeds (`partita-job/tests/fuzzed.rs`).
//! Where a reader has options, the first byte chooses them.

mod arrays;
mod beside;
mod models;
mod networks;
mod tables;
mod texts;

pub use arrays::{idx, npy, npz, safetensors};
pub use beside::{join, labels, spec, vectors};
pub use models::{checkpoint, model};
pub use networks::{network_checkpoint, network_model, packed, picture, torch};
pub use tables::{arrow, parquet, text};
pub use texts::texts;

#[cfg(test)]
pub use models::{fit_with_checkpoint, small_models};
#[cfg(test)]
pub use networks::train_with_checkpoint;

use flate2::Crc;
use partita::rows::Rows;
use partita_data::{OpenOptions, open};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// A target: whether the bytes were accepted.
pub type Target = fn(&[u8]) -> bool;

/// All targets by name.
pub const TARGETS: [(&str, Target); 19] = [
    ("npy", npy),
    ("npz", npz),
    ("idx", idx),
    ("safetensors", safetensors),
    ("text", text),
    ("parquet", parquet),
    ("arrow", arrow),
    ("texts", texts),
    ("labels", labels),
    ("join", join),
    ("vectors", vectors),
    ("spec", spec),
    ("model", model),
    ("network_model", network_model),
    ("checkpoint", checkpoint),
    ("network_checkpoint", network_checkpoint),
    ("torch", torch),
    ("picture", picture),
    ("packed", packed),
];

/// Where files are made: where `fuzz/run` says, or in memory, where that is a place. A file on disk for every execution would wear out the disk.
fn place() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match std::env::var_os("TMPDIR") {
        Some(said) => said.into(),
        None if memory.is_dir() => memory.to_owned(),
        None => std::env::temp_dir(),
    }
}

/// A file with these bytes, which is removed when it is dropped.
fn file(ending: &str, bytes: &[u8]) -> NamedTempFile {
    let made = tempfile::Builder::new().prefix("partita-fuzz-").suffix(ending).tempfile_in(place());
    let mut file = made.expect("a temporary file");
    file.write_all(bytes).expect("bytes in a temporary file");
    file
}

/// A folder that is removed when it is dropped.
fn folder() -> TempDir {
    tempfile::Builder::new().prefix("partita-fuzz-").tempdir_in(place()).expect("a temporary folder")
}

/// The bytes as gzip: changed bytes of a packed file rarely get past its checksum. They are stored, not made smaller, because a compressor
/// takes longer to set up than the file takes to read.
fn packed_as_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    let mut blocks = bytes.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        let size = block.len() as u16;
        packed.push(u8::from(blocks.peek().is_none()));
        packed.extend([size.to_le_bytes(), (!size).to_le_bytes()].as_flattened());
        packed.extend(block);
    }
    if bytes.is_empty() {
        packed.extend(*b"\x01\0\0\xff\xff");
    }
    let mut sum = Crc::new();
    sum.update(bytes);
    packed.extend([sum.sum().to_le_bytes(), sum.amount().to_le_bytes()].as_flattened());
    packed
}

/// The first byte, which chooses options, and the rest.
fn chosen(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}

/// Open features and read some of their rows.
fn features(ending: &str, bytes: &[u8], options: OpenOptions) -> bool {
    let file = file(ending, bytes);
    let options = OpenOptions { memory: 1 << 20, ..options };
    let Ok(features) = open(file.path(), &options) else { return false };
    let mut row = vec![0f32; features.m()];
    for start in [0, features.n() / 2, features.n() - 1] {
        features.read(start, &mut row).expect("rows of an open file");
    }
    assert!(features.ids().is_none_or(|ids| ids.len() == features.n()));
    assert!(features.feature_names().is_none_or(|names| names.len() == features.m()));
    features.release();
    true
}
