//! Labels and weights of rows from a file beside them: matched by the names of the rows where both have them, otherwise by their
//! order.

use crate::dataset::{Dataset, Note};
use crate::error::{JobError, Result};
use crate::field::Field;
use partita_data::{Ids, LabelTable, Labels, Source, read_label_table};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Names that a message shows.
const SHOWN: usize = 3;
/// The column of row numbers that our own tables of labels have.
const ROW: &str = "row";

/// Values of rows, from a file.
pub(crate) struct Beside<'a, T> {
    pub(crate) path: &'a Path,
    /// The field that names the file, if one does.
    pub(crate) field: Option<Field>,
    /// What they are called in messages.
    pub(crate) what: &'static str,
    pub(crate) values: Vec<T>,
    pub(crate) ids: Option<Ids>,
    /// The value of rows that the file does not name, if it need not name all of them.
    pub(crate) absent: Option<T>,
}

/// The rows that values are wanted for.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// How many there are, with those that were left out.
    pub(crate) all: usize,
    pub(crate) ids: Option<&'a Ids>,
    /// The names of those that were left out.
    pub(crate) dropped: &'a [String],
}

/// How values are matched with rows.
enum Match {
    /// By name: for each row in use, the place of its value.
    Places(Vec<Option<usize>>),
    /// By number: for all rows, the place of the value.
    Order,
}

/// Values that are matched with rows.
pub(crate) enum Matched<T> {
    /// Of the rows in use.
    Used(Vec<T>),
    /// Of all rows, with those that were left out.
    All(Vec<T>),
}

impl<T: Clone> Beside<'_, T> {
    /// The values of the rows, and how they were matched if that has to be said.
    pub(crate) fn matched(self, target: Target<'_>) -> Result<(Matched<T>, Option<Note>)> {
        let (found, said) = self.places(target)?;
        let note = said.map(|text| Note::Read { path: self.path.to_owned(), text });
        match found {
            Match::Order => self.in_order(target).map(|values| (values, note)),
            Match::Places(places) => {
                let value =
                    |place: Option<usize>| place.map(|at| self.values[at].clone()).or(self.absent.clone());
                let values: Option<Vec<T>> = places.into_iter().map(value).collect();
                Ok((Matched::Used(values.unwrap_or_default()), note))
            }
        }
    }

    /// Match by names, or say why they are matched in order.
    fn places(&self, target: Target<'_>) -> Result<(Match, Option<String>)> {
        let Some(ids) = &self.ids else { return Ok((Match::Order, None)) };
        let rows = target.all;
        let is_row = |ids: &Ids| ids.column.eq_ignore_ascii_case(ROW);
        let Some(target_ids) = target.ids.filter(|target| is_row(ids) || !is_row(target)) else {
            let unused = || format!("its rows are matched in order, since the data has no '{}'", ids.column);
            return Ok((Match::Order, (ids.certain && !is_row(ids)).then(unused)));
        };
        if is_row(ids) != is_row(target_ids) || ids.values == target_ids.values {
            return Ok((Match::Order, None));
        }
        let same = ids.column.eq_ignore_ascii_case(&target_ids.column);
        let index: HashMap<&str, usize> =
            ids.values.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
        let places: Vec<Option<usize>> =
            target_ids.values.iter().map(|id| index.get(id.as_str()).copied()).collect();
        let hits = places.iter().flatten().count();
        let (mine, theirs) = (&ids.column, &target_ids.column);
        // Numbers of one system may be strange to another, but two columns of ids that share nothing are a slip.
        if !same && hits == 0 && !(ids.certain && target_ids.certain) {
            let text = format!(
                "its rows are matched in order, since no '{mine}' of it is among the '{theirs}' of the data"
            );
            return Ok((Match::Order, Some(text)));
        }
        for (ids, whose) in [(ids, self.path.display().to_string()), (target_ids, "the data".to_owned())] {
            let Some(twice) = ids.twice() else { continue };
            if !same && !ids.certain {
                let text = format!(
                    "its rows are matched in order, since '{twice}' occurs twice in '{}'",
                    ids.column
                );
                return Ok((Match::Order, Some(text)));
            }
            let column = &ids.column;
            let problem = format!(
                "'{twice}' occurs twice in column '{column}' of {whose}, so that rows cannot be matched by it; remove one of them, or the column"
            );
            return Err(JobError::file(self.field, problem));
        }
        self.check_missing(target_ids, &places)?;
        let strange = self.strange(ids, target_ids, target.dropped)?;
        let of = if hits < rows { format!(" of {rows}") } else { String::new() };
        Ok((Match::Places(places), Some(format!("{hits}{of} rows are matched by '{mine}'{strange}"))))
    }

    /// Refuse rows without a value, if all have to have one.
    fn check_missing(&self, target: &Ids, places: &[Option<usize>]) -> Result<()> {
        let missing: Vec<&str> = places
            .iter()
            .zip(&target.values)
            .filter(|(place, _)| place.is_none())
            .map(|(_, id)| id.as_str())
            .collect();
        if missing.is_empty() || self.absent.is_some() {
            return Ok(());
        }
        let (path, what, count) = (self.path.display(), self.what, missing.len());
        let advice = match (count == places.len(), self.field) {
            (true, _) => "none matches; correct the ids, or remove their column to match rows by their order",
            (false, Some(Field::Weights)) => "add them",
            (false, _) => "add them, with an empty label where it is unknown",
        };
        let problem =
            format!("{path} has no {what} for {} ({count} rows of the data); {advice}", listed(&missing));
        Err(JobError::file(self.field, problem))
    }

    /// Names that the data does not have: an error where only some rows are named, because they are slips then.
    fn strange(&self, ids: &Ids, target: &Ids, dropped: &[String]) -> Result<String> {
        let known: std::collections::HashSet<&String> = target.values.iter().chain(dropped).collect();
        let strange: Vec<&str> =
            ids.values.iter().filter(|id| !known.contains(id)).map(String::as_str).collect();
        match (strange.len(), self.absent.is_some()) {
            (0, _) => Ok(String::new()),
            (count, false) => Ok(format!("; {count} others are not in the data")),
            (count, true) => {
                let (path, names) = (self.path.display(), listed(&strange));
                let problem = format!(
                    "{path} names {names} ({count} rows), which the data does not have; correct or remove them"
                );
                Err(JobError::file(self.field, problem))
            }
        }
    }

    /// The values in the order of the rows.
    fn in_order(self, target: Target<'_>) -> Result<Matched<T>> {
        let (found, all) = (self.values.len(), target.all);
        if let Some(rows) =
            target.ids.filter(|ids| ids.column.eq_ignore_ascii_case(ROW) && ids.values.len() != found)
        {
            // Rows by number, of which some are missing.
            let value = |id: &String| self.values.get(id.parse::<usize>().ok()?).cloned();
            if let Some(values) = rows.values.iter().map(value).collect::<Option<Vec<T>>>() {
                return Ok(Matched::Used(values));
            }
        }
        if found == all {
            return Ok(Matched::All(self.values));
        }
        let (path, what) = (self.path.display(), self.what);
        let advice = match (&self.ids, target.ids) {
            (Some(ids), None) => format!("; the data has no column '{}' to match them by", ids.column),
            _ => " (a blank line counts as a row whose label is unknown)".to_owned(),
        };
        Err(JobError::file(
            self.field,
            format!("{path} has {found} {what}s but the data has {all} rows{advice}"),
        ))
    }
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    shown.join(", ") + more
}

