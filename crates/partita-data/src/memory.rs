//! Columns in memory as features, chosen as those of a file.

use crate::column::{Column, Kind};
use crate::columns::odd_cells;
use crate::dates::{self, Moment, Order};
use crate::error::{DataError, Result};
use crate::features::Features;
use crate::frame::{Cells, Frame};
use crate::ids::Ids;
use crate::levels::{Dictionary, Levels};
use crate::naming::is_certain;
use crate::options::OpenOptions;
use crate::roles::{Table, choose, taken_for};
use crate::sink::Sink;
use crate::table;
use partita::rows::Rows;
use std::path::Path;

/// Rows that show what the columns hold.
const SAMPLE: usize = 200;
/// Cells that go into the sink together, about.
const BLOCK: usize = 1 << 18;

/// The columns as rows; `path` names them in messages.
pub(crate) fn open(path: &Path, columns: Vec<(String, Cells)>, options: &OpenOptions) -> Result<Features> {
    let n = columns.first().map_or(0, |(_, cells)| cells.len());
    if let Some((_, odd)) = columns.iter().find(|(_, cells)| cells.len() != n) {
        return Err(DataError::Length { what: "a column", found: odd.len(), expected: n });
    }
    let mut described: Vec<Column> = columns.iter().map(|(name, cells)| describe(name, cells)).collect();
    taken_for(path, &mut described, true, options)?;
    let mut roles = choose(Table { path, columns: &described, named: true }, options)?;
    let (mut rows, mut levels, mut width) = (Vec::new(), Vec::new(), 0);
    for &i in &roles.features {
        let (typed, words, odd) = typed(path, &described[i], &columns[i].1)?;
        width += typed.len();
        rows.extend(typed);
        levels.push(words);
        roles.notes.extend((odd > 0).then(|| odd_cells(odd, &described[i])));
    }
    let mut sink = Sink::new(path, width, options.memory);
    let step = (BLOCK / width.max(1)).max(1);
    for start in (0..n).step_by(step) {
        let block: Vec<f32> =
            (start..n.min(start + step)).flat_map(|i| rows.iter().map(move |column| column[i])).collect();
        sink.push(&block)?;
    }
    let id = roles.id.map(|i| Ids {
        values: texts(&columns[i].1).into_iter().map(Option::unwrap_or_default).collect(),
        column: described[i].name.clone(),
        certain: options.id_column.is_some() || is_certain(&described[i].name),
    });
    let taken = roles.features.iter().map(|&i| described[i].role).collect();
    let features = sink.finish()?.with_ids(id).with_types(levels, taken);
    Ok(features.with_columns(roles.columns, true).with_notes(roles.notes))
}

/// A column as its first cells show it.
fn describe(name: &str, cells: &Cells) -> Column {
    let kind = match cells {
        Cells::Numbers(_) => Kind::Number,
        Cells::Booleans(_) => Kind::Boolean,
        Cells::Words(_) | Cells::Levels(..) => Kind::Text,
        Cells::Moments(_) => Kind::Date(Order::Year),
    };
    let whole = match cells {
        Cells::Numbers(numbers) => numbers.iter().all(|v| v.is_nan() || v.fract() == 0.0),
        _ => false,
    };
    let sample: Vec<String> = match kind {
        Kind::Text => texts_of(cells, SAMPLE).into_iter().flatten().collect(),
        _ if whole => texts_of(cells, SAMPLE).into_iter().flatten().collect(),
        _ => Vec::new(),
    };
    let kind = match dates::order(&sample) {
        Some((order, _)) if kind == Kind::Text => Kind::Date(order),
        _ => kind,
    };
    Column { whole, sample, ..Column::new(name, kind) }
}

/// Cells as text; none for those that are missing.
fn texts(cells: &Cells) -> Vec<Option<String>> {
    texts_of(cells, cells.len())
}

fn texts_of(cells: &Cells, count: usize) -> Vec<Option<String>> {
    let there = |word: &String| (!table::is_missing(word)).then(|| word.trim().to_owned());
    let number = |v: &f32| (!v.is_nan()).then(|| v.to_string());
    let truth = |v: &f32| (!v.is_nan()).then(|| (*v != 0.0).to_string());
    match cells {
        Cells::Numbers(cells) => cells.iter().take(count).map(number).collect(),
        Cells::Booleans(cells) => cells.iter().take(count).map(truth).collect(),
        Cells::Words(cells) => cells.iter().take(count).map(|cell| cell.as_ref().and_then(there)).collect(),
        Cells::Levels(cells, levels) => {
            cells.iter().take(count).map(|&cell| levels.get(cell as usize).and_then(there)).collect()
        }
        Cells::Moments(cells) => {
            cells.iter().take(count).map(|v| (!v.is_nan()).then(|| v.to_string())).collect()
        }
    }
}

/// The cells of a feature column by column, its levels, and how many cells are not what it is said to hold.
type Typed = (Vec<Vec<f32>>, Option<Levels>, u64);

