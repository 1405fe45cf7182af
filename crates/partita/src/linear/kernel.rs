//! The inner loop of training: one batch, all restarts.
//!
//! Shapes: rows X `[n, M]`, weights W `[R·K, M]` with the restarts stacked, logits Z `[n, R·K]`, logit gradients D
//! `[R·K, n]`. Both products run while the batch is in cache. Work is split into pieces whose size does not
//! depend on the number of threads (rows of Z, restarts of D and W), so neither do the bits.
//!
//! Pseudo-labels are found in the ratio form F = y/σ: the EM step y ← (σ + a·y)/(1 + Σ a·y), a_k = λu_k/ȳ_k, becomes
//! F ← (1 + a·F)/(1 + Σ a·σ·F), so ln y = ln σ + ln F never sees an underflowed probability.

use super::vector;
use crate::simplex::{RATIO_CAP_F32, TINY_F32};
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
    let n = z.len() / rk;
    for row in z.chunks_exact_mut(rk) {
        row.copy_from_slice(bias);
    }
    matmul(
        MatMut::from_row_major_slice_mut(z, n, rk),
        Accum::Add,
        MatRef::from_row_major_slice(x, n, m),
        MatRef::from_row_major_slice(weight, rk, m).transpose(),
        1.0f32,
        Par::Seq,
    );
}

/// X Aᵀ for row-major X `[n, m]`, A `[d, m]`, out `[n, d]`, on the calling thread.
pub fn product(x: &[f32], a: &[f32], m: usize, out: &mut [f32]) {
    let (n, d) = (x.len() / m, a.len() / m);
    matmul(
        MatMut::from_row_major_slice_mut(out, n, d),
        Accum::Replace,
        MatRef::from_row_major_slice(x, n, m),
        MatRef::from_row_major_slice(a, d, m).transpose(),
        1.0f32,
        Par::Seq,
    );
}

/// Yᵀ X for row-major Y `[n, d]`, X `[n, m]`, out `[d, m]`, on the calling thread.
pub fn transposed_product(y: &[f32], x: &[f32], m: usize, out: &mut [f32]) {
    let (n, d) = (x.len() / m, out.len() / m);
    matmul(
        MatMut::from_row_major_slice_mut(out, d, m),
        Accum::Replace,
        MatRef::from_row_major_slice(y, n, d).transpose(),
        MatRef::from_row_major_slice(x, n, m),
        1.0f32,
        Par::Seq,
    );
}

/// G = D X for row-major D `[k, n]`, X `[n, m]`, G `[k, m]`, on the calling thread.
pub fn weight_gradient(d: &[f32], x: &[f32], m: usize, g: &mut [f32]) {
    let k = g.len() / m;
    let n = x.len() / m;
    matmul(
        MatMut::from_row_major_slice_mut(g, k, m),
        Accum::Replace,
        MatRef::from_row_major_slice(d, k, n),
        MatRef::from_row_major_slice(x, n, m),
        1.0f32,
        Par::Seq,
    );
}

/// What the rows of a batch carry besides features.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks<'a> {
    /// Weight of each row; none means one each.
    pub weights: Option<&'a [f32]>,
    /// Known label of each row, -1 for unknown; none means no row is known.
    pub known: Option<&'a [i32]>,
}

/// Self-labelling with the reverse cross-entropy and strong fairness, by a fixed number of EM iterations.
#[derive(Debug, Clone)]
pub struct EmStep {
    /// Prior over the clusters.
    pub prior: Vec<f32>,
    /// Weight λ of fairness.
    pub lambda: f32,
    /// EM iterations for each batch.
    pub iterations: usize,
}

/// Scratch space of [`EmStep`], one for each thread.
#[derive(Debug, Default)]
pub struct Scratch {
    log_sigma: Vec<f32>,
    sigma: Vec<f32>,
    ratio: Vec<f32>,
    a: Vec<f32>,
    top: Vec<f32>,
    row: Vec<f32>,
}

