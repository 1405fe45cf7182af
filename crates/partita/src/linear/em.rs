//! The inner loop of training with the default loss: pseudo-labels and logit gradients of one batch.
//!
//! Pseudo-labels are found in the ratio form F = y/σ: the EM step y ← (σ + a·y)/(1 + Σ a·y), a_k = λu_k/ȳ_k, becomes
//! F ← (1 + a·F)/(1 + Σ a·σ·F), so ln y = ln σ + ln F never sees an underflowed probability. Rows are taken
//! [`LANES`] abreast, cluster after cluster: every loop has a fixed length, vectorises, and finds its block in cache.
//!
//! With a teacher, the pseudo-labels are those of its logits, and the row learns them by its own.

use crate::numeric::vector;
use crate::simplex::{MASS_FLOOR_F32, RATIO_CAP_F32, TINY};

/// What the rows of a batch carry besides features.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks<'a> {
    /// Weight of each row; none means one each.
    pub weights: Option<&'a [f32]>,
    /// Known label of each row, -1 for unknown; none means no row is known.
    pub known: Option<&'a [i32]>,
    /// What the cross-entropy of known rows counts besides, times its mean over all rows; 0 for nothing.
    pub emphasis: f32,
}

/// Logits `[n, stride]` of the rows of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Logits<'a> {
    /// Those of the rows themselves, which learn.
    pub own: &'a [f32],
    /// Those that pseudo-labels are found from, if others than their own.
    pub teacher: Option<&'a [f32]>,
}

impl<'a> Logits<'a> {
    /// Rows that are their own teachers.
    pub fn own(own: &'a [f32]) -> Self {
        Self { own, teacher: None }
    }
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

/// Rows abreast in a block of the pseudo-label loop.
const LANES: usize = 64;

/// One number for each row of a block.
type Lanes = [f32; LANES];

/// Scratch space of [`EmStep`]: blocks of `k` lanes each.
#[derive(Debug, Default)]
pub struct Scratch {
    log_sigma: Vec<Lanes>,
    sigma: Vec<Lanes>,
    ratio: Vec<Lanes>,
    /// Weight of each row, 0 for the rows that fill up the last block.
    weights: Vec<Lanes>,
    a: Vec<f32>,
    mass: Vec<f32>,
}

impl EmStep {
    /// Logit gradients `d` `[k, n]` of one restart, from its columns `first .. first + k` of `z` `[n, stride]`; returns the
    /// loss mean H(σ, y) + λ KL(u‖ȳ) of the batch (cross-entropy −ln σ on known rows).
    pub fn gradient(
        &self,
        z: Logits<'_>,
        (stride, first): (usize, usize),
        marks: Marks<'_>,
        d: &mut [f32],
        scratch: &mut Scratch,
    ) -> f64 {
        vector::dispatch(
            #[inline(always)]
            || self.gradient_inlined(z, (stride, first), marks, d, scratch),
        )
    }

    #[inline(always)]
    fn gradient_inlined(
        &self,
        z: Logits<'_>,
        columns: (usize, usize),
        marks: Marks<'_>,
        d: &mut [f32],
        s: &mut Scratch,
    ) -> f64 {
        let k = self.prior.len();
        let n = z.own.len() / columns.0;
        s.start(z.teacher.unwrap_or(z.own), columns, k, marks);
        let total = s.weights.iter().map(|w| vector::sum(w)).sum::<f32>();
        for _ in 0..self.iterations {
            for ((a, u), mass) in s.a.iter_mut().zip(&self.prior).zip(&s.mass) {
                *a = self.lambda * u / (mass / total).max(MASS_FLOOR_F32);
            }
            s.iterate(k);
        }
        s.label();
        if z.teacher.is_some() {
            s.softmax_all(z.own, columns, k);
        }
        let decisiveness = s.reverse_cross_entropy(marks.known, 1.0 / total, (n, k), d);
        decisiveness + f64::from(self.lambda) * self.fairness(&s.mass, total)
    }

