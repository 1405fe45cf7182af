//! The part of the preparation that stays with a model: what is done to each row and is not affine.

use crate::numeric::vector;
use serde::{Deserialize, Serialize};

/// The part of the preparation of one feature file that cannot be folded into W and b.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureView {
    /// Number of features.
    pub width: usize,
    /// Subtracted from every row before anything else; empty for none.
    pub centre: Vec<f32>,
    /// Whether rows are then divided by their norm.
    pub normalise: bool,
}

impl FeatureView {
    /// Apply to one row, in place.
    #[inline(always)]
    fn apply(&self, row: &mut [f32]) {
        for (x, c) in row.iter_mut().zip(&self.centre) {
            *x -= c;
        }
        if self.normalise {
            // In double precision and rounded once, so that a common factor of all features leaves the same bits.
            let scale = inverse_norm(row);
            for x in row {
                *x = (f64::from(*x) * scale) as f32;
            }
        }
    }
}

/// Subtract the view's centre from every row of a block and find the factor that remains of its normalisation, so that
/// it can multiply a product with the rows instead of the rows.
pub fn centre_block(view: &FeatureView, block: &mut [f32], factors: &mut Vec<f32>) {
    factors.clear();
    vector::dispatch(
        #[inline(always)]
        || {
            for row in block.chunks_exact_mut(view.width) {
                for (x, c) in row.iter_mut().zip(&view.centre) {
                    *x -= c;
                }
                factors.push(if view.normalise { inverse_norm_f32(row) } else { 1.0 });
            }
        },
    );
}

/// [`inverse_norm`] in single precision, unless the squares leave its range.
#[inline(always)]
fn inverse_norm_f32(row: &[f32]) -> f32 {
    let squares = vector::sum_squares(row);
    if (1e-30..1e30).contains(&squares) { 1.0 / squares.sqrt() } else { inverse_norm(row) as f32 }
}

/// 1/‖row‖, or 0 for a row of zeros.
#[inline(always)]
fn inverse_norm(row: &[f32]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let chunks = row.chunks_exact(8);
    for (lane, x) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += f64::from(*x) * f64::from(*x);
    }
    for c in chunks {
        for (lane, x) in lanes.iter_mut().zip(c) {
            *lane += f64::from(*x) * f64::from(*x);
        }
    }
    let squares: f64 = lanes.iter().sum();
    if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 }
}

/// Apply the views side by side to a block of rows, in place.
pub fn apply_views(views: &[FeatureView], block: &mut [f32]) {
    let m: usize = views.iter().map(|v| v.width).sum();
    vector::dispatch(
        #[inline(always)]
        || {
            for row in block.chunks_exact_mut(m) {
                let mut rest = row;
                for view in views {
                    let (part, tail) = rest.split_at_mut(view.width);
                    view.apply(part);
                    rest = tail;
                }
            }
        },
    );
}
