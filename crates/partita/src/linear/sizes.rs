//! Estimating the prior: how large the clusters are, when nobody knows.
//!
//! A fit with a prior tells how well that prior suits the rows: where it cuts through dense regions the loss is higher, and the
//! predictions settle at sizes between the prior's and those that the gaps suggest. So fit and prior alternate,
//! u ← σ̄ within bounds, from several first guesses. What is compared is the loss plus [`EVENNESS`] KL(u‖uniform): without it the best
//! prior would be one huge cluster.

use super::head::Head;
use super::params::Params;
use super::plan::Plan;
use super::score::census;
use super::source::RowBatch;
use crate::centres::{Descent, NEVER_STOP, Table, plus_plus};
use crate::entropy::divergence::kl;
use crate::rng::{Stream, stream};
use crate::simplex::{check_prior, uniform};
use serde::{Deserialize, Serialize};

/// Weight of KL(u‖uniform) between priors. Over three synthetic and three real sets of sizes 70/20/10, values from 0.22 to
/// 0.27 put the true sizes above both equal ones and two clusters merged into one.
const EVENNESS: f64 = 0.25;
/// First guesses besides K-means' sizes: geometric sizes u_k ∝ r^k.
const RATIOS: [f64; 5] = [1.0, 0.75, 0.55, 0.4, 0.3];
/// Rounds of prior and fit from each guess.
const ROUNDS: usize = 5;
/// Restarts of a guess's first fit; the later ones go on from it.
const RESTARTS: usize = 4;

/// The smallest and the largest share that a cluster may have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Smallest share.
    pub least: f64,
    /// Largest share.
    pub most: f64,
}

impl Range {
    /// The nearest shares in the range that sum to one: all are multiplied by one number, then clipped.
    pub fn clip(self, shares: &[f64]) -> Vec<f64> {
        let at = |scale: f64| -> Vec<f64> {
            shares.iter().map(|s| (s * scale).clamp(self.least, self.most)).collect()
        };
        let sum = |scale: f64| at(scale).iter().sum::<f64>();
        let (mut low, mut high) = (0.0, 1.0);
        let positive = shares.iter().copied().filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min);
        while sum(high) < 1.0 && high * positive < self.most {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if sum(middle) < 1.0 { low = middle } else { high = middle }
        }
        let clipped = at(high);
        let total: f64 = clipped.iter().sum();
        clipped.iter().map(|u| u / total).collect()
    }
}

/// A prior with the fit that it led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Guess {
    prior: Vec<f64>,
    score: f64,
    head: Head,
}

/// The estimation under way: which guess and which of its rounds is being fitted, and what came of the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    range: Range,
    guesses: Vec<Vec<f64>>,
    /// The guess under way, ...
    guess: usize,
    /// ... its round, ...
    round: usize,
    /// ... the prior of this round, and where its fit starts.
    prior: Vec<f64>,
    head: Option<Head>,
    /// The best round of this guess, ...
    settled: Option<Guess>,
    /// ... and the best of the guesses before.
    best: Option<Guess>,
}

impl Estimate {
    /// Before the first fit; `sample` shows how K-means would size the clusters.
    pub fn begin(plan: &Plan, range: Range, sample: &RowBatch) -> Self {
        let guesses = first_guesses(plan, range, sample);
        let prior = guesses[0].clone();
        Self { range, guesses, guess: 0, round: 0, prior, head: None, settled: None, best: None }
    }

    /// The plan of the fit that is under way.
    pub fn plan(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        plan.params = Params { restarts: RESTARTS.min(plan.params.restarts), ..plan.params };
        plan.checked.prior.clone_from(&self.prior);
        plan
    }

