//! Tables of text: mapped, cut at line ends, and parsed by all threads.

mod layout;
mod number;
mod parse;

use crate::error::{DataError, Result};
use crate::features::Features;
use crate::mapped;
use crate::options::OpenOptions;
use crate::sink::Sink;
use layout::Layout;
use parse::{Fault, Parsed};
use rayon::prelude::*;
use std::fs::File;
use std::path::Path;

/// Text parsed by one thread at a time.
const PIECE: usize = 2 << 20;
/// No line of a real table is longer; a quote that never closes would otherwise swallow the file.
const LONGEST_LINE: usize = 64 << 20;
/// Text read between two releases of the mapping.
const RESIDENT: usize = 128 << 20;

/// Open a table of features.
pub(crate) fn open(path: &Path, file: &File, options: &OpenOptions) -> Result<Features> {
    let map = mapped::map(path, file)?;
    let layout = Layout::find(path, &map, options)?;
    let mut table = Table {
        path,
        sink: Sink::new(path, layout.roles.features.len(), options.memory),
        ids: Vec::new(),
        lines: layout.first_line,
        layout: &layout,
    };
    let (mut at, mut unreleased) = (layout.start, 0);
    while at < map.len() {
        let mut pieces = Vec::new();
        for _ in 0..2 * rayon::current_num_threads() {
            if at < map.len() {
                let end = at + cut(&map[at..], PIECE).ok_or_else(|| too_long(path, at))?;
                pieces.push(&map[at..end]);
                unreleased += end - at;
                at = end;
            }
        }
        table.add(&pieces)?;
        if unreleased > RESIDENT {
            mapped::release(&map);
            unreleased = 0;
        }
    }
    let ids = layout.roles.id.map(|_| std::mem::take(&mut table.ids));
    let notes = layout.roles.notes.clone();
    Ok(table.sink.finish()?.with_ids(ids).with_feature_names(layout.feature_names()).with_notes(notes))
}

/// Where to end a piece of about `target` bytes: after a line end that is not inside quotes.
fn cut(text: &[u8], target: usize) -> Option<usize> {
    if text.len() <= target {
        return Some(text.len());
    }
    let mut quoted = text[..target].iter().filter(|&&b| b == b'"').count() % 2 == 1;
    for (i, &byte) in text[target..].iter().enumerate().take(LONGEST_LINE) {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => return Some(target + i + 1),
            _ => {}
        }
    }
    (text.len() - target <= LONGEST_LINE).then_some(text.len())
}

fn too_long(path: &Path, at: usize) -> DataError {
    let problem =
        format!("no line ends within {LONGEST_LINE} bytes after byte {at}; is a quote left open there?");
    DataError::corrupt(path, "text table", problem)
}

/// The rows parsed so far.
struct Table<'a> {
    path: &'a Path,
    layout: &'a Layout,
    sink: Sink,
    ids: Vec<String>,
    /// Lines before the next piece.
    lines: u64,
}

impl Table<'_> {
    fn add(&mut self, pieces: &[&[u8]]) -> Result<()> {
        let parsed: Vec<Parsed> = pieces.par_iter().map(|piece| parse::piece(piece, self.layout)).collect();
        for part in parsed {
            if let Some(fault) = part.fault {
                return Err(self.error(part.lines, fault));
            }
            self.lines += part.lines;
            self.ids.extend(part.ids);
            self.sink.push(&part.values)?;
        }
        Ok(())
    }

    fn error(&self, lines: u64, fault: Fault) -> DataError {
        let (path, line) = (self.path.to_owned(), self.lines + lines + 1);
        match fault {
            Fault::Ragged { found } => {
                DataError::Ragged { path, line, found, expected: self.layout.columns.len() }
            }
            Fault::NotNumeric { column, cell } => {
                let name = self.layout.header.then(|| format!(" ('{}')", self.layout.columns[column].name));
                let column = format!("{}{}", column + 1, name.unwrap_or_default());
                DataError::NotNumeric { path, line, column, cell }
            }
            Fault::NotText => {
                DataError::corrupt(&path, "text table", format!("line {line} is not UTF-8 text"))
            }
        }
    }
}
