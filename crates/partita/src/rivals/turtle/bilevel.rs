//! The two levels: classifiers that learn the labels of a batch, and encoders that follow what was learnt.

use super::Turtle;
use crate::numeric::{product, vector};
use crate::rivals::Table;
use crate::rivals::parts::{Param, normed, normed_gradient, rms_factor, uniform};
use crate::rng::{Stream, stream};
use crate::simplex::{TINY_F32, xlnx};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Rows whose gradient is summed by one thread. Partial sums are added in order, so bits do not depend on threads.
const CHUNK: usize = 512;
/// Rows that stay in cache between the two products of a gradient.
const BLOCK: usize = 64;

/// One feature space: its rows, and what is learnt on them.
pub(super) struct Space {
    pub m: usize,
    /// What its numbers were multiplied by.
    pub factor: f32,
    /// All rows.
    x: Vec<f32>,
    /// The rows of the batch, unless it is all of them.
    drawn: Option<Vec<f32>>,
    pub encoder: Encoder,
    pub classifier: Classifier,
}

impl Space {
    fn batch(&self) -> &[f32] {
        self.drawn.as_ref().unwrap_or(&self.x)
    }
}

/// A linear map with normed weights, whose softmax is a label.
pub(super) struct Encoder {
    direction: Param,
    length: Param,
    pub bias: Param,
}

impl Encoder {
    /// As PyTorch norms a fresh linear map: the weights are unchanged at first.
    fn new(k: usize, m: usize, rng: &mut ChaCha8Rng) -> Self {
        let direction = uniform(k * m, m, rng);
        let length = direction.chunks_exact(m).map(|v| vector::sum_squares(v).sqrt()).collect();
        let bias = uniform(k, m, rng);
        Self { direction: Param::new(direction), length: Param::new(length), bias: Param::new(bias) }
    }

    pub fn weight(&self) -> Vec<f32> {
        normed(&self.direction.values, &self.length.values)
    }

    fn step(&mut self, gradient: &Gradient, rate: f64) {
        let (by_direction, by_length) =
            normed_gradient(&self.direction.values, &self.length.values, &gradient.weight);
        self.direction.step(&by_direction, rate);
        self.length.step(&by_length, rate);
        self.bias.step(&gradient.bias, rate);
    }
}

/// A linear softmax classifier, which learns the labels.
#[derive(Default)]
pub(super) struct Classifier {
    weight: Param,
    bias: Param,
}

impl Classifier {
    pub fn new(k: usize, m: usize, rng: &mut ChaCha8Rng) -> Self {
        Self { weight: Param::new(uniform(k * m, m, rng)), bias: Param::new(uniform(k, m, rng)) }
    }

    /// Gradient of mean H(y, q) on the rows `x` with labels `y`.
    fn gradient(&self, x: &[f32], m: usize, y: &[f32]) -> Gradient {
        let k = self.bias.values.len();
        let share = k as f32 / y.len() as f32;
        gradient(x, m, k, |first, x, d| {
            product::logits_piece(x, &self.weight.values, &self.bias.values, m, d);
            product::softmax_rows(d, k);
            let y = &y[first * k..first * k + d.len()];
            d.iter_mut().zip(y).for_each(|(d, y)| *d = (*d - y) * share);
        })
    }

    fn step(&mut self, gradient: &Gradient, rate: f64) {
        self.weight.step(&gradient.weight, rate);
        self.bias.step(&gradient.bias, rate);
    }
}

