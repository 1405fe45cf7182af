//! Rows in double precision, dense or sparse, block by block.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of one block: a block of usual width stays in the cache of one core.
pub(super) const BLOCK: usize = 128;

/// Dense rows of any type and layout, converted as they are read.
pub trait Dense: Sync {
    /// Number of rows.
    fn n(&self) -> usize;
    /// Number of features.
    fn m(&self) -> usize;
    /// The rows from `start` on, as many as `out` holds.
    ///
    /// # Errors
    /// If reading was stopped.
    fn read(&self, start: usize, out: &mut [f64]) -> Result<()>;
}

/// Rows of mostly zeros, compressed: the entries of row `i` are those from `starts[i]` to `starts[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct Sparse<'a> {
    /// Where rows begin, `[n + 1]`.
    pub starts: &'a [i64],
    /// Column of each entry.
    pub columns: &'a [i32],
    /// Its value.
    pub values: &'a [f64],
    /// Number of features.
    pub m: usize,
}

impl Sparse<'_> {
    fn check(&self) -> Result<()> {
        let ends = self.starts.last().is_some_and(|&end| end as usize == self.values.len());
        let rises = self.starts.first() == Some(&0) && self.starts.is_sorted();
        let inside = self.columns.iter().all(|&column| (0..self.m as i64).contains(&i64::from(column)));
        if ends && rises && inside && self.columns.len() == self.values.len() {
            return Ok(());
        }
        let value = "not consistent".to_owned();
        Err(Error::Parameter {
            name: "the sparse matrix",
            value,
            must: "of starts, columns and values that fit together",
        })
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&j, &v)| (j as usize, v))
    }
}

/// Rows as they are, or moved by a common shift so that large offsets cost no precision.
#[derive(Clone)]
pub enum Plain<'a> {
    /// Every number is there.
    Dense {
        /// The rows.
        rows: &'a dyn Dense,
        /// Subtracted from every row.
        shift: Vec<f64>,
        /// Whether rows are divided by their norm.
        unit: bool,
    },
    /// Zeros are left out; such rows are never shifted.
    Sparse {
        /// The rows.
        rows: Sparse<'a>,
        /// What every row is multiplied by: the inverse of its norm, if rows are held on the sphere.
        scale: Option<Vec<f64>>,
    },
}

impl<'a> Plain<'a> {
    /// Dense rows, checked.
    ///
    /// # Errors
    /// If there are none.
    pub fn dense(rows: &'a dyn Dense) -> Result<Self> {
        if rows.n() == 0 || rows.m() == 0 {
            return Err(Error::Empty { rows: rows.n(), columns: rows.m() });
        }
        Ok(Self::Dense { rows, shift: vec![0.0; rows.m()], unit: false })
    }

