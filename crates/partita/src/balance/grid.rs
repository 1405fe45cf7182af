//! Scores as whole numbers, so that prices, ties and optimality need no tolerance.
//!
//! A score is multiplied by a power of two and rounded. The power is the largest for which a sum of `k` differences
//! still fits the 53 bits of an `f64`: with 100 clusters a score keeps 43 bits, and every `f32` down to 2⁻¹⁹ of the
//! largest is held without any loss.

use crate::error::{Error, Result};
use crate::simplex::TINY;
use rayon::prelude::*;

/// Rows handled at once by one thread.
pub(super) const PIECE: usize = 2048;

/// Up to this many scores, starting threads costs more than it saves.
const FEW: usize = 1 << 17;

/// Label of a row for which several clusters are equally good.
pub(super) const TIED: u32 = u32::MAX;

/// The rows of one problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid<'a> {
    scores: &'a [f32],
    pub k: usize,
    /// Rows of the table that take part; `None` means all.
    sample: Option<&'a [u32]>,
    /// The score that replaces minus infinity.
    floor: f32,
    /// Whole numbers per unit of score; a power of two.
    pub scale: f64,
}

impl<'a> Grid<'a> {
    /// All rows of `scores`, shape `[n, k]`; checks the scores.
    pub fn new(scores: &'a [f32], k: usize) -> Result<Self> {
        let mut reach = largest_magnitude(scores);
        if !reach.is_finite() {
            refuse_not_finite(scores, k)?;
            let finite = scores.iter().filter(|s| s.is_finite());
            reach = finite.fold(-TINY.ln() as f32, |reach, s| reach.max(s.abs()));
        }
        Ok(Self { scores, k, sample: None, floor: -reach, scale: scale(reach, k) })
    }

    /// Some of the rows.
    pub fn sample(&self, rows: &'a [u32]) -> Self {
        Self { sample: Some(rows), ..*self }
    }

    pub fn len(&self) -> usize {
        self.sample.map_or(self.scores.len() / self.k, <[u32]>::len)
    }

    /// Whether the work is worth several threads.
    pub fn is_large(&self) -> bool {
        self.len() * self.k > FEW
    }

    pub fn row(&self, i: usize) -> &'a [f32] {
        let i = self.sample.map_or(i, |rows| rows[i] as usize);
        &self.scores[i * self.k..(i + 1) * self.k]
    }

    /// A score as a number.
    #[inline(always)]
    pub fn score(&self, s: f32) -> f64 {
        f64::from(s.max(self.floor))
    }

    /// A score as a whole number, in the type that vectorises.
    #[inline(always)]
    pub fn whole(&self, s: f32) -> f64 {
        const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²: adding and subtracting it rounds to the nearest integer
        (self.score(s) * self.scale + ROUND) - ROUND
    }

    /// For each row, the cluster with the largest score minus price, or [`TIED`].
    pub fn choose(&self, prices: &[f64], labels: &mut [u32]) {
        let choose = |values: &mut Vec<f64>, (piece, labels): (usize, &mut [u32])| {
            for (i, label) in labels.iter_mut().enumerate() {
                let best = self.net(piece * PIECE + i, prices, values);
                *label = match values.iter().filter(|v| **v == best).count() {
                    1 => values.iter().position(|v| *v == best).map_or(TIED, |c| c as u32),
                    _ => TIED,
                };
            }
        };
        if self.is_large() {
            labels.par_chunks_mut(PIECE).enumerate().for_each_init(Vec::new, choose);
        } else {
            let mut values = Vec::new();
            labels.chunks_mut(PIECE).enumerate().for_each(|piece| choose(&mut values, piece));
        }
    }

    /// Score minus price of one row for every cluster; returns the largest of them.
    pub fn net(&self, i: usize, prices: &[f64], values: &mut Vec<f64>) -> f64 {
        values.clear();
        values.extend(self.row(i).iter().zip(prices).map(|(s, p)| self.whole(*s) - p));
        largest(values)
    }
}

/// The largest value, in lanes because a running maximum of floats does not vectorise.
pub(super) fn largest(values: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 8];
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            *lane = if *v > *lane { *v } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| a.max(*b))
}

/// The largest |s|; infinite or NaN if any score is. Without the sign, floats sort like their bits.
fn largest_magnitude(scores: &[f32]) -> f32 {
    let largest = |s: &[f32]| s.iter().fold(0, |bits, s| bits.max(s.to_bits() & 0x7fff_ffff));
    let bits = match scores.len() {
        0..=FEW => largest(scores),
        _ => scores.par_chunks(FEW).map(largest).max().unwrap_or(0),
    };
    f32::from_bits(bits)
}

fn refuse_not_finite(scores: &[f32], k: usize) -> Result<()> {
    match scores.iter().position(|s| s.is_nan() || *s == f32::INFINITY) {
        None => Ok(()),
        Some(i) => Err(Error::NotFinite { row: i / k, column: i % k, value: scores[i] }),
    }
}

/// The largest power of two that leaves room for sums of `k` differences.
fn scale(reach: f32, k: usize) -> f64 {
    let bits = 50 - (usize::BITS - k.leading_zeros()) as i32;
    let exponent = if reach > 0.0 { f64::from(reach).log2().ceil() as i32 } else { 0 };
    2f64.powi(bits - exponent)
}
