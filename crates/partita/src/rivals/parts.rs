//! What small networks are made of: numbers that Adam moves, weight normalisation, and rows of a known size.

use crate::error::{Result, require};
use crate::numeric::optimise::{Memory, Optimiser, Pace};
use crate::numeric::vector;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Numbers that Adam moves, with what it remembers of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Param {
    pub values: Vec<f32>,
    memory: Memory,
    steps: u32,
}

impl Param {
    pub fn new(values: Vec<f32>) -> Self {
        Self { values, ..Self::default() }
    }

    /// One step of Adam against `gradient`.
    pub fn step(&mut self, gradient: &[f32], rate: f64) {
        self.steps += 1;
        adam(&mut self.values, gradient, &mut self.memory, (rate, 0.0), self.steps);
    }
}

/// Step number `step` of Adam, from 1; `decay` shrinks the values apart from the gradient, as AdamW does.
pub(super) fn adam(
    values: &mut [f32],
    gradient: &[f32],
    memory: &mut Memory,
    (rate, decay): (f64, f64),
    step: u32,
) {
    if decay > 0.0 {
        let keep = (1.0 - rate * decay) as f32;
        values.iter_mut().for_each(|v| *v *= keep);
    }
    Optimiser::Adam.update(values, gradient, memory, Pace { rate: rate as f32, decay: 0.0, step });
}

/// `count` numbers uniform in ±1/√m: how PyTorch starts the weights and biases of a linear map of `m` inputs.
pub(super) fn uniform(count: usize, m: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let width = 1.0 / (m as f32).sqrt();
    (0..count).map(|_| (2.0 * rng.random::<f32>() - 1.0) * width).collect()
}

/// Rows of W = g v/‖v‖ from directions v `[k, m]` and lengths g `[k]`.
pub(super) fn normed(direction: &[f32], length: &[f32]) -> Vec<f32> {
    let m = direction.len() / length.len();
    let row = |(v, g): (&[f32], &f32)| {
        let scale = g * vector::inverse_norm(v);
        v.iter().map(move |v| v * scale).collect::<Vec<f32>>()
    };
    direction.chunks_exact(m).zip(length).flat_map(row).collect()
}

/// Gradients by v and g of a loss whose gradient by W = g v/‖v‖ is `by_weight`.
pub(super) fn normed_gradient(direction: &[f32], length: &[f32], by_weight: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let m = direction.len() / length.len();
    let mut by_direction = Vec::with_capacity(direction.len());
    let mut by_length = Vec::with_capacity(length.len());
    for ((v, g), d) in direction.chunks_exact(m).zip(length).zip(by_weight.chunks_exact(m)) {
        let inverse = vector::inverse_norm(v);
        let along = dot(v, d) * inverse;
        by_length.push(along);
        by_direction.extend(v.iter().zip(d).map(|(v, d)| g * inverse * (d - along * inverse * v)));
    }
    (by_direction, by_length)
}

/// Σ a·b.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The factor that brings the root mean square of `x` to `rms`: none changes nothing.
///
/// Adam's steps have a fixed size, so what a rate means depends on the size of the features. Networks give features of
/// about 1 each, while prepared rows have a norm of 1.
pub(super) fn rms_factor(x: &[f32], rms: Option<f64>) -> f32 {
    let Some(rms) = rms else { return 1.0 };
    // In blocks, so that long sums keep their precision.
    let squares: f64 = x.chunks(4096).map(|x| f64::from(vector::sum_squares(x))).sum();
    if squares > 0.0 { (rms / (squares / x.len() as f64).sqrt()) as f32 } else { 1.0 }
}

/// Refuse a number that is not finite and above 0.
pub(super) fn require_positive(name: &'static str, value: f64) -> Result<()> {
    require(name, value, value.is_finite() && value > 0.0, "a finite number above 0")
}

/// Refuse a share that is not from 0 to below 1.
pub(super) fn require_share(name: &'static str, value: f64) -> Result<()> {
    require(name, value, (0.0..1.0).contains(&value), "from 0 to below 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_norm_has_the_gradient_of_its_definition() {
        let v = [0.3f32, -1.2, 0.8, 2.0, 0.1, -0.4];
        let g = [1.5f32, 0.7];
        let c = [0.2f32, 0.9, -0.5, 1.1, -0.3, 0.6];
        let loss = |v: &[f64], g: &[f64]| -> f64 {
            (0..2)
                .map(|k| {
                    let row = &v[k * 3..k * 3 + 3];
                    let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                    (0..3).map(|j| f64::from(c[k * 3 + j]) * g[k] * row[j] / norm).sum::<f64>()
                })
                .sum()
        };
        let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let (by_v, by_g) = normed_gradient(&v, &g, &c);
        let (v, g) = (wide(&v), wide(&g));
        for (i, d) in by_v.iter().chain(&by_g).enumerate() {
            let at = |e: f64| {
                let (mut v, mut g) = (v.clone(), g.clone());
                if i < 6 {
                    v[i] += e;
                } else {
                    g[i - 6] += e;
                }
                loss(&v, &g)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - f64::from(*d)).abs() < 1e-5, "{i}: {slope} {d}");
        }
    }

    #[test]
    fn rows_are_brought_to_the_size_asked_for() {
        let x = [3.0f32, -4.0, 0.0, 0.0];
        assert!((rms_factor(&x, Some(1.0)) - 0.4).abs() < 1e-6);
        assert_eq!(rms_factor(&x, None), 1.0);
        assert_eq!(rms_factor(&[0.0; 4], Some(1.0)), 1.0);
    }
}