    /// KL(u‖ȳ).
    #[inline(always)]
    fn fairness(&self, mass: &[f32], total: f32) -> f64 {
        let term = |(&u, &mass): (&f32, &f32)| {
            f64::from(u) * (f64::from(u) / f64::from(mass / total).max(TINY)).ln()
        };
        self.prior.iter().zip(mass).map(term).sum()
    }
}

/// Σ over the lanes of a·b·c, in a fixed order.
#[inline(always)]
fn triple(a: &Lanes, b: &Lanes, c: &Lanes) -> f32 {
    let mut products = [0.0; LANES];
    for j in 0..LANES {
        products[j] = a[j] * b[j] * c[j];
    }
    vector::sum(&products)
}

impl Scratch {
    /// σ of every row, y = σ, and the mass of every cluster.
    #[inline(always)]
    fn start(&mut self, z: &[f32], columns: (usize, usize), k: usize, marks: Marks<'_>) {
        let n = z.len() / columns.0;
        let blocks = n.div_ceil(LANES);
        for buffer in [&mut self.log_sigma, &mut self.sigma, &mut self.ratio] {
            buffer.resize(blocks * k, [0.0; LANES]);
        }
        self.weights.resize(blocks, [0.0; LANES]);
        self.a.resize(k, 0.0);
        self.mass.clear();
        self.mass.resize(k, 0.0);
        for b in 0..blocks {
            let rows = b * LANES..n.min((b + 1) * LANES);
            for (j, w) in self.weights[b].iter_mut().enumerate() {
                let row = rows.start + j;
                *w = if row < n { marks.weights.map_or(1.0, |w| w[row]) } else { 0.0 };
            }
            self.softmax(z, columns, b, k);
            self.clamp_known(marks.known.map(|known| &known[rows]), b, k);
            for c in 0..k {
                self.ratio[b * k + c] = [1.0; LANES];
                self.mass[c] += triple(&self.weights[b], &self.sigma[b * k + c], &[1.0; LANES]);
            }
        }
    }

    /// ln σ and σ of all blocks.
    #[inline(always)]
    fn softmax_all(&mut self, z: &[f32], columns: (usize, usize), k: usize) {
        for b in 0..self.weights.len() {
            self.softmax(z, columns, b, k);
        }
    }

    /// ln σ and σ of one block.
    #[inline(always)]
    fn softmax(&mut self, z: &[f32], (stride, first): (usize, usize), b: usize, k: usize) {
        let z = &z[b * LANES * stride..z.len().min((b + 1) * LANES * stride)];
        let log_sigma = &mut self.log_sigma[b * k..(b + 1) * k];
        let sigma = &mut self.sigma[b * k..(b + 1) * k];
        for (j, row) in z.chunks_exact(stride).enumerate() {
            for (lanes, v) in log_sigma.iter_mut().zip(&row[first..first + k]) {
                lanes[j] = *v;
            }
        }
        let mut top = log_sigma[0];
        for lanes in &log_sigma[1..] {
            for j in 0..LANES {
                top[j] = if lanes[j] > top[j] { lanes[j] } else { top[j] };
            }
        }
        let mut sum = [0.0; LANES];
        for (lanes, sigma) in log_sigma.iter_mut().zip(&mut *sigma) {
            for j in 0..LANES {
                lanes[j] -= top[j];
                sigma[j] = vector::exp(lanes[j]);
                sum[j] += sigma[j];
            }
        }
        let mut inverse = [0.0; LANES];
        for j in 0..LANES {
            inverse[j] = 1.0 / sum[j];
            sum[j] = vector::ln(sum[j]);
        }
        for (lanes, sigma) in log_sigma.iter_mut().zip(sigma) {
            for j in 0..LANES {
                lanes[j] -= sum[j];
                sigma[j] *= inverse[j];
            }
        }
    }

    /// A known row is its own pseudo-label: with σ one-hot the EM step leaves it there and counts it in ȳ.
    #[inline(always)]
    fn clamp_known(&mut self, known: Option<&[i32]>, b: usize, k: usize) {
        for (j, &label) in known.unwrap_or(&[]).iter().enumerate().filter(|(_, l)| **l >= 0) {
            for (c, sigma) in self.sigma[b * k..(b + 1) * k].iter_mut().enumerate() {
                sigma[j] = if c == label as usize { 1.0 } else { 0.0 };
            }
        }
    }

    /// F ← (1 + a·F)/(1 + Σ a·σ·F), and the masses that follow.
    #[inline(always)]
    fn iterate(&mut self, k: usize) {
        self.mass.fill(0.0);
        let blocks = self.sigma.chunks_exact(k).zip(self.ratio.chunks_exact_mut(k));
        for ((sigma, ratio), weights) in blocks.zip(&self.weights) {
            let mut sum = [1.0; LANES];
            for ((s, f), a) in sigma.iter().zip(&*ratio).zip(&self.a) {
                for j in 0..LANES {
                    sum[j] += a * (s[j] * f[j]);
                }
            }
            for sum in &mut sum {
                *sum = 1.0 / *sum;
            }
            for (((s, f), a), mass) in sigma.iter().zip(ratio).zip(&self.a).zip(&mut self.mass) {
                for j in 0..LANES {
                    let next = (1.0 + a * f[j]) * sum[j];
                    f[j] = if next < RATIO_CAP_F32 { next } else { RATIO_CAP_F32 };
                }
                *mass += triple(weights, s, f);
            }
        }
    }

