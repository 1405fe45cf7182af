//! Outliers: rows that belong to no cluster.
//!
//! The scale s of a row is its distance to its 7th nearest landmark, a row that stands for all; it is large where rows are sparse. What
//! is typical differs between clusters, so a row is compared with its own:
//!
//! ```text
//! score = max(0, 1 − typical/s),    typical the median of s in the row's cluster
//! ```
//!
//! 0 means that a row's place is as dense as its cluster usually is, 0.5 that its neighbours are twice as far; far from everything it nears 1.
//! That is the score of GLOSH (Campello et al., 2015) with plain distances. Rows with a score above the threshold are outliers. Distances are
//! those of prepared rows, before a lift and without a reduction to principal components; more than 128 features are projected to so many
//! random directions. New rows are judged as all others are.

mod fence;
mod rule;
#[cfg(test)]
mod tests;

pub use rule::OutlierRule;

use crate::error::Result;
use crate::prepare::{Landmarks, Preparation, Reader, Reduction, WIDE};
use crate::rows::Rows;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Landmarks at most.
const LANDMARKS: usize = 1500;
/// The neighbour whose distance is the scale of a row.
const SCALE: usize = 7;
/// A landmark nearer to a row than this part of its scale is the row itself.
const SAME: f32 = 1e-3;
/// Rows handled by one thread at a time.
const PIECE: usize = 64;

/// What tells outliers of clusters from other rows, fitted to rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outliers {
    /// What is done to raw rows before distances are measured.
    pub base: Preparation,
    /// Prepared rows that stand for all.
    pub landmarks: Landmarks,
    /// Typical scale in each cluster.
    pub typical: Vec<f32>,
    /// Score above which a row is an outlier.
    pub threshold: f32,
}

/// What a report says about outliers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OutlierNote {
    /// Rows that belong to no cluster.
    pub count: usize,
    /// Their share of all rows.
    pub share: f64,
    /// The score above which a row is one.
    pub threshold: f64,
}

