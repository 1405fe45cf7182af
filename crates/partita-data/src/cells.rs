//! One column of a table as text, with the names of the rows beside it: for labels and weights.

use crate::classes::{is_known, is_unknown};
use crate::column::{Column, Kind};
use crate::error::{DataError, Result};
use crate::ids::Ids;
use crate::naming::{Naming, is_certain, naming};
use crate::roles::Table;
use crate::source::Source;
use crate::table;
use crate::text::Text;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

/// Memory for text that has to be converted.
const MEMORY: usize = 1 << 30;
/// Rows that show what the columns hold.
const SAMPLE: usize = 200;
/// Labels that have to be seen before a first one that never comes again is taken for a header.
const ENOUGH: usize = 4;

/// Which column is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choose<'a> {
    /// The one that was asked for, by name or number.
    pub(crate) column: Option<&'a str>,
    /// Otherwise the first of these names, or else the last column.
    pub(crate) called: &'a [&'a str],
    /// How many rows there should be, if that is known.
    pub(crate) rows: Option<usize>,
    /// Whether the first line of a text table names the columns, if that was said.
    pub(crate) header: Option<bool>,
}

impl<'a> Choose<'a> {
    /// What a source asks for.
    pub(crate) fn of(source: &'a Source) -> Self {
        Self { column: source.column.as_deref(), called: &[], rows: None, header: source.header }
    }
}

/// The cells of a column.
#[derive(Debug)]
pub(crate) struct Cells {
    /// Its name, if it is one of several.
    pub(crate) column: Option<String>,
    pub(crate) cells: Vec<String>,
    pub(crate) ids: Option<Ids>,
    pub(crate) notes: Vec<String>,
}

/// The columns to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Picked {
    pub(crate) column: usize,
    pub(crate) id: Option<usize>,
}

impl Cells {
    /// No cells yet.
    pub(crate) fn new(columns: &[Column], picked: &Picked, named: bool) -> Self {
        let name = |i: usize| columns[i].name.clone();
        let ids = |i: usize| Ids {
            values: Vec::new(),
            column: name(i),
            certain: named && is_certain(&columns[i].name),
        };
        let column = (columns.len() > 1).then(|| name(picked.column));
        Self { column, cells: Vec::new(), ids: picked.id.map(ids), notes: Vec::new() }
    }
}

/// The column that is wanted, and the one that names the rows.
pub(crate) fn pick(table: Table<'_>, choose: Choose<'_>) -> Result<Picked> {
    let names_rows = |i: usize| naming(i, &table.columns[i]) == Some(Naming::Rows);
    let usable = |i: &usize| matches!(table.columns[*i].kind, Kind::Number | Kind::Boolean | Kind::Text);
    let called =
        |name: &&str| table.columns.iter().position(|c| table.named && c.name.eq_ignore_ascii_case(name));
    let column = match choose.column {
        Some(name) => table.find(name)?,
        None => {
            let named = choose.called.iter().find_map(called).filter(usable);
            let last = || (0..table.columns.len()).rev().find(|i| usable(i) && !names_rows(*i));
            let any = || (0..table.columns.len()).rev().find(usable);
            named.or_else(last).or_else(any).ok_or_else(|| DataError::Choose {
                path: table.path.to_owned(),
                problem: "no column of numbers or text".into(),
                advice: "name the column to use",
                available: crate::error::list(&table.columns.iter().map(|c| &c.name).collect::<Vec<_>>()),
            })?
        }
    };
    let id = (0..table.columns.len()).find(|&i| i != column && names_rows(i));
    Ok(Picked { column, id })
}

