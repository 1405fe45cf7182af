//! The loss of one head on a batch of pairs.
//!
//! A batch holds the rows x first and their partners x′ after them. Both directions count: the student sees one row of a
//! pair and the teacher the other, −ln Σ_c (s_c t_c)^β / t̄_c, with t̄ the teacher's running mean.

use crate::numeric::{product, vector};
use crate::simplex::TINY_F32;

/// Probabilities of logits at a temperature.
pub(super) fn probabilities(logits: &[f32], temperature: f64, k: usize) -> Vec<f32> {
    let scale = (1.0 / temperature) as f32;
    let mut p: Vec<f32> = logits.iter().map(|z| z * scale).collect();
    product::softmax_rows(&mut p, k);
    p
}

/// Σ_c t_c t′_c of each pair, added to `weights`.
pub(super) fn add_agreement(teacher: &[f32], k: usize, weights: &mut [f32]) {
    let (own, other) = teacher.split_at(teacher.len() / 2);
    for ((w, a), b) in weights.iter_mut().zip(own.chunks_exact(k)).zip(other.chunks_exact(k)) {
        *w += a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    }
}

/// Move the running mean towards the mean of the batch.
pub(super) fn update_marginal(marginal: &mut [f32], teacher: &[f32], momentum: f64) {
    let k = marginal.len();
    let mut mean = vec![0.0f64; k];
    for row in teacher.chunks_exact(k) {
        mean.iter_mut().zip(row).for_each(|(m, &t)| *m += f64::from(t));
    }
    let share = (1.0 - momentum) * k as f64 / teacher.len() as f64;
    for (marginal, mean) in marginal.iter_mut().zip(mean) {
        *marginal = (momentum * f64::from(*marginal) + share * mean) as f32;
    }
}

/// What the loss of a batch depends on besides the student.
pub(super) struct Pairs<'a> {
    /// The teacher's probabilities, `[2n, k]`.
    pub teacher: &'a [f32],
    /// Its running mean, `[k]`.
    pub marginal: &'a [f32],
    /// Weight of each pair, `[n]`.
    pub weights: &'a [f32],
    pub beta: f64,
    pub temperature: f64,
}

impl Pairs<'_> {
    /// The mean loss, and its gradient by the student's logits.
    ///
    /// With r_c ∝ (s_c t_c)^β / t̄_c, which sums to one, the slope of a row is β (s − r) / temperature.
    pub fn gradient(&self, student: &[f32]) -> (f64, Vec<f32>) {
        let k = self.marginal.len();
        let rows = student.len() / k;
        let beta = self.beta as f32;
        let share = 1.0 / rows as f32;
        let slope = (self.beta / self.temperature) as f32 * share;
        let offset: Vec<f32> = self.marginal.iter().map(|p| -vector::ln(p.max(TINY_F32))).collect();
        // The teacher sees the other row of each pair.
        let (own, other) = self.teacher.split_at(self.teacher.len() / 2);
        let teacher = other.chunks_exact(k).chain(own.chunks_exact(k));
        let weights = self.weights.iter().chain(self.weights);
        let mut loss = 0.0;
        let mut by_logits = vec![0.0; student.len()];
        let out = by_logits.chunks_exact_mut(k).zip(student.chunks_exact(k));
        for (((d, s), t), w) in out.zip(teacher).zip(weights) {
            let mut sum = 0.0;
            for (c, d) in d.iter_mut().enumerate() {
                let both = vector::ln(s[c].max(TINY_F32)) + vector::ln(t[c].max(TINY_F32));
                *d = vector::exp(beta * both + offset[c]);
                sum += *d;
            }
            loss -= f64::from(w * vector::ln(sum));
            d.iter_mut().zip(s).for_each(|(d, s)| *d = w * slope * (s - *d / sum));
        }
        (loss * f64::from(share), by_logits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use crate::simplex::log_softmax;
    use rand::RngExt;

    #[test]
    fn the_gradient_agrees_with_finite_differences_of_the_definition() {
        let (n, k, beta, temperature) = (4, 3, 0.6, 0.1);
        let mut rng = stream(5, Stream::Synthetic, 0);
        let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| 0.4 * rng.random::<f32>()).collect() };
        let (z, teacher) = (draw(2 * n * k), draw(2 * n * k));
        let teacher = probabilities(&teacher, temperature, k);
        let (marginal, weights) = ([0.2f32, 0.5, 0.3], draw(n));
        let pairs = Pairs { teacher: &teacher, marginal: &marginal, weights: &weights, beta, temperature };
        let (loss, gradient) = pairs.gradient(&probabilities(&z, temperature, k));
        let plain = |z: &[f64]| -> f64 {
            let row = |i: usize| {
                let scaled: Vec<f64> = z[i * k..(i + 1) * k].iter().map(|z| z / temperature).collect();
                let mut log = vec![0.0; k];
                log_softmax(&scaled, &mut log);
                let other = (i + n) % (2 * n);
                let term = |c: usize| {
                    (log[c].exp() * f64::from(teacher[other * k + c])).powf(beta) / f64::from(marginal[c])
                };
                -f64::from(weights[i % n]) * (0..k).map(term).sum::<f64>().ln()
            };
            (0..2 * n).map(row).sum::<f64>() / (2 * n) as f64
        };
        let wide: Vec<f64> = z.iter().map(|&z| f64::from(z)).collect();
        assert!((loss - plain(&wide)).abs() < 1e-6, "{loss} {}", plain(&wide));
        for (i, d) in gradient.iter().enumerate() {
            let at = |e: f64| {
                let mut moved = wide.clone();
                moved[i] += e;
                plain(&moved)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((difference - f64::from(*d)).abs() < 1e-5, "{i}: {difference} {d}");
        }
    }

    #[test]
    fn impossible_pairs_have_a_finite_loss() {
        let teacher = [1.0, 0.0, 0.0, 1.0];
        let pairs =
            Pairs { teacher: &teacher, marginal: &[1.0, 0.0], weights: &[1.0], beta: 0.6, temperature: 0.1 };
        let (loss, gradient) = pairs.gradient(&[1.0, 0.0, 0.0, 1.0]);
        assert!(loss.is_finite() && gradient.iter().all(|d| d.is_finite()), "{loss} {gradient:?}");
    }
}
