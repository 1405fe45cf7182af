//! Full-batch L-BFGS: the whole optimiser for small data, or a last polish after the batches.

use super::head::Head;
use super::source::RowBatch;
use super::supervision;
use crate::numeric::lbfgs::{Minimiser, Options};
use crate::numeric::product;
use crate::objective::{self, BatchObjective};
use crate::report::StopReason;
use crate::simplex;

/// Gradient norm, relative to the first, at which it stops; single-precision products allow no less.
const TOLERANCE: f64 = 1e-5;

/// How it is minimised, in at most so many iterations.
pub fn options(iterations: usize) -> Options {
    Options { max_iterations: iterations, tolerance: TOLERANCE, ..Options::default() }
}

/// The full-batch loss, γ‖W‖² included, as a function of weights and biases in one vector.
pub struct Problem<'a> {
    rows: &'a RowBatch,
    objective: &'a dyn BatchObjective,
    gamma: f64,
    k: usize,
    weights: Option<Vec<f64>>,
    workspace: objective::Workspace,
    z: Vec<f32>,
    log_sigma: Vec<f64>,
    slope: Vec<f64>,
    d: Vec<f32>,
    g: Vec<f32>,
}

impl<'a> Problem<'a> {
    /// The loss of these rows.
    pub fn new(rows: &'a RowBatch, objective: &'a dyn BatchObjective, gamma: f64, k: usize) -> Self {
        let n = rows.rows.len();
        let m = rows.x.len() / n;
        Self {
            rows,
            objective,
            gamma,
            k,
            weights: rows.marks().weights.map(|w| w.iter().map(|&w| f64::from(w)).collect()),
            workspace: objective::Workspace::default(),
            z: vec![0.0; n * k],
            log_sigma: Vec::new(),
            slope: vec![0.0; n * k],
            d: vec![0.0; n * k],
            g: vec![0.0; k * m],
        }
    }

    /// A minimisation from these weights, which never ends higher than it begins.
    pub fn begin(&mut self, head: &Head, iterations: usize) -> Minimiser {
        let point: Vec<f64> = head.weight.iter().chain(&head.bias).map(|&v| f64::from(v)).collect();
        Minimiser::new(point, options(iterations), &mut |point, gradient| self.evaluate(point, gradient))
    }

    /// Its next iteration; says why, if there is none.
    pub fn advance(&mut self, minimiser: &mut Minimiser) -> Option<StopReason> {
        minimiser.advance(&mut |point, gradient| self.evaluate(point, gradient))
    }

    /// The weights and biases that a point stands for.
    pub fn head(&self, point: &[f64]) -> Head {
        let single = |values: &[f64]| values.iter().map(|&v| v as f32).collect();
        let (weight, bias) = point.split_at(point.len() - self.k);
        Head { weight: single(weight), bias: single(bias) }
    }

    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let k = self.k;
        let n = self.rows.rows.len();
        let (weight, bias) = point.split_at(point.len() - k);
        let single = |values: &[f64]| -> Vec<f32> { values.iter().map(|&v| v as f32).collect() };
        let m = weight.len() / k;
        product::logits(&self.rows.x, &single(weight), &single(bias), m, &mut self.z);
        simplex::log_softmax_rows(self.z.iter().copied(), k, &mut self.log_sigma);
        let batch = objective::Batch {
            log_sigma: &self.log_sigma,
            k,
            weights: self.weights.as_deref(),
            known: self.rows.marks().known,
        };
        let mut value = self.objective.value_and_gradient(batch, &mut self.slope, &mut self.workspace);
        value +=
            supervision::term(&self.z, (k, 0, k), self.rows.marks(), |i, c, g| self.slope[i * k + c] += g);
        for (i, row) in self.slope.chunks_exact(k).enumerate() {
            row.iter().enumerate().for_each(|(c, s)| self.d[c * n + i] = *s as f32);
        }
        product::weight_gradient(&self.d, &self.rows.x, m, &mut self.g);
        for ((out, g), w) in gradient.iter_mut().zip(&self.g).zip(weight) {
            *out = f64::from(*g) + 2.0 * self.gamma * w;
        }
        for (c, out) in gradient[weight.len()..].iter_mut().enumerate() {
            *out = self.slope.iter().skip(c).step_by(k).sum();
        }
        value + self.gamma * weight.iter().map(|w| w * w).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::MutualInformation;
    use crate::rng::{Stream, stream};
    use rand::RngExt;

    fn sample(n: usize, m: usize) -> RowBatch {
        let mut rng = stream(5, Stream::Synthetic, 0);
        let x = (0..n * m)
            .map(|i| rng.random::<f32>() - 0.5 + if (i / m).is_multiple_of(2) { 0.8 } else { 0.0 })
            .collect();
        RowBatch { x, rows: (0..n).collect(), ..RowBatch::default() }
    }

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let rows = sample(40, 3);
        let objective = MutualInformation::new(2);
        let mut problem = Problem::new(&rows, &objective, 0.01, 2);
        let point: Vec<f64> = (0..8).map(|i| (i as f64 * 1.3).sin()).collect();
        let mut gradient = vec![0.0; 8];
        problem.evaluate(&point, &mut gradient);
        for i in 0..8 {
            let step = 1e-2; // the logits are single precision
            let mut side = |sign: f64| {
                let mut moved = point.clone();
                moved[i] += sign * step;
                problem.evaluate(&moved, &mut [0.0; 8])
            };
            let difference = (side(1.0) - side(-1.0)) / (2.0 * step);
            assert!((difference - gradient[i]).abs() < 1e-4, "{i}: {difference} {}", gradient[i]);
        }
    }

    #[test]
    fn polishing_lowers_the_loss_and_goes_on_from_where_it_was_kept() {
        let rows = sample(60, 4);
        let objective = MutualInformation::new(2);
        let head = Head { weight: (0..8).map(|i| (i as f32).cos()).collect(), bias: vec![0.0; 2] };
        let mut problem = Problem::new(&rows, &objective, 1e-3, 2);
        let mut whole = problem.begin(&head, 50);
        let first = whole.value();
        let mut kept = None;
        while problem.advance(&mut whole).is_none() {
            if whole.iterations() == 3 {
                kept = Some(serde_json::to_string(&whole).unwrap());
            }
        }
        assert!(whole.value() < first - 0.05, "{whole:?}");
        let mut resumed: Minimiser = serde_json::from_str(&kept.unwrap()).unwrap();
        let mut problem = Problem::new(&rows, &objective, 1e-3, 2);
        while problem.advance(&mut resumed).is_none() {}
        assert_eq!(resumed, whole);
        assert_ne!(problem.head(resumed.x()), head);
    }
}