    /// Where it starts, if not anew.
    pub fn start(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Whether it is one of sizes of `k` clusters in this range, whose weights all fit.
    pub fn suits(&self, range: Range, fits: impl Fn(&Head) -> bool, k: usize) -> bool {
        let prior = |prior: &Vec<f64>| check_prior(prior, k).is_ok();
        let guess = |guess: &Option<Guess>| {
            guess.as_ref().is_none_or(|guess| prior(&guess.prior) && fits(&guess.head))
        };
        self.range == range
            && self.guess < self.guesses.len()
            && self.round < ROUNDS
            && self.guesses.iter().chain([&self.prior]).all(prior)
            && self.head.as_ref().is_none_or(&fits)
            && guess(&self.settled)
            && guess(&self.best)
    }

    /// Take the result of the fit under way, and go on to the next one. The prior, if there is none.
    pub fn take(&mut self, head: Head, loss: f64, sample: &RowBatch) -> Option<Vec<f64>> {
        let score = loss + EVENNESS * kl(&self.prior, &uniform(self.prior.len()));
        self.round += 1;
        if self.round < ROUNDS {
            let next = self.range.clip(&census(&head, sample).0.soft);
            let prior = std::mem::replace(&mut self.prior, next);
            self.head = Some(head.clone());
            keep_better(&mut self.settled, Guess { prior, score, head });
            return None;
        }
        keep_better(&mut self.settled, Guess { prior: self.prior.clone(), score, head });
        if let Some(settled) = self.settled.take() {
            keep_better(&mut self.best, settled);
        }
        (self.guess, self.round, self.head) = (self.guess + 1, 0, None);
        match self.guesses.get(self.guess) {
            Some(guess) => {
                self.prior.clone_from(guess);
                None
            }
            None => self.best.as_ref().map(|best| best.prior.clone()),
        }
    }

    /// Share of the estimation that is done, when the fit under way is.
    pub fn done(&self, fit: f64) -> f64 {
        (self.guess as f64 + (self.round as f64 + fit) / ROUNDS as f64) / self.guesses.len() as f64
    }
}

fn keep_better(best: &mut Option<Guess>, guess: Guess) {
    if best.as_ref().is_none_or(|best| guess.score < best.score) {
        *best = Some(guess);
    }
}

/// Equal and ever less equal sizes, and those of K-means.
fn first_guesses(plan: &Plan, range: Range, sample: &RowBatch) -> Vec<Vec<f64>> {
    let k = plan.params.k;
    let geometric = |ratio: &f64| -> Vec<f64> {
        let powers: Vec<f64> = (0..k).map(|c| ratio.powi(c as i32)).collect();
        let sum: f64 = powers.iter().sum();
        range.clip(&powers.iter().map(|p| p / sum).collect::<Vec<_>>())
    };
    let mut guesses: Vec<Vec<f64>> = RATIOS.iter().map(geometric).collect();
    let table = Table { x: &sample.x, m: sample.x.len() / sample.rows.len() };
    let seeds = plus_plus(table, k, &mut stream(plan.params.seed, Stream::Seeds, 0));
    let mut shares = vec![0.0; k];
    for label in Descent::default().run(table, seeds, NEVER_STOP).labels {
        shares[label as usize] += 1.0 / table.n() as f64;
    }
    guesses.push(range.clip(&shares));
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn clipped_shares_are_a_prior_in_the_range(
            shares in prop::collection::vec(0.0f64..1.0, 2..12), least in 0.0f64..1.0, most in 0.0f64..1.0
        ) {
            let k = shares.len() as f64;
            let range = Range { least: least / k, most: 1.0 / k + most * (1.0 - 1.0 / k) };
            let clipped = range.clip(&shares);
            prop_assert!((clipped.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for u in &clipped {
                prop_assert!(*u >= range.least - 1e-9 && *u <= range.most + 1e-9, "{clipped:?} {range:?}");
            }
        }
    }

    #[test]
    fn shares_in_the_range_stay_as_they_are() {
        let shares = [0.7, 0.2, 0.1];
        let clipped = Range { least: 0.05, most: 0.9 }.clip(&shares);
        clipped.iter().zip(shares).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
    }
}
