//! Newton's method on the labels themselves: the paper's slow comparison, kept as the oracle of the fast solvers.
//!
//! The unknowns are all N·K labels under N simplex constraints. The Hessian is diagonal (p_i σ/y²) plus a matrix of
//! rank K (λ d²F/dȳ²), so each step is one K×K system by Woodbury's identity. Steps stay inside the simplex by the
//! fraction-to-boundary rule, and are halved until the loss falls.

use super::cholesky::Matrix;
use super::lanes::{Lane, WIDTH};
use super::surrogate::mean_labels;
use super::{Coupling, Problem, PseudoLabels, Solved, Surrogate, Workspace};
use crate::entropy::Fairness;
use crate::simplex::SIGMA_FLOOR;

/// Share of the distance to the boundary of the simplex that a step may go.
const FRACTION_TO_BOUNDARY: f64 = 0.99;
/// Share of the decrease that the slope promises which a step must deliver.
const SUFFICIENT: f64 = 1e-4;
/// Units in the last place by which two equal losses, sums of many terms, may differ.
const ROUNDING: f64 = 1e3;
/// Times a step may be halved.
const HALVINGS: usize = 50;

/// Minimises mean H(σ, y) + λ fairness by primal Newton steps, started at y = σ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Newton {
    /// Strong for the paper's loss.
    pub fairness: Fairness,
    /// Stop when the optimality of [`Surrogate::optimality`] is below this.
    pub tolerance: f64,
    /// Steps at most.
    pub max_iterations: usize,
}

impl Default for Newton {
    fn default() -> Self {
        Self { fairness: Fairness::Strong, tolerance: 1e-10, max_iterations: 500 }
    }
}

/// Buffers of the primal method.
#[derive(Debug, Clone, Default)]
pub(super) struct NewtonBuffers {
    sigma: Vec<f64>,
    direction: Vec<f64>,
    base: Vec<f64>,
    mean: Vec<f64>,
    pull: Vec<f64>,
    shift: Vec<f64>,
    bend: Vec<f64>,
    rows: Vec<Lane>,
    matrix: Matrix,
}

impl PseudoLabels for Newton {
    fn surrogate(&self) -> Surrogate {
        Surrogate { coupling: Coupling::Reverse, fairness: self.fairness }
    }

    fn solve(&self, problem: &Problem<'_>, y: &mut [f64], ws: &mut Workspace) -> Solved {
        let buffers = &mut ws.primal;
        start(problem, y, buffers);
        let mut iterations = 0;
        loop {
            let residual = self.surrogate().optimality_in(problem, y, &mut buffers.mean, &mut buffers.pull);
            let end = |converged| Solved { iterations, residual, converged };
            if residual <= self.tolerance {
                return end(true);
            }
            if iterations == self.max_iterations {
                return end(false);
            }
            let slope = direction(self.fairness, problem, y, buffers);
            if !backtrack(self.surrogate(), problem, slope, y, buffers) {
                return end(false);
            }
            iterations += 1;
        }
    }
}

/// y = σ, floored, or the one-hot of a known label.
fn start(problem: &Problem<'_>, y: &mut [f64], buffers: &mut NewtonBuffers) {
    buffers.sigma.clear();
    buffers.sigma.extend(problem.batch.log_sigma.iter().map(|l| l.exp().max(SIGMA_FLOOR)));
    y.copy_from_slice(&buffers.sigma);
    for (row, y) in problem.batch.rows().zip(y.chunks_exact_mut(problem.batch.k)) {
        if let Some(label) = row.known {
            y.fill(0.0);
            y[label] = 1.0;
        }
    }
    normalise(y, problem.batch.k);
}

/// Take rounding out of the rows' sums.
fn normalise(y: &mut [f64], k: usize) {
    for y in y.chunks_exact_mut(k) {
        let sum: f64 = y.iter().sum();
        y.iter_mut().for_each(|y| *y /= sum);
    }
}