/// The cells of a column of a text table.
pub(crate) fn from_text(path: &Path, file: &File, packed: bool, choose: Choose<'_>) -> Result<Cells> {
    let mut text = Text::load(path, file, packed, MEMORY)?;
    if std::str::from_utf8(&text).is_err() {
        text = text.decoded_as_windows(path, MEMORY)?;
    }
    let records = Records::new(path, &text[table::skip_preamble(&text)..])?;
    let (first, rows) = records.sample()?;
    let called = |name: &&str| first.iter().position(|cell| cell.eq_ignore_ascii_case(name));
    let named = match choose.column {
        Some(name) => first.iter().position(|cell| cell == name),
        None => choose.called.iter().find_map(called),
    };
    let column =
        named.or_else(|| number(choose.column, first.len())).unwrap_or(first.len().saturating_sub(1));
    let found = records.column(column)?;
    // An unknown label says nothing about the first line, so the next known one is asked.
    let mut second = rows.first().cloned();
    if let Some(cell) = second.as_mut().and_then(|cells| cells.get_mut(column)) {
        *cell = found.iter().skip(1).find(|cell| is_known(cell)).cloned().unwrap_or_default();
    }
    let asked = choose.column.is_some() && named.is_some();
    let shown = table::is_header(&first, second.as_deref())
        || named.is_some_and(|at| names_once(&first[at], &found) || asked);
    let guessed = choose.header.is_none() && !shown && looks_like_header(&found, choose.rows);
    let header = choose.header.unwrap_or(shown || guessed);
    let rest = if header { &rows[..] } else { &[std::slice::from_ref(&first), &rows[..]].concat() };
    let columns = table::describe(&first, rest, header, false);
    let picked = pick(Table { path, columns: &columns, named: header }, choose)?;
    let mut cells = Cells::new(&columns, &picked, header);
    let found = if picked.column == column { found } else { records.column(picked.column)? };
    // The first label may be unknown, as any other.
    let said = choose.header == Some(true) || first.len() > 1;
    let skip = usize::from(header && (said || found.first().is_some_and(|cell| !is_unknown(cell))));
    cells.cells = found.into_iter().skip(skip).collect();
    if let (Some(ids), Some(id)) = (&mut cells.ids, picked.id) {
        ids.values = records.column(id)?.into_iter().skip(skip).collect();
    }
    if guessed {
        cells.notes.push(format!("its first line, '{}', is read as a header", first.join(", ")));
    }
    cells.notes.extend(text.notes.iter().cloned());
    if cells.cells.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: first.len() as u64 });
    }
    Ok(cells)
}

/// A column that was asked for by its number.
fn number(column: Option<&str>, columns: usize) -> Option<usize> {
    column?.parse::<usize>().ok().filter(|number| (1..=columns).contains(number)).map(|number| number - 1)
}

/// Whether the first cell is a header: as a label it would occur again, as `y` does among `y` and `n`.
fn names_once(header: &str, column: &[String]) -> bool {
    !column.iter().skip(1).any(|cell| cell.eq_ignore_ascii_case(header))
}

/// Whether the first of several words is more likely the name of the column: no other row has it, and either there is one row
/// too many, or every other word comes again.
fn looks_like_header(column: &[String], rows: Option<usize>) -> bool {
    let Some((first, others)) = column.split_first() else { return false };
    if !is_known(first) || table::is_number(first) || !names_once(first, column) {
        return false;
    }
    if rows == Some(others.len()) {
        return true;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    others.iter().filter(|cell| is_known(cell)).for_each(|cell| *counts.entry(cell).or_default() += 1);
    rows != Some(column.len())
        && others.len() >= ENOUGH
        && !counts.is_empty()
        && counts.values().all(|count| *count > 1)
}

/// Whether a text file is a table of several columns with names.
pub(crate) fn has_named_columns(path: &Path, file: &File) -> bool {
    let first_two = || -> Result<(Vec<String>, Vec<Vec<String>>)> {
        let text = Text::load(path, file, false, MEMORY)?;
        Records::new(path, &text[table::skip_preamble(&text)..])?.sample()
    };
    first_two().is_ok_and(|(first, rows)| {
        first.len() > 1 && table::is_header(&first, rows.first().map(Vec::as_slice))
    })
}

/// Text with its delimiter.
struct Records<'a> {
    path: &'a Path,
    text: Cow<'a, [u8]>,
    delimiter: u8,
}

impl<'a> Records<'a> {
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
        let records = Self { path, text: Cow::Borrowed(text), delimiter };
        let text = match records.iter().next().transpose()? {
            Some(record) if record.len() == 1 => with_empty_cells(text),
            _ => Cow::Borrowed(without_blank_end(text, delimiter)),
        };
        Ok(Self { text, ..records })
    }

    fn iter(&self) -> impl Iterator<Item = Result<csv::StringRecord>> + '_ {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(self.delimiter)
            .trim(csv::Trim::All)
            .from_reader(&*self.text);
        reader.into_records().map(|record| record.map_err(|e| text_error(self.path, &e)))
    }

    /// The first record, and some that follow it.
    fn sample(&self) -> Result<(Vec<String>, Vec<Vec<String>>)> {
        let cells = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
        let mut records = self.iter().map(|record| record.map(cells));
        let first = records.next().transpose()?.unwrap_or_default();
        Ok((first, records.take(SAMPLE).collect::<Result<_>>()?))
    }

    /// All cells of a column, the header among them.
    fn column(&self, index: usize) -> Result<Vec<String>> {
        let cell = |record: csv::StringRecord| record.get(index).unwrap_or_default().to_owned();
        self.iter().map(|record| record.map(cell)).collect()
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

pub(crate) fn text_error(path: &Path, error: &csv::Error) -> DataError {
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