    /// From here on `ratio` holds g = −ln y = −ln σ − ln F.
    #[inline(always)]
    fn label(&mut self) {
        for (f, ls) in self.ratio.iter_mut().zip(&self.log_sigma) {
            for j in 0..LANES {
                f[j] = -(ls[j] + vector::ln(f[j]));
            }
        }
    }

    /// Gradient σ(g − Σσg)·w/Σw with g = −ln y, and its loss, the mean of Σσg.
    #[inline(always)]
    fn reverse_cross_entropy(
        &mut self,
        known: Option<&[i32]>,
        scale: f32,
        (n, k): (usize, usize),
        d: &mut [f32],
    ) -> f64 {
        let mut loss = 0.0;
        for b in 0..self.weights.len() {
            let first = b * LANES;
            let rows = LANES.min(n - first);
            let part = b * k..(b + 1) * k;
            let (sigma, log_sigma) = (&self.sigma[part.clone()], &self.log_sigma[part.clone()]);
            let g = &self.ratio[part];
            let mut mean = [0.0; LANES];
            for (s, g) in sigma.iter().zip(g) {
                for j in 0..LANES {
                    mean[j] += s[j] * g[j];
                }
            }
            let mut weights = self.weights[b];
            weights.iter_mut().for_each(|w| *w *= scale);
            for (c, (s, g)) in sigma.iter().zip(g).enumerate() {
                let mut out = [0.0; LANES];
                for j in 0..LANES {
                    out[j] = weights[j] * s[j] * (g[j] - mean[j]);
                }
                d[c * n + first..c * n + first + rows].copy_from_slice(&out[..rows]);
            }
            let known = known.map(|known| &known[first..first + rows]);
            known_rows(known, log_sigma, &weights, (first, n), d, &mut mean);
            loss += f64::from(triple(&weights, &mean, &[1.0; LANES]));
        }
        loss
    }
}

/// Known rows learn by the ordinary cross-entropy −ln σ: against a one-hot label the reverse one is infinite.
#[inline(always)]
fn known_rows(
    known: Option<&[i32]>,
    log_sigma: &[Lanes],
    weights: &Lanes,
    (first, n): (usize, usize),
    d: &mut [f32],
    mean: &mut Lanes,
) {
    for (j, &label) in known.unwrap_or(&[]).iter().enumerate().filter(|(_, l)| **l >= 0) {
        mean[j] = -log_sigma[label as usize][j];
        for (c, ls) in log_sigma.iter().enumerate() {
            let one = if c == label as usize { 1.0 } else { 0.0 };
            d[c * n + first + j] = weights[j] * (vector::exp(ls[j]) - one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::{self, SelfLabelled};
    use crate::pseudo::Em;
    use crate::rng::{Stream, stream};
    use crate::simplex;
    use proptest::prelude::*;
    use rand::RngExt;

    /// The same step in double precision, by the general objective.
    fn plain(em: &EmStep, z: &[f32], k: usize, marks: Marks<'_>) -> (f64, Vec<f64>) {
        let mut log_sigma = Vec::new();
        simplex::log_softmax_rows(z.iter().copied(), k, &mut log_sigma);
        let weights: Option<Vec<f64>> = marks.weights.map(|w| w.iter().map(|&w| f64::from(w)).collect());
        let batch =
            objective::Batch { log_sigma: &log_sigma, k, weights: weights.as_deref(), known: marks.known };
        let objective = SelfLabelled {
            solver: Box::new(Em { max_iterations: em.iterations, tolerance: 0.0 }),
            prior: em.prior.iter().map(|&u| f64::from(u)).collect(),
            lambda: f64::from(em.lambda),
        };
        let mut gradient = vec![0.0; z.len()];
        let mut workspace = objective::Workspace::default();
        objective.label(batch, &mut workspace);
        (objective.with_labels(batch, &mut gradient, &mut workspace), gradient)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn the_fast_step_agrees_with_the_plain_one(
            n in 1usize..200, k in 2usize..20, iterations in 1usize..12, seed in 0u64..1000,
            lambda in prop::sample::select(vec![0.1f32, 1.0, 100.0]), spread in 0.1f32..8.0,
            weighted in any::<bool>(), some_known in any::<bool>(),
        ) {
            let mut rng = stream(seed, Stream::Synthetic, 0);
            let (stride, first) = (k + 3, 2);
            let wide: Vec<f32> = (0..n * stride).map(|_| (rng.random::<f32>() - 0.5) * spread).collect();
            let z: Vec<f32> = wide.chunks_exact(stride).flat_map(|r| r[first..first + k].to_vec()).collect();
            let weights: Vec<f32> = (0..n).map(|_| 0.1 + rng.random::<f32>()).collect();
            let known: Vec<i32> = (0..n).map(|_| rng.random_range(-3..k as i32).max(-1)).collect();
            let marks = Marks { weights: weighted.then_some(&*weights), known: some_known.then_some(&*known), emphasis: 0.0 };
            let em = EmStep { prior: vec![1.0 / k as f32; k], lambda, iterations };
            let mut d = vec![0.0; n * k];
            let loss = em.gradient(Logits::own(&wide), (stride, first), marks, &mut d, &mut Scratch::default());
            let (expected, gradient) = plain(&em, &z, k, marks);
            prop_assert!((loss - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{loss} {expected}");
            for (i, row) in gradient.chunks_exact(k).enumerate() {
                for (c, g) in row.iter().enumerate() {
                    prop_assert!((f64::from(d[c * n + i]) - g).abs() < 2e-5 / (n as f64).sqrt().max(1.0), "{} {g}", d[c * n + i]);
                }
            }
        }
    }

    #[test]
    fn a_row_learns_the_labels_of_its_teacher_by_its_own_logits() {
        let (n, k) = (150, 5);
        let mut rng = stream(4, Stream::Synthetic, 0);
        let mut logits = || -> Vec<f32> { (0..n * k).map(|_| (rng.random::<f32>() - 0.5) * 6.0).collect() };
        let (own, teacher) = (logits(), logits());
        let em = EmStep { prior: vec![0.2; k], lambda: 100.0, iterations: 7 };
        let mut d = vec![0.0; n * k];
        let z = Logits { own: &own, teacher: Some(&teacher) };
        let loss = em.gradient(z, (k, 0), Marks::default(), &mut d, &mut Scratch::default());
        // In double precision: labels from one, the gradient of Σσ(−ln y) by the other.
        let (mut sigma, mut taught) = (Vec::new(), Vec::new());
        simplex::log_softmax_rows(own.iter().copied(), k, &mut sigma);
        simplex::log_softmax_rows(teacher.iter().copied(), k, &mut taught);
        let mut y: Vec<f64> = taught.iter().map(|l| l.exp()).collect();
        let mean = |y: &[f64], c: usize| y.iter().skip(c).step_by(k).sum::<f64>() / n as f64;
        for _ in 0..7 {
            let a: Vec<f64> = (0..k).map(|c| 100.0 * 0.2 / mean(&y, c)).collect();
            for (y, s) in y.chunks_exact_mut(k).zip(taught.chunks_exact(k)) {
                let sum = 1.0 + y.iter().zip(&a).map(|(y, a)| a * y).sum::<f64>();
                y.iter_mut().zip(s).zip(&a).for_each(|((y, s), a)| *y = (s.exp() + a * *y) / sum);
            }
        }
        let mut expected = (0..k).map(|c| 100.0 * 0.2 * (0.2 / mean(&y, c)).ln()).sum::<f64>();
        for (i, (y, s)) in y.chunks_exact(k).zip(sigma.chunks_exact(k)).enumerate() {
            let doubt: f64 = y.iter().zip(s).map(|(y, s)| -s.exp() * y.ln()).sum();
            expected += doubt / n as f64;
            for c in 0..k {
                let slope = s[c].exp() * (-y[c].ln() - doubt) / n as f64;
                assert!((f64::from(d[c * n + i]) - slope).abs() < 2e-6, "row {i}, cluster {c}");
            }
        }
        assert!((loss - expected).abs() < 1e-4, "{loss} {expected}");
    }

    #[test]
    fn no_finite_logits_give_a_nan() {
        for scale in [1e4f32, -1e4, 1e30] {
            let z: Vec<f32> =
                (0..30).map(|i| if i % 3 == 0 { scale } else { -scale * (i % 2) as f32 }).collect();
            let em = EmStep { prior: vec![1.0 / 3.0; 3], lambda: 100.0, iterations: 15 };
            let mut d = vec![0.0; 30];
            let loss =
                em.gradient(Logits::own(&z), (3, 0), Marks::default(), &mut d, &mut Scratch::default());
            assert!(loss.is_finite() && d.iter().all(|v| v.is_finite()), "{scale}: {loss} {d:?}");
        }
    }
}
