//! Newton's method on prices: the dual of the pseudo-label problem has one unknown per cluster.
//!
//! Give cluster k the price reward δ_k. Each row answers with the label that is best for it alone, and fairness
//! wants the shares m_k(δ); at the optimum the mean answer ȳ is m. The dual is concave, its gradient is m − ȳ, and
//! its negative Hessian is diag(−dm/dδ) plus a Laplacian, see [`super::cholesky`].
//!
//! With a_k = −dF/dȳ_k (for strong fairness u_k/ȳ_k), δ = λ(a − 1), or δ = λa for weak fairness up to a constant that
//! rows cannot feel. Rows feel only differences of prices, and known labels or a large λ can make these differences ten
//! orders smaller than the prices. So every cluster's gap to the highest price is kept beside its price.

use super::cholesky::Matrix;
use super::lanes::{Kernel, Lane, Packed, WIDTH, accumulate, lane, vectorised};
use super::{Problem, Solved, Workspace};
use crate::entropy::Fairness;

/// Share of the distance to the edge of the domain that a step may go.
const FRACTION_TO_EDGE: f64 = 0.9;
/// A step is too long when the slope along it has turned by more than this share of what it was.
const OVERSHOOT: f64 = 0.1;
/// A step that leaves more than this of the mismatch did not help.
const HELPS: f64 = 0.5;
/// Attempts to shorten a step.
const SHORTENINGS: usize = 40;

/// How rows answer to prices.
pub(super) trait Answer: Sync {
    /// Whether a row's answer is a root, which begins at a guess and may jump with the prices.
    const ROOT: bool;

    /// The best labels of eight rows into `labels` and the vectors v of the Hessian into `link`, both `[k]`.
    ///
    /// `gap` holds max δ − δ_k ≥ 0; `root` holds a guess and then the root, which must change with the gaps by
    /// −c vᵀ dgap. Returns the scale c: a row's part of the negative Hessian has the off-diagonals −c v_k v_l.
    fn answer(
        &self,
        cells: &[Lane],
        gap: &[f64],
        root: &mut Lane,
        labels: &mut [Lane],
        link: &mut [Lane],
    ) -> Lane;

    /// Bring the prices near the optimum where Newton's steps from them overshoot; returns the steps made.
    fn approach(&self, _: Fairness, _: &Problem<'_>, _: &mut Workspace) -> usize {
        0
    }
}

/// Buffers of the dual.
#[derive(Debug, Clone, Default)]
pub(super) struct DualBuffers {
    /// δ, shape `[k]`.
    pub price: Vec<f64>,
    /// max δ − δ_k ≥ 0, shape `[k]`; carried along, because computed anew it would have the error of the prices.
    pub gap: Vec<f64>,
    /// The root of every row, shape `[blocks]`.
    pub roots: Vec<Lane>,
    base_roots: Vec<Lane>,
    /// The gaps that rows answered last, then what they changed by, shape `[k]`.
    answered: Vec<f64>,
    /// What turns Σ links · dgap into the change of the root, shape `[blocks]`.
    lever: Vec<Lane>,
    /// ȳ, shape `[k]`.
    pub demand: Vec<f64>,
    /// The scaled vectors v of the Hessian, shape `[blocks, k]`.
    pub links: Vec<Lane>,
    base: Vec<f64>,
    base_gap: Vec<f64>,
    slope: Vec<f64>,
    bend: Vec<f64>,
    pub direction: Vec<f64>,
    pub hessian: Matrix,
}

impl DualBuffers {
    /// Gaps of the prices that a solver starts from.
    pub fn start(&mut self) {
        let top = self.price.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.gap.clear();
        self.gap.extend(self.price.iter().map(|price| top - price));
        self.trust_roots();
    }

    /// Take `roots` for those of the present prices.
    pub fn trust_roots(&mut self) {
        self.answered.clone_from(&self.gap);
    }

    /// Make the present prices the base.
    pub fn set_out(&mut self) {
        self.base.clone_from(&self.price);
        self.base_gap.clone_from(&self.gap);
    }

    /// Return to the base.
    fn turn_back(&mut self) {
        self.go(0.0);
        self.roots.clone_from(&self.base_roots);
        self.trust_roots();
    }

