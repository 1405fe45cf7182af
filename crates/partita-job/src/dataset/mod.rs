//! What is clustered: rows as one or several parts that stand side by side, their names, and images where there are any.

mod gaps;
#[cfg(feature = "deep")]
mod images;
mod kind;
mod open;
mod photos;
mod table;
mod texts;

pub use gaps::MissingNote;
#[cfg(feature = "deep")]
pub(crate) use images::Pictures;
pub use kind::Kind;
pub use open::Note;
pub use photos::{Photos, usable_images};
pub(crate) use table::plan_of;

use crate::error::{JobError, Result};
use crate::field::Field;
use crate::items::{Items, TableItems};
use partita::rows::Csr;
use partita::rows::{Rows, SideBySide};
use partita_data::model_file::{Names, StoredEncoder};
use partita_data::{Columns, Ids};
use partita_embed::texts::TFIDF;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rows of a part, shared with other readers.
pub type SharedRows<'a> = Arc<dyn Rows + Send + Sync + 'a>;

/// Some features of all rows: a file, or an array in memory.
#[derive(Clone)]
pub struct DataPart<'a> {
    /// The rows.
    pub rows: SharedRows<'a>,
    /// Widths of the groups of features in it; each is prepared on its own.
    pub widths: Vec<usize>,
    /// Its columns, if they have names.
    pub columns: Option<Columns>,
    /// Where it came from.
    pub origin: Option<PathBuf>,
    /// How its rows were made from raw items, if they were.
    pub encoder: Option<StoredEncoder>,
    /// The table that they were made of, if they were.
    pub table: Option<TableItems>,
}

impl<'a> DataPart<'a> {
    /// Rows without names, as one group of features.
    pub fn new(rows: SharedRows<'a>) -> Self {
        Self { widths: vec![rows.m()], rows, columns: None, origin: None, encoder: None, table: None }
    }
}

/// The rows of a job, with their names.
///
/// ```
/// use partita_data::Features;
/// use partita_job::{Dataset, DataPart};
/// use std::sync::Arc;
/// let rows = Features::from_vec(vec![1.0, 2.0, 3.0, 4.0], 2)?;
/// let dataset = Dataset::new(vec![DataPart::new(Arc::new(rows))])?;
/// assert_eq!((dataset.n(), dataset.widths()), (2, vec![2]));
/// # Ok::<(), partita_job::JobError>(())
/// ```
pub struct Dataset<'a> {
    parts: Vec<DataPart<'a>>,
    ids: Option<Ids>,
    notes: Vec<Note>,
    /// The columns of each table, which are numbers where it has no names.
    tables: Vec<Option<Columns>>,
    /// The rows that are left of so many, if some were left out.
    kept: Option<(Arc<Vec<usize>>, usize)>,
    /// The names of those that were left out.
    dropped_ids: Vec<String>,
    /// What was done about missing values, if there were any.
    missing: Option<MissingNote>,
    /// Whether the model that the rows are for knows medians; none if they are not for a model.
    model_fills: Option<bool>,
    /// The median of each feature, if missing values are filled with them.
    medians: Option<Vec<f32>>,
    /// Whether the first lines of its tables, and of the files beside them, name columns, if that was said.
    headers: [Option<bool>; 2],
    /// The raw items that the rows were made of, if they were.
    items: Option<Items>,
    /// The photos that the rows were made of.
    photos: Option<Photos>,
    #[cfg(feature = "deep")]
    pub(crate) pictures: Option<Pictures>,
    /// Images to learn a pretext from.
    #[cfg(feature = "deep")]
    pub(crate) pretext: Option<Pictures>,
    /// Images that are not trained on, with their true labels.
    #[cfg(feature = "deep")]
    pub(crate) holdout: Option<(Pictures, Vec<i64>)>,
}

impl<'a> Dataset<'a> {
    /// Parts that hold the same rows.
    ///
    /// # Errors
    /// If one has another number of rows than the first, or if there is none.
    pub fn new(parts: Vec<DataPart<'a>>) -> Result<Self> {
        let first = parts.first().ok_or(JobError::Missing { field: Field::Data })?;
        if let Some((at, odd)) = parts.iter().enumerate().find(|(_, part)| part.rows.n() != first.rows.n()) {
            let (a, b) = (shown(first, 0), shown(odd, at));
            let (n, found) = (first.rows.n(), odd.rows.n());
            let problem = format!("{a} has {n} rows but {b} has {found}; give files of the same rows");
            return Err(JobError::file(Field::Data, problem));
        }
        let tables = parts.iter().map(|part| part.columns.clone()).collect();
        Ok(Self { tables, ..Self::of_parts(parts) })
    }

