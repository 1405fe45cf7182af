//! Products of rows with weights, and softmax, in single precision.
//!
//! Shapes: rows X `[n, M]`, weights W `[R·K, M]` with the restarts stacked, logits Z `[n, R·K]`, logit gradients D
//! `[R·K, n]`. Work is split into pieces whose size does not depend on the number of threads, so neither do the bits.

use super::{narrow, vector};
use crate::simplex::TINY_F32;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows of one piece of the logits product.
const ROWS: usize = 64;

/// Z = X Wᵀ + b for row-major X `[n, m]`, W `[rk, m]`, Z `[n, rk]`.
pub fn logits(x: &[f32], weight: &[f32], bias: &[f32], m: usize, z: &mut [f32]) {
    let rk = bias.len();
    z.par_chunks_mut(ROWS * rk)
        .zip(x.par_chunks(ROWS * m))
        .for_each(|(z, x)| logits_piece(x, weight, bias, m, z));
}

/// [`logits`] on the calling thread, in one piece.
pub fn logits_piece(x: &[f32], weight: &[f32], bias: &[f32], m: usize, z: &mut [f32]) {
    let rk = bias.len();
    product(x, weight, m, z);
    for row in z.chunks_exact_mut(rk) {
        row.iter_mut().zip(bias).for_each(|(z, b)| *z += b);
    }
}

/// A product of single precision, on the calling thread.
fn multiply(out: MatMut<'_, f32>, accum: Accum, a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    matmul(out, accum, a, b, 1.0, Par::Seq);
}

/// X Aᵀ for row-major X `[n, m]`, A `[d, m]`, out `[n, d]`, on the calling thread.
pub fn product(x: &[f32], a: &[f32], m: usize, out: &mut [f32]) {
    let (n, d) = (x.len() / m, a.len() / m);
    if d <= narrow::FEW {
        return narrow::dots(x, a, m, out);
    }
    let out = MatMut::from_row_major_slice_mut(out, n, d);
    multiply(
        out,
        Accum::Replace,
        MatRef::from_row_major_slice(x, n, m),
        MatRef::from_row_major_slice(a, d, m).transpose(),
    );
}

/// Yᵀ X for row-major Y `[n, d]`, X `[n, m]`, out `[d, m]`, on the calling thread.
pub fn transposed_product(y: &[f32], x: &[f32], m: usize, out: &mut [f32]) {
    let (n, d) = (x.len() / m, out.len() / m);
    let out = MatMut::from_row_major_slice_mut(out, d, m);
    multiply(
        out,
        Accum::Replace,
        MatRef::from_row_major_slice(y, n, d).transpose(),
        MatRef::from_row_major_slice(x, n, m),
    );
}

/// [`transposed_product`] added to what `out` holds.
pub fn add_transposed_product(y: &[f32], x: &[f32], m: usize, out: &mut [f32]) {
    let (n, d) = (x.len() / m, out.len() / m);
    let out = MatMut::from_row_major_slice_mut(out, d, m);
    multiply(
        out,
        Accum::Add,
        MatRef::from_row_major_slice(y, n, d).transpose(),
        MatRef::from_row_major_slice(x, n, m),
    );
}

/// G = D X for row-major D `[k, n]`, X `[n, m]`, G `[k, m]`, on the calling thread.
pub fn weight_gradient(d: &[f32], x: &[f32], m: usize, g: &mut [f32]) {
    let k = g.len() / m;
    let n = x.len() / m;
    let out = MatMut::from_row_major_slice_mut(g, k, m);
    multiply(
        out,
        Accum::Replace,
        MatRef::from_row_major_slice(d, k, n),
        MatRef::from_row_major_slice(x, n, m),
    );
}

/// Turn rows of logits `[rows, k]` into probabilities, in place.
pub fn softmax_rows(z: &mut [f32], k: usize) {
    vector::dispatch(
        #[inline(always)]
        || {
            for row in z.chunks_exact_mut(k) {
                let top = row.iter().fold(row[0], |top, &v| if v > top { v } else { top });
                row.iter_mut().for_each(|v| *v -= top);
            }
            z.iter_mut().for_each(|v| *v = vector::exp(*v));
            for row in z.chunks_exact_mut(k) {
                let scale = 1.0 / row.iter().sum::<f32>();
                row.iter_mut().for_each(|v| *v *= scale);
            }
        },
    );
}

/// −p ln p of every probability, in place.
pub fn entropy_terms(proba: &mut [f32]) {
    vector::dispatch(
        #[inline(always)]
        || proba.iter_mut().for_each(|p| *p *= -vector::ln(p.max(TINY_F32))),
    );
}
