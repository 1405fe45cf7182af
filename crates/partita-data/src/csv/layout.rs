//! What a table looks like, found from its first lines.

use super::cut;
use crate::column::{Column, Kind};
use crate::dates::Order;
use crate::error::{DataError, Result};
use crate::options::OpenOptions;
use crate::roles::{Roles, Table, choose, taken_for};
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
    /// The place in a row of each cell of a feature, in the order of the file, if the features are wanted in another order.
    pub(super) places: Option<Vec<usize>>,
    /// Cells of a row.
    pub(super) width: usize,
    /// Where the cells of words stand in a row, in the order of the features.
    pub(super) words: Vec<usize>,
    /// First byte of the first row.
    pub(super) start: usize,
    /// Lines before the first row.
    pub(super) first_line: u64,
}

/// What becomes of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Number,
    /// The same, where whatever is no number counts as missing.
    NumberOrMissing,
    Boolean,
    /// Words with the dictionary of this place.
    Word(usize),
    Date {
        order: Order,
        /// Whether whatever is no date counts as missing.
        lenient: bool,
    },
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
        let found = || {
            table::is_header(first, records.get(1).map(Vec::as_slice))
                || (options.mixed && table::names_words(&records))
        };
        let header = options.header.unwrap_or_else(found);
        let mixed = options.mixed && header;
        let mut columns = table::describe(first, &records[usize::from(header)..], header, mixed);
        taken_for(path, &mut columns, header, options)?;
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
        let widths: Vec<usize> = roles.features.iter().map(|&i| width(columns[i].kind)).collect();
        let places = places(&roles.features, &widths);
        let words = words(&roles.features, &widths, &columns);
        // The header ends where the second record begins, which may be lines further if names hold line ends.
        let start = if header { begin + second.unwrap_or(head.len()) } else { begin };
        let first_line = text[..start].iter().filter(|&&b| b == b'\n').count() as u64;
        let width = widths.iter().sum();
        Ok(Self {
            delimiter,
            decimal_comma,
            header,
            columns,
            roles,
            uses,
            places,
            width,
            words,
            start,
            first_line,
        })
    }
}

/// What to do with each column.
fn uses(roles: &Roles, columns: &[Column]) -> Vec<Use> {
    let mut uses = vec![Use::Nothing; columns.len()];
    let mut dictionaries = 0..;
    for &i in &roles.features {
        let lenient = columns[i].is_lenient();
        uses[i] = match columns[i].kind {
            Kind::Boolean => Use::Boolean,
            Kind::Text => Use::Word(dictionaries.next().unwrap_or_default()),
            Kind::Date(order) => Use::Date { order, lenient },
            _ if lenient => Use::NumberOrMissing,
            _ => Use::Number,
        };
    }
    if let Some(id) = roles.id {
        uses[id] = Use::Id;
    }
    uses
}

/// Cells that a column takes in a row.
fn width(kind: Kind) -> usize {
    if matches!(kind, Kind::Date(_)) { 2 } else { 1 }
}

/// Where the cells of features of these widths begin.
fn starts(widths: &[usize]) -> Vec<usize> {
    let next = |at: &mut usize, width: &usize| Some(std::mem::replace(at, *at + width));
    widths.iter().scan(0, next).collect()
}

/// Where each cell of a feature goes, counted in the order of the file; nothing if that is the order.
fn places(features: &[usize], widths: &[usize]) -> Option<Vec<usize>> {
    if features.is_sorted() {
        return None;
    }
    let starts = starts(widths);
    let mut order: Vec<usize> = (0..features.len()).collect();
    order.sort_unstable_by_key(|&place| features[place]);
    Some(order.into_iter().flat_map(|place| starts[place]..starts[place] + widths[place]).collect())
}

/// Where the cells of words stand in a row.
fn words(features: &[usize], widths: &[usize], columns: &[Column]) -> Vec<usize> {
    let starts = starts(widths).into_iter().zip(features);
    starts.filter(|(_, feature)| columns[**feature].kind == Kind::Text).map(|(start, _)| start).collect()
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
