//! Full-batch L-BFGS in `f64`: the last steps of a smooth fit, and problems small enough to be solved exactly.
//!
//! Written here rather than taken from `argmin` 0.11, which was tried first. There, value and gradient are separate
//! calls, so each evaluation would be two passes over the data; and where rounding ends the progress, its line
//! searches end with a message to be told apart by its text ("potential bug", "must be a descent direction") instead
//! of a result. It would also bring a second `rand`.

mod search;

use crate::report::StopReason;
use search::{LineSearch, ROUNDING, Trial};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Iterations without progress, in value or in gradient, after which rounding is taken to be the limit.
const PATIENCE: usize = 10;

/// Options of [`minimise`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Steps remembered to model the curvature. Default 10.
    pub history: usize,
    /// Most iterations; each takes one evaluation or a few. Default 500.
    pub max_iterations: usize,
    /// Stop when the gradient's norm has fallen to this share of what it was at the start. Default 1e-8.
    pub tolerance: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { history: 10, max_iterations: 500, tolerance: 1e-8 }
    }
}

/// What [`minimise`] did.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Steps taken.
    pub iterations: usize,
    /// Calls of the function.
    pub evaluations: usize,
    /// Value at the result; never above the value at the start.
    pub value: f64,
    /// Euclidean norm of the gradient at the result.
    pub gradient_norm: f64,
    /// [`StopReason::Converged`] when the tolerance was reached or when rounding (or noise in the gradient) leaves no
    /// further progress; `gradient_norm` tells which. [`StopReason::Finished`] after `max_iterations`, or at once if
    /// the function is not finite at the start.
    pub stop: StopReason,
    /// Value at the start and after each iteration.
    pub trace: Vec<f64>,
}

/// Minimise a smooth function from `x`, and leave the result there.
///
/// `function` gets a point and writes the gradient there into its second argument; it returns the value. It may
/// return infinity or NaN where it is not defined: the step is then shortened. The result depends on nothing but the
/// arguments, and multiplying the function by a constant changes no decision.
///
/// ```
/// use partita::linear::lbfgs::{Options, minimise};
/// let mut x = vec![5.0, -3.0];
/// let outcome = minimise(&mut x, &Options::default(), |x, gradient| {
///     gradient.copy_from_slice(&[2.0 * (x[0] - 1.0), 20.0 * x[1]]);
///     (x[0] - 1.0).powi(2) + 10.0 * x[1].powi(2)
/// });
/// assert!((x[0] - 1.0).abs() < 1e-6 && x[1].abs() < 1e-6, "{outcome:?}");
/// ```
pub fn minimise(
    x: &mut [f64],
    options: &Options,
    function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Outcome {
    minimise_while(x, options, function, |_, _| true)
}

/// [`minimise`], as long as `go_on` says so: it is asked before every iteration, with how many were made and the value.
pub fn minimise_while(
    x: &mut [f64],
    options: &Options,
    function: impl FnMut(&[f64], &mut [f64]) -> f64,
    mut go_on: impl FnMut(usize, f64) -> bool,
) -> Outcome {
    let mut run = Run::new(x, options.history, function);
    let first_norm = norm(&run.gradient);
    let mut trace = vec![run.value];
    let mut stalled = Stalled { value: run.value, norm: first_norm, iterations: 0 };
    let mut stop = StopReason::Finished;
    while run.value.is_finite() && first_norm.is_finite() {
        let gradient_norm = norm(&run.gradient);
        if gradient_norm <= options.tolerance * first_norm || stalled.update(run.value, gradient_norm) {
            stop = StopReason::Converged;
            break;
        }
        if trace.len() > options.max_iterations {
            break;
        }
        if !go_on(trace.len() - 1, run.value) {
            stop = StopReason::Interrupted;
            break;
        }
        if !run.advance(trace[0]) {
            stop = StopReason::Converged;
            break;
        }
        trace.push(run.value);
    }
    let (value, gradient_norm, evaluations) = (run.value, norm(&run.gradient), run.evaluations);
    Outcome { iterations: trace.len() - 1, evaluations, value, gradient_norm, stop, trace }
}

/// Counts iterations that improve neither the value nor the gradient.
struct Stalled {
    value: f64,
    norm: f64,
    iterations: usize,
}

impl Stalled {
    /// Whether patience has run out.
    fn update(&mut self, value: f64, norm: f64) -> bool {
        let lower = value < self.value - ROUNDING * self.value.abs();
        let flatter = norm < 0.9 * self.norm;
        if lower || flatter {
            // Only now, so that many small decreases add up to progress.
            *self = Self { value: self.value.min(value), norm: self.norm.min(norm), iterations: 0 };
        }
        self.iterations += 1;
        self.iterations > PATIENCE
    }
}

/// A remembered step: change of the point, change of the gradient, and one over their product.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

struct Run<'a, F> {
    function: F,
    evaluations: usize,
    history: usize,
    pairs: VecDeque<Pair>,
    x: &'a mut [f64],
    value: f64,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    trial_x: Vec<f64>,
    trial_gradient: Vec<f64>,
    /// Length of the last step: what to try first where there is no curvature to go by.
    reach: f64,
}