    /// Prices and gaps `step` along the direction from the base.
    pub fn go(&mut self, step: f64) {
        let first = self.base_gap.iter().position(|gap| *gap == 0.0).unwrap_or(0);
        let lead = self.direction[first];
        for (k, d) in self.direction.iter().enumerate() {
            self.price[k] = self.base[k] + step * d;
            self.gap[k] = self.base_gap[k] - step * (d - lead);
        }
        let least = self.gap.iter().copied().fold(f64::INFINITY, f64::min);
        self.gap.iter_mut().for_each(|gap| *gap -= least);
    }

    /// Factor the Hessian of `links` with this diagonal.
    pub fn factor(&mut self, bend: &[f64]) {
        self.hessian.clear(self.price.len());
        vectorised(Factor { hessian: &mut self.hessian, links: &self.links, bend });
    }
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
    if ws.packed.share.is_empty() {
        return Solved { iterations: 0, residual: 0.0, converged: true };
    }
    let (mut before, mut iterations) = (f64::INFINITY, 0);
    let mut patience = if A::ROOT { 1 } else { SHORTENINGS };
    respond(answer, ws);
    loop {
        let residual = mismatch(fairness, problem, &mut ws.dual);
        let end = |converged| Solved { iterations, residual, converged };
        if residual <= tolerance {
            return end(true);
        }
        if iterations >= max_iterations {
            return end(false);
        }
        let decrement = newton_direction(&mut ws.dual);
        // Two clusters that are alike and empty may split in a way that is beyond what a price can express. Then steps
        // no longer help, and the loss, within gᵀH⁻¹g of its minimum, cannot feel it.
        if decrement <= tolerance * tolerance && residual > HELPS * before {
            return end(true);
        }
        before = residual;
        if line_search(answer, fairness, problem, (decrement, patience), ws) {
            iterations += 1;
        } else if patience < SHORTENINGS {
            patience = SHORTENINGS;
            ws.dual.turn_back();
            respond(answer, ws);
            iterations += answer.approach(fairness, problem, ws);
            respond(answer, ws);
        } else {
            return end(false);
        }
    }
}

/// Gradient m − ȳ and diagonal −dm/dδ at the present prices; returns the largest |m − ȳ|/u.
fn mismatch(fairness: Fairness, problem: &Problem<'_>, buffers: &mut DualBuffers) -> f64 {
    let mut worst: f64 = 0.0;
    buffers.slope.clear();
    buffers.bend.clear();
    for ((price, demand), prior) in buffers.price.iter().zip(&buffers.demand).zip(problem.prior) {
        let (share, bend) = supply(fairness, *prior, *price, problem.lambda);
        buffers.slope.push(share - demand);
        buffers.bend.push(bend);
        worst = worst.max((share - demand).abs() / prior);
    }
    worst
}

/// Newton's direction from the links of the last answers; returns the slope along it.
fn newton_direction(buffers: &mut DualBuffers) -> f64 {
    let bend = std::mem::take(&mut buffers.bend);
    buffers.factor(&bend);
    buffers.bend = bend;
    buffers.direction.clone_from(&buffers.slope);
    buffers.hessian.solve(&mut buffers.direction);
    buffers.direction.iter().zip(&buffers.slope).map(|(d, g)| d * g).sum()
}

/// Go along the direction, shortening the step by secants while it overshoots. False if no step was good enough.
fn line_search<A: Answer>(
    answer: &A,
    fairness: Fairness,
    problem: &Problem<'_>,
    (decrement, patience): (f64, usize),
    ws: &mut Workspace,
) -> bool {
    ws.dual.set_out();
    ws.dual.base_roots.clone_from(&ws.dual.roots);
    let mut step = longest_step(fairness, problem.lambda, &ws.dual);
    for _ in 0..patience {
        ws.dual.go(step);
        respond(answer, ws);
        mismatch(fairness, problem, &mut ws.dual);
        let slope: f64 = ws.dual.direction.iter().zip(&ws.dual.slope).map(|(d, g)| d * g).sum();
        if slope >= -OVERSHOOT * decrement {
            return true;
        }
        // Where rows answer in jumps the slope hardly depends on the step, and secants alone would creep.
        step *= if slope.is_finite() { (decrement / (decrement - slope)).clamp(0.1, 0.5) } else { 0.1 };
    }
    false
}

