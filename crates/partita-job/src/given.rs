//! What is known besides the rows: labels of some, weights, true labels for the report, a model whose numbers are kept.

use crate::dataset::Dataset;
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::spec::FitSpec;
use partita::linear::Model;
use partita_data::model_file::ModelFile;
use partita_data::{Labels, read_labels, read_vector};
use std::borrow::Cow;
use std::path::Path;

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
    /// The rows that take part in training, ascending; all if absent. The others are only given labels.
    pub used: Option<Cow<'a, [usize]>>,
}

impl Given<'static> {
    /// Read the files that a specification names. Labels that came with images count as true ones.
    ///
    /// # Errors
    /// If a file cannot be read or does not fit the rows.
    pub fn read(spec: &FitSpec, dataset: &Dataset<'_>) -> Result<Self> {
        // Where K is to be chosen there are neither known labels nor images.
        let k = if spec.chooses_k() { 0 } else { spec.clusters()? };
        let known = spec.known.as_deref().map(|path| known_labels(path, dataset, k)).transpose()?;
        let weights = spec.weights.as_deref().map(read_vector).transpose()?;
        let truth = match &spec.truth {
            Some(path) => {
                let all = labels_of(path, dataset.labelled(), Some(Field::Truth))?.values;
                Some(dataset.of_used(all))
            }
            None => dataset.own_labels(k),
        };
        let like = spec.like.as_deref().map(ModelFile::read).transpose()?;
        Ok(Self {
            known: known.map(Cow::Owned),
            weights: weights.map(|all| all.iter().map(|&w| w as f32).collect()),
            truth: truth.map(Cow::Owned),
            like: like.map(|file| Cow::Owned(file.model)),
            used: None,
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

/// Labels of exactly `n` rows from a file; `field` is the one that names it.
///
/// # Errors
/// If the file cannot be read, or holds another number of labels.
pub fn labels_of(path: &Path, n: usize, field: Option<Field>) -> Result<Labels> {
    let labels = read_labels(path)?;
    if labels.values.len() != n {
        let problem = format!(
            "{} has {} labels but the data has {n} rows (a blank line counts as a row whose label is unknown)",
            path.display(),
            labels.values.len()
        );
        return Err(JobError::file(field, problem));
    }
    Ok(labels)
}

fn known_labels(path: &Path, dataset: &Dataset<'_>, k: usize) -> Result<Vec<i32>> {
    let labels = labels_of(path, dataset.labelled(), Some(Field::Known))?;
    if let Some(row) = labels.values.iter().position(|l| *l >= k as i64) {
        let problem = format!(
            "{}: the label of row {row} is {}, but with {k} clusters labels go from 0 to {} (-1 means unknown)",
            path.display(),
            labels.values[row],
            k as i64 - 1
        );
        return Err(JobError::file(Field::Known, problem));
    }
    Ok(dataset.of_used(labels.values).iter().map(|&l| l as i32).collect())
}

impl Dataset<'_> {
    /// How many labels a file has to hold: one for each row or image, including those that are left out.
    fn labelled(&self) -> usize {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.all();
        }
        self.n()
    }

    /// The labels of the rows in use.
    fn of_used(&self, labels: Vec<i64>) -> Vec<i64> {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.of_used(&labels);
        }
        labels
    }

    /// Labels that came with images, if anything can be compared with them.
    fn own_labels(&self, k: usize) -> Option<Vec<i64>> {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.labels(k).filter(|labels| labels.iter().any(|label| *label >= 0));
        }
        let _ = k;
        None
    }
}
