//! What is known besides the rows: labels of some, weights, true labels for the report, a model whose numbers are kept.

use crate::dataset::{Dataset, Note};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::join::Beside;
use crate::spec::FitSpec;
use partita::linear::Model;
use partita_data::model_file::ModelFile;
use partita_data::{Labels, WeightTable, read_weights};
use std::borrow::Cow;
use std::path::Path;

/// Names of classes that a message shows.
const SHOWN: usize = 6;

/// What is known besides the rows. A front end that has it in memory fills the fields; [`Given::read`] reads the files of a
/// specification.
#[derive(Debug, Clone, Default)]
pub struct Given<'a> {
    /// Label of each row, −1 where unknown.
    pub known: Option<Cow<'a, [i32]>>,
    /// Weight of each row, above 0.
    pub weights: Option<Cow<'a, [f32]>>,
    /// True label of each row, −1 where unknown; only for the report.
    pub truth: Option<Cow<'a, [i64]>>,
    /// A model whose cluster numbers are kept; training starts from it if it has the same number of clusters.
    pub like: Option<Cow<'a, Model>>,
    /// The names of the first clusters, where known labels are words: label `k` is called `names[k]`.
    pub names: Option<Cow<'a, [String]>>,
    /// The rows that take part in training, ascending; all if absent. The others are only given labels.
    pub used: Option<Cow<'a, [usize]>>,
    /// What a user should know about how the files were read.
    pub notes: Vec<Note>,
}

impl Given<'static> {
    /// Read the files that a specification names. Labels that came with images count as true ones.
    ///
    /// # Errors
    /// If a file cannot be read or does not fit the rows.
    pub fn read(spec: &FitSpec, dataset: &Dataset<'_>) -> Result<Self> {
        // Where K is to be chosen there are neither known labels nor images.
        let k = if spec.chooses_k() { 0 } else { spec.clusters()? };
        let mut notes = Vec::new();
        let mut read = |typed: &Path, field: Field| -> Result<Labels> {
            let (labels, said) = dataset.labels(typed, field)?;
            // The same column may serve as truth and as known labels; once is enough.
            notes.extend(said.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
            Ok(labels)
        };
        let truth = match &spec.truth {
            Some(typed) => Some(read(typed, Field::Truth)?.values),
            None => dataset.own_labels(k),
        };
        let known = spec.known.as_deref().map(|typed| read(typed, Field::Known)).transpose()?;
        if let (Some(known), Some(typed)) = (&known, &spec.known) {
            check_known(typed, known, k)?;
        }
        let weights = spec.weights.as_deref().map(|typed| dataset.weights(typed, &mut notes)).transpose()?;
        let like = spec.like.as_deref().map(ModelFile::read).transpose()?;
        let old = like.as_ref().map(|file| file.names.clusters.clone()).filter(|names| !names.is_empty());
        let names = match &known {
            Some(labels) => labels.names.clone(),
            None => old,
        };
        let known = known.map(|labels| labels.values.iter().map(|&label| label as i32).collect());
        Ok(Self {
            known,
            weights: weights.map(Cow::Owned),
            truth: truth.map(Cow::Owned),
            like: like.map(|file| Cow::Owned(file.model)),
            names: names.map(Cow::Owned),
            used: None,
            notes,
        })
    }
}