    /// Sparse rows, checked.
    ///
    /// # Errors
    /// If their parts do not fit together, or a value is not finite.
    pub fn sparse(rows: Sparse<'a>) -> Result<Self> {
        rows.check()?;
        let plain = Self::Sparse { rows, scale: None };
        if plain.n() == 0 || plain.m() == 0 {
            return Err(Error::Empty { rows: plain.n(), columns: plain.m() });
        }
        if let Some(at) = rows.values.iter().position(|v| !v.is_finite()) {
            let row = rows.starts.partition_point(|&start| start as usize <= at) - 1;
            let (column, value) = (rows.columns[at] as usize, rows.values[at] as f32);
            return Err(Error::NotFinite { row, column, value });
        }
        Ok(plain)
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => rows.n(),
            Self::Sparse { rows, .. } => rows.starts.len() - 1,
        }
    }

    /// Number of features.
    pub fn m(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => rows.m(),
            Self::Sparse { rows, .. } => rows.m,
        }
    }

    /// The same rows moved by `−shift`; sparse rows stay, for moving would fill them.
    pub fn shifted(self, by: &[f64]) -> Self {
        match self {
            Self::Dense { rows, unit, .. } => Self::Dense { rows, shift: by.to_vec(), unit },
            sparse => sparse,
        }
    }

    /// The same rows around the middle of some centres, which is what they are compared with.
    pub(super) fn around(&self, centres: &[f64]) -> Self {
        if matches!(self, Self::Dense { unit: true, .. }) {
            return self.clone();
        }
        let (m, k) = (self.m(), (centres.len() / self.m()) as f64);
        let middle: Vec<f64> = (0..m).map(|j| centres.iter().skip(j).step_by(m).sum::<f64>() / k).collect();
        self.clone().shifted(&middle)
    }

    /// The same rows at unit length; rows of zeros stay.
    pub fn on_sphere(self) -> Self {
        match self {
            Self::Dense { rows, shift, .. } => Self::Dense { rows, shift, unit: true },
            Self::Sparse { rows, .. } => {
                let inverse = |i| inverse_norm(rows.row(i).map(|(_, v)| v));
                Self::Sparse { rows, scale: Some((0..rows.starts.len() - 1).map(inverse).collect()) }
            }
        }
    }

    /// What was subtracted from the rows.
    pub fn shift(&self) -> Vec<f64> {
        match self {
            Self::Dense { shift, .. } => shift.clone(),
            Self::Sparse { rows, .. } => vec![0.0; rows.m],
        }
    }

    /// Some rows, read into `buffer` if they are dense.
    pub(super) fn block<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<f64>) -> Result<Block<'b>> {
        match self {
            Self::Sparse { rows, scale } => Ok(Block::Sparse { rows: *rows, scale: scale.as_deref(), range }),
            Self::Dense { rows, shift, unit } => {
                let m = rows.m();
                buffer.resize(range.len() * m, 0.0);
                rows.read(range.start, buffer)?;
                if let Some(at) = buffer.iter().position(|v| !v.is_finite()) {
                    let value = buffer[at] as f32;
                    return Err(Error::NotFinite { row: range.start + at / m, column: at % m, value });
                }
                for row in buffer.chunks_exact_mut(m) {
                    row.iter_mut().zip(shift).for_each(|(v, s)| *v -= s);
                    if *unit {
                        let scale = inverse_norm(row.iter().copied());
                        row.iter_mut().for_each(|v| *v *= scale);
                    }
                }
                Ok(Block::Dense { x: buffer, m })
            }
        }
    }

    /// What `work` makes of every block, in order; on all threads.
    pub(super) fn each_block<T: Send>(&self, work: impl Fn(Block<'_>, usize) -> T + Sync) -> Result<Vec<T>> {
        let n = self.n();
        (0..n.div_ceil(BLOCK))
            .into_par_iter()
            .map_init(Vec::new, |buffer, b| {
                let range = b * BLOCK..((b + 1) * BLOCK).min(n);
                Ok(work(self.block(range, buffer)?, b * BLOCK))
            })
            .collect()
    }

    /// One row, with all its zeros.
    pub(super) fn row(&self, i: usize) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.m()];
        self.block(i..i + 1, &mut Vec::new())?.add(0, 1.0, &mut out);
        Ok(out)
    }

    /// Mean row, and the mean variance of a feature.
    pub(super) fn moments(&self) -> Result<(Vec<f64>, f64)> {
        let n = self.n() as f64;
        let mut mean = vec![0.0; self.m()];
        let mut buffer = Vec::new();
        for start in (0..self.n()).step_by(BLOCK) {
            let block = self.block(start..(start + BLOCK).min(self.n()), &mut buffer)?;
            (0..block.len()).for_each(|i| block.add(i, 1.0, &mut mean));
        }
        mean.iter_mut().for_each(|v| *v /= n);
        let square: f64 = mean.iter().map(|v| v * v).sum();
        let around =
            |block: Block<'_>, _| (0..block.len()).map(|i| block.distance(i, &mean, square)).sum::<f64>();
        let total: f64 = self.each_block(around)?.iter().sum();
        Ok((mean, total / n / self.m() as f64))
    }
}

fn inverse_norm(values: impl Iterator<Item = f64>) -> f64 {
    let norm = values.map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 { 1.0 / norm } else { 0.0 }
}

/// ‖a − b‖², in eight sums side by side: one sum would wait for itself.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (left, right) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in left.zip(right) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += (a - b) * (a - b);
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// A few rows at hand.
pub(super) enum Block<'a> {
    Dense { x: &'a [f64], m: usize },
    Sparse { rows: Sparse<'a>, scale: Option<&'a [f64]>, range: Range<usize> },
}

impl Block<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense { x, m } => x.len() / m,
            Self::Sparse { range, .. } => range.len(),
        }
    }

    /// out += weight · row i.
    pub fn add(&self, i: usize, weight: f64, out: &mut [f64]) {
        match self {
            Self::Dense { x, m } => {
                out.iter_mut().zip(&x[i * m..(i + 1) * m]).for_each(|(out, v)| *out += weight * v);
            }
            Self::Sparse { .. } => self.entries(i).for_each(|(j, v)| out[j] += weight * v),
        }
    }

    /// Squared distance of row i to a centre, whose squared norm is given.
    pub fn distance(&self, i: usize, centre: &[f64], square: f64) -> f64 {
        match self {
            Self::Dense { x, m } => squared_distance(&x[i * m..(i + 1) * m], centre),
            // What the entries change about the distance from zero.
            Self::Sparse { .. } => {
                (square + self.entries(i).map(|(j, v)| v * (v - 2.0 * centre[j])).sum::<f64>()).max(0.0)
            }
        }
    }

    /// The entries of a sparse row.
    pub fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let parts = match self {
            Self::Dense { .. } => None,
            Self::Sparse { rows, scale, range } => {
                Some((rows, range.start + i, scale.map_or(1.0, |s| s[range.start + i])))
            }
        };
        parts.into_iter().flat_map(|(rows, row, scale)| rows.row(row).map(move |(j, v)| (j, scale * v)))
    }
}
