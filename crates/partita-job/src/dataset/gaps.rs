//! Missing values: found and counted, filled with medians, or left out with their rows.

use super::{DataPart, Dataset, Note, SharedRows};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::spec::Missing;
use partita::rows::{Rows, check_finite};
use std::sync::Arc;

/// Values read at a time.
const BLOCK: usize = 1 << 18;
/// Columns that a message names.
const NAMED: usize = 6;

/// What was done about missing values.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct MissingNote {
    /// Rows that were left out.
    pub rows: usize,
    /// Values that were filled with medians.
    pub filled: usize,
}

/// The values that are missing or infinite.
struct Gaps {
    /// How many there are in each column.
    by_column: Vec<usize>,
    /// The rows that have some, ascending.
    rows: Vec<usize>,
    /// The first: its row, its column and what stands there.
    first: (usize, usize, f32),
}

impl Gaps {
    fn all(&self) -> usize {
        self.by_column.iter().sum()
    }
}

/// Look for missing values in all rows; none if all are numbers.
fn survey(rows: &dyn Rows) -> Result<Option<Gaps>> {
    let m = rows.m();
    let mut found: Option<Gaps> = None;
    over(rows, |start, block| {
        if check_finite(block, m, start).is_ok() {
            return;
        }
        for (at, value) in block.iter().enumerate().filter(|(_, value)| !value.is_finite()) {
            let (row, column) = (start + at / m, at % m);
            let gaps = found.get_or_insert_with(|| Gaps {
                by_column: vec![0; m],
                rows: Vec::new(),
                first: (row, column, *value),
            });
            gaps.by_column[column] += 1;
            if gaps.rows.last() != Some(&row) {
                gaps.rows.push(row);
            }
        }
    })?;
    Ok(found)
}

/// Show all rows to `each`, block by block, with the number of the first row of each block.
pub(super) fn over(rows: &dyn Rows, mut each: impl FnMut(usize, &[f32])) -> Result<()> {
    let (n, m) = (rows.n(), rows.m().max(1));
    let step = (BLOCK / m).max(1);
    let mut block = Vec::new();
    for start in (0..n).step_by(step) {
        block.resize(step.min(n - start) * m, 0.0);
        rows.read(start, &mut block)?;
        each(start, &block);
    }
    rows.release();
    Ok(())
}

/// The median of each column over the values that are there; none for a column without any. So many columns are taken at a time
/// as fit into `memory` bytes.
fn medians(rows: &dyn Rows, memory: usize) -> Result<Vec<Option<f32>>> {
    let (n, m) = (rows.n(), rows.m());
    let at_once = (memory / 4 / n.max(1)).clamp(1, m.max(1));
    let mut medians = Vec::with_capacity(m);
    for first in (0..m).step_by(at_once) {
        let mut columns = vec![Vec::new(); at_once.min(m - first)];
        over(rows, |_, block| {
            for row in block.chunks_exact(m) {
                for (values, value) in columns.iter_mut().zip(&row[first..]) {
                    if value.is_finite() {
                        values.push(*value);
                    }
                }
            }
        })?;
        medians.extend(columns.iter_mut().map(|values| median(values)));
    }
    Ok(medians)
}

fn median(values: &mut [f32]) -> Option<f32> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f32::total_cmp);
    let lower = below.iter().copied().max_by(f32::total_cmp).filter(|_| even);
    Some(lower.map_or(upper, |lower| ((f64::from(lower) + f64::from(upper)) / 2.0) as f32))
}