/// One, or less where strong fairness needs a > 0.
fn longest_step(fairness: Fairness, lambda: f64, buffers: &DualBuffers) -> f64 {
    let room = |(price, d): (&f64, &f64)| if *d < 0.0 { (lambda + price) / -d } else { f64::INFINITY };
    match fairness {
        Fairness::Strong => {
            let edge = buffers.price.iter().zip(&buffers.direction).map(room).fold(f64::INFINITY, f64::min);
            (FRACTION_TO_EDGE * edge).min(1.0)
        }
        Fairness::Weak => 1.0,
    }
}

/// All rows' answers to the present prices: labels, their mean, and the scaled links for the Hessian.
fn respond<A: Answer>(answer: &A, ws: &mut Workspace) {
    let (packed, buffers) = (&ws.packed, &mut ws.dual);
    let (k, blocks) = (packed.k, packed.share.len());
    buffers.lever.resize(blocks, [0.0; WIDTH]);
    buffers.answered.iter_mut().zip(&buffers.gap).for_each(|(old, new)| *old = new - *old);
    buffers.links.resize(blocks * k, [0.0; WIDTH]);
    ws.labels.resize(blocks * k, [0.0; WIDTH]);
    ws.total.clear();
    ws.total.resize(k, [0.0; WIDTH]);
    vectorised(Respond {
        answer,
        packed,
        gap: &buffers.gap,
        moved: &buffers.answered,
        links: &mut buffers.links,
        roots: &mut buffers.roots,
        lever: &mut buffers.lever,
        labels: &mut ws.labels,
        total: &mut ws.total,
    });
    buffers.trust_roots();
    buffers.demand.clear();
    buffers.demand.extend(ws.total.iter().zip(&packed.fixed).map(|(t, f)| f + t.iter().sum::<f64>()));
}

/// All rows' answers in one loop.
struct Respond<'a, A> {
    answer: &'a A,
    packed: &'a Packed,
    gap: &'a [f64],
    moved: &'a [f64],
    links: &'a mut [Lane],
    roots: &'a mut [Lane],
    lever: &'a mut [Lane],
    labels: &'a mut [Lane],
    total: &'a mut [Lane],
}

impl<A: Answer> Kernel for Respond<'_, A> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let k = self.packed.k;
        for (b, share) in self.packed.share.iter().enumerate() {
            let labels = &mut self.labels[b * k..(b + 1) * k];
            let cells = &self.packed.cells[b * k..(b + 1) * k];
            let links = &mut self.links[b * k..(b + 1) * k];
            let root = &mut self.roots[b];
            if A::ROOT {
                *root = follow(root, links, &self.lever[b], self.moved);
            }
            let scale = self.answer.answer(cells, self.gap, root, labels, links);
            accumulate(self.total, labels, share);
            self.lever[b] = scale_links(links, &scale, share);
        }
    }
}

/// The Hessian and its factor.
struct Factor<'a> {
    hessian: &'a mut Matrix,
    links: &'a [Lane],
    bend: &'a [f64],
}

impl Kernel for Factor<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.hessian.add_products(self.links);
        self.hessian.factor(self.bend);
    }
}

/// The roots of eight rows to first order after the gaps moved.
#[inline(always)]
fn follow(root: &Lane, links: &[Lane], lever: &Lane, moved: &[f64]) -> Lane {
    let mut sum = [0.0; WIDTH];
    for (link, moved) in links.iter().zip(moved) {
        sum = lane(|r| sum[r] + link[r] * moved);
    }
    lane(|r| root[r] - lever[r] * sum[r])
}

/// Scale v of eight rows by √(share · scale); returns what turns the result into scale · v.
#[inline(always)]
pub(super) fn scale_links(links: &mut [Lane], scale: &Lane, share: &Lane) -> Lane {
    let factor = lane(|r| (share[r] * scale[r]).sqrt());
    for link in links {
        let v = *link;
        *link = lane(|r| factor[r] * v[r]);
    }
    lane(|r| if share[r] > 0.0 { scale[r] / factor[r] } else { 0.0 })
}
