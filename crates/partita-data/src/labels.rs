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

const NO_NUMBER: &str = "those before it are numbers; make all of them numbers or all words (empty, NA, N/A, nan, null and ? mean unknown)";
const NO_WORD: &str = "those before it are words; make all of them numbers or all words (empty, NA, N/A, nan, null, ? and -1 mean unknown)";

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
/// Of a table with several columns, the one called label, class, cluster, target or y is taken, otherwise the last. Labels
/// are all numbers or all words; an empty cell, NA, N/A, nan, null, ? and -1 mean unknown. In a single column a blank line
/// is an empty cell.
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

/// Cells that stand for an unknown label, besides those that are empty.
const UNKNOWN: [&str; 6] = ["NA", "N/A", "nan", "NaN", "null", "?"];

fn is_unknown(cell: &str) -> bool {
    cell.is_empty() || UNKNOWN.contains(&cell)
}

/// Whether a cell is a label, be the others numbers or words.
fn is_known(cell: &str) -> bool {
    !is_unknown(cell) && cell != "-1"
}

/// The number in a cell. Words that Rust would take for numbers, such as infinity, are names.
fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|_| cell.bytes().any(|b| b.is_ascii_digit()))
}

/// Numbers or names; a mixture of both is more likely a slip than meant.
pub(crate) fn from_cells(path: &Path, cells: &[String]) -> Result<Labels> {
    let known = || cells.iter().enumerate().filter(|(_, cell)| is_known(cell));
    let mut numeric = known().map(|(row, cell)| (row, number(cell).is_some()));
    let numbers = numeric.next().is_none_or(|(_, number)| number);
    if let Some((row, _)) = numeric.find(|(_, number)| *number != numbers) {
        let advice = if numbers { NO_NUMBER } else { NO_WORD };
        return Err(DataError::Label {
            path: path.to_owned(),
            row,
            value: format!("'{}'", cells[row]),
            advice,
        });
    }
    if numbers {
        let values: Vec<f64> = cells.iter().map(|cell| number(cell).unwrap_or(f64::NAN)).collect();
        return from_f64(path, &values);
    }
    let mut names: Vec<String> = known().map(|(_, cell)| cell.clone()).collect();
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
    let text = Table::new(path, &map[table::skip_preamble(&map)..])?;
    let (first, mut second) = text.first_two()?;
    let (named, last) = (label_column(&first), first.len().saturating_sub(1));
    let mut column = named.unwrap_or(last);
    let mut found = text.column(column)?;
    // An unknown label says nothing about the first line, so the next known one is asked.
    if let Some(cell) = second.as_mut().and_then(|cells| cells.get_mut(column)) {
        *cell = found.iter().skip(1).find(|cell| is_known(cell)).cloned().unwrap_or_default();
    }
    let header =
        table::is_header(&first, second.as_deref()) || named.is_some_and(|at| names_once(&first[at], &found));
    if !header && column != last {
        column = last;
        found = text.column(column)?;
    }
    // The first label may be unknown, as any other.
    if header && first.get(column).is_some_and(|cell| !is_unknown(cell)) {
        found.remove(0);
    }
    if found.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: first.len() as u64 });
    }
    from_cells(path, &found)
}

/// Whether the first cell is a header: as a label it would occur again, as `y` does among `y` and `n`.
fn names_once(header: &str, column: &[String]) -> bool {
    !column[1..].iter().any(|cell| cell.eq_ignore_ascii_case(header))
}

/// Text with its delimiter.
struct Table<'a> {
    path: &'a Path,
    text: Cow<'a, [u8]>,
    delimiter: u8,
}

impl<'a> Table<'a> {
    fn new(path: &'a Path, text: &'a [u8]) -> Result<Self> {
        let mut lines = text.split(|&b| b == b'\n').filter(|line| !is_blank(line));
        let Some(line) = lines.next() else {
            return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 0 });
        };
        // Names of classes have spaces too: only numbers are split there.
        let delimiter = match table::delimiter(line) {
            b' ' if ![Some(line), lines.next()].into_iter().flatten().any(is_numbers) => b',',
            found => found,
        };
        let table = Self { path, text: Cow::Borrowed(text), delimiter };
        let text = match table.records().next().transpose()? {
            Some(record) if record.len() == 1 => with_empty_cells(text),
            _ => Cow::Borrowed(without_blank_end(text, delimiter)),
        };
        Ok(Self { text, ..table })
    }

    fn records(&self) -> impl Iterator<Item = Result<csv::StringRecord>> + '_ {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(self.delimiter)
            .trim(csv::Trim::All)
            .from_reader(&*self.text);
        reader.into_records().map(|record| record.map_err(|e| text_error(self.path, &e)))
    }

    fn first_two(&self) -> Result<(Vec<String>, Option<Vec<String>>)> {
        let cells = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
        let mut records = self.records().map(|record| record.map(cells));
        Ok((records.next().transpose()?.unwrap_or_default(), records.next().transpose()?))
    }

    /// All cells of a column, the header among them.
    fn column(&self, index: usize) -> Result<Vec<String>> {
        let cell = |record: csv::StringRecord| record.get(index).unwrap_or_default().to_owned();
        self.records().map(|record| record.map(cell)).collect()
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Whether a line is numbers with spaces between them.
fn is_numbers(line: &[u8]) -> bool {
    let cells = std::str::from_utf8(line).map(str::split_whitespace);
    cells.is_ok_and(|cells| cells.clone().count() > 1 && cells.clone().all(table::is_number))
}

/// A single column whose blank lines are cells: the label of that row is unknown. Only the end of the last line is no row.
fn with_empty_cells(text: &[u8]) -> Cow<'_, [u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if !text.split(|&b| b == b'\n').any(is_blank) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&[u8]> =
        text.split(|&b| b == b'\n').map(|line| if is_blank(line) { b"\"\"" } else { line }).collect();
    Cow::Owned(lines.join(&b'\n'))
}

/// Several columns without the blank lines at their end. A tab there is an empty cell.
fn without_blank_end(text: &[u8], delimiter: u8) -> &[u8] {
    let blank: &[u8] = if delimiter == b' ' { b"\r\n" } else { b"\r\n " };
    &text[..text.iter().rposition(|b| !blank.contains(b)).map_or(0, |at| at + 1)]
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