impl Dataset<'static> {
    /// The rows with what is to be done about missing values. `known` are the medians of a model, in the order of all features.
    ///
    /// # Errors
    /// If a column has no value at all, every row is left out, or the rows cannot be read.
    pub(crate) fn completed(self, missing: Missing, known: Option<&[f32]>, memory: usize) -> Result<Self> {
        match missing {
            Missing::Error => Ok(self),
            Missing::DropRows => self.without_gaps(),
            Missing::Median => self.filled(known, memory),
        }
    }

    pub(super) fn without_gaps(mut self) -> Result<Self> {
        let Some(gaps) = survey(&self.rows()?)? else { return Ok(self) };
        let n = self.n();
        if gaps.rows.len() == n {
            let advice = match self.model_fills {
                None => "no row is without them; leave out the columns (`exclude`)",
                Some(_) => "no row is without them, and the model needs its columns; fill such values first",
            };
            return Err(self.missing(&gaps, advice));
        }
        let mut dropped = vec![false; n];
        gaps.rows.iter().for_each(|&row| dropped[row] = true);
        let kept: Arc<Vec<usize>> = Arc::new((0..n).filter(|&row| !dropped[row]).collect());
        for part in &mut self.parts {
            part.rows = Arc::new(Kept { rows: part.rows.clone(), kept: kept.clone() });
        }
        if let Some(ids) = &mut self.ids {
            let all = std::mem::take(&mut ids.values);
            let (gone, stay): (Vec<_>, Vec<_>) =
                all.into_iter().enumerate().partition(|(row, _)| dropped[*row]);
            ids.values = stay.into_iter().map(|(_, id)| id).collect();
            self.dropped_ids = gone.into_iter().map(|(_, id)| id).collect();
        }
        let (rows, values) = (gaps.rows.len(), gaps.all());
        self.missing = Some(MissingNote { rows, filled: 0 });
        self.kept = Some((kept, n));
        let what = format!("{rows} of {n} rows are left out, in which {values} values are missing");
        self.notes.push(Note::Missing(what));
        Ok(self)
    }

    fn filled(mut self, known: Option<&[f32]>, memory: usize) -> Result<Self> {
        let found = match known {
            Some(known) => known.iter().copied().map(Some).collect(),
            None => medians(&self.rows()?, memory)?,
        };
        if let Some(empty) = found.iter().position(Option::is_none) {
            let column = self.called(empty);
            let problem = format!("{column} has no value at all and so no median; leave it out (`exclude`)");
            return Err(JobError::refused(Field::Missing, problem));
        }
        let found: Vec<f32> = found.into_iter().flatten().collect();
        if let Some(gaps) = survey(&self.rows()?)? {
            let mut rest = &found[..];
            for part in &mut self.parts {
                let (medians, after) = rest.split_at(part.rows.m());
                part.rows = Arc::new(Filled { rows: part.rows.clone(), medians: medians.to_vec() });
                rest = after;
            }
            let (filled, rows) = (gaps.all(), gaps.rows.len());
            self.missing = Some(MissingNote { rows: 0, filled });
            let whose =
                if known.is_some() { "the medians of the model" } else { "the medians of their columns" };
            let what = format!("{filled} missing values in {rows} rows are filled with {whose}");
            self.notes.push(Note::Missing(what));
        }
        self.medians = Some(found);
        Ok(self)
    }
}

impl Dataset<'_> {
    /// An error about a value that is no number, with all that are missing by file and column; any other error as it is.
    pub fn explained(&self, error: JobError) -> JobError {
        let JobError::Core(partita::Error::NotFinite { .. }) = error else { return error };
        if self.parts.iter().all(|part| part.origin.is_none() && part.columns.is_none()) {
            return error;
        }
        self.check_complete().err().unwrap_or(error)
    }

    /// Refuse rows with missing values, which are counted by file and column.
    ///
    /// # Errors
    /// If there are some, or the rows cannot be read.
    pub fn check_complete(&self) -> Result<()> {
        let Some(gaps) = survey(&self.rows()?)? else { return Ok(()) };
        let named = self.parts.iter().any(|part| part.columns.is_some());
        // A model needs all of its columns, and fills gaps only with medians that it knows.
        let means = if self.model_fills == Some(false) { "drop-rows" } else { "drop-rows or median" };
        let columns =
            if named && self.model_fills.is_none() { ", or leave out the columns (`exclude`)" } else { "" };
        let advice = format!("remove or fill such values first (`missing` {means} does it){columns}");
        Err(self.missing(&gaps, &advice))
    }

    fn missing(&self, gaps: &Gaps, advice: &str) -> JobError {
        let mut columns: Vec<(usize, usize)> =
            gaps.by_column.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        columns.sort_by_key(|(column, count)| (std::cmp::Reverse(*count), *column));
        let more = columns.len().saturating_sub(NAMED);
        let by_column: Vec<String> =
            columns.iter().take(NAMED).map(|(j, count)| format!("{count} in {}", self.called(*j))).collect();
        let more = if more > 0 { format!(" and others in {more} more columns") } else { String::new() };
        let (row, column, value) = gaps.first;
        let name = self.ids().and_then(|ids| ids.get(row)).map(|id| format!(" ('{id}')")).unwrap_or_default();
        let all = gaps.all();
        let values = if all == 1 { "value is" } else { "values are" };
        let what = match value {
            value if value.is_nan() => "missing (NaN)".to_owned(),
            value => format!("{value}, infinite or too large for single precision"),
        };
        let origin = self.part_of(column).0.origin.as_ref().map(|path| format!("{}: ", path.display()));
        let problem = format!(
            "{}{all} {values} missing or not finite: {}{more}; the first is in row {row}{name} of {}, which is {what}; {advice} \
             (rows count from 0)",
            origin.unwrap_or_default(),
            by_column.join(", "),
            self.called(column),
        );
        JobError::refused(Field::Data, problem)
    }

    /// A feature as a message calls it, with its file if there are several.
    fn called(&self, feature: usize) -> String {
        let (part, at) = self.part_of(feature);
        let column = match &part.columns {
            Some(columns) => columns.names.get(at).map(|name| format!("column '{name}'")),
            None => None,
        };
        let column = column.unwrap_or_else(|| format!("column {at} (counted from 0)"));
        match (&part.origin, self.parts.len()) {
            (Some(path), 2..) => format!("{column} of {}", path.display()),
            _ => column,
        }
    }

    /// The part that holds a feature, and the feature's place in it.
    fn part_of(&self, mut feature: usize) -> (&DataPart<'_>, usize) {
        let last = self.parts.len() - 1;
        for part in &self.parts[..last] {
            if feature < part.rows.m() {
                return (part, feature);
            }
            feature -= part.rows.m();
        }
        (&self.parts[last], feature)
    }
}

