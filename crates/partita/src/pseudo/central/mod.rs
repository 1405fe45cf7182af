//! The hard case of exact labels: predictions that are nearly one-hot and far from fair.
//!
//! Then rows answer to prices almost in jumps, and Newton's method on prices alone creeps from kink to kink. But the
//! optimality conditions y_ik s_ik = σ_ik, s_ik = μ_i − δ_k, Σ_k y_ik = 1 are those of a linear programme with σ as the
//! weights of its barrier, and interior-point methods do not mind such kinks: labels y and slacks s are independent
//! unknowns that start away from the border and follow y s = σ + t to t = 0, by Mehrotra's predictor and corrector.
//! The shares m that fairness wants are unknowns as well. Eliminating all but the prices leaves the same K×K system
//! as in [`super::dual`], with v_i = y_i/s_i.

mod rows;
mod shares;

use super::lanes::{Lane, WIDTH, lane, larger, vectorised};
use super::{Problem, Workspace};
use crate::entropy::Fairness;
use rows::{Advance, Linearise, Measure, Predict, Rows};
use shares::Shares;

/// How far from the border it starts: share of the uniform label, and what is added to slacks.
const AWAY: f64 = 0.3;
/// Share of the distance to the border that a step may go.
const FRACTION_TO_BORDER: f64 = 0.95;
/// A corrected step shorter than this is replaced by one without correction.
const SHORT: f64 = 0.1;
/// What a step leaves of t at least.
const LEAST_SHRINK: f64 = 1e-3;
/// Relative miss of y s at which Newton's method on the prices takes over.
const NEAR: f64 = 0.5;
/// Steps at most; ten to twenty are usual.
const STEPS: usize = 50;

/// Buffers of the interior-point method.
#[derive(Debug, Clone, Default)]
pub(super) struct CentralBuffers {
    /// s, 1/s and 1/y, shape `[blocks, k]`.
    slack: Vec<Lane>,
    inverse: Vec<Lane>,
    label_inverse: Vec<Lane>,
    /// dy · ds of the predictor, shape `[blocks, k]`.
    cross: Vec<Lane>,
    /// 1/Σv, shape `[blocks]`.
    scale: Vec<Lane>,
    /// The linearised rows' ȳ at present prices: aimed at σ, what the corrector adds, what t = 1 adds; each `[k]`.
    means: [Vec<Lane>; 3],
    shares: Shares,
}

/// What y s is aimed at: σ + t, less `correction` times the predictor's dy · ds.
#[derive(Clone, Copy)]
struct Aim {
    t: f64,
    correction: f64,
}

/// The optimum itself.
const SIGMA: Aim = Aim { t: 0.0, correction: 0.0 };

/// The largest relative decrease along a step: of labels and shares, and of slacks. Its inverse is the step to the border.
#[derive(Clone, Copy)]
struct Decrease {
    label: f64,
    slack: f64,
}

impl Decrease {
    /// The larger of both.
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self { label: larger(self.label, other.label), slack: larger(self.slack, other.slack) }
    }

    /// The part of the step that labels and slacks can go together.
    fn longest_step(self) -> f64 {
        step_to(1.0, larger(self.label, self.slack))
    }
}

/// At most one, and at most `fraction` of the way to the border.
fn step_to(fraction: f64, decrease: f64) -> f64 {
    if decrease > fraction { fraction / decrease } else { 1.0 }
}

/// Take the prices, from where the rows have answered, so close to the optimum that Newton's method on them is fast.
/// Returns the steps made.
pub(super) fn approach(fairness: Fairness, problem: &Problem<'_>, ws: &mut Workspace) -> usize {
    start(ws);
    let mut t = AWAY * AWAY;
    for steps in 1..=STEPS {
        linearise(fairness, problem, ws);
        solve(SIGMA, ws);
        let (decrease, near) = predict(ws);
        let longest = decrease.longest_step();
        if longest == 1.0 && near {
            advance(SIGMA, measure(SIGMA, ws), ws);
            keep_roots(ws);
            return steps;
        }
        t *= ((1.0 - longest) * (1.0 - longest)).max(LEAST_SHRINK);
        let mut aim = Aim { t, correction: 1.0 };
        solve(aim, ws);
        let mut decrease = measure(aim, ws);
        if decrease.longest_step() < SHORT {
            aim.correction = 0.0;
            solve(aim, ws);
            decrease = measure(aim, ws);
        }
        advance(aim, decrease, ws);
    }
    keep_roots(ws);
    STEPS
}

