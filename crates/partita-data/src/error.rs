//! What can be wrong with a file, with the place where it was found and what to do next.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The formats that [`crate::open`] understands, for messages about files in any other format.
pub const SUPPORTED: &str = ".npy, .npz, .parquet, .arrow/.feather (Arrow IPC), .csv, .tsv, .txt (also .gz), .safetensors, .idx and .idx.gz";

/// A problem with a file of features or labels, or with writing one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused to open, map or read a file.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// A result could not be written. Whatever stood at the path before is untouched.
    #[error("cannot write {}: {source}; nothing was changed there", path.display())]
    Write {
        /// The file that was asked for.
        path: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// A file that another run writes to.
    #[error(
        "{} is in use by another run of Partita; wait until it ends, or name another file for this one", path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// Rows that do not fit in memory could not be put in a temporary file.
    #[error(
        "cannot keep the rows of {} in a temporary file under {}: {source}; \
         set TMPDIR to a directory with more space, or allow more memory", path.display(), directory.display()
    )]
    Scratch {
        /// The file being read.
        path: PathBuf,
        /// Where temporary files go.
        directory: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// Neither the extension nor the first bytes belong to a known format.
    #[error("{} is not in a known format ({found}); supported are {SUPPORTED}", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What it looks like.
        found: String,
    },
    /// A model of another kind than is needed.
    #[error("{} is {what}; {advice}", path.display())]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// What it holds.
        what: &'static str,
        /// What to do with it.
        advice: &'static str,
    },
    /// A file of a later version of Partita, with something that this one does not know.
    #[error(
        "{} was written by {written_by}, which knows {what}; this is version {}: update Partita",
        path.display(), env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version that wrote it, as far as the file says.
        written_by: String,
        /// What this version does not know.
        what: String,
    },
    /// The content contradicts itself or its format.
    #[error("{} is not a valid {format} file: {problem}; write or fetch the file again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The format it should have.
        format: &'static str,
        /// What is wrong, and where.
        problem: String,
    },
    /// The file ends before the data that its header promises.
    #[error(
        "{} is cut short: its {format} header promises {needed} bytes but there are {found}; \
         write or fetch the file again", path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: &'static str,
        /// Bytes that the header promises.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The array has no rows of features.
    #[error("{what} in {} has shape {shape:?}; {advice}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Which array.
        what: String,
        /// Its shape.
        shape: Vec<u64>,
        /// How to get the shape that is needed.
        advice: &'static str,
    },
    /// Values of a type that cannot be features or labels.
    #[error("{what} in {} holds {dtype}; {advice}", path.display())]
    Dtype {
        /// The file.
        path: PathBuf,
        /// Which array or column.
        what: String,
        /// Its type, in the format's own words.
        dtype: String,
        /// What would be accepted.
        advice: &'static str,
    },
    /// An array, tensor or column of this name does not exist.
    #[error("{} has no {kind} named '{name}'; it has {available}", path.display())]
    NoSuchName {
        /// The file.
        path: PathBuf,
        /// Array, tensor or column.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// The names that exist.
        available: String,
    },
    /// There are several candidates, or none, and no name was given.
    #[error("{} has {problem}; {advice} (it has {available})", path.display())]
    Choose {
        /// The file.
        path: PathBuf,
        /// Why no choice could be made.
        problem: String,
        /// How to make it.
        advice: &'static str,
        /// The names that exist.
        available: String,
    },
    /// A table without some of the columns that a model was fitted to.
    #[error("{} lacks {missing}, which the model was fitted to{meant}; give its columns these names (it has {available})", path.display())]
    OtherColumns {
        /// The file.
        path: PathBuf,
        /// The columns that are missing.
        missing: String,
        /// Which others may have been meant.
        meant: String,
        /// The names that exist.
        available: String,
    },
    /// A column that cannot hold what was asked of it.
    #[error("column '{column}' of {} {problem}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A line of text with too many or too few cells.
    #[error("line {line} of {} has {found} cells where {expected} are needed; correct that line", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Cells of this line.
        found: usize,
        /// Cells of the first line.
        expected: usize,
    },
    /// A cell of text that is not a number.
    #[error(
        "line {line}, column {column} of {} is {}, not a number; \
         correct it, leave the column out, or say that it is a category, or numbers, among which such cells are missing \
         (columns count from 1){}", path.display(), quote(cell), first_line(*line)
    )]
    NotNumeric {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Column, from 1, with its name if it has one.
        column: String,
        /// The cell.
        cell: String,
    },
    /// A cell of text that is not a date, in a column of dates.
    #[error(
        "line {line}, column {column} of {} is {}, not a date like the others; correct it, leave the column out, or say that it is a category, \
         or dates, among which such cells are missing (columns count from 1)", path.display(), quote(cell)
    )]
    NotDate {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Column, from 1, with its name.
        column: String,
        /// The cell.
        cell: String,
    },
    /// A list that is missing.
    #[error("row {row} of column '{column}' in {} has no list; leave such rows out first (rows count from 0)", path.display())]
    Null {
        /// The file.
        path: PathBuf,
        /// Row, from 0.
        row: u64,
        /// Column name.
        column: String,
    },
    /// There are no rows or no columns.
    #[error("{} has {rows} rows of {columns} features; give at least one row and one column", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// Number of rows.
        rows: u64,
        /// Number of columns.
        columns: u64,
    },
    /// A label that is not a whole number.
    #[error("the label of row {row} in {} is {value}; {advice} (rows count from 0)", path.display())]
    Label {
        /// The file.
        path: PathBuf,
        /// Row, from 0.
        row: usize,
        /// The label found.
        value: String,
        /// What would be accepted.
        advice: &'static str,
    },
    /// A request for rows beyond the end, or a buffer that does not hold whole rows.
    #[error("rows {start}..{} were asked for but there are {n}", start.saturating_add(*count))]
    RowRange {
        /// First row asked for.
        start: usize,
        /// Number of rows asked for.
        count: usize,
        /// Number of rows that exist.
        n: usize,
    },
    /// Two lengths that must agree do not.
    #[error("{what} has {found} entries where {expected} are needed")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length needed.
        expected: usize,
    },
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, DataError>;

impl From<DataError> for partita::Error {
    fn from(error: DataError) -> Self {
        partita::Error::Reader(Box::new(error))
    }
}

impl DataError {
    /// An `io::Error` met while doing `action` with the file at `path`.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }

    /// Content that contradicts the format.
    pub fn corrupt(path: &Path, format: &'static str, problem: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), format, problem: problem.into() }
    }
}

/// A cell as shown in a message: an empty one is called empty, a long one is cut.
fn quote(cell: &str) -> String {
    if cell.is_empty() {
        return "empty".into();
    }
    let short: String = cell.chars().take(40).collect();
    if short.len() < cell.len() { format!("'{short}…'") } else { format!("'{short}'") }
}

/// What else the first line may be.
fn first_line(line: u64) -> &'static str {
    if line == 1 { "; if the line names the columns, set the option header to yes" } else { "" }
}

/// Names as listed in a message; a long list is cut.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|n| format!("'{}'", n.as_ref())).collect();
    match names.len() {
        0 => "none".into(),
        n if n > SHOWN => format!("{} and {} more", shown.join(", "), n - SHOWN),
        _ => shown.join(", "),
    }
}