    /// Parts, or none for images, with nothing else known.
    fn of_parts(parts: Vec<DataPart<'a>>) -> Self {
        Self {
            parts,
            ids: None,
            notes: Vec::new(),
            tables: Vec::new(),
            kept: None,
            dropped_ids: Vec::new(),
            missing: None,
            model_fills: None,
            medians: None,
            headers: [None; 2],
            items: None,
            photos: None,
            #[cfg(feature = "deep")]
            pictures: None,
            #[cfg(feature = "deep")]
            pretext: None,
            #[cfg(feature = "deep")]
            holdout: None,
        }
    }

    /// What was said about the first lines of its tables, and of files beside them.
    pub(crate) fn headers(&self) -> [Option<bool>; 2] {
        self.headers
    }

    /// The same rows with names.
    ///
    /// # Errors
    /// If there are not as many names as rows.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self> {
        let (found, expected) = (ids.len(), self.n());
        if found != expected {
            let what = "the names of the rows";
            return Err(partita::Error::Length { what, found, expected }.into());
        }
        self.ids = Some(Ids { values: ids, column: "id".to_owned(), certain: true });
        Ok(self)
    }

    /// Number of rows, or of images.
    pub fn n(&self) -> usize {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.len();
        }
        self.parts.first().map_or(0, |part| part.rows.n())
    }

    /// The parts.
    pub fn parts(&self) -> &[DataPart<'a>] {
        &self.parts
    }

    /// Widths of the groups of features that stand side by side in a row.
    pub fn widths(&self) -> Vec<usize> {
        self.parts.iter().flat_map(|part| part.widths.iter().copied()).collect()
    }

    /// All features of each row.
    ///
    /// # Errors
    /// If the parts do not hold the same number of rows.
    pub fn rows(&self) -> Result<AllRows<'_>> {
        if let [only] = &self.parts[..] {
            return Ok(AllRows::One(&*only.rows));
        }
        let parts = self.parts.iter().map(|part| &*part.rows as &dyn Rows).collect();
        Ok(AllRows::Several(SideBySide::new(parts)?))
    }

    /// Names of the rows, if they have any.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_ref().map(|ids| &*ids.values)
    }

    /// The names of the rows with the column that they are from.
    pub(crate) fn named_ids(&self) -> Option<&Ids> {
        self.ids.as_ref()
    }

    /// The names of the rows that were left out.
    pub(crate) fn dropped_ids(&self) -> &[String] {
        &self.dropped_ids
    }

    /// The row of this name.
    ///
    /// # Errors
    /// If rows have no names, none has this name, or several have it.
    pub fn row_of(&self, id: &str) -> Result<usize> {
        let refused = |problem: String| Err(JobError::refused(Field::Data, problem));
        let Some(ids) = self.ids() else {
            return refused(
                "the rows have no names; give the number of the row, or the column of names (`id_column`)"
                    .into(),
            );
        };
        let mut found = ids.iter().enumerate().filter(|(_, name)| *name == id).map(|(row, _)| row);
        match (found.next(), found.next()) {
            (Some(row), None) => Ok(row),
            (Some(a), Some(b)) => refused(format!(
                "'{id}' names several rows, {a} and {b} among them; give the number of the row"
            )),
            (None, _) if self.dropped_ids.iter().any(|name| name == id) => refused(match self.photos {
                Some(_) => format!("photo '{id}' is left out because it cannot be used (`skip_bad`)"),
                None => format!("row '{id}' is left out because it has missing values (`missing` drop-rows)"),
            }),
            (None, _) => refused(format!(
                "no row is called '{id}'; the first one is '{}'",
                ids.first().map_or("", |s| s)
            )),
        }
    }

    /// The numbers of the rows in their files, counted from 0, if some rows were left out.
    pub fn row_numbers(&self) -> Option<&[usize]> {
        self.kept.as_ref().map(|(kept, _)| kept.as_slice())
    }

    /// The place of a row that has this number in its file, counted from 0.
    ///
    /// # Errors
    /// If it was left out.
    pub fn row_numbered(&self, number: usize) -> Result<usize> {
        let Some(kept) = self.row_numbers() else { return Ok(number) };
        kept.binary_search(&number).map_err(|_| {
            let (field, why) = match self.photos {
                Some(_) => (Field::SkipBad, "it cannot be used"),
                None => (Field::Missing, "values are missing in it"),
            };
            let problem =
                format!("row {number} is not among the rows in use, because {why} or it does not exist");
            JobError::refused(field, problem)
        })
    }

    /// How many rows there are with those that were left out.
    pub(crate) fn all_rows(&self) -> usize {
        self.kept.as_ref().map_or(self.n(), |(_, all)| *all)
    }

    /// The columns of each table, which are numbers from 1 where it has no names; none for arrays.
    pub fn tables(&self) -> &[Option<Columns>] {
        &self.tables
    }

    /// What was done about missing values, if there were any.
    pub fn missing_note(&self) -> Option<&MissingNote> {
        self.missing.as_ref()
    }

    /// The median of each feature, if missing values are filled with them.
    pub fn medians(&self) -> Option<&[f32]> {
        self.medians.as_deref()
    }

    /// Refuse columns other than those of a model, or in another order, where both have names.
    pub(crate) fn check_names(&self, names: &Names) -> Result<()> {
        if names.columns.len() != self.parts.len() {
            return Ok(());
        }
        for (at, (part, model)) in self.parts.iter().zip(&names.columns).enumerate() {
            let (Some(found), Some(model)) = (&part.columns, model) else { continue };
            model.find(Path::new(&shown(part, at)), &found.names)?;
            if found.names != model.names {
                let problem = format!(
                    "the columns of {} are in another order than those of the model",
                    shown(part, at)
                );
                return Err(JobError::refused(Field::Data, problem));
            }
        }
        Ok(())
    }

    /// Name of a feature, or its number in its part.
    pub fn feature(&self, mut index: usize) -> String {
        for part in &self.parts {
            if index < part.rows.m() {
                if let Some((_, plan)) = plan_of(part) {
                    let mut names = plan.columns.iter().flat_map(|column| column.features());
                    return names.nth(index).unwrap_or_else(|| index.to_string());
                }
                let name = part.columns.as_ref().and_then(|columns| columns.names.get(index));
                return name.or_else(|| self.word(part, index)).cloned().unwrap_or_else(|| index.to_string());
            }
            index -= part.rows.m();
        }
        index.to_string()
    }

    /// The word of a feature, where features are the weights of words.
    fn word(&self, part: &DataPart<'_>, index: usize) -> Option<&String> {
        let Some(Items::Texts(texts)) = &self.items else { return None };
        let by_words = part.encoder.as_ref().is_some_and(|encoder| encoder.kind == TFIDF);
        let words = texts.tfidf()?.vocabulary().words();
        words.get(index).filter(|_| by_words && words.len() == part.rows.m())
    }

    /// The raw items that the rows were made of, if they were.
    pub fn items(&self) -> Option<&Items> {
        self.items.as_ref()
    }

    /// What a user should know about how the data was read.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Where the data came from, for messages.
    pub fn origin(&self) -> Option<&Path> {
        self.parts.iter().find_map(|part| part.origin.as_deref())
    }
}