/// Labels from a file, and what to know about them.
pub(crate) fn labels_from(source: Source, rows: Option<usize>) -> Result<(PathBuf, LabelTable, Vec<Note>)> {
    let mut table = read_label_table(&source, rows)?;
    let note = |text: String| Note::Read { path: source.path.clone(), text };
    let notes = std::mem::take(&mut table.notes).into_iter().map(note).collect();
    Ok((source.path, table, notes))
}

impl Dataset<'_> {
    /// Whether rows are from this file, so that they need not be matched with those of another.
    pub(crate) fn is_from(&self, path: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let mut origins = self.parts().iter().filter_map(|part| part.origin.as_deref());
        real(path).is_some_and(|path| origins.any(|origin| real(origin).as_ref() == Some(&path)))
    }

    /// A file of labels or weights as it is typed, with what was said about its header: if it is a file of the data, the same as there.
    pub(crate) fn source(&self, typed: &Path) -> Source {
        let source = Source::parse(typed);
        let [own, beside] = self.headers();
        let header = if self.is_from(&source.path) { own } else { beside };
        Source { header, ..source }
    }

    /// The rows that labels or weights are wanted for.
    pub(crate) fn target(&self) -> Target<'_> {
        Target { all: self.labelled(), ids: self.named_ids(), dropped: self.dropped_ids() }
    }

    /// Labels of the rows from a file as it is typed, `FILE` or `FILE:COLUMN`; `field` is the one that names it. Rows are matched by
    /// their names where both have them.
    ///
    /// # Errors
    /// If the file cannot be read, or holds no labels for these rows.
    pub fn labels(&self, typed: &Path, field: Field) -> Result<(Labels, Vec<Note>)> {
        if let Some(photos) = self.photos().filter(|_| typed.is_dir()) {
            return Ok((photos.classes(typed)?, Vec::new()));
        }
        let (path, LabelTable { labels, ids, .. }, mut notes) =
            labels_from(self.source(typed), Some(self.labelled()))?;
        // Where only a few rows have labels, a file with names need not have all of them.
        let absent = (field == Field::Known).then_some(-1);
        let ids = ids.filter(|_| !self.is_from(&path));
        let beside =
            Beside { path: &path, field: Some(field), what: "label", values: labels.values, ids, absent };
        let (values, note) = beside.matched(self.target())?;
        notes.extend(note);
        Ok((Labels { values: self.of_matched(values), names: labels.names }, notes))
    }

    /// How many labels a file has to hold: one for each row or image, including those that are left out.
    fn labelled(&self) -> usize {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.all();
        }
        self.all_rows()
    }

    /// The values of the rows in use, out of those of all.
    fn of_used<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.of_used(&values);
        }
        match self.row_numbers() {
            Some(kept) => kept.iter().map(|&row| values[row]).collect(),
            None => values,
        }
    }

    /// The values of the rows in use.
    pub(crate) fn of_matched<T: Copy>(&self, values: Matched<T>) -> Vec<T> {
        match values {
            Matched::Used(values) => values,
            Matched::All(values) => self.of_used(values),
        }
    }
}

