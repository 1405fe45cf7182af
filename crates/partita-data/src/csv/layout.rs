//! What a table looks like, found from its first lines.

use super::cut;
use crate::column::{Column, Kind};
use crate::error::{DataError, Result};
use crate::options::OpenOptions;
use crate::roles::{Roles, Table, choose};
use crate::table::{self, is_missing};
use std::path::Path;

/// Bytes looked at, at least.
const HEAD: usize = 64 << 10;
/// Records looked at, at most.
const SAMPLE: usize = 200;

/// Delimiter, columns and where the rows begin.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) delimiter: u8,
    /// Whether numbers have a comma where others have a point.
    pub(super) decimal_comma: bool,
    pub(super) header: bool,
    pub(super) columns: Vec<Column>,
    pub(super) roles: Roles,
    /// What to do with each column.
    pub(super) uses: Vec<Use>,
    /// The place in a row of each feature, in the order of the file, if the features are wanted in another order.
    pub(super) places: Option<Vec<usize>>,
    /// First byte of the first row.
    pub(super) start: usize,
    /// Lines before the first row.
    pub(super) first_line: u64,
}

/// What becomes of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Number,
    Boolean,
    Id,
    Nothing,
}

impl Layout {
    pub(super) fn find(path: &Path, text: &[u8], options: &OpenOptions) -> Result<Self> {
        let begin = table::skip_preamble(text);
        let end = begin + cut(&text[begin..], HEAD).unwrap_or(HEAD);
        let head = &text[begin..end];
        let delimiter = table::delimiter(head.split(|&b| b == b'\n').next().unwrap_or_default());
        let (mut records, second) = sample(path, head, delimiter)?;
        let decimal_comma = delimiter != b',' && has_decimal_commas(&records);
        if decimal_comma {
            records
                .iter_mut()
                .flatten()
                .filter(|c| table::is_decimal_comma(c))
                .for_each(|c| *c = c.replace(',', "."));
        }
        let Some(first) = records.first() else {
            return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 0 });
        };
        let found = || table::is_header(first, records.get(1).map(Vec::as_slice));
        let header = options.header.unwrap_or_else(found);
        let columns = table::describe(first, &records[usize::from(header)..], header);
        let mut roles = choose(Table { path, columns: &columns, named: header }, options)?;
        if decimal_comma {
            roles.notes.push("numbers such as 1,5 have a decimal comma and are read as 1.5".to_owned());
        }
        if options.header.is_none() && !header && table::is_doubtful(&records) {
            let line = first.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if first.len() > 3 { ", …" } else { "" };
            roles.notes.push(format!(
                "its first line ({line}{more}) is read as a row; if it names the columns, set the option header to yes"
            ));
        }
        if let Some(like) = options.like.as_ref().filter(|_| !header) {
            let names = crate::error::list(&like.names);
            roles
                .notes
                .push(format!("it does not name its columns; they are taken to be {names}, in this order"));
        }
        let uses = uses(&roles, &columns);
        let places = places(&roles.features);
        // The header ends where the second record begins, which may be lines further if names hold line ends.
        let start = if header { begin + second.unwrap_or(head.len()) } else { begin };
        let first_line = text[..start].iter().filter(|&&b| b == b'\n').count() as u64;
        Ok(Self { delimiter, decimal_comma, header, columns, roles, uses, places, start, first_line })
    }
}

/// What to do with each column.
fn uses(roles: &Roles, columns: &[Column]) -> Vec<Use> {
    let mut uses = vec![Use::Nothing; columns.len()];
    for &i in &roles.features {
        uses[i] = if columns[i].kind == Kind::Boolean { Use::Boolean } else { Use::Number };
    }
    if let Some(id) = roles.id {
        uses[id] = Use::Id;
    }
    uses
}

/// Where each feature goes, counted in the order of the file; nothing if that is the order.
fn places(features: &[usize]) -> Option<Vec<usize>> {
    if features.is_sorted() {
        return None;
    }
    let mut places: Vec<usize> = (0..features.len()).collect();
    places.sort_unstable_by_key(|&place| features[place]);
    Some(places)
}

/// The first records, and the byte where the second begins.
fn sample(path: &Path, head: &[u8], delimiter: u8) -> Result<(Vec<Vec<String>>, Option<usize>)> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(head);
    let (mut records, mut second) = (Vec::new(), None);
    for record in reader.records().take(SAMPLE) {
        let record = record.map_err(|e| DataError::corrupt(path, "text table", e.to_string()))?;
        if records.len() == 1 {
            second = record.position().map(|p| p.byte() as usize);
        }
        records.push(record.iter().map(str::to_owned).collect());
    }
    Ok((records, second))
}

/// Whether some numbers have a decimal comma, and none a point: where both occur, what the comma means is not known.
fn has_decimal_commas(records: &[Vec<String>]) -> bool {
    let point = |c: &&String| table::is_number(c) && !is_missing(c) && c.contains('.');
    let cells = || records.iter().flatten();
    cells().any(|c| table::is_decimal_comma(c)) && cells().find(point).is_none()
}