impl Outliers {
    /// Fit to rows that belong to these of `k` clusters; returns the scores of the rows as well.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn fit(
        data: &dyn Rows,
        base: &Preparation,
        (labels, k): (&[u32], usize),
        rule: OutlierRule,
        seed: u64,
    ) -> Result<(Self, Vec<f32>)> {
        rule.check()?;
        let reduction = (base.m() > WIDE).then(|| Reduction::random(base.m(), WIDE, seed));
        let base = Preparation { reduction, ..base.clone() };
        let landmarks = Landmarks::sample(data, &base, LANDMARKS, seed)?;
        let mut found = Self { base, landmarks, typical: Vec::new(), threshold: 0.0 };
        let scales = found.scales(data)?;
        let logs: Vec<f64> = scales.iter().map(|s| f64::from(s.max(f32::MIN_POSITIVE)).ln()).collect();
        let (typical, end) = match rule {
            OutlierRule::Auto => fence::fence(&logs, labels, k, found.base.d()),
            OutlierRule::Share(_) => {
                let all: Vec<usize> = (0..logs.len()).collect();
                (fence::typical(&logs, labels, k, &all), 0.0)
            }
        };
        found.typical = typical.into_iter().map(|log| log.exp() as f32).collect();
        let scores = found.scores(&scales, labels);
        found.threshold = match rule {
            OutlierRule::Auto => (1.0 - (-end).exp()) as f32,
            OutlierRule::Share(share) => highest(&scores, share),
        };
        Ok((found, scores))
    }

    /// What finds the scales of these rows.
    pub fn judge<'a>(&'a self, rows: &'a dyn Rows) -> Judge<'a> {
        Judge { outliers: self, reader: self.base.reader(rows) }
    }

    /// The scale of each row: its distance to its 7th nearest landmark, itself not counted.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn scales(&self, data: &dyn Rows) -> Result<Vec<f32>> {
        let (judge, mut scales) = (self.judge(data), vec![0.0; data.n()]);
        let pieces = scales.par_chunks_mut(PIECE).enumerate();
        pieces.try_for_each(|(i, scales)| judge.scales(i * PIECE, scales))?;
        data.release();
        Ok(scales)
    }

    /// The scale of a prepared row.
    fn scale(&self, x: &[f32], distances: &mut Vec<f32>) -> f32 {
        let near = self.landmarks.nearest(x, SCALE + 1, distances);
        let at = |rank: usize| near[rank.min(near.len() - 1)].0;
        let is_landmark = at(0) <= SAME * SAME * at(SCALE);
        (if is_landmark { at(SCALE) } else { at(SCALE - 1) }).sqrt()
    }

    /// Scores of rows with these scales in these clusters.
    pub fn scores(&self, scales: &[f32], labels: &[u32]) -> Vec<f32> {
        let score = |(&scale, &label): (&f32, &u32)| {
            let typical = self.typical[label as usize];
            if scale > typical { 1.0 - typical / scale } else { 0.0 }
        };
        scales.iter().zip(labels).map(score).collect()
    }

    /// The cluster of each row with these scores, −1 for outliers.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use partita::{EntropyClustering, outliers::OutlierRule};
    /// // Two squares of 100 rows, and one row far from both.
    /// let x = Array2::from_shape_fn((201, 2), |(i, j)| match (i, j) {
    ///     (200, _) => 40.0f32,
    ///     (_, 0) => (i % 10) as f32 + if i < 100 { 0.0 } else { 30.0 },
    ///     _ => (i / 10 % 10) as f32,
    /// });
    /// let found = EntropyClustering::new(2).outliers(OutlierRule::Auto).fit(&x)?;
    /// let (model, scores) = (&found.model, found.outlier_scores.expect("outliers were asked for"));
    /// let outliers = model.outliers().expect("outliers were asked for");
    /// let marked = outliers.mark(&found.labels, &scores);
    /// assert_eq!((marked[200], marked[..200].iter().filter(|label| **label < 0).count()), (-1, 0));
    /// assert_eq!(model.assign(&x)?, marked);
    /// # Ok::<(), partita::Error>(())
    /// ```
    pub fn mark(&self, labels: &[u32], scores: &[f32]) -> Vec<i32> {
        let mark = |(&label, &score): (&u32, &f32)| if self.is_outlier(score) { -1 } else { label as i32 };
        labels.iter().zip(scores).map(mark).collect()
    }

    /// Whether a row with this score is an outlier.
    pub fn is_outlier(&self, score: f32) -> bool {
        score > self.threshold
    }

    /// What a report says about rows with these scores.
    pub fn note(&self, scores: &[f32]) -> OutlierNote {
        let count = scores.iter().filter(|&&score| self.is_outlier(score)).count();
        let share = count as f64 / scores.len().max(1) as f64;
        OutlierNote { count, share, threshold: f64::from(self.threshold) }
    }

    /// Whether all parts fit together and all numbers are finite, for `k` clusters.
    pub fn is_sound(&self, k: usize) -> bool {
        let (landmarks, reduction) = (&self.landmarks, self.base.reduction.as_ref());
        landmarks.n() > 0
            && self.base.is_sound()
            && reduction.is_none_or(|r| r.m() == self.base.m() && r.matrix().iter().all(|v| v.is_finite()))
            && self.base.d() == landmarks.m()
            && landmarks.columns().len() == landmarks.n() * landmarks.m()
            && landmarks.columns().iter().all(|v| v.is_finite())
            && self.typical.len() == k
            && self.typical.iter().all(|s| s.is_finite() && *s >= 0.0)
            && (0.0..=1.0).contains(&self.threshold)
    }
}

/// Rows with what finds their scales.
pub struct Judge<'a> {
    outliers: &'a Outliers,
    reader: Reader<'a>,
}

impl Judge<'_> {
    /// Scales of the rows from `start` on, as many as `out` takes. Rows are read in pieces of a fixed size from there, and a start that is a
    /// multiple of that size gives the same bits as [`Outliers::scales`].
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn scales(&self, start: usize, out: &mut [f32]) -> Result<()> {
        let d = self.outliers.base.d();
        let (mut block, mut distances) = (Vec::new(), Vec::new());
        for (i, out) in out.chunks_mut(PIECE).enumerate() {
            block.resize(out.len() * d, 0.0);
            self.reader.read(start + i * PIECE, &mut block)?;
            for (x, scale) in block.chunks_exact(d).zip(out) {
                *scale = self.outliers.scale(x, &mut distances);
            }
        }
        Ok(())
    }
}

/// The threshold that this share of the scores is above. Half-way between two scores, so that rounding changes no answer.
fn highest(scores: &[f32], share: f64) -> f32 {
    let count = ((share * scores.len() as f64).round() as usize).min(scores.len().saturating_sub(1));
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    match count {
        0 => sorted.first().copied().unwrap_or(0.0),
        _ => 0.5 * (sorted[count - 1] + sorted[count]),
    }
}