impl Given<'_> {
    /// Refuse what cannot be used before the work begins.
    pub(crate) fn check(&self, spec: &FitSpec, dataset: &Dataset<'_>) -> Result<()> {
        let read = [
            (Field::Known, spec.known.is_some(), self.known.is_some()),
            (Field::Weights, spec.weights.is_some(), self.weights.is_some()),
            (Field::Truth, spec.truth.is_some(), self.truth.is_some()),
            (Field::Like, spec.like.is_some(), self.like.is_some()),
        ];
        if let Some((field, ..)) = read.iter().find(|(_, named, there)| *named && !there) {
            return Err(JobError::Missing { field: *field });
        }
        if let Some(like) = &self.like {
            like.check_widths(&dataset.widths())?;
        }
        self.check_lengths(dataset.n())?;
        if spec.network.is_some() {
            let given = [
                (Field::Weights, self.weights.is_some() || self.used.is_some()),
                (Field::Like, self.like.is_some()),
            ];
            JobError::first_idle(&given, "for a network; leave it out")?;
        }
        let Some(truth) = &self.truth else { return Ok(()) };
        let (found, expected) = (truth.len(), dataset.n());
        if found != expected {
            return Err(partita::Error::Length { what: "truth", found, expected }.into());
        }
        // Find out now, and not after hours of training, whether anything can be compared with it.
        if truth.iter().all(|label| *label < 0) {
            return Err(partita::Error::NoLabels { rows: found }.into());
        }
        Ok(())
    }

    /// Refuse labels and weights of another number of rows where only some of the rows are trained on.
    fn check_lengths(&self, n: usize) -> Result<()> {
        let Some(used) = &self.used else { return Ok(()) };
        let outside = used.iter().map(|row| row + 1).max().filter(|end| *end > n);
        let known = self.known.as_ref().map(|known| known.len());
        let weights = self.weights.as_ref().map(|weights| weights.len());
        for (what, found) in
            [("the rows in use", outside), ("the known labels", known), ("the row weights", weights)]
        {
            if let Some(found) = found.filter(|found| *found != n) {
                return Err(partita::Error::Length { what, found, expected: n }.into());
            }
        }
        Ok(())
    }

    /// Values of the rows that are trained on, out of those of all rows.
    pub(crate) fn of_used<'v, T: Copy>(&self, values: Option<&'v Cow<'_, [T]>>) -> Option<Cow<'v, [T]>> {
        let (values, used) = (values?, self.used.as_deref());
        Some(match used {
            Some(used) => used.iter().map(|&row| values[row]).collect(),
            None => Cow::Borrowed(&**values),
        })
    }
}

/// Refuse labels of more classes than there are clusters.
fn check_known(typed: &Path, labels: &Labels, k: usize) -> Result<()> {
    let file = typed.display();
    if let Some(names) = labels.names.as_ref().filter(|names| names.len() > k) {
        let (count, shown) = (names.len(), names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", "));
        let more = if count > SHOWN { ", …" } else { "" };
        let problem = format!(
            "{file} names {count} classes ({shown}{more}), but there are {k} clusters; give `k` {count}"
        );
        return Err(JobError::refused(Field::Known, problem));
    }
    let Some(row) = labels.values.iter().position(|l| *l >= k as i64) else { return Ok(()) };
    let problem = format!(
        "{file}: the label of row {row} is {}, but with {k} clusters labels go from 0 to {} (-1 means unknown)",
        labels.values[row],
        k as i64 - 1
    );
    Err(JobError::file(Field::Known, problem))
}

impl Dataset<'_> {
    /// Weights of the rows from a file as it is typed.
    fn weights(&self, typed: &Path, notes: &mut Vec<Note>) -> Result<Vec<f32>> {
        let source = self.source(typed);
        let WeightTable { values, ids, notes: said, .. } = read_weights(&source)?;
        notes.extend(said.into_iter().map(|text| Note::Read { path: source.path.clone(), text }));
        let (field, path) = (Some(Field::Weights), &*source.path);
        let ids = ids.filter(|_| !self.is_from(path));
        let beside = Beside { path, field, what: "weight", values, ids, absent: None };
        let (values, note) = beside.matched(self.target())?;
        notes.extend(note);
        Ok(self.of_matched(values).into_iter().map(|weight| weight as f32).collect())
    }

    /// Labels that came with images, if anything can be compared with them.
    pub(crate) fn own_labels(&self, k: usize) -> Option<Vec<i64>> {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.labels(k).filter(|labels| labels.iter().any(|label| *label >= 0));
        }
        let _ = k;
        None
    }
}