/// The slack at the highest price is the root of [`super::exact`].
fn keep_roots(ws: &mut Workspace) {
    let (k, dual) = (ws.packed.k, &mut ws.dual);
    let top = dual.gap.iter().position(|gap| *gap == 0.0).unwrap_or(0);
    dual.roots.clear();
    dual.roots.extend(ws.central.slack.chunks_exact(k).map(|slack| slack[top]));
    dual.trust_roots();
}

/// From the rows' answers away from the border; Σ y = 1 and s = μ − δ stay true.
fn start(ws: &mut Workspace) {
    let (k, buffers) = (ws.packed.k, &mut ws.central);
    let blocks = ws.packed.share.len();
    buffers.slack.clear();
    for (cell, label) in ws.packed.cells.iter().zip(&mut ws.labels) {
        let y = *label;
        buffers.slack.push(lane(|r| cell[r] / y[r] + AWAY));
        *label = lane(|r| (1.0 - AWAY) * y[r] + AWAY / k as f64);
    }
    buffers.inverse.resize(blocks * k, [0.0; WIDTH]);
    buffers.label_inverse.resize(blocks * k, [0.0; WIDTH]);
    buffers.cross.resize(blocks * k, [0.0; WIDTH]);
    buffers.scale.resize(blocks, [0.0; WIDTH]);
    // Any positive shares will do; these are the answers' own.
    buffers.shares.value.clear();
    buffers.shares.value.extend(ws.dual.demand.iter().map(|mean| (1.0 - AWAY) * mean + AWAY / k as f64));
}

/// Linearise everything at the present point, and factor the K×K system.
fn linearise(fairness: Fairness, problem: &Problem<'_>, ws: &mut Workspace) {
    ws.central.shares.linearise(fairness, problem, &ws.dual.price);
    for mean in &mut ws.central.means {
        mean.clear();
        mean.resize(ws.packed.k, [0.0; WIDTH]);
    }
    let (rows, sums) = Rows::of(ws);
    vectorised(Linearise { rows, sums });
    ws.dual.factor(&ws.central.shares.bend);
}

/// The step of the prices that makes the linearised ȳ what fairness wants.
fn solve(aim: Aim, ws: &mut Workspace) {
    let (buffers, dual) = (&ws.central, &mut ws.dual);
    dual.direction.clear();
    for (k, fixed) in ws.packed.fixed.iter().enumerate() {
        let [sigma, cross, unit] = buffers.means.each_ref().map(|mean| mean[k].iter().sum::<f64>());
        let mean = fixed + sigma + aim.correction * cross + aim.t * unit;
        dual.direction.push(buffers.shares.wish(k, aim.correction) - mean);
    }
    dual.hessian.solve(&mut dual.direction);
}

/// How far the border is along the predictor, and whether its end is near the optimum. Keeps what the corrector needs.
fn predict(ws: &mut Workspace) -> (Decrease, bool) {
    ws.central.shares.predict(&ws.dual.direction);
    let shares = ws.central.shares.decrease(&ws.dual.direction, 0.0);
    let (rows, sums) = Rows::of(ws);
    let (decrease, near) = vectorised(Predict { rows, sums });
    (decrease.or(shares), near && ws.central.shares.near())
}

/// How far the border is along the step.
fn measure(aim: Aim, ws: &mut Workspace) -> Decrease {
    let shares = ws.central.shares.decrease(&ws.dual.direction, aim.correction);
    vectorised(Measure { rows: Rows::of(ws).0, aim }).or(shares)
}

/// Take the step, labels and slacks each as far as they can go.
fn advance(aim: Aim, decrease: Decrease, ws: &mut Workspace) {
    let label = step_to(FRACTION_TO_BORDER, decrease.label);
    let slack = step_to(FRACTION_TO_BORDER, decrease.slack);
    ws.central.shares.advance(&ws.dual.direction, aim.correction, label);
    vectorised(Advance { rows: Rows::of(ws).0, aim, label, slack });
    ws.dual.set_out();
    ws.dual.go(slack);
}
