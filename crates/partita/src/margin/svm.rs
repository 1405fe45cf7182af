//! The margin of a labelling: a hard-margin support vector machine of K clusters, with the proof of its value.
//!
//! The dual is the point nearest to the origin among the convex combinations Σ λ_ik (e_{y_i} − e_k) ⊗ x_i whose
//! weights λ balance in every cluster, Σ λ_ik (e_{y_i} − e_k) = 0; free biases require this. Its corners are cycles
//! of clusters with a row for each step (see `cycle`); for K = 2 they are pairs of rows. Wolfe's method (see
//! `corral`) moves between them.
//!
//! Both sides are evaluated directly: the primal as the smallest lead of any row, the dual as the length of a convex
//! combination. So the gap between them is a proof, whether or not the method converged. A dual of length zero proves
//! that no classifier separates the labelling, and its rows are the ones that get in each other's way.

use super::classifier::Classifier;
use super::corral::{Corral, Edge, Vertex};
use super::cycle::{Best, best_biases, steps};
use super::points::Centred;
use super::{Hyperplane, Points, add, dot, norm, scale};
use crate::error::{Error, Result};
use crate::report::{Flow, Observer, Progress, Silent};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows per task. Fixed, so that the result does not depend on the number of threads.
const PIECE: usize = 512;

/// Steps without a shorter dual before giving up: exact arithmetic has none, so rounding must be the limit.
const PATIENCE: usize = 10;

/// Options of [`of_labels`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Stop when the gap is at most this share of the margin. Default 1e-6.
    pub tolerance: f64,
    /// Margins below this share of the rows' largest distance from their mean count as none. Default 1e-9.
    pub nothing: f64,
    /// Maximum number of steps; each is a pass over the rows. Default 100,000.
    pub max_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 1e-6, nothing: 1e-9, max_iterations: 100_000 }
    }
}

/// A row that determines the margin, and the rival cluster that it faces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// The row.
    pub row: usize,
    /// The cluster that comes nearest to it; not its own.
    pub rival: u32,
    /// Its positive weight λ in the dual. All weights sum to one.
    pub weight: f64,
}

/// The margin of a labelling and the classifier that attains it.
#[derive(Debug, Clone, PartialEq)]
pub struct MaxMargin {
    /// The margin |y| by the multi-class definition. `classifier` attains it, so it is never too large.
    pub margin: f64,
    /// No classifier has a margin above `margin + gap`: the weights of `support` prove it.
    pub gap: f64,
    /// The widest classifier, with ‖W‖_F = 1 and rows of W that sum to zero.
    pub classifier: Classifier,
    /// Rows with positive weights, in order.
    pub support: Vec<Support>,
    /// Steps taken.
    pub iterations: usize,
    /// Whether the gap is within the tolerance. The gap is a proof either way.
    pub converged: bool,
}

impl MaxMargin {
    /// For two clusters, by the binary definition: the widest boundary, and the distance of the nearest row.
    ///
    /// ```
    /// use partita::margin::{Options, Points, of_labels};
    /// let points = Points::new(&[0.0, 0.0, 0.0, 1.0, 4.0, 0.0, 4.0, 2.0], 2)?;
    /// let found = of_labels(points, &[0, 0, 1, 1], 2, &Options::default())?;
    /// let (plane, margin) = found.separated().and_then(|w| w.binary()).expect("two clusters");
    /// assert!((margin - 2.0).abs() < 1e-9 && (plane.distance(&[2.0, 5.0])).abs() < 1e-9);
    /// # Ok::<(), partita::Error>(())
    /// ```
    pub fn binary(&self) -> Option<(Hyperplane, f64)> {
        Some((self.classifier.hyperplane()?, self.margin / 2f64.sqrt()))
    }
}

/// The proof that a labelling is not separable: rows whose weighted differences cancel.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Rows that get in each other's way, with the rival clusters and positive weights that sum to one.
    pub violating: Vec<Support>,
    /// Length of Σ λ (e_own − e_rival) ⊗ x: no margin can be wider.
    pub residual: f64,
    /// Steps taken.
    pub iterations: usize,
}

/// What is known about a labelling.
#[derive(Debug, Clone, PartialEq)]
pub enum Separation {
    /// It is separable with this margin.
    Separated(MaxMargin),
    /// It has no margin, or one too small to tell from rounding.
    Inseparable(Certificate),
    /// Neither could be shown within the iterations or the precision; no margin is wider than the residual.
    Undecided(Certificate),
}

