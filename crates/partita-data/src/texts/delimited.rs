//! A column of a text table.

use super::build::{Builder, choose};
use super::lines::load;
use super::{TextOptions, TextTable};
use crate::column::Column;
use crate::error::{DataError, Result};
use crate::roles::Table;
use crate::table;
use std::fs::File;
use std::path::Path;

/// Rows that show what the columns hold.
const SAMPLE: usize = 200;

pub(super) fn read(path: &Path, file: &File, packed: bool, options: &TextOptions) -> Result<TextTable> {
    let text = load(path, file, packed, options.memory)?;
    let body = &text[table::skip_preamble(&text)..];
    let line = body.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    // Names of columns and words of texts have spaces: only numbers are split there.
    let delimiter = Some(table::delimiter(line)).filter(|d| *d != b' ').unwrap_or(b',');
    let (columns, header) = columns(path, body, delimiter, options)?;
    let chosen = choose(Table { path, columns: &columns, named: header }, options)?;
    let id = chosen.id.map(|id| &columns[id]);
    let mut builder = Builder::new(path, options.memory, usize::MAX).named(id, options.id_column.is_some());
    for record in records(path, body, delimiter).skip(usize::from(header)) {
        let record = record?;
        builder.push(chosen.texts.iter().map(|&at| record.get(at).unwrap_or_default()))?;
        if let (Some(ids), Some(at)) = (&mut builder.ids, chosen.id) {
            ids.values.push(record.get(at).unwrap_or_default().trim().to_owned());
        }
    }
    let notes = text.notes.clone();
    let column = (columns.len() > 1).then(|| named(&columns, &chosen.texts));
    let (texts, ids) = builder.finish()?;
    Ok(TextTable { texts, ids, column, notes })
}

/// The names of the columns of the text.
pub(crate) fn named(columns: &[Column], chosen: &[usize]) -> String {
    chosen.iter().map(|&at| &*columns[at].name).collect::<Vec<_>>().join(",")
}

/// The columns by their first rows, and whether the first line names them.
fn columns(path: &Path, body: &[u8], delimiter: u8, options: &TextOptions) -> Result<(Vec<Column>, bool)> {
    let cells = |record: csv::StringRecord| record.iter().map(|cell| cell.trim().to_owned()).collect();
    let sample: Vec<Vec<String>> =
        records(path, body, delimiter).take(SAMPLE).map(|record| record.map(cells)).collect::<Result<_>>()?;
    let Some(first) = sample.first() else {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 0 });
    };
    let there = |name: &str| first.iter().any(|cell| cell == name.trim());
    let asked = options.column.as_deref().is_some_and(|typed| there(typed) || typed.split(',').all(there));
    let found = || asked || table::is_header(first, sample.get(1).map(Vec::as_slice));
    let header = options.header.unwrap_or_else(found);
    Ok((table::describe(first, &sample[usize::from(header)..], header, false), header))
}

fn records<'a>(
    path: &'a Path,
    body: &'a [u8],
    delimiter: u8,
) -> impl Iterator<Item = Result<csv::StringRecord>> + 'a {
    let reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(body);
    reader.into_records().map(move |record| record.map_err(|error| crate::cells::text_error(path, &error)))
}
