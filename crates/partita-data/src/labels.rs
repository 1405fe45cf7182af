//! Reading labels from arrays, or from a column of a table.

use crate::cells::{self, Cells, Choose};
use crate::classes::{LABEL_COLUMNS, Labels, from_array, from_cells};
use crate::error::{DataError, Result};
use crate::ids::Ids;
use crate::npy::Header;
use crate::open::{Format, identify};
use crate::source::Source;
use crate::texts::json_cells;
use crate::{idx, mapped, parquet};
use std::fs::File;
use std::path::Path;

/// Labels with where they are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelTable {
    /// The labels.
    pub labels: Labels,
    /// The column that they are from, where the table has several.
    pub column: Option<String>,
    /// The names of the rows, where the table has them.
    pub ids: Option<Ids>,
    /// What a user should know about how the file was read.
    pub notes: Vec<String>,
}

/// Read labels from a `.npy` vector, a column of a text or Parquet table, a field of JSON lines, or an idx file.
///
/// Of a table with several columns, the one called label, class, cluster, target, y or the like is taken, otherwise the last.
/// Labels are all numbers or all words; an empty cell, NA, N/A, nan, null, ? and -1 mean unknown. In a single column a blank
/// line is an empty cell.
pub fn read_labels(path: impl AsRef<Path>) -> Result<Labels> {
    let path = path.as_ref().to_owned();
    Ok(read_label_table(&Source { path, column: None, header: None }, None)?.labels)
}

/// The same for a column that may be named, with the names of the rows. If there should be labels of `rows` rows, that helps to
/// tell whether a first line of words is a header.
///
/// # Errors
/// If the file cannot be read, or the column holds no labels: as many different ones as rows.
pub fn read_label_table(source: &Source, rows: Option<usize>) -> Result<LabelTable> {
    let path = &*source.path;
    let (file, format) = identify(path)?;
    let choose = Choose { called: &LABEL_COLUMNS, rows, ..Choose::of(source) };
    match format {
        Format::Text | Format::TextGz => {
            interpreted(path, cells::from_text(path, &file, format == Format::TextGz, choose)?, source)
        }
        Format::Parquet => interpreted(path, parquet::read_cells(path, file, choose)?, source),
        Format::JsonLines | Format::JsonLinesGz => {
            interpreted(path, json_cells(path, &file, format == Format::JsonLinesGz, choose)?, source)
        }
        _ if source.column.is_some() => Err(no_columns(path)),
        Format::Npy => Ok(plain(from_npy(path, &file)?)),
        Format::Idx => Ok(plain(idx::read_labels(path, &file, false)?)),
        Format::IdxGz => Ok(plain(idx::read_labels(path, &file, true)?)),
        Format::Npz | Format::ArrowFile | Format::ArrowStream | Format::Safetensors => {
            Err(DataError::UnknownFormat {
                path: path.to_owned(),
                found: "labels are not read from it".into(),
            })
        }
    }
}

/// The error for a column of a file without columns.
pub(crate) fn no_columns(path: &Path) -> DataError {
    let found = "it has no columns by name; leave the column out, or give a text table or Parquet".into();
    DataError::UnknownFormat { path: path.to_owned(), found }
}

fn plain(labels: Labels) -> LabelTable {
    LabelTable { labels, column: None, ids: None, notes: Vec::new() }
}

fn interpreted(path: &Path, cells: Cells, source: &Source) -> Result<LabelTable> {
    let Cells { column, cells, ids, mut notes } = cells;
    let labels = from_cells(path, &cells).map_err(|error| in_column(error, column.as_deref()))?;
    if let Some(column) = column.as_ref().filter(|_| source.column.is_none()) {
        if labels.is_different_everywhere() {
            return Err(DataError::Column {
                path: path.to_owned(),
                column: column.clone(),
                problem: "was taken for the labels, but is different in every row; name the column of the labels after \
                          the file and a colon"
                    .to_owned(),
            });
        }
        notes.push(format!("labels are taken from column '{column}'"));
    }
    Ok(LabelTable { labels, column, ids, notes })
}

/// An error about a label, with the column that it is from.
fn in_column(error: DataError, column: Option<&str>) -> DataError {
    match (error, column) {
        (DataError::Label { path, row, value, advice }, Some(column)) => {
            DataError::Label { path, row, value: format!("{value} (column '{column}')"), advice }
        }
        (error, _) => error,
    }
}

fn from_npy(path: &Path, file: &File) -> Result<Labels> {
    let map = mapped::map(path, file)?;
    let header = Header::read(path, &mut &map[..])?;
    let values = header.check_size(path, map.len() as u64)?;
    let bytes = &map[header.len..header.len + values * header.encoding.size()];
    from_array(path, header.encoding, &header.shape, bytes)
}