fn shown(part: &DataPart<'_>, at: usize) -> String {
    part.origin.as_ref().map_or_else(|| format!("part {at}"), |path| path.display().to_string())
}

/// All features of each row: those of the only part, which may be sparse, or of several side by side.
pub enum AllRows<'a> {
    /// The rows of the only part.
    One(&'a dyn Rows),
    /// Those of several parts.
    Several(SideBySide<'a>),
}

impl AllRows<'_> {
    fn inner(&self) -> &dyn Rows {
        match self {
            Self::One(rows) => *rows,
            Self::Several(rows) => rows,
        }
    }
}

impl Rows for AllRows<'_> {
    fn n(&self) -> usize {
        self.inner().n()
    }
    fn m(&self) -> usize {
        self.inner().m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        self.inner().read(start, out)
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        self.inner().gather(rows, out)
    }
    fn is_weighed(&self, feature: usize) -> bool {
        self.inner().is_weighed(feature)
    }
    fn table_columns(&self) -> usize {
        self.inner().table_columns()
    }
    fn release(&self) {
        self.inner().release();
    }
    fn sparse(&self) -> Option<&Csr<'_>> {
        self.inner().sparse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_data::Features;

    fn part(values: Vec<f32>, m: usize) -> DataPart<'static> {
        DataPart::new(Arc::new(Features::from_vec(values, m).unwrap()))
    }

    #[test]
    fn parts_stand_side_by_side() {
        let named = DataPart { columns: Some(Columns::named(["c"])), ..part(vec![7.0, 8.0], 1) };
        let dataset = Dataset::new(vec![part(vec![1.0, 2.0, 3.0, 4.0], 2), named]).unwrap();
        assert_eq!((dataset.n(), dataset.widths()), (2, vec![2, 1]));
        let mut out = [0.0; 6];
        dataset.rows().unwrap().read(0, &mut out).unwrap();
        assert_eq!(out, [1.0, 2.0, 7.0, 3.0, 4.0, 8.0]);
        assert_eq!([0, 1, 2].map(|j| dataset.feature(j)), ["0", "1", "c"]);
    }

    #[test]
    fn rows_that_are_not_the_same_are_refused() {
        let error = Dataset::new(vec![part(vec![1.0; 4], 2), part(vec![1.0; 3], 1)]).err().unwrap();
        assert!(error.to_string().contains("part 0 has 2 rows but part 1 has 3"), "{error}");
        assert_eq!(Dataset::new(Vec::new()).err().unwrap().field(), Some(Field::Data));
        let dataset = Dataset::new(vec![part(vec![1.0; 4], 2)]).unwrap();
        assert!(dataset.with_ids(vec!["a".into()]).is_err());
    }
}
