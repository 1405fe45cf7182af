//! Writing results: whole or not at all.

mod atomic;
mod labels_csv;
mod npy;

pub use atomic::AtomicFile;
pub use labels_csv::{csv_cell, name_cell, write_labels_csv};
pub use npy::{NpyWriter, write_npy_f32_2d, write_npy_i32};
