//! The network of one head: two layers with GELU between them, rows of unit length, and a last layer with normed weights.

use crate::numeric::vector::inverse_norm;
use crate::numeric::{product, vector};
use crate::rivals::parts::{dot, normed, normed_gradient, uniform};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows that go through the network together, on one thread.
const PIECE: usize = 128;
/// Outputs of a layer whose weight gradients one thread finds.
const UNITS: usize = 128;
/// Standard deviation of the first weights.
const SPREAD: f64 = 0.02;

/// Sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Features of a row.
    pub m: usize,
    /// Outputs of the first layer.
    pub hidden: usize,
    /// Outputs of the second layer.
    pub bottleneck: usize,
    /// Number of clusters.
    pub k: usize,
}

/// The numbers of a network, or their gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Sizes.
    pub shape: Shape,
    /// Weights of the first layer `[hidden, m]`.
    pub first: Vec<f32>,
    /// Its biases `[hidden]`.
    pub first_bias: Vec<f32>,
    /// Weights of the second layer `[bottleneck, hidden]`.
    pub second: Vec<f32>,
    /// Its biases `[bottleneck]`.
    pub second_bias: Vec<f32>,
    /// Directions v of the last layer `[k, bottleneck]`, whose weights are g v/‖v‖.
    pub direction: Vec<f32>,
    /// Lengths g of the last layer `[k]`.
    pub length: Vec<f32>,
}

/// Parts of [`Network::parts`] that belong to the last layer.
pub const LAST_LAYER: [usize; 2] = [4, 5];
/// Parts of [`Network::parts`] that decay: all but biases.
pub const DECAYING: [usize; 4] = [0, 2, 4, 5];

impl Network {
    /// A network as the original starts it.
    pub fn new(shape: Shape, rng: &mut ChaCha8Rng) -> Self {
        let Shape { m, hidden, bottleneck, k } = shape;
        Self {
            shape,
            first: normal(hidden * m, rng),
            first_bias: vec![0.0; hidden],
            second: normal(bottleneck * hidden, rng),
            second_bias: vec![0.0; bottleneck],
            direction: uniform(k * bottleneck, bottleneck, rng),
            length: vec![1.0; k],
        }
    }

    /// All numbers, layer by layer.
    pub fn parts(&self) -> [&[f32]; 6] {
        let Self { first, first_bias, second, second_bias, direction, length, .. } = self;
        [first, first_bias, second, second_bias, direction, length]
    }

    /// All numbers, layer by layer.
    pub fn parts_mut(&mut self) -> [&mut [f32]; 6] {
        let Self { first, first_bias, second, second_bias, direction, length, .. } = self;
        [first, first_bias, second, second_bias, direction, length]
    }

    /// Logits of the rows `x` and everything on the way.
    pub fn forward(&self, x: &[f32]) -> Trace {
        let Shape { m, hidden, bottleneck, k } = self.shape;
        let n = x.len() / m;
        let mut trace = Trace {
            before: vec![0.0; n * hidden],
            after: vec![0.0; n * hidden],
            unit: vec![0.0; n * bottleneck],
            inverse: vec![0.0; n],
            logits: vec![0.0; n * k],
        };
        let last = normed(&self.direction, &self.length);
        (x.par_chunks(PIECE * m), trace.before.par_chunks_mut(PIECE * hidden))
            .into_par_iter()
            .zip(trace.after.par_chunks_mut(PIECE * hidden))
            .zip(trace.unit.par_chunks_mut(PIECE * bottleneck))
            .zip(trace.inverse.par_chunks_mut(PIECE))
            .zip(trace.logits.par_chunks_mut(PIECE * k))
            .for_each(|(((((x, before), after), unit), inverse), logits)| {
                product::logits_piece(x, &self.first, &self.first_bias, m, before);
                gelu(before, after);
                product::logits_piece(after, &self.second, &self.second_bias, hidden, unit);
                for (row, inverse) in unit.chunks_exact_mut(bottleneck).zip(inverse) {
                    *inverse = inverse_norm(row);
                    row.iter_mut().for_each(|v| *v *= *inverse);
                }
                product::product(unit, &last, bottleneck, logits);
            });
        trace
    }

