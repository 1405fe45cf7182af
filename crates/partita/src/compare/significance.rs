//! Whether two methods differ, given one score each for the same seeds.

use crate::rng::{Stream, stream};
use rand::RngExt;

/// Up to this many pairs all sign patterns are tried; beyond, as many as that are drawn.
const EXACT: usize = 16;

/// Two-sided p-value of the paired permutation test: how often differences at least as large in the mean arise when the sign of each
/// is a coin toss. With n pairs it cannot be below 2/2ⁿ.
///
/// ```
/// let p = partita::compare::paired_test(&[0.9, 0.8, 0.9, 0.8, 0.9, 0.8], &[0.5, 0.6, 0.5, 0.6, 0.5, 0.6]);
/// assert_eq!(p, 2.0 / 64.0);
/// ```
pub fn paired_test(a: &[f64], b: &[f64]) -> f64 {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let observed = differences.iter().sum::<f64>().abs();
    // Sums that differ by rounding alone are equal.
    let enough = observed - 1e-12 * differences.iter().map(|d| d.abs()).sum::<f64>();
    let n = differences.len();
    let extreme = |positive: &dyn Fn(usize) -> bool| {
        let sum: f64 = differences.iter().enumerate().map(|(i, d)| if positive(i) { *d } else { -d }).sum();
        sum.abs() >= enough
    };
    if n <= EXACT {
        let all = 1u64 << n;
        let count = (0..all).filter(|&signs| extreme(&|i| signs >> i & 1 == 1)).count();
        return count as f64 / all as f64;
    }
    let draws = 1u64 << EXACT;
    let count = (0..draws)
        .filter(|&draw| {
            let mut rng = stream(0, Stream::Sample, draw);
            let signs: Vec<bool> = (0..n).map(|_| rng.random()).collect();
            extreme(&|i| signs[i])
        })
        .count();
    // The observed pattern counts as one of the draws, so that the p-value is never 0.
    (count + 1) as f64 / (draws + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_are_not_significant() {
        assert_eq!(paired_test(&[0.5; 6], &[0.5; 6]), 1.0);
        assert_eq!(paired_test(&[0.5, 0.6], &[0.6, 0.5]), 1.0);
    }

    #[test]
    fn many_pairs_are_drawn_and_agree_with_all_patterns_nearly() {
        let a: Vec<f64> = (0..16).map(|i| (i as f64 * 0.7).sin() + 0.3).collect();
        let zero = vec![0.0; 16];
        let exact = paired_test(&a, &zero);
        let longer: Vec<f64> = a.iter().copied().chain([0.0, 0.0]).collect();
        let drawn = paired_test(&longer, &[0.0; 18]);
        assert!((exact - drawn).abs() < 0.01, "{exact} {drawn}");
    }

    #[test]
    fn the_p_value_is_that_of_the_definition() {
        // Differences 3, 1: sums ±4, ±2; |sum| >= 4 in two of four patterns.
        assert_eq!(paired_test(&[3.0, 1.0], &[0.0, 0.0]), 0.5);
        // Differences 3, -1: observed 2, every pattern has at least that.
        assert_eq!(paired_test(&[3.0, -1.0], &[0.0, 0.0]), 1.0);
    }
}