/// Gradient by the weights `[k, m]` and biases `[k]` of a linear map.
struct Gradient {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// Dᵀ X and the column sums of D, the logit gradients that `fill(first, rows, d)` gives for the rows from `first` on.
fn gradient(x: &[f32], m: usize, k: usize, fill: impl Fn(usize, &[f32], &mut [f32]) + Sync) -> Gradient {
    let parts: Vec<Gradient> = x
        .par_chunks(CHUNK * m)
        .enumerate()
        .map(|(i, x)| {
            let mut sum = Gradient { weight: vec![0.0; k * m], bias: vec![0.0; k] };
            let mut d = vec![0.0; BLOCK * k];
            for (j, x) in x.chunks(BLOCK * m).enumerate() {
                let d = &mut d[..x.len() / m * k];
                fill(i * CHUNK + j * BLOCK, x, d);
                product::add_transposed_product(d, x, m, &mut sum.weight);
                d.chunks_exact(k).for_each(|d| add(&mut sum.bias, d));
            }
            sum
        })
        .collect();
    let mut sum = Gradient { weight: vec![0.0; k * m], bias: vec![0.0; k] };
    for part in &parts {
        add(&mut sum.weight, &part.weight);
        add(&mut sum.bias, &part.bias);
    }
    sum
}

fn add(sum: &mut [f32], part: &[f32]) {
    sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
}

impl Turtle {
    /// The spaces of the table, each with a fresh encoder.
    pub(super) fn spaces(&self, table: Table<'_>, widths: &[usize], seed: u64) -> Vec<Space> {
        let mut rng = stream(seed, Stream::Init, 0);
        let mut at = 0;
        let mut make = |&m: &usize| {
            let mut x = Vec::with_capacity(table.n() * m);
            table.x.chunks_exact(table.m).for_each(|row| x.extend_from_slice(&row[at..at + m]));
            at += m;
            let factor = rms_factor(&x, self.rms);
            x.par_iter_mut().for_each(|x| *x *= factor);
            let encoder = Encoder::new(self.k, m, &mut rng);
            Space { m, factor, x, drawn: None, encoder, classifier: Classifier::default() }
        };
        widths.iter().map(&mut make).collect()
    }

    /// Draw the rows of a batch, the same in every space; all rows need no drawing, for their order does not matter.
    pub(super) fn draw_batch(&self, spaces: &mut [Space], order: &mut [usize], seed: u64, step: usize) {
        if self.batch >= order.len() {
            return;
        }
        let (rows, _) = order.partial_shuffle(&mut stream(seed, Stream::Order, step as u64), self.batch);
        for Space { m, x, drawn, .. } in spaces {
            let drawn = drawn.get_or_insert_with(|| vec![0.0; rows.len() * *m]);
            let copy = |(out, row): (&mut [f32], &usize)| out.copy_from_slice(&x[row * *m..(row + 1) * *m]);
            drawn.par_chunks_mut(*m).zip(&*rows).for_each(copy);
        }
    }

    /// Train the classifiers on the labels of the batch, then move the encoders; returns the outer loss before the move.
    pub(super) fn outer_step(&self, spaces: &mut [Space]) -> f64 {
        let own: Vec<Vec<f32>> = spaces.iter().map(|s| own_labels(s, self.k)).collect();
        let labels = mean_labels(&own);
        for space in &mut *spaces {
            for _ in 0..self.inner_steps {
                let gradient = space.classifier.gradient(space.batch(), space.m, &labels);
                space.classifier.step(&gradient, self.inner_rate);
            }
        }
        let costs = costs(spaces, self.k);
        let (loss, gradients) = self.outer_gradient(spaces, &own, &labels, &costs);
        for (space, gradient) in spaces.iter_mut().zip(&gradients) {
            space.encoder.step(gradient, self.rate);
        }
        loss
    }