    /// Gradient of a loss by all numbers, from that by the logits of the rows `x`.
    pub fn backward(&self, x: &[f32], trace: &Trace, by_logits: &[f32]) -> Self {
        let Shape { m, hidden, bottleneck, k } = self.shape;
        let mut by_last = vec![0.0; k * bottleneck];
        product::transposed_product(by_logits, &trace.unit, bottleneck, &mut by_last);
        let (direction, length) = normed_gradient(&self.direction, &self.length, &by_last);
        let (by_before, by_bottleneck) = self.back_through_rows(trace, by_logits);
        Self {
            shape: self.shape,
            first: layer_gradient(&by_before, hidden, x, m),
            first_bias: column_sums(&by_before, hidden),
            second: layer_gradient(&by_bottleneck, bottleneck, &trace.after, hidden),
            second_bias: column_sums(&by_bottleneck, bottleneck),
            direction,
            length,
        }
    }

    /// Gradients by the outputs of the first layer and by those of the second, before their activations.
    fn back_through_rows(&self, trace: &Trace, by_logits: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let Shape { hidden, bottleneck, k, .. } = self.shape;
        let last = transposed(&normed(&self.direction, &self.length), bottleneck);
        let second = transposed(&self.second, hidden);
        let mut by_before = vec![0.0; trace.before.len()];
        let mut by_bottleneck = vec![0.0; trace.unit.len()];
        (by_before.par_chunks_mut(PIECE * hidden), by_bottleneck.par_chunks_mut(PIECE * bottleneck))
            .into_par_iter()
            .zip(by_logits.par_chunks(PIECE * k))
            .zip(trace.before.par_chunks(PIECE * hidden))
            .zip(trace.unit.par_chunks(PIECE * bottleneck))
            .zip(trace.inverse.par_chunks(PIECE))
            .for_each(|(((((by_before, by_bottleneck), by_logits), before), unit), inverse)| {
                product::product(by_logits, &last, k, by_bottleneck);
                let rows = by_bottleneck.chunks_exact_mut(bottleneck).zip(unit.chunks_exact(bottleneck));
                for ((d, u), inverse) in rows.zip(inverse) {
                    let along = dot(d, u);
                    d.iter_mut().zip(u).for_each(|(d, u)| *d = (*d - along * u) * inverse);
                }
                product::product(by_bottleneck, &second, bottleneck, by_before);
                gelu_gradient(before, by_before);
            });
        (by_before, by_bottleneck)
    }
}

/// What [`Network::forward`] found.
#[derive(Debug)]
pub struct Trace {
    /// Outputs of the first layer.
    before: Vec<f32>,
    /// Those after GELU.
    after: Vec<f32>,
    /// Outputs of the second layer, brought to unit length ...
    unit: Vec<f32>,
    /// ... by these factors.
    inverse: Vec<f32>,
    /// Logits `[n, k]`.
    pub logits: Vec<f32>,
}

/// Numbers of a normal distribution around 0 with deviation [`SPREAD`], by Box and Muller.
fn normal(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let draw = |_| {
        let (radius, angle): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
        (SPREAD * (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()) as f32
    };
    (0..count).map(draw).collect()
}

/// Dᵀ X for D `[n, units]`, X `[n, m]`, split by units.
fn layer_gradient(d: &[f32], units: usize, x: &[f32], m: usize) -> Vec<f32> {
    let n = x.len() / m;
    let d = transposed(d, units);
    let mut out = vec![0.0; units * m];
    out.par_chunks_mut(UNITS * m)
        .zip(d.par_chunks(UNITS * n))
        .for_each(|(out, d)| product::weight_gradient(d, x, m, out));
    out
}

fn transposed(a: &[f32], columns: usize) -> Vec<f32> {
    let rows = a.len() / columns;
    let mut out = vec![0.0; a.len()];
    // Square tiles, so that neither side leaves the cache between two neighbours.
    const TILE: usize = 32;
    for r in (0..rows).step_by(TILE) {
        for c in (0..columns).step_by(TILE) {
            for i in r..rows.min(r + TILE) {
                for j in c..columns.min(c + TILE) {
                    out[j * rows + i] = a[i * columns + j];
                }
            }
        }
    }
    out
}

fn column_sums(d: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0; columns];
    for row in d.chunks_exact(columns) {
        sums.iter_mut().zip(row).for_each(|(s, d)| *s += d);
    }
    sums
}

