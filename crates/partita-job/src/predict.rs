//! Assigning rows to the clusters of a model of any kind, block by block.

use crate::block::Block;
use crate::dataset::Dataset;
use crate::error::{JobError, Result};
use crate::model::AnyModel;
use crate::sizes::SizeSpec;
use partita::linear::Model;
use partita::report::{Flow, Observer, Progress};
use partita::rows::Csr;
use partita::rows::Rows;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Assign rows to the clusters of a model, and hand them over block by block, in order. If sizes are requested, the labels are
/// the most likely ones that have them.
///
/// # Errors
/// If the rows are not like those of the model, the sizes are impossible, `each` fails, or the observer stops the work.
pub fn predict_each(
    model: &AnyModel,
    dataset: &Dataset<'_>,
    sizes: &SizeSpec,
    observer: &dyn Observer,
    each: impl FnMut(Block<'_>) -> Result<()>,
) -> Result<()> {
    sizes.check()?;
    match model {
        AnyModel::Linear(file) => {
            dataset.check_names(&file.names)?;
            file.model.check_widths(&dataset.widths())?;
            let rows = dataset.rows()?;
            let rows = Watched { rows: &rows, observer, seen: AtomicUsize::new(0) };
            let labels = sizes.assign(&file.model, &rows)?.map(|found| found.labels);
            over_rows(&file.model, &rows, labels.as_deref(), each).map_err(|error| dataset.explained(error))
        }
        #[cfg(feature = "deep")]
        AnyModel::Network(model) => crate::network::predict(model, dataset, sizes, observer, each),
    }
}

/// The predictions of a linear model; `labels` take the place of the most probable ones.
pub(crate) fn over_rows(
    model: &Model,
    rows: &dyn Rows,
    labels: Option<&[u32]>,
    mut each: impl FnMut(Block<'_>) -> Result<()>,
) -> Result<()> {
    let mut failed = None;
    let done = model.predict_each(rows, |found| {
        let labels = labels.map_or(&*found.labels, |all| &all[found.start..][..found.labels.len()]);
        let outliers = model.outliers().zip(found.outlier_scores.as_deref());
        let block = Block { start: found.start, k: model.k(), labels, proba: &found.proba, outliers };
        each(block).map_err(|error| {
            failed = Some(error);
            partita::Error::Interrupted
        })
    });
    match (failed, done) {
        (Some(error), _) => Err(error),
        (None, done) => Ok(done?),
    }
}

/// Rows that report to an observer how far they were read, and that cannot be read any more once it asks to stop.
struct Watched<'a> {
    rows: &'a dyn Rows,
    observer: &'a dyn Observer,
    /// Rows up to the last that was read.
    seen: AtomicUsize,
}

impl Watched<'_> {
    fn saw(&self, end: usize) -> partita::Result<()> {
        let seen = self.seen.fetch_max(end, Ordering::Relaxed).max(end);
        let done = seen as f64 / self.rows.n().max(1) as f64;
        match self.observer.progress(Progress { stage: "predicting", done, loss: None }) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(partita::Error::Interrupted),
        }
    }
}

impl Rows for Watched<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }
    fn m(&self) -> usize {
        self.rows.m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        self.saw(start + out.len() / self.m().max(1))?;
        self.rows.read(start, out)
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        self.saw(0)?;
        self.rows.gather(rows, out)
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
    fn sparse(&self) -> Option<&Csr<'_>> {
        self.rows.sparse()
    }
}

/// The cluster of each row, −1 for outliers.
///
/// # Errors
/// As [`predict_each`].
pub fn predict(
    model: &AnyModel,
    dataset: &Dataset<'_>,
    sizes: &SizeSpec,
    observer: &dyn Observer,
) -> Result<Vec<i32>> {
    let mut labels = Vec::with_capacity(dataset.n());
    predict_each(model, dataset, sizes, observer, |block| {
        labels.extend(block.assigned());
        Ok::<(), JobError>(())
    })?;
    Ok(labels)
}