impl EmStep {
    /// Logit gradients `d` `[k, n]` of one restart, from its columns `first .. first + k` of `z` `[n, stride]`; returns the loss
    /// mean H(σ, y) + λ KL(u‖ȳ) of the batch (cross-entropy −ln σ on known rows).
    pub fn gradient(
        &self,
        z: &[f32],
        (stride, first): (usize, usize),
        marks: Marks<'_>,
        d: &mut [f32],
        scratch: &mut Scratch,
    ) -> f64 {
        vector::dispatch(#[inline(always)] || self.gradient_inlined(z, (stride, first), marks, d, scratch))
    }

    #[inline(always)]
    fn gradient_inlined(
        &self,
        z: &[f32],
        (stride, first): (usize, usize),
        marks: Marks<'_>,
        d: &mut [f32],
        s: &mut Scratch,
    ) -> f64 {
        let k = self.prior.len();
        let n = z.len() / stride;
        s.resize(n, k);
        s.softmax(z, (stride, first), n, k);
        s.clamp_known(marks.known, n, k);
        let total = marks.weights.map_or(n as f32, vector::sum);
        for _ in 0..self.iterations {
            self.rescale(s, marks.weights, total, n);
            s.iterate(n);
        }
        let fairness = self.fairness(s, marks.weights, total, n);
        let decisiveness = s.reverse_cross_entropy(marks, total, n, d);
        f64::from(decisiveness) + f64::from(self.lambda) * fairness
    }

    /// a_k = λ u_k / ȳ_k for the current labels.
    #[inline(always)]
    fn rescale(&self, s: &mut Scratch, weights: Option<&[f32]>, total: f32, n: usize) {
        for (k, u) in self.prior.iter().enumerate() {
            s.a[k] = self.lambda * u / (s.mass(k, n, weights) / total).max(TINY_F32.sqrt());
        }
    }

    /// KL(u‖ȳ).
    #[inline(always)]
    fn fairness(&self, s: &Scratch, weights: Option<&[f32]>, total: f32, n: usize) -> f64 {
        let term = |(k, &u): (usize, &f32)| {
            let mean = f64::from(s.mass(k, n, weights) / total).max(f64::from(TINY_F32));
            f64::from(u) * (f64::from(u) / mean).ln()
        };
        self.prior.iter().enumerate().map(term).sum()
    }
}

impl Scratch {
    fn resize(&mut self, n: usize, k: usize) {
        for buffer in [&mut self.log_sigma, &mut self.sigma, &mut self.ratio] {
            buffer.resize(n * k, 0.0);
        }
        self.a.resize(k, 0.0);
        self.top.resize(n, 0.0);
        self.row.resize(n, 0.0);
    }

    /// ln σ and σ, cluster by cluster so that the loops run along the rows.
    #[inline(always)]
    fn softmax(&mut self, z: &[f32], (stride, first): (usize, usize), n: usize, k: usize) {
        for (i, row) in z.chunks_exact(stride).enumerate() {
            for (c, v) in row[first..first + k].iter().enumerate() {
                self.log_sigma[c * n + i] = *v;
            }
        }
        self.top.copy_from_slice(&self.log_sigma[..n]);
        for column in self.log_sigma.chunks_exact(n).skip(1) {
            self.top.iter_mut().zip(column).for_each(|(t, v)| *t = if *v > *t { *v } else { *t });
        }
        self.row.fill(0.0);
        for (column, sigma) in self.log_sigma.chunks_exact_mut(n).zip(self.sigma.chunks_exact_mut(n)) {
            for (((v, s), sum), top) in column.iter_mut().zip(sigma).zip(&mut self.row).zip(&self.top) {
                *v -= *top;
                *s = vector::exp(*v);
                *sum += *s;
            }
        }
        for (top, sum) in self.top.iter_mut().zip(&mut self.row) {
            *top = vector::ln(*sum);
            *sum = 1.0 / *sum;
        }
        for (column, sigma) in self.log_sigma.chunks_exact_mut(n).zip(self.sigma.chunks_exact_mut(n)) {
            for (((v, s), inverse), lse) in column.iter_mut().zip(sigma).zip(&self.row).zip(&self.top) {
                *v -= *lse;
                *s *= *inverse;
            }
        }
        self.ratio.fill(1.0);
    }

    /// A known row is its own pseudo-label: with σ one-hot the EM step leaves it there and counts it in ȳ.
    #[inline(always)]
    fn clamp_known(&mut self, known: Option<&[i32]>, n: usize, k: usize) {
        for (i, &label) in known.unwrap_or(&[]).iter().enumerate().filter(|(_, l)| **l >= 0) {
            for c in 0..k {
                self.sigma[c * n + i] = if c == label as usize { 1.0 } else { 0.0 };
            }
        }
    }

