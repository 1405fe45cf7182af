//! Prepared rows in any order: held in memory when they fit, otherwise read and prepared batch by batch.
//! Both give the same bits.

use super::kernel::Marks;
use super::model::{Model, same_files};
use super::prepare::Preparation;
use super::train::Head;
use crate::error::{Error, Result};
use crate::rows::Rows;
use rayon::prelude::*;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Rows handled by one thread at a time.
const PIECE: usize = 64;

/// What is clustered: rows, and what is known about them.
#[derive(Clone)]
pub struct Input<'a> {
    /// The features.
    pub rows: &'a dyn Rows,
    /// Widths of the feature files that stand side by side in a row; each is prepared on its own.
    pub widths: Vec<usize>,
    /// Weight of each row, positive; none means one each.
    pub weights: Option<&'a [f32]>,
    /// Known label of each row, -1 for unknown.
    pub known: Option<&'a [i32]>,
    /// A model of the same shape to start from; every restart starts there, the later ones with noise.
    pub warm_start: Option<&'a Model>,
    /// Bytes of prepared rows that may be held in memory.
    pub memory: usize,
}

impl<'a> Input<'a> {
    /// One feature file, no weights, nothing known, up to 1 GiB in memory.
    pub fn new(rows: &'a dyn Rows) -> Self {
        Self { rows, widths: vec![rows.m()], weights: None, known: None, warm_start: None, memory: 1 << 30 }
    }

    /// Whether the label of any row is known. Such labels name the clusters, so that no other numbers may be given to them.
    pub fn names_clusters(&self) -> bool {
        self.known.is_some_and(|known| known.iter().any(|l| *l >= 0))
    }

    /// Check weights and labels against the rows and the number of clusters.
    pub fn check(&self, k: usize) -> Result<()> {
        let (n, m) = (self.rows.n(), self.rows.m());
        if n == 0 || m == 0 {
            return Err(Error::Empty { rows: n, columns: m });
        }
        let width: usize = self.widths.iter().sum();
        if width != m {
            return Err(Error::Width { expected: width, found: m });
        }
        if let Some(model) = self.warm_start {
            same_files(model, &self.widths)?;
        }
        if let Some(w) = self.weights {
            same_length("the row weights", w.len(), n)?;
            if let Some(row) = w.iter().position(|w| !w.is_finite() || *w <= 0.0) {
                return Err(Error::Parameter {
                    name: "a row weight",
                    value: format!("{} (row {row})", w[row]),
                    must: "finite and above 0",
                });
            }
            let mean = w.iter().map(|w| f64::from(*w)).sum::<f64>() / n as f64;
            if !WEIGHTS.contains(&mean) {
                return Err(Error::Parameter {
                    name: "the mean row weight",
                    value: mean.to_string(),
                    must: "between 1e-15 and 1e15; only the ratios count, so divide all by one number",
                });
            }
        }
        if let Some(known) = self.known {
            same_length("the known labels", known.len(), n)?;
            if let Some(row) = known.iter().position(|l| *l < -1 || *l >= k as i32) {
                return Err(Error::LabelOutOfRange { row, label: i64::from(known[row]), k });
            }
        }
        Ok(())
    }
}

/// Mean weights whose sums and products single precision can hold.
const WEIGHTS: RangeInclusive<f64> = 1e-15..=1e15;

/// Refuse data with fewer different rows than clusters. Stops as soon as enough are found, which is at once unless most rows
/// are copies.
pub fn check_distinct(rows: &dyn Rows, k: usize) -> Result<()> {
    let (n, m) = (rows.n(), rows.m());
    let mut seen: HashSet<Vec<u32>> = HashSet::with_capacity(k);
    let mut row = vec![0.0; m];
    for i in 0..n {
        rows.read(i, &mut row)?;
        // Adding 0 turns -0 into 0, which is the same number.
        seen.insert(row.iter().map(|v| (v + 0.0).to_bits()).collect());
        if seen.len() >= k {
            return Ok(());
        }
    }
    Err(Error::TooFewDistinctRows { rows: n, distinct: seen.len(), k })
}

fn same_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, found, expected }) }
}

/// Prepared rows.
pub struct Source<'a> {
    input: &'a Input<'a>,
    preparation: &'a Preparation,
    memory: Option<Vec<f32>>,
}