impl Separation {
    /// The margin, if there is one.
    pub fn separated(self) -> Option<MaxMargin> {
        match self {
            Self::Separated(found) => Some(found),
            Self::Inseparable(_) | Self::Undecided(_) => None,
        }
    }

    /// The proof that there is no margin.
    pub fn inseparable(self) -> Option<Certificate> {
        match self {
            Self::Inseparable(proof) => Some(proof),
            Self::Separated(_) | Self::Undecided(_) => None,
        }
    }
}

/// The margin of a labelling of the rows with `k` clusters, or the proof that it has none.
///
/// The result does not depend on the number of threads. Each step is a pass over the rows, and there are a few steps
/// for each row that determines the margin; memory grows with the square of the number of these rows.
///
/// ```
/// use partita::margin::{Options, Points, of_labels};
/// let points = Points::new(&[0.0, 1.0, 4.0, 5.0], 1)?;
/// let widest = of_labels(points, &[0, 0, 1, 1], 2, &Options::default())?.separated().expect("separable");
/// assert!((widest.margin - 1.5 * 2f64.sqrt()).abs() < 1e-9 && widest.gap < 1e-9);
/// assert_eq!(widest.support.iter().map(|s| s.row).collect::<Vec<_>>(), [1, 2]);
///
/// let proof = of_labels(points, &[0, 1, 0, 1], 2, &Options::default())?.inseparable().expect("rows alternate");
/// assert!(proof.residual < 1e-9 && proof.violating.len() >= 3);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// If a row has no label below `k`, if a cluster has no row, if `k` is below 2, or if a tolerance is not positive.
pub fn of_labels(points: Points<'_>, labels: &[u32], k: usize, options: &Options) -> Result<Separation> {
    of_labels_watched(points, labels, k, options, &Silent)
}

/// [`of_labels`] with an observer, which may stop it.
///
/// # Errors
/// The errors of [`of_labels`], and [`Error::Interrupted`] if the observer asks to stop.
pub fn of_labels_watched(
    points: Points<'_>,
    labels: &[u32],
    k: usize,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Separation> {
    points.check_labels(labels, k)?;
    for (name, value) in [("tolerance", options.tolerance), ("nothing", options.nothing)] {
        if value.is_nan() || value <= 0.0 {
            return Err(Error::Parameter { name, value: value.to_string(), must: "positive" });
        }
    }
    let problem = Problem { centred: Centred::new(points), labels, k };
    problem.solve(options, observer)
}

struct Problem<'a> {
    centred: Centred,
    labels: &'a [u32],
    k: usize,
}

/// A direction with its best biases.
struct Primal {
    weights: Vec<f64>,
    biases: Vec<f64>,
    margin: f64,
}