/// True and predicted labels of the same rows, from files as they are typed, with what to know about them. Rows are matched by their
/// names where both files have them. `header` says whether the first lines of the files name columns; otherwise the content shows it.
///
/// # Errors
/// If a file cannot be read, or they are not labels of the same rows.
pub fn labels_to_compare(
    truth: &Path,
    pred: &Path,
    header: Option<bool>,
) -> Result<(Vec<i64>, Vec<i64>, Vec<Note>)> {
    let read = |typed: &Path, rows| labels_from(Source { header, ..Source::parse(typed) }, rows);
    let rows = read(pred, None)?.1.labels.values.len();
    let (path, truth, mut notes) = read(truth, Some(rows))?;
    let (pred_path, pred, said) = read(pred, Some(truth.labels.values.len()))?;
    notes.extend(said);
    let (pred_rows, all) = (pred.labels.values, truth.labels.values.len());
    if pred.ids.is_none() && pred_rows.len() != all {
        let (pred, truth, found) = (pred_path.display(), path.display(), pred_rows.len());
        let problem = format!(
            "{pred} has {found} labels but {truth} has those of {all} rows (a blank line counts as a row whose label is unknown)"
        );
        return Err(JobError::file(None, problem));
    }
    let target = Target { all: pred_rows.len(), ids: pred.ids.as_ref(), dropped: &[] };
    let beside = Beside {
        path: &path,
        field: None,
        what: "label",
        values: truth.labels.values,
        ids: truth.ids,
        absent: None,
    };
    let (values, note) = beside.matched(target)?;
    notes.extend(note);
    let (Matched::Used(truth) | Matched::All(truth)) = values;
    Ok((truth, pred_rows, notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(column: &str, values: &[&str]) -> Ids {
        Ids {
            values: values.iter().map(|v| (*v).to_owned()).collect(),
            column: column.to_owned(),
            certain: true,
        }
    }

    fn matched(beside: Option<Ids>, target: Option<&Ids>, absent: Option<i64>) -> Result<Vec<i64>> {
        let count = beside.as_ref().map_or(3, |ids| ids.values.len());
        let values = (0..count as i64).collect();
        let beside =
            Beside { path: Path::new("t.csv"), field: None, what: "label", values, ids: beside, absent };
        let all = target.map_or(3, |ids| ids.values.len());
        let (values, _) = beside.matched(Target { all, ids: target, dropped: &[] })?;
        let (Matched::Used(values) | Matched::All(values)) = values;
        Ok(values)
    }

    #[test]
    fn rows_are_matched_by_their_names() {
        let target = ids("id", &["a", "b", "c"]);
        assert_eq!(matched(Some(ids("id", &["c", "a", "x", "b"])), Some(&target), None).unwrap(), [1, 3, 0]);
        assert_eq!(matched(Some(ids("id", &["c"])), Some(&target), Some(-1)).unwrap(), [-1, -1, 0]);
        assert_eq!(matched(None, Some(&target), None).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn columns_of_ids_that_share_nothing_are_no_reason_to_match_in_order() {
        let target = ids("id", &["a", "b", "c"]);
        let key = ids("key", &["7", "8", "9"]);
        let error = matched(Some(key.clone()), Some(&target), None).unwrap_err().to_string();
        assert!(error.contains("(3 rows of the data); none matches"), "{error}");
        // A first column of texts may be no names at all.
        assert_eq!(matched(Some(Ids { certain: false, ..key }), Some(&target), None).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn names_that_are_missing_or_occur_twice_are_named() {
        let target = ids("id", &["a", "b", "c"]);
        for (beside, absent, words) in [
            (ids("id", &["a", "b", "z"]), None, "no label for 'c'"),
            (ids("id", &["a", "b", "b"]), None, "'b' occurs twice in column 'id' of t.csv"),
            (ids("id", &["a", "z"]), Some(-1), "names 'z'"),
        ] {
            let error = matched(Some(beside), Some(&target), absent).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let twice = ids("id", &["a", "a", "b"]);
        let error = matched(Some(ids("id", &["a", "b"])), Some(&twice), None).unwrap_err().to_string();
        assert!(error.contains("'a' occurs twice in column 'id' of the data"), "{error}");
    }

    #[test]
    fn row_numbers_stand_for_the_order() {
        let target = ids("row", &["0", "2"]);
        assert_eq!(matched(None, Some(&target), None).unwrap(), [0, 2]);
        assert_eq!(matched(Some(ids("id", &["x", "y", "z"])), Some(&target), None).unwrap(), [0, 2]);
    }
}
