//! Newton's method on prices: the dual of the pseudo-label problem has one unknown per cluster.
//!
//! Give cluster k the price reward δ_k. Each row answers with the label that is best for it alone, and fairness
//! wants the shares m_k(δ); at the optimum the mean answer ȳ is m. The dual is concave, its gradient is m − ȳ, and
//! its negative Hessian is diag(−dm/dδ) plus a Laplacian, see [`super::cholesky`].
//!
//! With a_k = −dF/dȳ_k (for strong fairness u_k/ȳ_k), δ = λ(a − 1), or δ = λa for weak fairness up to a constant that
//! rows cannot feel. Prices are kept as δ and not as a: at λ = 1e4 the differences of a that matter are near rounding.

use super::cholesky::{Matrix, lanes};
use super::lanes::{Kernel, Lane, Packed, WIDTH, accumulate, lane, vectorised};
use super::{Problem, Solved, Workspace};
use crate::objective::Fairness;

/// Share of the distance to the edge of the domain that a step may go.
const FRACTION_TO_EDGE: f64 = 0.9;
/// A step is too long when the slope along it has turned by more than this share of what it was.
const OVERSHOOT: f64 = 0.1;
/// Attempts to shorten a step.
const SHORTENINGS: usize = 40;

/// How rows answer to prices.
pub(super) trait Answer: Sync {
    /// The best labels of eight rows into `labels` and the vectors v of the Hessian into `link`, both `[k]`.
    ///
    /// `gap` holds max δ − δ_k ≥ 0 and `top` max δ; `memory` is the block's own from call to call. Returns the
    /// scale c: a row's part of the negative Hessian has the off-diagonals −c v_k v_l.
    fn answer(
        &self,
        cells: &[Lane],
        gap: &[f64],
        top: f64,
        memory: &mut Lane,
        labels: &mut [Lane],
        link: &mut [Lane],
    ) -> Lane;
}

/// Scratch space of the dual.
#[derive(Debug, Clone, Default)]
pub(super) struct Space {
    /// δ, shape `[k]`.
    pub price: Vec<f64>,
    /// One number per row that an [`Answer`] keeps between calls, shape `[blocks]`.
    pub memory: Vec<Lane>,
    /// ȳ, shape `[k]`.
    pub demand: Vec<f64>,
    gap: Vec<f64>,
    link: Vec<Lane>,
    rows: Vec<Lane>,
    base: Vec<f64>,
    slope: Vec<f64>,
    bend: Vec<f64>,
    direction: Vec<f64>,
    hessian: Matrix,
}

/// The shares that fairness wants at price δ, and minus their derivative.
#[inline]
fn supply(fairness: Fairness, prior: f64, price: f64, lambda: f64) -> (f64, f64) {
    match fairness {
        Fairness::Strong => {
            let a = 1.0 + price / lambda;
            (prior / a, prior / (lambda * a * a))
        }
        Fairness::Weak => {
            let m = prior * (-price / lambda).exp();
            (m, m / lambda)
        }
    }
}

/// Raise the dual from the prices in `ws.dual.price` until no share misses by more than `tolerance` times its prior,
/// leaving the rows' answers in `ws.labels`.
pub(super) fn maximise<A: Answer>(
    answer: &A,
    fairness: Fairness,
    problem: &Problem<'_>,
    (tolerance, max_iterations): (f64, usize),
    ws: &mut Workspace,
) -> Solved {
    let mut iterations = 0;
    respond(answer, ws);
    loop {
        let residual = mismatch(fairness, problem, &mut ws.dual);
        let end = |converged| Solved { iterations, residual, converged };
        if residual <= tolerance {
            return end(true);
        }
        if iterations == max_iterations {
            return end(false);
        }
        let decrement = newton_direction(&mut ws.dual);
        // gᵀH⁻¹g ≤ tolerance² is what the test above implies; where two clusters are alike and empty it can hold
        // alone, because their split is then beyond what a price can express, and beyond what the loss can feel.
        if decrement <= tolerance * tolerance {
            return end(true);
        }
        if !line_search(answer, fairness, problem, decrement, ws) {
            return end(false);
        }
        iterations += 1;
    }
}

/// Gradient m − ȳ and diagonal −dm/dδ at the present prices; returns the largest |m − ȳ|/u.
fn mismatch(fairness: Fairness, problem: &Problem<'_>, space: &mut Space) -> f64 {
    let mut worst: f64 = 0.0;
    space.slope.clear();
    space.bend.clear();
    for ((price, demand), prior) in space.price.iter().zip(&space.demand).zip(problem.prior) {
        let (share, bend) = supply(fairness, *prior, *price, problem.lambda);
        space.slope.push(share - demand);
        space.bend.push(bend);
        worst = worst.max((share - demand).abs() / prior);
    }
    worst
}

