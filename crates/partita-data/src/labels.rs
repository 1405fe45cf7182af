//! Labels: one class for every row, from arrays or from a column of a table.

use crate::dtype::Encoding;
use crate::error::{DataError, Result};
use crate::npy::Header;
use crate::open::{Format, identify};
use crate::{idx, mapped, parquet, table};
use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

/// Names of the column that holds the labels, where a table has several columns.
pub(crate) const LABEL_COLUMNS: [&str; 7] =
    ["label", "labels", "class", "cluster", "target", "y", "category"];
const ADVICE: &str = "labels are whole numbers from 0, or text; -1 or an empty cell means unknown";

/// The class of every row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// Class of each row; -1 means unknown.
    pub values: Vec<i64>,
    /// Name of each class where labels were text: class `k` is called `names[k]`. Sorted.
    pub names: Option<Vec<String>>,
}

impl Labels {
    /// Number of classes, counting those without rows: one more than the largest label.
    pub fn classes(&self) -> usize {
        let named = self.names.as_ref().map_or(0, Vec::len);
        let largest = self.values.iter().copied().max().unwrap_or(-1);
        named.max(usize::try_from(largest + 1).unwrap_or(0))
    }
}

/// Read labels from a `.npy` vector, a column of a text or Parquet table, or an idx file.
///
/// Of a table with several columns, the one called label, class, cluster, target or y is taken, otherwise the last.
pub fn read_labels(path: impl AsRef<Path>) -> Result<Labels> {
    let path = path.as_ref();
    let (file, format) = identify(path)?;
    match format {
        Format::Npy => from_npy(path, &file),
        Format::Text => from_text(path, &file),
        Format::Idx => idx::read_labels(path, &file, false),
        Format::IdxGz => idx::read_labels(path, &file, true),
        Format::Parquet => parquet::read_labels(path, file),
        Format::Npz | Format::ArrowFile | Format::ArrowStream | Format::Safetensors => {
            Err(DataError::UnknownFormat {
                path: path.to_owned(),
                found: "labels are not read from it".into(),
            })
        }
    }
}

/// Whole numbers, checked; floats must be integral and NaN means unknown.
pub(crate) fn from_f64(path: &Path, values: &[f64]) -> Result<Labels> {
    let whole = |(row, &v): (usize, &f64)| match v {
        v if v.is_nan() => Ok(-1),
        v if v.fract() == 0.0 && v.abs() < 9e15 => Ok(v as i64),
        v => Err(bad(path, row, v.to_string())),
    };
    from_i64(path, values.iter().enumerate().map(whole).collect::<Result<_>>()?)
}

/// Whole numbers, checked: nothing below -1, and at least one row.
pub(crate) fn from_i64(path: &Path, values: Vec<i64>) -> Result<Labels> {
    if values.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 1 });
    }
    match values.iter().position(|v| !(-1..1 << 53).contains(v)) {
        Some(row) => Err(bad(path, row, values[row].to_string())),
        None => Ok(Labels { values, names: None }),
    }
}

/// Numbers where every cell is one, otherwise names.
pub(crate) fn from_cells(path: &Path, cells: &[String]) -> Result<Labels> {
    let number = |cell: &String| if cell.is_empty() { Some(f64::NAN) } else { cell.parse::<f64>().ok() };
    if let Some(values) = cells.iter().map(number).collect::<Option<Vec<f64>>>() {
        return from_f64(path, &values);
    }
    let unknown = |cell: &str| cell.is_empty() || cell == "-1";
    let mut names: Vec<String> = cells.iter().filter(|c| !unknown(c)).cloned().collect();
    names.sort_unstable();
    names.dedup();
    let class = |cell: &String| names.binary_search(cell).map_or(-1, |k| k as i64);
    let values = cells.iter().map(class).collect();
    Ok(Labels { values, names: Some(names) })
}

fn bad(path: &Path, row: usize, value: String) -> DataError {
    DataError::Label { path: path.to_owned(), row, value, advice: ADVICE }
}

fn from_npy(path: &Path, file: &File) -> Result<Labels> {
    let map = mapped::map(path, file)?;
    let header = Header::read(path, &mut &map[..])?;
    let values = header.check_size(path, map.len() as u64)?;
    let bytes = &map[header.len..header.len + values * header.encoding.size()];
    from_array(path, header.encoding, &header.shape, bytes)
}

/// A vector, or a matrix of one column, of whole numbers.
pub(crate) fn from_array(path: &Path, encoding: Encoding, shape: &[u64], bytes: &[u8]) -> Result<Labels> {
    if shape.is_empty() || shape[1..].iter().any(|&d| d != 1) {
        return Err(DataError::Shape {
            path: path.to_owned(),
            what: "the array".into(),
            shape: shape.to_vec(),
            advice: "labels are one number for every row: save a vector",
        });
    }
    match encoding.to_i64(bytes) {
        Some(values) => from_i64(path, values),
        None => from_f64(path, &encoding.to_f64(bytes)),
    }
}

fn from_text(path: &Path, file: &File) -> Result<Labels> {
    let map = mapped::map(path, file)?;
    let text = &map[table::skip_preamble(&map)..];
    let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let text = &*with_empty_cells(text, line);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(table::delimiter(line))
        .trim(csv::Trim::All)
        .from_reader(text);
    let mut records = reader.records().map(|r| r.map_err(|e| text_error(path, &e)));
    let first = cells(records.next().transpose()?);
    let second = records.next().transpose()?.map(|r| cells(Some(r)));
    let column = label_column(&first).unwrap_or(first.len().saturating_sub(1));
    let mut found = Vec::new();
    if label_column(&first).is_none() && !table::is_header(&first, second.as_deref()) {
        found.extend(first.get(column).cloned());
    }
    found.extend(second.and_then(|mut s| s.get_mut(column).map(std::mem::take)));
    for record in records {
        found.push(record?.get(column).unwrap_or_default().to_owned());
    }
    if found.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: first.len() as u64 });
    }
    from_cells(path, &found)
}

/// Text whose blank lines are cells, where there is only one column: the label of that row is unknown. Blank lines at
/// the end are not rows.
fn with_empty_cells<'a>(text: &'a [u8], first_line: &[u8]) -> Cow<'a, [u8]> {
    let text = text.trim_ascii_end();
    let one_column = !first_line.iter().any(|b| b",;\t ".contains(b));
    let blank = |line: &[u8]| line.trim_ascii().is_empty();
    if !one_column || !text.split(|&b| b == b'\n').any(blank) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&[u8]> =
        text.split(|&b| b == b'\n').map(|line| if blank(line) { b"\"\"" } else { line }).collect();
    Cow::Owned(lines.join(&b'\n'))
}

fn cells(record: Option<csv::StringRecord>) -> Vec<String> {
    record.map(|r| r.iter().map(str::to_owned).collect()).unwrap_or_default()
}

/// The column that names itself as the labels.
pub(crate) fn label_column<S: AsRef<str>>(names: &[S]) -> Option<usize> {
    LABEL_COLUMNS.iter().find_map(|l| names.iter().position(|n| n.as_ref().eq_ignore_ascii_case(l)))
}

fn text_error(path: &Path, error: &csv::Error) -> DataError {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => DataError::Ragged {
            path: path.to_owned(),
            line: pos.as_ref().map_or(0, csv::Position::line),
            found: *len as usize,
            expected: *expected_len as usize,
        },
        _ => DataError::corrupt(path, "text table", error.to_string()),
    }
}
