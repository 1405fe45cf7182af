//! Readers, writers and synthetic sets for Partita.
//!
//! [`open`] reads features from any supported file; the result is rows of `f32`, in memory or left in the file, that
//! every fit of `partita` takes. Nothing in a file can make a reader panic or allocate more than the file justifies.
//!
//! - [`Features`], [`open`], [`OpenOptions`]: rows of features.
//! - [`Frame`]: a table with columns of numbers, categories and dates; [`Role`]: what a column is said to be.
//! - [`Texts`], [`read_texts`]: texts in lines, tables and JSON lines.
//! - [`Columns`]: which columns of a table are features; [`Ids`]: the names of its rows.
//! - [`Labels`], [`read_labels`], [`read_vector`], [`read_weights`]: what may come beside them; [`Source`]: a column of a file.
//! - [`AtomicFile`], [`NpyWriter`], the `write_…` functions and [`safetensors_io`]: results, written whole or not at
//!   all.
//! - [`model_file`], [`versions`]: models, and files of other versions of Partita.
//! - [`Fingerprint`]: what went into a run, as a number.
//! - [`synth`], [`digits`]: data for tests and first steps.

mod arrays;
mod arrow_ipc;
mod cells;
mod classes;
mod column;
mod columns;
mod csv;
mod dates;
mod digits;
mod disk;
mod dressed;
mod dtype;
mod error;
mod features;
mod fingerprint;
mod frame;
mod guard;
mod ids;
mod idx;
mod labels;
mod levels;
mod mapped;
mod memory;
pub mod model_file;
mod naming;
mod npy;
mod npz;
mod open;
mod open_texts;
mod options;
mod parquet;
mod role;
mod roles;
mod safetensors;
pub mod safetensors_io;
mod schema;
mod sink;
mod source;
mod stream;
pub mod synth;
mod table;
mod text;
mod texts;
mod vector;
pub mod versions;
mod write;

pub use classes::{Labels, called};
pub use dates::civil;
pub use digits::{DIGITS_FEATURES, DIGITS_ROWS, digits};
pub use disk::{STANDARD_INPUT, open_regular};
pub use error::{DataError, Result, SUPPORTED};
pub use features::Features;
pub use fingerprint::Fingerprint;
pub use frame::{Cells, Frame, FrameColumn};
pub use guard::unpanicked;
pub use ids::Ids;
pub use labels::{LabelTable, read_label_table, read_labels};
pub use levels::Levels;
pub use open::open;
pub use open_texts::{holds_lines, read_texts};
pub use options::OpenOptions;
pub use role::Role;
pub use schema::{ColumnKind, Columns, LeftOut, Why};
pub use source::Source;
pub use texts::{TextOptions, TextTable, Texts};
pub use vector::{WeightTable, read_vector, read_weights};
pub use write::{
    AtomicFile, CompleteFile, FileLock, NpyWriter, ParquetRows, RowNames, appear_together, csv_cell,
    labels_csv, leave, locked, name_cell, names_csv, npy_i32, write_npy_f32_2d, write_npy_i32,
};
