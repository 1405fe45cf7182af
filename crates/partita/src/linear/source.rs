//! Prepared rows in any order: held in memory when they fit, otherwise read and prepared batch by batch.
//! Both give the same bits.

use super::em::Marks;
use super::head::Head;
use super::input::Input;
use super::supervision;
use crate::error::{Error, Result};
use crate::prepare::{Lift, Preparation, PrepareNote, Prepared};
use rayon::prelude::*;

/// Rows handled by one thread at a time.
const PIECE: usize = 64;

/// The prepared rows of an input, with what is known about them.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    input: &'a Input<'a>,
    prepared: &'a Prepared,
    /// What the cross-entropy of known rows counts besides, times its mean over all rows.
    emphasis: f32,
}

/// The rows of one batch, in buffers that are used again.
#[derive(Debug, Default)]
pub struct RowBatch {
    /// Prepared rows `[n, m]`.
    pub x: Vec<f32>,
    /// Indices of the rows.
    pub rows: Vec<usize>,
    /// The same rows averaged with their neighbours, if a fit looks at these.
    pub(super) averaged: Vec<f32>,
    pub(super) weights: Vec<f32>,
    pub(super) known: Vec<i32>,
    pub(super) emphasis: f32,
}

impl RowBatch {
    /// The rows averaged with their neighbours, which teach them, if they have such a teacher.
    pub fn averaged(&self) -> Option<&[f32]> {
        (!self.averaged.is_empty()).then_some(&*self.averaged)
    }

    /// The rows as clusters are best seen in them: averaged with their neighbours, if they are.
    pub fn clearest(&self) -> &[f32] {
        self.averaged().unwrap_or(&self.x)
    }

    /// Weights and known labels of the rows.
    pub fn marks(&self) -> Marks<'_> {
        Marks {
            weights: (!self.weights.is_empty()).then_some(&*self.weights),
            known: (!self.known.is_empty()).then_some(&*self.known),
            emphasis: self.emphasis,
        }
    }
}

impl<'a> Source<'a> {
    /// Rows of `input` as `prepared` from it.
    pub fn new(input: &'a Input<'a>, prepared: &'a Prepared) -> Self {
        Self { input, prepared, emphasis: 0.0 }
    }

    /// The same, with `weight` times the mean cross-entropy of the known rows added to every loss.
    pub fn supervised(self, weight: f64) -> Self {
        Self { emphasis: supervision::emphasis(weight, self.input.known, self.input.weights), ..self }
    }

    /// What is clustered.
    pub fn input(&self) -> &'a Input<'a> {
        self.input
    }

    /// What was done to the rows.
    pub fn preparation(&self) -> &'a Preparation {
        self.prepared.preparation()
    }

    /// What was done to the features of each file first, and why.
    pub fn notes(&self) -> &'a [PrepareNote] {
        self.prepared.notes()
    }

    /// The feature map before training, if there is one.
    pub fn lift(&self) -> Option<&'a Lift> {
        self.prepared.lift()
    }

    /// Neighbours that each row was averaged with; 0 if none.
    pub fn neighbours(&self) -> usize {
        self.prepared.neighbours()
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
        self.preparation().d()
    }

    /// Known labels of all rows, if any were given.
    pub fn known(&self) -> Option<&'a [i32]> {
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
        let (weight, bias) = self.preparation().unfold(&model.weight, &model.bias);
        Ok(Some(Head { weight, bias }))
    }

    /// Weights of all rows, if any were given.
    pub fn weights(&self) -> Option<&'a [f32]> {
        self.input.weights
    }

    /// These rows as a batch of their own.
    pub fn batch(&self, rows: Vec<usize>) -> Result<RowBatch> {
        let mut batch = RowBatch { rows, ..RowBatch::default() };
        self.gather(&mut batch)?;
        Ok(batch)
    }

    /// Bring the rows at `batch.rows` into `batch`.
    pub fn gather(&self, batch: &mut RowBatch) -> Result<()> {
        let m = self.m();
        batch.x.resize(batch.rows.len() * m, 0.0);
        batch
            .x
            .par_chunks_mut(PIECE * m)
            .zip(batch.rows.par_chunks(PIECE))
            .try_for_each(|(out, rows)| self.gather_piece(rows, out))?;
        if let Some(all) = self.prepared.averaged() {
            batch.averaged.resize(batch.rows.len() * m, 0.0);
            copy_rows(all, &batch.rows, m, &mut batch.averaged);
        }
        self.gather_marks(batch);
        Ok(())
    }

    fn gather_marks(&self, batch: &mut RowBatch) {
        if let Some(weights) = self.input.weights {
            batch.weights.clear();
            batch.weights.extend(batch.rows.iter().map(|&i| weights[i]));
        }
        if let Some(known) = self.input.known {
            batch.known.clear();
            batch.known.extend(batch.rows.iter().map(|&i| known[i]));
            batch.emphasis = self.emphasis;
        }
    }

    fn gather_piece(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        let m = self.m();
        match self.prepared.rows() {
            Some(all) => copy_rows(all, rows, m, out),
            None => self.prepared.gather(self.input.rows, rows, out)?,
        }
        Ok(())
    }
}

/// Some rows of all.
fn copy_rows(all: &[f32], rows: &[usize], m: usize, out: &mut [f32]) {
    for (&row, out) in rows.iter().zip(out.chunks_exact_mut(m)) {
        out.copy_from_slice(&all[row * m..(row + 1) * m]);
    }
}
