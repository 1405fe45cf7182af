//! Portraits of a linear model's clusters, from one pass over the rows.

use super::means::Means;
use super::tally::{Standing, Tally};
use super::{Portrait, PortraitOptions};
use crate::map::check_labels;
use ndarray::ArrayView2;
use partita::linear::Model;
use partita::rows::Csr;
use partita::rows::{Rows, Subset};
use partita::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;

/// Numbers held of a block of rows, about: 16 MB.
const BLOCK: usize = 1 << 22;
/// The model predicts this number of rows together; blocks of whole ones leave the bits of its logits alone.
const TOGETHER: usize = 128;

/// A portrait of every cluster of a linear model, from one pass over the rows with these labels.
///
/// What is held in memory is a block of rows, the means of the clusters `[k, m]`, and one number for each row. The
/// result does not depend on the number of threads.
///
/// # Errors
/// If the rows do not fit the model or cannot be read, if there is not one label below K for each of them, or if the
/// histogram has no bins.
///
/// ```
/// # use ndarray::Array2;
/// # use partita::{linear::{Input, Params, fit}, report::Silent};
/// use partita_job::portrait::{PortraitOptions, portraits};
/// let rows = Array2::from_shape_fn((60, 2), |(i, j)| if i % 3 == j { 10.0 } else { 0.0 } + (i / 3) as f32 * 0.01);
/// let rows = rows.view();
/// let found = fit(&Input::new(&rows), &Params::new(3), &Silent)?;
/// let all = portraits(&found.model, &rows, &found.labels, &PortraitOptions::default())?;
/// assert!(all.iter().all(|portrait| portrait.size == 20 && portrait.features.len() == 2));
/// # Ok::<(), partita::Error>(())
/// ```
pub fn portraits(
    model: &Model,
    rows: &dyn Rows,
    labels: &[u32],
    options: &PortraitOptions,
) -> Result<Vec<Portrait>> {
    let k = model.k();
    if rows.m() != model.m() {
        return Err(Error::Width { expected: model.m(), found: rows.m() });
    }
    check_labels(labels, rows.n(), k)?;
    let mut tally = Tally::new(k, options)?;
    let mut pass = Pass::new(model, rows);
    for start in (0..rows.n()).step_by(pass.step()) {
        let range = start..rows.n().min(start + pass.step());
        let labels = &labels[range.clone()];
        let logits = pass.read(range, labels)?;
        let standing = |(z, &label): (&[f32], &u32)| Standing::new(z, label as usize);
        let standings: Vec<Standing> = logits.par_chunks_exact(k).zip(labels).map(standing).collect();
        tally.add(start, labels, &standings);
    }
    rows.release();
    let norm = model.weight().iter().map(|w| f64::from(*w).powi(2)).sum::<f64>().sqrt();
    let mut portraits = tally.finish(Some(norm));
    for portrait in portraits.iter_mut().filter(|portrait| portrait.size > 0) {
        portrait.features = pass.means.defining(portrait.cluster, portrait.size, options.features);
    }
    Ok(portraits)
}

/// The rows, with what was seen of them so far.
struct Pass<'a> {
    model: &'a Model,
    rows: &'a dyn Rows,
    /// Rows of mostly zeros stay so, except those of several views, which the model fills too.
    sparse: Option<&'a Csr<'a>>,
    means: Means<'a>,
    block: Vec<f32>,
}

impl<'a> Pass<'a> {
    fn new(model: &'a Model, rows: &'a dyn Rows) -> Self {
        let sparse = rows.sparse().filter(|_| model.views().len() == 1);
        Self { model, rows, sparse, means: Means::new(model), block: Vec::new() }
    }

    /// Rows of a block.
    fn step(&self) -> usize {
        let width = if self.sparse.is_some() { self.model.k() } else { self.model.k().max(self.rows.m()) };
        (BLOCK / width).max(1).next_multiple_of(TOGETHER)
    }

    /// Add the rows to the means of their clusters; returns their logits.
    fn read(&mut self, range: Range<usize>, labels: &[u32]) -> Result<Vec<f32>> {
        let start = range.start;
        let logits = if let Some(sparse) = self.sparse {
            self.means.add_sparse(sparse, start, labels);
            self.model.logits_all(&Subset::new(self.rows, range.collect()))
        } else {
            let m = self.rows.m();
            self.block.resize(range.len() * m, 0.0);
            self.rows.read(start, &mut self.block)?;
            self.means.add(&self.block, labels);
            let rows = ArrayView2::from_shape((range.len(), m), &self.block)
                .expect("the block was sized for these rows");
            self.model.logits_all(&rows)
        };
        Ok(logits.map_err(|error| counted_from(start, error))?.into_raw_vec_and_offset().0)
    }
}

/// An error about a block that begins at row `start`, told about all rows.
fn counted_from(start: usize, error: Error) -> Error {
    match error {
        Error::NotFinite { row, column, value } => Error::NotFinite { row: start + row, column, value },
        other => other,
    }
}