/// The rows of one batch, in buffers that are used again.
#[derive(Debug, Default)]
pub struct Batch {
    /// Prepared rows `[n, m]`.
    pub x: Vec<f32>,
    /// Indices of the rows.
    pub rows: Vec<usize>,
    pub(super) weights: Vec<f32>,
    pub(super) known: Vec<i32>,
}

impl Batch {
    /// Weights and known labels of the rows.
    pub fn marks(&self) -> Marks<'_> {
        Marks {
            weights: (!self.weights.is_empty()).then_some(&*self.weights),
            known: (!self.known.is_empty()).then_some(&*self.known),
        }
    }
}

impl<'a> Source<'a> {
    /// Hold the prepared rows in memory if they fit the input's budget.
    pub fn new(input: &'a Input<'a>, preparation: &'a Preparation) -> Result<Self> {
        let mut source = Self { input, preparation, memory: None };
        let bytes = input.rows.n().saturating_mul(preparation.d()).saturating_mul(4);
        // Reduced rows are hardly larger than sparse ones, which are in memory already.
        let sparse = input.rows.sparse().is_some() && preparation.reduction.is_some();
        if bytes <= input.memory || sparse {
            source.memory = Some(preparation.load(input.rows)?);
        }
        Ok(source)
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.input.rows.n()
    }

    /// Number of raw features.
    pub fn raw_m(&self) -> usize {
        self.input.rows.m()
    }

    /// Number of prepared features.
    pub fn m(&self) -> usize {
        self.preparation.d()
    }

    /// Known labels of all rows, if any were given.
    pub fn known(&self) -> Option<&[i32]> {
        self.input.known
    }

    /// Whether there is a model to start from.
    pub fn is_warm(&self) -> bool {
        self.input.warm_start.is_some()
    }

    /// The model to start from, as weights on prepared rows.
    pub fn warm_start(&self, k: usize) -> Result<Option<Head>> {
        let Some(model) = self.input.warm_start else { return Ok(None) };
        if model.m() != self.raw_m() {
            return Err(Error::Width { expected: model.m(), found: self.raw_m() });
        }
        if model.k() != k {
            return Err(Error::Parameter {
                name: "the number of clusters",
                value: k.to_string(),
                must: "that of the model to start from",
            });
        }
        let (weight, bias) = self.preparation.unfold(&model.weight, &model.bias);
        Ok(Some(Head { weight, bias }))
    }

    /// Weights of all rows, if any were given.
    pub fn weights(&self) -> Option<&[f32]> {
        self.input.weights
    }

    /// These rows as a batch of their own.
    pub fn batch(&self, rows: Vec<usize>) -> Result<Batch> {
        let mut batch = Batch { rows, ..Batch::default() };
        self.gather(&mut batch)?;
        Ok(batch)
    }

    /// Bring the rows at `batch.rows` into `batch`.
    pub fn gather(&self, batch: &mut Batch) -> Result<()> {
        let m = self.m();
        batch.x.resize(batch.rows.len() * m, 0.0);
        batch
            .x
            .par_chunks_mut(PIECE * m)
            .zip(batch.rows.par_chunks(PIECE))
            .try_for_each(|(out, rows)| self.gather_piece(rows, out))?;
        self.gather_marks(batch);
        Ok(())
    }

    fn gather_marks(&self, batch: &mut Batch) {
        if let Some(weights) = self.input.weights {
            batch.weights.clear();
            batch.weights.extend(batch.rows.iter().map(|&i| weights[i]));
        }
        if let Some(known) = self.input.known {
            batch.known.clear();
            batch.known.extend(batch.rows.iter().map(|&i| known[i]));
        }
    }

    fn gather_piece(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        let m = self.m();
        match &self.memory {
            Some(all) => {
                for (&row, out) in rows.iter().zip(out.chunks_exact_mut(m)) {
                    out.copy_from_slice(&all[row * m..(row + 1) * m]);
                }
            }
            None => {
                let mut raw = vec![0.0; rows.len() * self.preparation.m()];
                self.input.rows.gather(rows, &mut raw)?;
                self.preparation.apply(&mut raw, out);
            }
        }
        Ok(())
    }
}
