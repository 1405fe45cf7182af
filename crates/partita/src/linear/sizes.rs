//! Estimating the prior: how large the clusters are, when nobody knows.
//!
//! A fit with a prior tells how well that prior suits the rows: where it cuts through dense regions the loss is higher, and the
//! predictions settle at sizes between the prior's and those that the gaps suggest. So fit and prior alternate,
//! u ← σ̄ within bounds, from several first guesses. What is compared is the loss plus [`EVENNESS`] KL(u‖uniform): without it the best
//! prior would be one huge cluster.

use super::params::Params;
use super::run::{Outcome, Run};
use super::score::census;
use super::train::Head;
use crate::entropy::divergence::kl;
use crate::error::Result;
use crate::report::{Flow, Observer, Progress};
use crate::rivals::Table;
use crate::rivals::kmeans::{KMeans, plus_plus};
use crate::rng::{Stream, stream};
use crate::simplex::uniform;

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
#[derive(Debug, Clone, Copy, PartialEq)]
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
struct Guess {
    prior: Vec<f64>,
    score: f64,
    head: Head,
}

/// The prior in the range that suits the rows best.
pub fn estimate(run: &Run<'_>, range: Range) -> Result<Vec<f64>> {
    let guesses = first_guesses(run, range)?;
    let count = guesses.len();
    let mut best: Option<Guess> = None;
    for (at, guess) in guesses.into_iter().enumerate() {
        let observer = Quiet { observer: run.observer, done: at as f64 / count as f64 };
        let settled = settle(&Run { observer: &observer, ..*run }, range, guess)?;
        if best.as_ref().is_none_or(|best| settled.score < best.score) {
            best = Some(settled);
        }
    }
    Ok(best.map_or_else(|| uniform(run.params.k), |best| best.prior))
}

/// Alternate prior and fit; the best prior on the way.
fn settle(run: &Run<'_>, range: Range, first: Vec<f64>) -> Result<Guess> {
    let sample = run.sample()?;
    let mut best = fit_with(run, first, None)?;
    let mut head = best.head.clone();
    for _ in 1..ROUNDS {
        let prior = range.clip(&census(&head, &sample).0.soft);
        let next = fit_with(run, prior, Some(&head))?;
        head = next.head.clone();
        if next.score < best.score {
            best = next;
        }
    }
    Ok(best)
}

fn fit_with(run: &Run<'_>, prior: Vec<f64>, warm: Option<&Head>) -> Result<Guess> {
    let params = Params { restarts: RESTARTS.min(run.params.restarts), ..run.params.clone() };
    let mut checked = run.checked.clone();
    checked.prior.clone_from(&prior);
    let Outcome { head, report } = Run { params: &params, checked: &checked, warm, ..*run }.train()?;
    report.stop.not_interrupted()?;
    let score = report.loss + EVENNESS * kl(&prior, &uniform(prior.len()));
    Ok(Guess { prior, score, head })
}

/// Equal and ever less equal sizes, and those of K-means.
fn first_guesses(run: &Run<'_>, range: Range) -> Result<Vec<Vec<f64>>> {
    let k = run.params.k;
    let geometric = |ratio: &f64| -> Vec<f64> {
        let powers: Vec<f64> = (0..k).map(|c| ratio.powi(c as i32)).collect();
        let sum: f64 = powers.iter().sum();
        range.clip(&powers.iter().map(|p| p / sum).collect::<Vec<_>>())
    };
    let mut guesses: Vec<Vec<f64>> = RATIOS.iter().map(geometric).collect();
    let sample = run.sample()?;
    let table = Table { x: &sample.x, m: run.source.m() };
    let seeds = plus_plus(table, k, &mut stream(run.params.seed, Stream::Seeds, 0));
    let mut shares = vec![0.0; k];
    for label in KMeans::new(k).lloyd(table, seeds).labels {
        shares[label as usize] += 1.0 / table.n() as f64;
    }
    guesses.push(range.clip(&shares));
    Ok(guesses)
}

/// Shows how many guesses are done instead of the progress of their many fits, and passes on the wish to stop.
struct Quiet<'a> {
    observer: &'a dyn Observer,
    done: f64,
}

impl Observer for Quiet<'_> {
    fn progress(&self, progress: Progress) -> Flow {
        self.observer.progress(Progress { stage: "sizes", done: self.done, ..progress })
    }
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