impl<'a, F: FnMut(&[f64], &mut [f64]) -> f64> Run<'a, F> {
    fn new(x: &'a mut [f64], history: usize, mut function: F) -> Self {
        let zeros = vec![0.0; x.len()];
        let mut gradient = zeros.clone();
        let value = function(x, &mut gradient);
        Self {
            function,
            evaluations: 1,
            history,
            pairs: VecDeque::new(),
            trial_x: x.to_vec(),
            x,
            value,
            gradient,
            direction: zeros.clone(),
            trial_gradient: zeros,
            reach: 1.0,
        }
    }

    /// Make one step; false if none lowers the value, not even along the gradient.
    fn advance(&mut self, ceiling: f64) -> bool {
        if !self.pairs.is_empty() {
            self.quasi_newton_direction();
            if self.search(1.0, ceiling) {
                return true;
            }
            // The curvature remembered may be rounding by now; the gradient alone is the last resort.
            self.pairs.clear();
        }
        self.direction.iter_mut().zip(&self.gradient).for_each(|(d, g)| *d = -g);
        self.search(self.reach / norm(&self.gradient), ceiling)
    }

    /// The gradient times the inverse Hessian that the remembered pairs imply, by the two-loop recursion.
    fn quasi_newton_direction(&mut self) {
        let direction = &mut self.direction;
        direction.iter_mut().zip(&self.gradient).for_each(|(d, g)| *d = -g);
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = pair.inverse * dot(&pair.step, direction);
            add(direction, -share, &pair.change);
            shares.push(share);
        }
        if let Some(last) = self.pairs.back() {
            let scale = 1.0 / (last.inverse * dot(&last.change, &last.change));
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for (pair, share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let correction = share - pair.inverse * dot(&pair.change, direction);
            add(direction, correction, &pair.step);
        }
    }

    /// Search along the direction and move there; false if there is no progress.
    fn search(&mut self, first: f64, ceiling: f64) -> bool {
        let slope = dot(&self.gradient, &self.direction);
        if slope.is_nan() || slope >= 0.0 {
            return false;
        }
        let search = LineSearch { start: Trial { step: 0.0, value: self.value, slope }, ceiling };
        let Some(found) = search.run(first, |step| self.evaluate(step)) else {
            return false;
        };
        self.remember();
        self.x.copy_from_slice(&self.trial_x);
        std::mem::swap(&mut self.gradient, &mut self.trial_gradient);
        self.value = found.value;
        true
    }

    fn evaluate(&mut self, step: f64) -> Trial {
        self.trial_x.copy_from_slice(self.x);
        add(&mut self.trial_x, step, &self.direction);
        let value = (self.function)(&self.trial_x, &mut self.trial_gradient);
        self.evaluations += 1;
        let slope = dot(&self.trial_gradient, &self.direction);
        // A point without a gradient cannot be continued from, so it counts as outside the domain.
        Trial { step, value: if slope.is_finite() { value } else { f64::INFINITY }, slope }
    }

    /// Keep the step just found, if it tells a positive curvature.
    fn remember(&mut self) {
        let step = difference(&self.trial_x, self.x);
        let change = difference(&self.trial_gradient, &self.gradient);
        self.reach = norm(&step);
        let product = dot(&step, &change);
        if product > f64::EPSILON * self.reach * norm(&change) {
            self.pairs.push_back(Pair { step, change, inverse: 1.0 / product });
        }
        while self.pairs.len() > self.history {
            self.pairs.pop_front();
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(x, y)| *x += factor * y);
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}
