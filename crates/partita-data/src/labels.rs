//! Reading labels from arrays, or from a column of a table.

use crate::classes::{Labels, from_array, from_cells, is_known, is_unknown, label_column};
use crate::error::{DataError, Result};
use crate::npy::Header;
use crate::open::{Format, identify};
use crate::{idx, mapped, parquet, table};
use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

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

fn from_npy(path: &Path, file: &File) -> Result<Labels> {
    let map = mapped::map(path, file)?;
    let header = Header::read(path, &mut &map[..])?;
    let values = header.check_size(path, map.len() as u64)?;
    let bytes = &map[header.len..header.len + values * header.encoding.size()];
    from_array(path, header.encoding, &header.shape, bytes)
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
