//! Tables of text: mapped, cut at line ends, and parsed by all threads.

mod layout;
mod number;
mod parse;

use crate::columns::odd_cells;
use crate::error::{DataError, Result};
use crate::features::Features;
use crate::ids::Ids;
use crate::levels::{Dictionary, Levels};
use crate::naming::is_certain;
use crate::options::OpenOptions;
use crate::sink::Sink;
use crate::text::Text;
use layout::Layout;
use parse::{Fault, Parsed};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Text parsed by one thread at a time.
const PIECE: usize = 2 << 20;
/// No line of a real table is longer; a quote that never closes would otherwise swallow the file.
const LONGEST_LINE: usize = 64 << 20;
/// Text read between two releases of the mapping.
const RESIDENT: usize = 128 << 20;

/// Open a table of features, which gzip may have packed.
pub(crate) fn open(path: &Path, file: &File, packed: bool, options: &OpenOptions) -> Result<Features> {
    let text = Text::load(path, file, packed, options.memory)?.checked(path, options.memory)?;
    match read(path, &text, options) {
        // Only the rows show that a text is not UTF-8 if its first lines are.
        Err(Stop::NotText) => match read(path, &text.decoded_as_windows(path, options.memory)?, options) {
            Err(Stop::NotText) => Err(DataError::corrupt(path, "text table", "it is not text")),
            Err(Stop::Error(error)) => Err(error),
            Ok(features) => Ok(features),
        },
        Err(Stop::Error(error)) => Err(error),
        Ok(features) => Ok(features),
    }
}

/// Why a table was not read to its end.
enum Stop {
    /// It has bytes that are not UTF-8.
    NotText,
    Error(DataError),
}

impl From<DataError> for Stop {
    fn from(error: DataError) -> Self {
        Self::Error(error)
    }
}

fn read(path: &Path, text: &Text, options: &OpenOptions) -> std::result::Result<Features, Stop> {
    let layout = Layout::find(path, text, options)?;
    let mut table = Table {
        path,
        sink: Sink::new(path, layout.width, options.memory),
        words: vec![Dictionary::default(); layout.words.len()],
        odd: BTreeMap::new(),
        ids: Vec::new(),
        lines: layout.first_line,
        layout: &layout,
    };
    let (mut at, mut unreleased) = (layout.start, 0);
    while at < text.len() {
        let mut pieces = Vec::new();
        for _ in 0..2 * rayon::current_num_threads() {
            if at < text.len() {
                let end = at + cut(&text[at..], PIECE).ok_or_else(|| too_long(path, at))?;
                pieces.push(&text[at..end]);
                unreleased += end - at;
                at = end;
            }
        }
        table.add(&pieces)?;
        if unreleased > RESIDENT {
            text.release();
            unreleased = 0;
        }
    }
    let ids = layout.roles.id.map(|id| Ids {
        values: std::mem::take(&mut table.ids),
        column: layout.columns[id].name.clone(),
        certain: options.id_column.is_some() || is_certain(&layout.columns[id].name),
    });
    let notes = [layout.roles.notes.clone(), table.notes(), text.notes.clone()].concat();
    let levels = table.levels();
    let roles = layout.roles.features.iter().map(|&i| layout.columns[i].role).collect();
    Ok(table
        .sink
        .finish()?
        .with_ids(ids)
        .with_columns(layout.roles.columns.clone(), layout.header)
        .with_types(levels, roles)
        .with_notes(notes))
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
    /// The words of each column of words so far.
    words: Vec<Dictionary>,
    /// Cells of columns that count as missing because they are not what the column is said to hold.
    odd: BTreeMap<usize, u64>,
    /// Lines before the next piece.
    lines: u64,
}

impl Table<'_> {
    fn add(&mut self, pieces: &[&[u8]]) -> std::result::Result<(), Stop> {
        let parsed: Vec<Parsed> = pieces.par_iter().map(|piece| parse::piece(piece, self.layout)).collect();
        for mut part in parsed {
            if let Some(fault) = part.fault {
                return Err(self.stop(part.lines, fault));
            }
            self.lines += part.lines;
            self.number_words(&mut part);
            part.odd.iter().for_each(|(column, count)| *self.odd.entry(*column).or_default() += count);
            self.ids.extend(part.ids);
            self.sink.push(&part.values)?;
        }
        Ok(())
    }

    /// Give the words of a piece the numbers that they have in the whole table.
    fn number_words(&mut self, part: &mut Parsed) {
        let pieces = part.words.drain(..).zip(&mut self.words).zip(&self.layout.words);
        for ((piece, all), &at) in pieces {
            let numbers = all.take_over(&piece.levels());
            let cells = part.values.iter_mut().skip(at).step_by(self.layout.width);
            // Words of a piece with too many of them have no numbers, and those of the column will be forgotten.
            cells
                .filter(|cell| !cell.is_nan())
                .for_each(|cell| *cell = numbers.get(*cell as usize).copied().unwrap_or(0.0));
        }
    }

    /// The levels of each feature.
    fn levels(&mut self) -> Vec<Option<Levels>> {
        let mut words = std::mem::take(&mut self.words).into_iter().map(Dictionary::levels);
        let is_words = |&i: &usize| matches!(self.layout.uses[i], layout::Use::Word(_));
        self.layout.roles.features.iter().map(|i| is_words(i).then(|| words.next()).flatten()).collect()
    }

    /// Which columns hold cells that are not what they are said to hold.
    fn notes(&self) -> Vec<String> {
        let odd = self.odd.iter().filter(|(_, count)| **count > 0);
        odd.map(|(&column, &count)| odd_cells(count, &self.layout.columns[column])).collect()
    }

    /// A column as messages call it.
    fn called(&self, column: usize) -> String {
        let name = self.layout.header.then(|| format!(" ('{}')", self.layout.columns[column].name));
        format!("{}{}", column + 1, name.unwrap_or_default())
    }

    fn stop(&self, lines: u64, fault: Fault) -> Stop {
        let (path, line) = (self.path.to_owned(), self.lines + lines + 1);
        Stop::Error(match fault {
            Fault::Ragged { found } => {
                DataError::Ragged { path, line, found, expected: self.layout.columns.len() }
            }
            Fault::NotNumeric { column, cell } => {
                DataError::NotNumeric { path, line, column: self.called(column), cell }
            }
            Fault::NotDate { column, cell } => {
                DataError::NotDate { path, line, column: self.called(column), cell }
            }
            Fault::NotText => return Stop::NotText,
        })
    }
}
