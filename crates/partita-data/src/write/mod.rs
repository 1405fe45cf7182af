//! Writing results: whole or not at all.

mod atomic;
mod labels_csv;
mod leave;
mod lock;
mod named_rows;
#[cfg(unix)]
mod names;
mod npy;
mod together;

pub use atomic::AtomicFile;
pub use labels_csv::{csv_cell, labels_csv, name_cell};
pub use leave::leave;
pub use lock::{FileLock, locked};
pub use named_rows::{ParquetRows, RowNames, names_csv};
pub use npy::{NpyWriter, npy_i32, write_npy_f32_2d, write_npy_i32};
pub use together::{CompleteFile, appear_together};
