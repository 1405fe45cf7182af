//! Short vectors of numbers, such as a prior over the clusters.

use crate::cells::{self, Cells, Choose};
use crate::disk::open_source;
use crate::error::{DataError, Result};
use crate::ids::Ids;
use crate::labels::no_columns;
use crate::npy::Header;
use crate::open::{Format, identify};
use crate::source::Source;
use crate::texts::json_cells;
use crate::{mapped, parquet};
use std::path::Path;

/// Names of the column that holds the weights, where a table has several columns.
const WEIGHT_COLUMNS: [&str; 4] = ["weight", "weights", "sample_weight", "w"];

/// Read numbers from a `.npy` vector, or from text where they are separated by commas, semicolons or space.
///
/// A first line of text without numbers is taken as a header.
pub fn read_vector(path: impl AsRef<Path>) -> Result<Vec<f64>> {
    let path = path.as_ref();
    let file = open_source(path)?;
    let len = file.metadata().map_err(DataError::io(path, "open"))?.len();
    if len == 0 {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 1 });
    }
    let map = mapped::map(path, &file)?;
    let values = if map.starts_with(b"\x93NUMPY") { from_npy(path, &map)? } else { from_text(path, &map)? };
    if values.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 1 });
    }
    Ok(values)
}

/// Weights with where they are from.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightTable {
    /// The weight of each row.
    pub values: Vec<f64>,
    /// The column that they are from, where the table has several.
    pub column: Option<String>,
    /// The names of the rows, where the table has them.
    pub ids: Option<Ids>,
    /// What a user should know about how the file was read.
    pub notes: Vec<String>,
}

/// Read weights: as [`read_vector`], or from a column of a text or Parquet table, which is the one that is asked for, or is called weight, or
/// is the last.
pub fn read_weights(source: &Source) -> Result<WeightTable> {
    let path = &*source.path;
    let choose = Choose { called: &WEIGHT_COLUMNS, ..Choose::of(source) };
    let cells = match identify(path) {
        Ok((file, Format::Parquet)) => parquet::read_cells(path, file, choose)?,
        Ok((file, format @ (Format::JsonLines | Format::JsonLinesGz))) => {
            json_cells(path, &file, format == Format::JsonLinesGz, choose)?
        }
        Ok((file, format @ (Format::Text | Format::TextGz))) => {
            let packed = format == Format::TextGz;
            let header = source.header.unwrap_or_else(|| cells::has_named_columns(path, &file));
            let named = source.column.is_some() || packed || header;
            if !named {
                return Ok(without_columns(read_vector(path)?));
            }
            cells::from_text(path, &file, packed, choose)?
        }
        Ok(_) if source.column.is_some() => return Err(no_columns(path)),
        _ => return Ok(without_columns(read_vector(path)?)),
    };
    let Cells { column, cells, ids, mut notes } = cells;
    let number = |(row, cell): (usize, &String)| {
        cell.parse::<f64>().map_err(|_| DataError::Column {
            path: path.to_owned(),
            column: column.clone().unwrap_or_default(),
            problem: format!("is '{cell}' in row {row}, where weights are numbers (rows count from 0)"),
        })
    };
    let values = cells.iter().enumerate().map(number).collect::<Result<_>>()?;
    if let Some(column) = column.as_ref().filter(|_| source.column.is_none()) {
        notes.push(format!("weights are taken from column '{column}'"));
    }
    Ok(WeightTable { values, column, ids, notes })
}

fn without_columns(values: Vec<f64>) -> WeightTable {
    WeightTable { values, column: None, ids: None, notes: Vec::new() }
}

fn from_npy(path: &Path, bytes: &[u8]) -> Result<Vec<f64>> {
    let header = Header::read(path, &mut &*bytes)?;
    if header.shape.iter().filter(|&&d| d != 1).count() > 1 {
        return Err(DataError::Shape {
            path: path.to_owned(),
            what: "the array".into(),
            shape: header.shape,
            advice: "a vector is needed: save one dimension",
        });
    }
    let values = header.check_size(path, bytes.len() as u64)?;
    Ok(header.encoding.to_f64(&bytes[header.len..header.len + values * header.encoding.size()]))
}

fn from_text(path: &Path, bytes: &[u8]) -> Result<Vec<f64>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| DataError::corrupt(path, "text", format!("byte {} is not text", e.valid_up_to())))?;
    let mut values = Vec::new();
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let words: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']'))
            .filter(|w| !w.is_empty())
            .collect();
        if line.starts_with('#') || (i == 0 && words.iter().all(|w| w.parse::<f64>().is_err())) {
            continue;
        }
        for (j, word) in words.iter().enumerate() {
            values.push(word.parse().map_err(|_| DataError::NotNumeric {
                path: path.to_owned(),
                line: i as u64 + 1,
                column: (j + 1).to_string(),
                cell: (*word).to_owned(),
            })?);
        }
    }
    Ok(values)
}
