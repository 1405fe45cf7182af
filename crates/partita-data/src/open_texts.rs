//! Opening texts: which reader a file is for.

use crate::error::{DataError, Result};
use crate::open::{Format, identify};
use crate::texts::{TextOptions, TextTable, are_lines, read_json, read_plain};
use crate::{arrow_ipc, parquet};
use std::path::Path;

/// Read the texts of a file: JSON lines (`.jsonl`, `.ndjson`), a column of a table (text, Parquet or Arrow), or else a text in each line. Text files may be
/// packed by gzip.
///
/// # Errors
/// If the file cannot be read, has no such column, or holds broken JSON, which is named by line and byte.
pub fn read_texts(path: impl AsRef<Path>, options: &TextOptions) -> Result<TextTable> {
    let path = path.as_ref();
    let (file, format) = identify(path)?;
    let table = match format {
        Format::JsonLines => read_json(path, &file, false, options),
        Format::JsonLinesGz => read_json(path, &file, true, options),
        Format::Text => read_plain(path, &file, false, options),
        Format::TextGz => read_plain(path, &file, true, options),
        Format::Parquet => parquet::read_texts(path, file, options),
        Format::ArrowFile => arrow_ipc::read_texts(path, &file, true, options),
        Format::ArrowStream => arrow_ipc::read_texts(path, &file, false, options),
        _ => Err(DataError::UnknownFormat {
            path: path.to_owned(),
            found: "texts are read from .txt, .jsonl, text tables, Parquet and Arrow".into(),
        }),
    }?;
    if table.texts.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 1 });
    }
    Ok(table)
}

/// Whether a file without a column of texts holds one in each line: it is no array, and its first lines are no table of numbers.
///
/// # Errors
/// If the file cannot be read.
pub fn holds_lines(path: impl AsRef<Path>) -> Result<bool> {
    let path = path.as_ref();
    let (file, format) = identify(path)?;
    match format {
        Format::Text => are_lines(path, &file, false),
        Format::TextGz => are_lines(path, &file, true),
        other => Ok(matches!(other, Format::JsonLines | Format::JsonLinesGz)),
    }
}