/// Newton's direction d; returns the slope of the loss along it.
///
/// With e = y²/σ and E_i = diag(e) − eeᵀ/Σe, d_i = −E_i(g_i + w) where w = λF″ d̄ solves (1/λF″ + Σ p_i E_i) w = −Σ p_i E_i g_i.
fn direction(fairness: Fairness, problem: &Problem<'_>, y: &[f64], buffers: &mut NewtonBuffers) -> f64 {
    let k = problem.batch.k;
    mean_labels(problem.batch, y, &mut buffers.mean);
    buffers.pull.clear();
    buffers.bend.clear();
    for (mean, prior) in buffers.mean.iter().zip(problem.prior) {
        buffers.pull.push(problem.lambda * fairness.slope(*mean, *prior));
        buffers.bend.push(1.0 / (problem.lambda * fairness.curvature(*mean, *prior)));
    }
    buffers.shift.clear();
    buffers.shift.resize(k, 0.0);
    buffers.direction.resize(y.len(), 0.0);
    project(problem, y, buffers);
    link(problem, y, buffers);
    buffers.matrix.clear(k);
    buffers.matrix.add_products(&buffers.rows);
    buffers.matrix.factor(&buffers.bend);
    mean_labels(problem.batch, &buffers.direction, &mut buffers.shift);
    buffers.matrix.solve(&mut buffers.shift);
    project(problem, y, buffers)
}

/// direction_i = −E_i(g_i + shift) for every unknown row, zero for known ones; returns Σ p_i g_iᵀ direction_i.
fn project(problem: &Problem<'_>, y: &[f64], buffers: &mut NewtonBuffers) -> f64 {
    let k = problem.batch.k;
    let rows =
        y.chunks_exact(k).zip(buffers.sigma.chunks_exact(k)).zip(buffers.direction.chunks_exact_mut(k));
    let mut slope = 0.0;
    for (row, ((y, sigma), d)) in problem.batch.rows().zip(rows) {
        if row.known.is_some() {
            d.fill(0.0);
            continue;
        }
        let force = |c: usize| -sigma[c] / y[c] + buffers.pull[c] + buffers.shift[c];
        let e = |c: usize| y[c] * y[c] / sigma[c];
        let total: f64 = (0..k).map(e).sum();
        let eta = (0..k).map(|c| e(c) * force(c)).sum::<f64>() / total;
        for (c, d) in d.iter_mut().enumerate() {
            *d = -e(c) * (force(c) - eta);
            slope += row.share * *d * (force(c) - buffers.shift[c]);
        }
    }
    slope
}

/// The vectors √(p/Σe) e of the K×K system, eight rows to a block.
fn link(problem: &Problem<'_>, y: &[f64], buffers: &mut NewtonBuffers) {
    let k = problem.batch.k;
    buffers.rows.clear();
    buffers.rows.resize(problem.batch.n().div_ceil(WIDTH) * k, [0.0; WIDTH]);
    let rows = y.chunks_exact(k).zip(buffers.sigma.chunks_exact(k)).enumerate();
    for (row, (i, (y, sigma))) in problem.batch.rows().zip(rows) {
        if row.known.is_some() {
            continue;
        }
        let e = |c: usize| y[c] * y[c] / sigma[c];
        let root = (row.share / (0..k).map(e).sum::<f64>()).sqrt();
        for c in 0..k {
            buffers.rows[i / WIDTH * k + c][i % WIDTH] = root * e(c);
        }
    }
}

/// Halve the step until the loss falls enough. False if it never does.
fn backtrack(
    surrogate: Surrogate,
    problem: &Problem<'_>,
    slope: f64,
    y: &mut [f64],
    buffers: &mut NewtonBuffers,
) -> bool {
    buffers.base.clear();
    buffers.base.extend_from_slice(y);
    let room = |(y, d): (&f64, &f64)| if *d < 0.0 { -y / d } else { f64::INFINITY };
    let edge = y.iter().zip(&buffers.direction).map(room).fold(f64::INFINITY, f64::min);
    let before = surrogate.loss_in(problem, y, &mut buffers.mean);
    let mut step = (FRACTION_TO_BOUNDARY * edge).min(1.0);
    for _ in 0..HALVINGS {
        for ((y, base), d) in y.iter_mut().zip(&buffers.base).zip(&buffers.direction) {
            *y = base + step * d;
        }
        normalise(y, problem.batch.k);
        // Near the optimum the decrease drowns in rounding; the full step is right there.
        let rounding = ROUNDING * f64::EPSILON * (1.0 + before.abs());
        if surrogate.loss_in(problem, y, &mut buffers.mean) <= before + SUFFICIENT * step * slope + rounding {
            return true;
        }
        step *= 0.5;
    }
    y.copy_from_slice(&buffers.base);
    false
}