    /// Σ_i w_i y_ik.
    #[inline(always)]
    fn mass(&self, k: usize, n: usize, weights: Option<&[f32]>) -> f32 {
        let sigma = &self.sigma[k * n..(k + 1) * n];
        let ratio = &self.ratio[k * n..(k + 1) * n];
        let mut lanes = [0.0f32; 16];
        let whole = n / 16 * 16;
        match weights {
            None => {
                for (s, f) in sigma[..whole].chunks_exact(16).zip(ratio[..whole].chunks_exact(16)) {
                    for j in 0..16 {
                        lanes[j] += s[j] * f[j];
                    }
                }
                for i in whole..n {
                    lanes[i - whole] += sigma[i] * ratio[i];
                }
            }
            Some(w) => {
                for i in 0..n {
                    lanes[i % 16] += w[i] * sigma[i] * ratio[i];
                }
            }
        }
        vector::sum(&lanes)
    }

    /// F ← (1 + a·F)/(1 + Σ a·σ·F).
    #[inline(always)]
    fn iterate(&mut self, n: usize) {
        self.row.fill(1.0);
        for ((sigma, ratio), a) in self.sigma.chunks_exact(n).zip(self.ratio.chunks_exact(n)).zip(&self.a) {
            for ((sum, s), f) in self.row.iter_mut().zip(sigma).zip(ratio) {
                *sum += a * (s * f);
            }
        }
        for sum in &mut self.row {
            *sum = 1.0 / *sum;
        }
        for (ratio, a) in self.ratio.chunks_exact_mut(n).zip(&self.a) {
            for (f, inverse) in ratio.iter_mut().zip(&self.row) {
                let next = (1.0 + a * *f) * inverse;
                *f = if next < RATIO_CAP_F32 { next } else { RATIO_CAP_F32 };
            }
        }
    }

    /// Gradient σ(g − Σσg)·w/Σw with g = −ln y, and its loss Σσg averaged.
    #[inline(always)]
    fn reverse_cross_entropy(&mut self, marks: Marks<'_>, total: f32, n: usize, d: &mut [f32]) -> f32 {
        self.row.fill(0.0);
        let columns = self.sigma.chunks_exact(n).zip(self.log_sigma.chunks_exact(n));
        for ((sigma, log_sigma), ratio) in columns.zip(self.ratio.chunks_exact_mut(n)) {
            for (((s, ls), f), sum) in sigma.iter().zip(log_sigma).zip(ratio).zip(&mut self.row) {
                *f = -(*ls + vector::ln(*f)); // from here on `ratio` holds g
                *sum += *s * *f;
            }
        }
        match marks.weights {
            None => self.top.fill(1.0 / total),
            Some(w) => self.top.iter_mut().zip(w).for_each(|(t, w)| *t = w / total),
        }
        for ((sigma, g), d) in
            self.sigma.chunks_exact(n).zip(self.ratio.chunks_exact(n)).zip(d.chunks_exact_mut(n))
        {
            for ((((s, g), d), mean), w) in sigma.iter().zip(g).zip(d).zip(&self.row).zip(&self.top) {
                *d = w * s * (g - mean);
            }
        }
        self.known_rows(marks.known, n, d);
        for (mean, w) in self.row.iter_mut().zip(&self.top) {
            *mean *= w;
        }
        vector::sum(&self.row)
    }

    /// Known rows learn by the ordinary cross-entropy −ln σ: against a one-hot label the reverse one is infinite.
    #[inline(always)]
    fn known_rows(&mut self, known: Option<&[i32]>, n: usize, d: &mut [f32]) {
        for (i, &label) in known.unwrap_or(&[]).iter().enumerate().filter(|(_, l)| **l >= 0) {
            self.row[i] = -self.log_sigma[label as usize * n + i];
            for (c, d) in d.chunks_exact_mut(n).enumerate() {
                let one = if c == label as usize { 1.0 } else { 0.0 };
                d[i] = self.top[i] * (vector::exp(self.log_sigma[c * n + i]) - one);
            }
        }
    }
}
