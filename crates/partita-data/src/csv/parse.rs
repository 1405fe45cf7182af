//! Parsing a piece of a table: whole lines, on one thread.

use super::layout::{Layout, Use};

/// The rows of a piece, up to the first fault.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) values: Vec<f32>,
    pub(super) ids: Vec<String>,
    /// Lines of the piece, or lines before the fault.
    pub(super) lines: u64,
    pub(super) fault: Option<Fault>,
}

/// What is wrong with a line.
#[derive(Debug)]
pub(super) enum Fault {
    Ragged { found: usize },
    NotNumeric { column: usize, cell: String },
    NotText,
}

/// Parse a piece that ends at a line end.
pub(super) fn piece(bytes: &[u8], layout: &Layout) -> Parsed {
    let mut parsed = Parsed::default();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => {
            parsed.lines = count_lines(&bytes[..e.valid_up_to()]);
            parsed.fault = Some(Fault::NotText);
            return parsed;
        }
    };
    let outcome = if bytes.contains(&b'"') {
        quoted(bytes, layout, &mut parsed)
    } else {
        plain(text, layout, &mut parsed)
    };
    parsed.fault = outcome.err();
    parsed
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&b| b == b'\n').count() as u64
}

/// Lines without quotes: split at the delimiter, nothing copied.
fn plain(text: &str, layout: &Layout, parsed: &mut Parsed) -> Result<(), Fault> {
    for line in text.split_terminator('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if !line.is_empty() {
            row(line.split(char::from(layout.delimiter)), layout, parsed)?;
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
        row(record.iter(), layout, parsed)?;
    }
    parsed.lines = count_lines(bytes);
    Ok(())
}

fn row<'a>(cells: impl Iterator<Item = &'a str>, layout: &Layout, parsed: &mut Parsed) -> Result<(), Fault> {
    let mut found = 0;
    let mut bad = None;
    for (column, cell) in cells.enumerate() {
        found = column + 1;
        match layout.uses.get(column) {
            Some(Use::Feature) => match number(cell) {
                Some(value) => parsed.values.push(value),
                None => bad = bad.or(Some(Fault::NotNumeric { column, cell: cell.trim().to_owned() })),
            },
            Some(Use::Id) => parsed.ids.push(cell.trim().to_owned()),
            Some(Use::Nothing) | None => {}
        }
    }
    // A line of the wrong length explains its odd cells, so it is the better message.
    if found != layout.uses.len() {
        return Err(Fault::Ragged { found });
    }
    bad.map_or(Ok(()), Err)
}

/// Straight to `f32`: through `f64` a number would be rounded twice and could end on another bit.
fn number(cell: &str) -> Option<f32> {
    cell.parse().ok().or_else(|| cell.trim().parse().ok())
}