/// Some of the rows.
pub(super) struct Kept {
    pub(super) rows: SharedRows<'static>,
    pub(super) kept: Arc<Vec<usize>>,
}

impl Rows for Kept {
    fn n(&self) -> usize {
        self.kept.len()
    }
    fn m(&self) -> usize {
        self.rows.m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        let count = out.len() / self.m().max(1);
        self.rows.gather(&self.kept[start..start + count], out)
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        let kept: Vec<usize> = rows.iter().map(|&row| self.kept[row]).collect();
        self.rows.gather(&kept, out)
    }
    fn is_weighed(&self, feature: usize) -> bool {
        self.rows.is_weighed(feature)
    }
    fn table_columns(&self) -> usize {
        self.rows.table_columns()
    }
    fn release(&self) {
        self.rows.release();
    }
}

/// Rows whose missing values are filled with medians.
struct Filled {
    rows: SharedRows<'static>,
    medians: Vec<f32>,
}

impl Filled {
    fn fill(&self, out: &mut [f32]) {
        if check_finite(out, self.medians.len(), 0).is_ok() {
            return;
        }
        for row in out.chunks_exact_mut(self.medians.len()) {
            for (value, median) in row.iter_mut().zip(&self.medians).filter(|(value, _)| !value.is_finite()) {
                *value = *median;
            }
        }
    }
}

impl Rows for Filled {
    fn n(&self) -> usize {
        self.rows.n()
    }
    fn m(&self) -> usize {
        self.rows.m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        self.rows.read(start, out)?;
        self.fill(out);
        Ok(())
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        self.rows.gather(rows, out)?;
        self.fill(out);
        Ok(())
    }
    fn is_weighed(&self, feature: usize) -> bool {
        self.rows.is_weighed(feature)
    }
    fn table_columns(&self) -> usize {
        self.rows.table_columns()
    }
    fn release(&self) {
        self.rows.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_data::Features;

    const N: f32 = f32::NAN;

    fn dataset(values: Vec<f32>, m: usize) -> Dataset<'static> {
        Dataset::new(vec![DataPart::new(Arc::new(Features::from_vec(values, m).unwrap()))]).unwrap()
    }

    fn values(dataset: &Dataset<'_>) -> Vec<f32> {
        let rows = dataset.rows().unwrap();
        let mut out = vec![0.0; rows.n() * rows.m()];
        rows.read(0, &mut out).unwrap();
        out
    }

    #[test]
    fn gaps_are_filled_with_the_medians_of_their_columns() {
        for memory in [4, 1 << 20] {
            let found = dataset(vec![1.0, N, 3.0, 4.0, N, 6.0, 5.0, 8.0], 2);
            let found = found.completed(Missing::Median, None, memory).unwrap();
            assert_eq!(values(&found), [1.0, 6.0, 3.0, 4.0, 3.0, 6.0, 5.0, 8.0]);
            assert_eq!(found.medians.as_deref(), Some(&[3.0, 6.0][..]));
        }
        let even = dataset(vec![1.0, 4.0, 2.0, f32::INFINITY, 8.0], 1);
        assert_eq!(values(&even.completed(Missing::Median, None, 64).unwrap())[3], 3.0);
        let empty = dataset(vec![1.0, N, 2.0, N], 2).completed(Missing::Median, None, 64).err().unwrap();
        assert!(empty.to_string().contains("column 1") && empty.field() == Some(Field::Missing), "{empty}");
    }

    #[test]
    fn rows_with_gaps_are_left_out_with_their_names() {
        let found = dataset(vec![1.0, N, 3.0, 4.0, N, 6.0, 5.0, 8.0], 2);
        let found = found.with_ids(["a", "b", "c", "d"].map(String::from).to_vec()).unwrap();
        let found = found.completed(Missing::DropRows, None, 64).unwrap();
        assert_eq!(
            (values(&found), found.ids().unwrap()),
            (vec![3.0, 4.0, 5.0, 8.0], &["b".into(), "d".into()][..])
        );
        assert_eq!(found.row_numbers(), Some(&[1, 3][..]));
        assert!(dataset(vec![N, 1.0], 2).completed(Missing::DropRows, None, 64).is_err());
    }
}