/// The share Φ of a normal distribution below x, and its density φ there.
#[inline(always)]
fn normal_share(x: f32) -> (f32, f32) {
    let bell = vector::exp(-0.5 * x * x);
    // Abramowitz and Stegun 7.1.26, good to 2e-7.
    let t = 1.0 / (1.0 + 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2 * x.abs());
    let p = 1.061_405_4 * t - 1.453_152;
    let p = p * t + 1.421_413_7;
    let p = p * t - 0.284_496_72;
    let p = p * t + 0.254_829_6;
    let tail = 0.5 * p * t * bell;
    (if x > 0.0 { 1.0 - tail } else { tail }, 0.398_942_3 * bell)
}

/// GELU: x Φ(x).
fn gelu(before: &[f32], after: &mut [f32]) {
    vector::dispatch(
        #[inline(always)]
        || after.iter_mut().zip(before).for_each(|(a, &x)| *a = x * normal_share(x).0),
    );
}

/// Multiply `d` by the slope of GELU, Φ(x) + x φ(x).
fn gelu_gradient(before: &[f32], d: &mut [f32]) {
    vector::dispatch(
        #[inline(always)]
        || {
            for (d, &x) in d.iter_mut().zip(before) {
                let (share, density) = normal_share(x);
                *d *= share + x * density;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};

    /// The network by its definition, in double precision.
    fn plain(network: &[Vec<f64>; 6], shape: Shape, row: &[f32]) -> Vec<f64> {
        let Shape { hidden, bottleneck, k, .. } = shape;
        let layer = |w: &[f64], x: &[f64], out: usize| -> Vec<f64> {
            let row = |o: usize| w[o * x.len()..].iter().zip(x).map(|(w, x)| w * x).sum();
            (0..out).map(row).collect()
        };
        let [first, first_bias, second, second_bias, direction, length] = network;
        let x: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
        let mut h = layer(first, &x, hidden);
        for (h, b) in h.iter_mut().zip(first_bias) {
            let x = *h + b;
            *h = x * 0.5 * (1.0 + erf(x / 2f64.sqrt()));
        }
        let mut u = layer(second, &h, bottleneck);
        u.iter_mut().zip(second_bias).for_each(|(u, b)| *u += b);
        let norm = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        let z = layer(direction, &u, k);
        (0..k)
            .map(|c| {
                let v = &direction[c * bottleneck..(c + 1) * bottleneck];
                length[c] * z[c] / norm / v.iter().map(|v| v * v).sum::<f64>().sqrt()
            })
            .collect()
    }

    /// The error function by its series.
    fn erf(x: f64) -> f64 {
        let mut term = x;
        let mut sum = x;
        for n in 1..60 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    fn small() -> (Network, Vec<f32>) {
        let shape = Shape { m: 5, hidden: 7, bottleneck: 4, k: 3 };
        let mut rng = stream(4, Stream::Init, 0);
        let mut network = Network::new(shape, &mut rng);
        for part in network.parts_mut() {
            part.iter_mut().for_each(|v| *v += rng.random::<f32>() - 0.4);
        }
        let x = (0..6 * 5).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect();
        (network, x)
    }

    #[test]
    fn logits_are_those_of_the_definition() {
        let (network, x) = small();
        let wide = network.parts().map(|p| p.iter().map(|&v| f64::from(v)).collect::<Vec<_>>());
        let logits = network.forward(&x).logits;
        for (row, z) in x.chunks_exact(5).zip(logits.chunks_exact(3)) {
            for (z, expected) in z.iter().zip(plain(&wide, network.shape, row)) {
                assert!((f64::from(*z) - expected).abs() < 1e-5, "{z} {expected}");
            }
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (network, x) = small();
        let by_logits: Vec<f32> = (0..6 * 3).map(|i| (i as f32 * 1.7).sin()).collect();
        let gradient = network.backward(&x, &network.forward(&x), &by_logits);
        let wide = network.parts().map(|p| p.iter().map(|&v| f64::from(v)).collect::<Vec<_>>());
        let loss = |parts: &[Vec<f64>; 6]| -> f64 {
            let logits = x.chunks_exact(5).flat_map(|row| plain(parts, network.shape, row));
            logits.zip(&by_logits).map(|(z, &d)| z * f64::from(d)).sum()
        };
        for (p, part) in gradient.parts().iter().enumerate() {
            for (i, &d) in part.iter().enumerate() {
                let at = |e: f64| {
                    let mut moved = wide.clone();
                    moved[p][i] += e;
                    loss(&moved)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!(
                    (slope - f64::from(d)).abs() < 2e-5 * (1.0 + slope.abs()),
                    "part {p}, {i}: {slope} {d}"
                );
            }
        }
    }
}