fn typed(path: &Path, column: &Column, cells: &Cells) -> Result<Typed> {
    match (column.kind, cells) {
        (Kind::Text, Cells::Levels(cells, levels)) => {
            let mut dictionary = Dictionary::default();
            let mut known = vec![None; levels.len()];
            let mut number = |&cell: &u32| {
                let level = levels.get(cell as usize).filter(|level| !table::is_missing(level))?;
                Some(*known[cell as usize].get_or_insert_with(|| dictionary.number(level.trim())))
            };
            let numbers = cells.iter().map(|cell| number(cell).unwrap_or(f32::NAN)).collect();
            Ok((vec![numbers], Some(dictionary.levels()), 0))
        }
        (Kind::Text, _) => {
            let mut dictionary = Dictionary::default();
            let mut number = |word: Option<String>| word.map_or(f32::NAN, |word| dictionary.number(&word));
            let numbers = texts(cells).into_iter().map(&mut number).collect();
            Ok((vec![numbers], Some(dictionary.levels()), 0))
        }
        (Kind::Date(_), Cells::Moments(cells)) => {
            Ok((split(cells.iter().map(|&seconds| Moment::at(seconds))), None, 0))
        }
        (Kind::Date(order), _) => {
            let texts = texts(cells);
            let moment = |cell: &Option<String>| cell.as_ref().and_then(|cell| dates::parse(cell, order));
            let odd = texts.iter().position(|cell| cell.is_some() && moment(cell).is_none());
            if let Some(row) = odd.filter(|_| !column.is_lenient()) {
                return Err(refused(path, column, row, &texts, "date"));
            }
            let odd = texts.iter().filter(|cell| cell.is_some() && moment(cell).is_none()).count();
            let all = split(texts.iter().map(|cell| moment(cell).unwrap_or(Moment::MISSING)));
            Ok((all, None, odd as u64))
        }
        (_, Cells::Numbers(cells) | Cells::Booleans(cells)) => Ok((vec![cells.clone()], None, 0)),
        _ => {
            let texts = texts(cells);
            let number = |cell: &Option<String>| cell.as_ref().and_then(|cell| cell.parse::<f32>().ok());
            let odd = texts.iter().filter(|cell| cell.is_some() && number(cell).is_none()).count();
            Ok((vec![texts.iter().map(|cell| number(cell).unwrap_or(f32::NAN)).collect()], None, odd as u64))
        }
    }
}

fn split(moments: impl Iterator<Item = Moment>) -> Vec<Vec<f32>> {
    let (days, seconds) = moments.map(|moment| (moment.day, moment.seconds)).unzip();
    vec![days, seconds]
}

fn refused(path: &Path, column: &Column, row: usize, texts: &[Option<String>], what: &str) -> DataError {
    let cell = texts[row].as_deref().unwrap_or_default();
    let problem = format!(
        "holds '{cell}' in row {row}, which is no {what} like the others (rows count from 0); correct it, leave the column out, or say that it is a category"
    );
    DataError::Column { path: path.to_owned(), column: column.name.clone(), problem }
}

impl Frame {
    /// Columns in memory; which of them are features is chosen as for a file.
    ///
    /// # Errors
    /// If columns are not of one length, or the options cannot be met.
    pub fn of_columns(columns: Vec<(String, Cells)>, options: &OpenOptions) -> Result<Self> {
        let options = OpenOptions { mixed: true, ..options.clone() };
        let features = open(Path::new("the table"), columns, &options)?;
        Self::of_features(features).map_err(|features| DataError::Empty {
            path: "the table".into(),
            rows: features.n() as u64,
            columns: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::Role;
    use crate::schema::{ColumnKind, Why};

    fn words(words: &[&str]) -> Cells {
        Cells::Words(words.iter().map(|word| Some((*word).to_owned())).collect())
    }

    fn frame(columns: Vec<(&str, Cells)>, options: &OpenOptions) -> Frame {
        let columns = columns.into_iter().map(|(name, cells)| (name.to_owned(), cells)).collect();
        Frame::of_columns(columns, &OpenOptions { mixed: true, ..options.clone() }).unwrap()
    }

    #[test]
    fn columns_in_memory_are_typed_as_those_of_a_file() {
        let columns = || {
            vec![
                ("who", words(&["a", "b", "c"])),
                ("size", Cells::Numbers(vec![1.5, f32::NAN, 2.0])),
                ("since", words(&["2021-01-05", "NA", "2021-01-06"])),
                ("kind", Cells::Levels(vec![1, 0, 9], vec!["x".into(), "y".into()])),
                ("at", Cells::Moments(vec![0.0, 86_401.0, f64::NAN])),
            ]
        };
        let found = frame(columns(), &OpenOptions::default());
        let kinds: Vec<ColumnKind> = found.columns().iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [ColumnKind::Number, ColumnKind::Date, ColumnKind::Category, ColumnKind::Date]);
        assert_eq!(found.left_out()[0].why, Why::Id);
        let mut row = [0.0; 6];
        found.cells().read(1, &mut row).unwrap();
        assert!(row[0].is_nan() && row[1].is_nan() && row[2].is_nan());
        assert_eq!(row[3..], [1.0, 1.0, 1.0]);
        let roles = vec![("who".to_owned(), Role::Category), ("at".into(), Role::Skip)];
        let found = frame(columns(), &OpenOptions { roles, ..OpenOptions::default() });
        let names: Vec<&str> = found.columns().iter().map(|column| &*column.name).collect();
        assert_eq!(names, ["who", "size", "since", "kind"]);
    }
}
