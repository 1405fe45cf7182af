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
pub struct Minimum {
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
/// use partita::numeric::lbfgs::{Options, minimise};
/// let mut x = vec![5.0, -3.0];
/// let minimum = minimise(&mut x, &Options::default(), |x, gradient| {
///     gradient.copy_from_slice(&[2.0 * (x[0] - 1.0), 20.0 * x[1]]);
///     (x[0] - 1.0).powi(2) + 10.0 * x[1].powi(2)
/// });
/// assert!((x[0] - 1.0).abs() < 1e-6 && x[1].abs() < 1e-6, "{minimum:?}");
/// ```
pub fn minimise(
    x: &mut [f64],
    options: &Options,
    function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Minimum {
    minimise_while(x, options, function, |_, _| true)
}

/// [`minimise`], as long as `go_on` says so: it is asked before every iteration, with how many were made and the value.
pub fn minimise_while(
    x: &mut [f64],
    options: &Options,
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
    mut go_on: impl FnMut(usize, f64) -> bool,
) -> Minimum {
    let mut run = Minimiser::new(x.to_vec(), *options, &mut function);
    let stop = loop {
        if let Some(stop) = run.ended() {
            break stop;
        }
        if !go_on(run.iterations(), run.value) {
            break StopReason::Interrupted;
        }
        if let Some(stop) = run.step(&mut function) {
            break stop;
        }
    };
    x.copy_from_slice(&run.x);
    run.minimum(stop)
}

/// Counts iterations that improve neither the value nor the gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

/// What the function of a minimisation looks like: the gradient at a point goes into the second argument, the value is returned.
type Function<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]) -> f64;

/// A minimisation under way: all that its next iteration depends on, so that it can be kept and gone on with later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Minimiser {
    options: Options,
    evaluations: usize,
    pairs: VecDeque<Pair>,
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    trial_x: Vec<f64>,
    trial_gradient: Vec<f64>,
    /// Length of the last step: what to try first where there is no curvature to go by.
    reach: f64,
    first_norm: f64,
    stalled: Stalled,
    trace: Vec<f64>,
}

impl Minimiser {
    /// Begin at `x`.
    pub fn new(x: Vec<f64>, options: Options, function: Function<'_>) -> Self {
        let zeros = vec![0.0; x.len()];
        let mut gradient = zeros.clone();
        let value = function(&x, &mut gradient);
        let first_norm = norm(&gradient);
        Self {
            options,
            evaluations: 1,
            pairs: VecDeque::new(),
            trial_x: x.clone(),
            x,
            value,
            gradient,
            direction: zeros.clone(),
            trial_gradient: zeros,
            reach: 1.0,
            first_norm,
            stalled: Stalled { value, norm: first_norm, iterations: 0 },
            trace: vec![value],
        }
    }

    /// Make one iteration; says why, if none is left to make.
    pub fn advance(&mut self, function: Function<'_>) -> Option<StopReason> {
        self.ended().or_else(|| self.step(function))
    }

    /// Whether it minimises a function of `len` numbers with these options.
    pub fn suits(&self, len: usize, options: Options) -> bool {
        let points = [&self.x, &self.gradient, &self.direction, &self.trial_x, &self.trial_gradient];
        self.options == options
            && points.iter().all(|point| point.len() == len)
            && self.pairs.iter().all(|pair| (pair.step.len(), pair.change.len()) == (len, len))
            && self.stalled.iterations <= PATIENCE
            && !self.trace.is_empty()
    }

    /// Calls of the function so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Where it is.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The value there.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Iterations made.
    pub fn iterations(&self) -> usize {
        self.trace.len() - 1
    }

    /// What was done, given why it stopped.
    pub fn minimum(self, stop: StopReason) -> Minimum {
        let (iterations, gradient_norm) = (self.iterations(), norm(&self.gradient));
        let Self { evaluations, value, trace, .. } = self;
        Minimum { iterations, evaluations, value, gradient_norm, stop, trace }
    }

    /// Why there is nothing left to do, if there is not. To be asked once before every iteration: it counts those without progress.
    fn ended(&mut self) -> Option<StopReason> {
        if !self.value.is_finite() || !self.first_norm.is_finite() {
            return Some(StopReason::Finished);
        }
        let norm = norm(&self.gradient);
        if norm <= self.options.tolerance * self.first_norm || self.stalled.update(self.value, norm) {
            return Some(StopReason::Converged);
        }
        (self.trace.len() > self.options.max_iterations).then_some(StopReason::Finished)
    }

    fn step(&mut self, function: Function<'_>) -> Option<StopReason> {
        if !self.lower(self.trace[0], function) {
            return Some(StopReason::Converged);
        }
        self.trace.push(self.value);
        None
    }

    /// Make one step; false if none lowers the value, not even along the gradient.
    fn lower(&mut self, ceiling: f64, function: Function<'_>) -> bool {
        if !self.pairs.is_empty() {
            self.quasi_newton_direction();
            if self.search(1.0, ceiling, function) {
                return true;
            }
            // The curvature remembered may be rounding by now; the gradient alone is the last resort.
            self.pairs.clear();
        }
        self.direction.iter_mut().zip(&self.gradient).for_each(|(d, g)| *d = -g);
        self.search(self.reach / norm(&self.gradient), ceiling, function)
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
    fn search(&mut self, first: f64, ceiling: f64, function: Function<'_>) -> bool {
        let slope = dot(&self.gradient, &self.direction);
        if slope.is_nan() || slope >= 0.0 {
            return false;
        }
        let search = LineSearch { start: Trial { step: 0.0, value: self.value, slope }, ceiling };
        let Some(found) = search.run(first, |step| self.evaluate(step, function)) else {
            return false;
        };
        self.remember();
        self.x.copy_from_slice(&self.trial_x);
        std::mem::swap(&mut self.gradient, &mut self.trial_gradient);
        self.value = found.value;
        true
    }

    fn evaluate(&mut self, step: f64, function: Function<'_>) -> Trial {
        self.trial_x.copy_from_slice(&self.x);
        add(&mut self.trial_x, step, &self.direction);
        let value = function(&self.trial_x, &mut self.trial_gradient);
        self.evaluations += 1;
        let slope = dot(&self.trial_gradient, &self.direction);
        // A point without a gradient cannot be continued from, so it counts as outside the domain.
        Trial { step, value: if slope.is_finite() { value } else { f64::INFINITY }, slope }
    }

    /// Keep the step just found, if it tells a positive curvature.
    fn remember(&mut self) {
        let step = difference(&self.trial_x, &self.x);
        let change = difference(&self.trial_gradient, &self.gradient);
        self.reach = norm(&step);
        let product = dot(&step, &change);
        if product > f64::EPSILON * self.reach * norm(&change) {
            self.pairs.push_back(Pair { step, change, inverse: 1.0 / product });
        }
        while self.pairs.len() > self.options.history {
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
