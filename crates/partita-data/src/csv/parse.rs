//! Parsing a piece of a table: whole lines, on one thread.

use super::layout::{Layout, Use};
use super::number::number;
use crate::dates::{self, Moment};
use crate::levels::Dictionary;
use crate::table;
use std::collections::BTreeMap;

/// The rows of a piece, up to the first fault.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) values: Vec<f32>,
    pub(super) ids: Vec<String>,
    /// The words of each column of words, by whose numbers its cells are values.
    pub(super) words: Vec<Dictionary>,
    /// How many cells of a column count as missing because they are not what the column is said to hold.
    pub(super) odd: BTreeMap<usize, u64>,
    /// Lines of the piece, or lines before the fault.
    pub(super) lines: u64,
    pub(super) fault: Option<Fault>,
}

/// What is wrong with a line.
#[derive(Debug)]
pub(super) enum Fault {
    Ragged { found: usize },
    NotNumeric { column: usize, cell: String },
    NotDate { column: usize, cell: String },
    NotText,
}

/// Parse a piece that ends at a line end.
pub(super) fn piece(bytes: &[u8], layout: &Layout) -> Parsed {
    let mut parsed = Parsed { words: vec![Dictionary::default(); layout.words.len()], ..Parsed::default() };
    if let Err(e) = std::str::from_utf8(bytes) {
        parsed.lines = count_lines(&bytes[..e.valid_up_to()]);
        parsed.fault = Some(Fault::NotText);
        return parsed;
    }
    let quotes = bytes.contains(&b'"');
    let outcome =
        if quotes { quoted(bytes, layout, &mut parsed) } else { unquoted(bytes, layout, &mut parsed) };
    parsed.fault = outcome.err();
    parsed
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&b| b == b'\n').count() as u64
}

/// Lines without quotes: split at the delimiter, nothing copied.
fn unquoted(bytes: &[u8], layout: &Layout, parsed: &mut Parsed) -> Result<(), Fault> {
    for line in bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            row(line.split(|&b| b == layout.delimiter), layout, parsed)?;
        }
        parsed.lines += 1;
    }
    Ok(())
}

/// Lines with quotes, by the rules of the csv crate.
fn quoted(bytes: &[u8], layout: &Layout, parsed: &mut Parsed) -> Result<(), Fault> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(layout.delimiter)
        .from_reader(bytes);
    for record in reader.records() {
        // The whole piece is valid text and every length is accepted, so that a record cannot fail otherwise.
        let record = record.map_err(|_| Fault::NotText)?;
        parsed.lines = record.position().map_or(0, |p| p.line() - 1);
        row(record.iter().map(str::as_bytes), layout, parsed)?;
    }
    parsed.lines = count_lines(bytes);
    Ok(())
}

fn row<'a>(cells: impl Iterator<Item = &'a [u8]>, layout: &Layout, parsed: &mut Parsed) -> Result<(), Fault> {
    let (mut found, mut bad) = (0, None);
    let first = parsed.values.len();
    for (column, cell) in cells.enumerate() {
        found = column + 1;
        match layout.uses.get(column) {
            Some(used @ (Use::Number | Use::Boolean)) => match value(cell, *used, layout.decimal_comma) {
                Some(value) => parsed.values.push(value),
                None => bad = bad.or(Some(Fault::NotNumeric { column, cell: text(cell) })),
            },
            Some(Use::NumberOrMissing) => {
                let value = value(cell, Use::Number, layout.decimal_comma);
                *parsed.odd.entry(column).or_default() += u64::from(value.is_none());
                parsed.values.push(value.unwrap_or(f32::NAN));
            }
            Some(&Use::Word(dictionary)) => {
                let number = word(cell, &mut parsed.words[dictionary]);
                parsed.values.push(number);
            }
            Some(&Use::Date { order, lenient }) => {
                let moment = moment(cell, order);
                match moment {
                    None if lenient => *parsed.odd.entry(column).or_default() += 1,
                    None => bad = bad.or(Some(Fault::NotDate { column, cell: text(cell) })),
                    Some(_) => {}
                }
                let Moment { day, seconds } = moment.unwrap_or(Moment::MISSING);
                parsed.values.extend([day, seconds]);
            }
            Some(Use::Id) => parsed.ids.push(text(cell)),
            Some(Use::Nothing) | None => {}
        }
    }
    // A line of the wrong length explains its odd cells, so it is the better message.
    if found != layout.uses.len() {
        return Err(Fault::Ragged { found });
    }
    if let Some(bad) = bad {
        return Err(bad);
    }
    if let Some(places) = &layout.places {
        let in_file = parsed.values[first..].to_vec();
        in_file.iter().zip(places).for_each(|(value, place)| parsed.values[first + place] = *value);
    }
    Ok(())
}

/// The value of a cell; one that is missing is not a number.
fn value(cell: &[u8], used: Use, decimal_comma: bool) -> Option<f32> {
    let value = match used {
        Use::Number => plain(cell, decimal_comma),
        _ => std::str::from_utf8(cell).ok().and_then(table::boolean).map(|truth| f32::from(u8::from(truth))),
    };
    let missing = || std::str::from_utf8(cell).is_ok_and(table::is_missing);
    value.or_else(|| missing().then_some(f32::NAN))
}

/// The number of a word; one that is missing is none.
fn word(cell: &[u8], dictionary: &mut Dictionary) -> f32 {
    match std::str::from_utf8(cell) {
        Ok(word) if !table::is_missing(word) => dictionary.number(word.trim()),
        _ => f32::NAN,
    }
}

/// The moment in a cell; one that is missing is not known.
fn moment(cell: &[u8], order: dates::Order) -> Option<Moment> {
    let cell = std::str::from_utf8(cell).ok()?;
    if table::is_missing(cell) { Some(Moment::MISSING) } else { dates::parse(cell, order) }
}

/// The number in a cell. With decimal commas a point separates thousands, if it means anything: such a cell is no number.
fn plain(cell: &[u8], decimal_comma: bool) -> Option<f32> {
    if !decimal_comma {
        return number(cell);
    }
    let point = |&b: &u8| if b == b',' { b'.' } else { b };
    (!cell.contains(&b'.')).then(|| number(&cell.iter().map(point).collect::<Vec<u8>>()))?
}

fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).trim().to_owned()
}