impl Problem<'_> {
    fn solve(&self, options: &Options, observer: &dyn Observer) -> Result<Separation> {
        let mut corral = Corral::new(self.k, self.centred.m);
        corral.join(self.oracle(&self.means()).1);
        let mut best = Primal { weights: Vec::new(), biases: Vec::new(), margin: f64::NEG_INFINITY };
        let (mut iterations, mut shortest, mut stalled) = (0, f64::INFINITY, 0);
        loop {
            let done = iterations as f64 / options.max_iterations.max(1) as f64;
            if observer.progress(Progress { stage: "margin", done, loss: None }) == Flow::Stop {
                return Err(Error::Interrupted);
            }
            let mut weights = corral.point();
            let dual = norm(&weights);
            if dual <= options.nothing {
                return Ok(Separation::Inseparable(self.certificate(&corral, dual, iterations)));
            }
            scale(&mut weights, 1.0 / dual);
            let (Best { biases, margin, .. }, vertex) = self.oracle(&weights);
            if margin > best.margin {
                best = Primal { weights, biases, margin };
            }
            stalled = if dual < shortest { 0 } else { stalled + 1 };
            shortest = dual.min(shortest);
            let converged = dual - best.margin <= options.tolerance * best.margin;
            let over = converged || iterations >= options.max_iterations || stalled > PATIENCE;
            if over || !corral.join(vertex) {
                return Ok(self.result(&corral, best, dual, iterations, converged));
            }
            iterations += 1;
        }
    }

    /// Where to begin: the means of the clusters, which often separate them.
    fn means(&self) -> Vec<f64> {
        let m = self.centred.m;
        let mut means = vec![0.0; self.k * m];
        let mut sizes = vec![0.0; self.k];
        for (i, &label) in self.labels.iter().enumerate() {
            add(&mut means[label as usize * m..][..m], 1.0, self.centred.row(i));
            sizes[label as usize] += 1.0;
        }
        means.chunks_exact_mut(m).zip(sizes).for_each(|(mean, size)| scale(mean, 1.0 / size));
        means
    }

    /// The best biases of a direction, and the corner of the dual that lies lowest in it.
    fn oracle(&self, weights: &[f64]) -> (Best, Vertex) {
        let leads = self.leads(weights);
        let cost: Vec<f64> = leads.iter().map(|(lead, _)| *lead).collect();
        let best = best_biases(&cost, self.k);
        let edge = |(own, rival): (usize, usize)| Edge { row: leads[own * self.k + rival].1, own, rival };
        let vertex = self.vertex(steps(&best.cycle).map(edge).collect());
        (best, vertex)
    }

    /// For each cluster and rival, the smallest lead and its row, shape `[k, k]`; zero on the diagonal.
    fn leads(&self, weights: &[f64]) -> Vec<(f64, usize)> {
        let tables: Vec<_> = self
            .labels
            .par_chunks(PIECE)
            .enumerate()
            .map(|(p, own)| self.piece(weights, p * PIECE, own))
            .collect();
        let mut least = tables.into_iter().reduce(|mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = if b.0 < a.0 { b } else { *a });
            a
        });
        let least = least.get_or_insert_default();
        (0..self.k).for_each(|c| least[c * (self.k + 1)] = (0.0, 0));
        std::mem::take(least)
    }

    fn piece(&self, weights: &[f64], start: usize, labels: &[u32]) -> Vec<(f64, usize)> {
        let k = self.k;
        let mut least = vec![(f64::INFINITY, 0); k * k];
        let mut z = vec![0.0; k];
        for (i, &own) in labels.iter().enumerate() {
            let (x, own) = (self.centred.row(start + i), own as usize);
            z.iter_mut().zip(weights.chunks_exact(self.centred.m)).for_each(|(z, w)| *z = dot(w, x));
            for (rival, entry) in least[own * k..][..k].iter_mut().enumerate() {
                let lead = z[own] - z[rival];
                if lead < entry.0 {
                    *entry = (lead, start + i);
                }
            }
        }
        least
    }

    /// The mean of the difference vectors of a cycle. In each of its clusters one row is added and one subtracted.
    fn vertex(&self, edges: Vec<Edge>) -> Vertex {
        let share = 1.0 / edges.len() as f64;
        let mut blocks: Vec<_> = edges
            .iter()
            .map(|e| (e.own, self.centred.row(e.row).iter().map(|v| v * share).collect()))
            .collect();
        let clusters = blocks.len();
        for (at, edge) in edges.iter().enumerate() {
            let (_, block): &mut (usize, Vec<f64>) = &mut blocks[(at + 1) % clusters];
            add(block, -share, self.centred.row(edge.row));
        }
        Vertex { edges, blocks }
    }

    fn result(
        &self,
        corral: &Corral,
        best: Primal,
        dual: f64,
        iterations: usize,
        converged: bool,
    ) -> Separation {
        if best.margin <= 0.0 {
            return Separation::Undecided(self.certificate(corral, dual, iterations));
        }
        let radius = self.centred.radius;
        let biases = self.centred.biases_outside(&best.weights, &best.biases);
        Separation::Separated(MaxMargin {
            margin: radius * best.margin,
            gap: radius * (dual - best.margin).max(0.0),
            classifier: Classifier { weights: best.weights, biases },
            support: support(corral),
            iterations,
            converged,
        })
    }

    fn certificate(&self, corral: &Corral, dual: f64, iterations: usize) -> Certificate {
        Certificate { violating: support(corral), residual: self.centred.radius * dual, iterations }
    }
}

/// The weight of each difference vector: the steps of a cycle share the cycle's weight equally.
fn support(corral: &Corral) -> Vec<Support> {
    let mut weights = BTreeMap::<Edge, f64>::new();
    for (vertex, weight) in corral.vertices.iter().zip(&corral.weights) {
        for edge in &vertex.edges {
            *weights.entry(*edge).or_default() += weight / vertex.edges.len() as f64;
        }
    }
    let told = |(edge, weight): (Edge, f64)| Support { row: edge.row, rival: edge.rival as u32, weight };
    weights.into_iter().map(told).collect()
}
