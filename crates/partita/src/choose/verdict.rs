//! From the stability of all candidates to a recommendation.

use super::{Candidate, Choice};
use crate::metrics::Spread;
use serde::Serialize;

/// Candidates are as stable as the best if they are behind by at most this.
const TOLERANCE: f64 = 0.02;
/// The share of splits, the worst ones, that does not count.
const UNLUCKY: f64 = 0.2;
/// Below this stability no number of clusters is really found again: rows of one Gaussian reach 0.52, and those spread evenly over a
/// square 0.64.
const UNSTABLE: f64 = 0.65;

/// How sure a recommendation is.
///
/// ```
/// use partita::choose::Verdict;
/// assert_ne!(Verdict::Clear, Verdict::Unstable);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No other candidate is plausible.
    Clear,
    /// Others are plausible too.
    Close,
    /// None is found again: the rows may have no clusters of the kind that is looked for.
    Unstable,
}

impl Choice {
    /// How sure the recommendation is.
    pub fn verdict(&self) -> Verdict {
        let scores: Vec<f64> =
            self.candidates.iter().filter(|c| c.plausible).map(|c| score(&c.stability)).collect();
        match scores.len() {
            _ if scores.iter().all(|score| *score < UNSTABLE) => Verdict::Unstable,
            0 | 1 => Verdict::Clear,
            _ => Verdict::Close,
        }
    }
}

/// Mean over the splits but for the unlucky ones.
fn score(stability: &[f64]) -> f64 {
    let mut sorted = stability.to_vec();
    sorted.sort_by(f64::total_cmp);
    let counted = &sorted[(UNLUCKY * sorted.len() as f64) as usize..];
    counted.iter().sum::<f64>() / counted.len().max(1) as f64
}

/// The recommendation among candidates, of which those with fewer than `splits` splits were dropped.
pub fn conclude(mut candidates: Vec<Candidate>, splits: usize) -> Choice {
    let scores: Vec<f64> = candidates.iter().map(|c| score(&c.stability)).collect();
    let running: Vec<usize> =
        (0..candidates.len()).filter(|&at| candidates[at].stability.len() == splits).collect();
    let first = |a: usize, b: usize| if scores[b] > scores[a] { b } else { a };
    let top = running.iter().copied().reduce(first).unwrap_or(0);
    let behind = |at: usize| -> Vec<f64> {
        candidates[top].stability.iter().zip(&candidates[at].stability).map(|(a, b)| a - b).collect()
    };
    let stable = |at: &usize| scores[*at] >= scores[top] - TOLERANCE;
    let near: Vec<usize> = running.iter().copied().filter(|at| stable(at) || is_near(&behind(*at))).collect();
    // Where nothing is found again, nothing speaks for many clusters.
    let place = match scores[top] < UNSTABLE {
        true => near.iter().copied().min_by_key(|&at| candidates[at].k),
        // Of candidates that differ in other options alone, the most stable.
        false => near
            .iter()
            .copied()
            .filter(stable)
            .max_by(|&a, &b| candidates[a].k.cmp(&candidates[b].k).then(scores[a].total_cmp(&scores[b]))),
    };
    let place = place.unwrap_or(top);
    let wins = (0..splits).filter(|&s| wins(&candidates, &running, place, s)).count();
    near.iter().for_each(|&at| candidates[at].plausible = true);
    let mut plausible: Vec<usize> = near.iter().map(|&at| candidates[at].k).collect();
    plausible.dedup();
    Choice {
        best: candidates[place].k,
        place,
        stability: scores[place],
        support: wins as f64 / splits as f64,
        plausible,
        candidates,
    }
}

/// Whether differences to the best, split by split, are within two standard errors.
fn is_near(behind: &[f64]) -> bool {
    let error = |spread: Spread| spread.sd / (behind.len() as f64).sqrt();
    Spread::of(behind.iter().copied()).is_some_and(|s| s.mean <= 2.0 * error(s) + TOLERANCE)
}

/// Whether no candidate was more stable in this split.
fn wins(candidates: &[Candidate], running: &[usize], place: usize, split: usize) -> bool {
    let best = running.iter().map(|&at| candidates[at].stability[split]).fold(f64::NEG_INFINITY, f64::max);
    candidates[place].stability[split] >= best - TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Params;

    fn concluded(tried: &[(usize, &[f64])], splits: usize) -> Choice {
        let made = |&(k, stability): &(usize, &[f64])| Candidate {
            stability: stability.to_vec(),
            ..Candidate::new(&Params::new(k))
        };
        conclude(tried.iter().map(made).collect(), splits)
    }

    #[test]
    fn the_most_stable_wins_and_close_ones_stay_plausible() {
        let choice = concluded(
            &[(2, &[0.5, 0.6, 0.5]), (3, &[0.9, 0.95, 0.76]), (4, &[0.8, 0.9, 0.85]), (5, &[0.1, 0.2])],
            3,
        );
        assert_eq!((choice.best, choice.place, &*choice.plausible), (3, 1, &[3, 4][..]));
        assert!((choice.support - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(choice.verdict(), Verdict::Close);
    }

    #[test]
    fn of_equally_stable_candidates_the_one_of_most_clusters_wins() {
        let choice =
            concluded(&[(2, &[1.0, 1.0]), (3, &[1.0, 1.0]), (4, &[0.99, 0.99]), (5, &[0.7, 0.8])], 2);
        assert_eq!((choice.best, &*choice.plausible, choice.support), (4, &[2, 3, 4][..], 1.0));
    }

    #[test]
    fn one_unlucky_split_in_five_does_not_count_but_two_do() {
        let unlucky = concluded(&[(2, &[1.0, 1.0, 0.1, 1.0, 1.0]), (4, &[0.8, 0.8, 0.8, 0.8, 0.8])], 5);
        assert_eq!((unlucky.best, unlucky.stability), (2, 1.0));
        let shaky = concluded(&[(2, &[1.0; 5]), (4, &[1.0, 0.3, 1.0, 0.3, 1.0])], 5);
        assert_eq!(shaky.best, 2);
    }

    #[test]
    fn where_nothing_is_found_again_the_verdict_says_so() {
        let noise = concluded(&[(2, &[0.3, 0.4]), (3, &[0.2, 0.5]), (4, &[0.4, 0.4])], 2);
        assert_eq!((noise.verdict(), noise.best), (Verdict::Unstable, 2));
        assert_eq!(concluded(&[(2, &[1.0, 1.0]), (3, &[0.2, 0.3])], 2).verdict(), Verdict::Clear);
    }
}