/// Newton's direction from the links of the last answers; returns the slope along it.
fn newton_direction(space: &mut Space) -> f64 {
    space.hessian.clear(space.price.len());
    vectorised(Factor { hessian: &mut space.hessian, rows: &space.rows, bend: &space.bend });
    space.direction.clone_from(&space.slope);
    space.hessian.solve(&mut space.direction);
    space.direction.iter().zip(&space.slope).map(|(d, g)| d * g).sum()
}

/// Go along the direction, shortening the step by secants while it overshoots. False if no step was good enough.
fn line_search<A: Answer>(
    answer: &A,
    fairness: Fairness,
    problem: &Problem<'_>,
    decrement: f64,
    ws: &mut Workspace,
) -> bool {
    ws.dual.base.clone_from(&ws.dual.price);
    let mut step = longest_step(fairness, problem.lambda, &ws.dual);
    for _ in 0..SHORTENINGS {
        for ((price, base), d) in ws.dual.price.iter_mut().zip(&ws.dual.base).zip(&ws.dual.direction) {
            *price = base + step * d;
        }
        respond(answer, ws);
        mismatch(fairness, problem, &mut ws.dual);
        let slope: f64 = ws.dual.direction.iter().zip(&ws.dual.slope).map(|(d, g)| d * g).sum();
        if slope >= -OVERSHOOT * decrement {
            return true;
        }
        step *= (decrement / (decrement - slope)).clamp(0.1, 0.9);
    }
    false
}

/// One, or less where strong fairness needs a > 0.
fn longest_step(fairness: Fairness, lambda: f64, space: &Space) -> f64 {
    let room = |(price, d): (&f64, &f64)| if *d < 0.0 { (lambda + price) / -d } else { f64::INFINITY };
    match fairness {
        Fairness::Strong => {
            let edge = space.price.iter().zip(&space.direction).map(room).fold(f64::INFINITY, f64::min);
            (FRACTION_TO_EDGE * edge).min(1.0)
        }
        Fairness::Weak => 1.0,
    }
}

/// All rows' answers to the present prices: labels, their mean, and the scaled links for the Hessian.
fn respond<A: Answer>(answer: &A, ws: &mut Workspace) {
    let (packed, space) = (&ws.packed, &mut ws.dual);
    let (k, stride, blocks) = (packed.k, lanes(packed.k), packed.share.len());
    let top = space.price.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    space.gap.clear();
    space.gap.extend(space.price.iter().map(|price| top - price));
    space.link.resize(k, [0.0; WIDTH]);
    space.rows.resize(blocks * WIDTH * stride, [0.0; WIDTH]);
    ws.labels.resize(blocks * k, [0.0; WIDTH]);
    ws.total.clear();
    ws.total.resize(k, [0.0; WIDTH]);
    vectorised(Respond {
        answer,
        packed,
        top,
        gap: &space.gap,
        link: &mut space.link[..k],
        rows: &mut space.rows,
        memory: &mut space.memory,
        labels: &mut ws.labels,
        total: &mut ws.total,
    });
    space.demand.clear();
    space.demand.extend(ws.total.iter().zip(&packed.fixed).map(|(t, f)| f + t.iter().sum::<f64>()));
}

/// All rows' answers in one loop.
struct Respond<'a, A> {
    answer: &'a A,
    packed: &'a Packed,
    top: f64,
    gap: &'a [f64],
    link: &'a mut [Lane],
    rows: &'a mut [Lane],
    memory: &'a mut [Lane],
    labels: &'a mut [Lane],
    total: &'a mut [Lane],
}

impl<A: Answer> Kernel for Respond<'_, A> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (k, stride) = (self.packed.k, WIDTH * lanes(self.packed.k));
        for (b, share) in self.packed.share.iter().enumerate() {
            let labels = &mut self.labels[b * k..(b + 1) * k];
            let cells = &self.packed.cells[b * k..(b + 1) * k];
            let scale = self.answer.answer(cells, self.gap, self.top, &mut self.memory[b], labels, self.link);
            accumulate(self.total, labels, share);
            scatter(self.link, &scale, share, &mut self.rows[b * stride..(b + 1) * stride]);
        }
    }
}

/// The Hessian and its factor.
struct Factor<'a> {
    hessian: &'a mut Matrix,
    rows: &'a [Lane],
    bend: &'a [f64],
}

impl Kernel for Factor<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.hessian.add_products(self.rows);
        self.hessian.laplacian(self.bend);
        self.hessian.factor();
    }
}

/// Write √(share · scale) v of eight rows one row after another, each padded to whole lanes.
#[inline(always)]
fn scatter(link: &[Lane], scale: &Lane, share: &Lane, rows: &mut [Lane]) {
    let width = rows.len();
    let root = lane(|r| (share[r] * scale[r]).sqrt());
    let rows = rows.as_flattened_mut().chunks_exact_mut(width);
    for ((r, row), root) in (0..WIDTH).zip(rows).zip(root) {
        for (cell, link) in row.iter_mut().zip(link) {
            *cell = root * link[r];
        }
    }
}