    /// The outer loss and its gradient by the weights and biases of each encoder, given the labels `own` of each space,
    /// their mean, and what each label costs.
    fn outer_gradient(
        &self,
        spaces: &[Space],
        own: &[Vec<f32>],
        labels: &[f32],
        costs: &[f32],
    ) -> (f64, Vec<Gradient>) {
        let (k, n) = (self.k, labels.len() / self.k);
        let error: f64 = labels.iter().zip(costs).map(|(y, c)| f64::from(y * c)).sum::<f64>() / n as f64;
        let mut loss = error;
        let mut gradients = Vec::with_capacity(spaces.len());
        let share = 1.0 / n as f32;
        let part = 1.0 / spaces.len() as f32;
        for (space, own) in spaces.iter().zip(own) {
            let mean = mean_row(own, k);
            loss += self.gamma * mean.iter().map(|&p| xlnx(p)).sum::<f64>();
            // Relative to a uniform mean: softmax ignores the constant, and small numbers keep more digits.
            let pull = |&p: &f64| (self.gamma * (k as f64 * p).max(f64::from(TINY_F32)).ln()) as f32;
            let pull: Vec<f32> = mean.iter().map(pull).collect();
            gradients.push(gradient(space.batch(), space.m, k, |first, _, d| {
                let rows = first * k..first * k + d.len();
                let (own, costs) = (&own[rows.clone()], &costs[rows]);
                for ((d, p), c) in d.chunks_exact_mut(k).zip(own.chunks_exact(k)).zip(costs.chunks_exact(k)) {
                    softmax_gradient(p, |j| (part * c[j] + pull[j]) * share, d);
                }
            }));
        }
        (loss, gradients)
    }
}

/// The gradient by the logits of p = softmax, from that by p.
fn softmax_gradient(p: &[f32], by_p: impl Fn(usize) -> f32, by_logits: &mut [f32]) {
    let mut mean = 0.0;
    for (j, (d, p)) in by_logits.iter_mut().zip(p).enumerate() {
        *d = by_p(j);
        mean += p * *d;
    }
    by_logits.iter_mut().zip(p).for_each(|(d, p)| *d = p * (*d - mean));
}

/// Labels `[n, k]` that the encoder of one space gives to the batch.
fn own_labels(space: &Space, k: usize) -> Vec<f32> {
    let x = space.batch();
    let mut proba = vec![0.0; x.len() / space.m * k];
    product::logits(x, &space.encoder.weight(), &space.encoder.bias.values, space.m, &mut proba);
    proba.par_chunks_mut(CHUNK * k).for_each(|p| product::softmax_rows(p, k));
    proba
}

fn mean_labels(own: &[Vec<f32>]) -> Vec<f32> {
    let mut labels = own[0].clone();
    own[1..].iter().for_each(|own| add(&mut labels, own));
    if own.len() > 1 {
        let share = 1.0 / own.len() as f32;
        labels.iter_mut().for_each(|y| *y *= share);
    }
    labels
}

/// −ln q `[n, k]` of the classifiers' predictions, summed over the spaces.
fn costs(spaces: &[Space], k: usize) -> Vec<f32> {
    let mut costs = Vec::new();
    for space in spaces {
        let x = space.batch();
        let Classifier { weight, bias } = &space.classifier;
        let mut own = vec![0.0; x.len() / space.m * k];
        product::logits(x, &weight.values, &bias.values, space.m, &mut own);
        own.par_chunks_mut(CHUNK * k).for_each(|own| {
            product::softmax_rows(own, k);
            vector::dispatch(
                #[inline(always)]
                || own.iter_mut().for_each(|q| *q = -vector::ln(q.max(TINY_F32))),
            );
        });
        if costs.is_empty() { costs = own } else { add(&mut costs, &own) }
    }
    costs
}

/// The mean of rows `[n, k]`.
fn mean_row(rows: &[f32], k: usize) -> Vec<f64> {
    let mut mean = vec![0.0; k];
    for row in rows.chunks_exact(k) {
        mean.iter_mut().zip(row).for_each(|(m, &p)| *m += f64::from(p));
    }
    mean.iter_mut().for_each(|m| *m *= k as f64 / rows.len() as f64);
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rivals::testing::blobs;
    use crate::simplex::log_softmax;

    fn small(k: usize, widths: &[usize]) -> (Turtle, Vec<Space>) {
        let (x, _) = blobs(40, k, widths.iter().sum(), 1.0);
        let method = Turtle { widths: widths.to_vec(), gamma: 3.0, ..Turtle::new(k) };
        let table = Table { x: &x, m: widths.iter().sum() };
        let mut spaces = method.spaces(table, widths, 1);
        let mut rng = stream(2, Stream::Init, 0);
        spaces.iter_mut().for_each(|s| s.classifier = Classifier::new(k, s.m, &mut rng));
        (method, spaces)
    }

    fn wide(x: &[f32]) -> Vec<f64> {
        x.iter().map(|&x| f64::from(x)).collect()
    }

    /// ln softmax of a linear map by its definition, in double precision.
    fn plain(x: &[f32], weight: &[f64], bias: &[f64]) -> Vec<f64> {
        let (k, m) = (bias.len(), weight.len() / bias.len());
        let row = |x: &[f32]| {
            let product = |w: &[f64]| w.iter().zip(x).map(|(w, &x)| w * f64::from(x)).sum::<f64>();
            let z: Vec<f64> = weight.chunks_exact(m).zip(bias).map(|(w, b)| b + product(w)).collect();
            let mut log = vec![0.0; k];
            log_softmax(&z, &mut log);
            log
        };
        x.chunks_exact(m).flat_map(row).collect()
    }

    /// The outer loss by its definition, for encoders with these weights and biases.
    fn plain_loss(method: &Turtle, spaces: &[Space], encoders: &[(Vec<f64>, Vec<f64>)]) -> f64 {
        let k = method.k;
        let own: Vec<Vec<f64>> = spaces
            .iter()
            .zip(encoders)
            .map(|(s, (w, b))| plain(&s.x, w, b).iter().map(|l| l.exp()).collect())
            .collect();
        let n = own[0].len() / k;
        let mut loss = 0.0;
        for (space, own_labels) in spaces.iter().zip(&own) {
            let Classifier { weight, bias } = &space.classifier;
            let log = plain(&space.x, &wide(&weight.values), &wide(&bias.values));
            for (i, log) in log.iter().enumerate() {
                loss -= own.iter().map(|own| own[i]).sum::<f64>() / own.len() as f64 * log / n as f64;
            }
            for c in 0..k {
                loss += method.gamma * xlnx((0..n).map(|i| own_labels[i * k + c]).sum::<f64>() / n as f64);
            }
        }
        loss
    }

    #[test]
    fn outer_gradients_agree_with_finite_differences() {
        for widths in [vec![3], vec![2, 4]] {
            let (method, spaces) = small(3, &widths);
            let own: Vec<Vec<f32>> = spaces.iter().map(|s| own_labels(s, 3)).collect();
            let (loss, gradients) =
                method.outer_gradient(&spaces, &own, &mean_labels(&own), &costs(&spaces, 3));
            let encoders: Vec<(Vec<f64>, Vec<f64>)> =
                spaces.iter().map(|s| (wide(&s.encoder.weight()), wide(&s.encoder.bias.values))).collect();
            assert!((loss - plain_loss(&method, &spaces, &encoders)).abs() < 1e-5);
            for (s, gradient) in gradients.iter().enumerate() {
                for (i, &g) in gradient.weight.iter().chain(&gradient.bias).enumerate() {
                    let at = |e: f64| {
                        let mut moved = encoders.clone();
                        let (weight, bias) = &mut moved[s];
                        let count = weight.len();
                        if i < count {
                            weight[i] += e;
                        } else {
                            bias[i - count] += e;
                        }
                        plain_loss(&method, &spaces, &moved)
                    };
                    let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                    assert!((slope - f64::from(g)).abs() < 1e-5, "space {s}, {i}: {slope} {g}");
                }
            }
        }
    }

    #[test]
    fn inner_gradients_agree_with_finite_differences() {
        let (_, spaces) = small(3, &[4]);
        let labels = own_labels(&spaces[0], 3);
        let Classifier { weight, bias } = &spaces[0].classifier;
        let gradient = spaces[0].classifier.gradient(&spaces[0].x, 4, &labels);
        let (w, b) = (wide(&weight.values), wide(&bias.values));
        let loss = |w: &[f64], b: &[f64]| -> f64 {
            let log = plain(&spaces[0].x, w, b);
            -log.iter().zip(&labels).map(|(l, &y)| l * f64::from(y)).sum::<f64>() * 3.0 / labels.len() as f64
        };
        for (i, &g) in gradient.weight.iter().chain(&gradient.bias).enumerate() {
            let at = |e: f64| {
                let (mut w, mut b) = (w.clone(), b.clone());
                if i < w.len() {
                    w[i] += e;
                } else {
                    b[i - w.len()] += e;
                }
                loss(&w, &b)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - f64::from(g)).abs() < 1e-5, "{i}: {slope} {g}");
        }
    }
}
