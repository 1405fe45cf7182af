//! Distributions over clusters: softmax, log-sum-exp, x ln x. The only file that holds an epsilon.

use crate::error::{Error, Result};

/// Smallest probability whose logarithm is taken where a sum may have underflowed to zero.
/// ln(TINY) = -690, far beyond what changes any decision, and λ/TINY still fits an f64.
pub const TINY: f64 = 1e-300;

/// The same floor for single precision.
pub const TINY_F32: f32 = 1e-30;

/// Smallest mean pseudo-label ȳ_k by which λu_k is divided in single precision, so that their ratio times
/// [`RATIO_CAP_F32`] times a probability stays finite.
pub const MASS_FLOOR_F32: f32 = 1e-15;

/// Largest ratio y/σ kept in single precision: σ of the smallest normal size times it is still below one.
pub const RATIO_CAP_F32: f32 = 1e30;

/// How far the sum of a prior may be from one.
pub const SUM_TOLERANCE: f64 = 1e-6;

/// Orders α closer to 1 than this take the Rényi formula written around Shannon's, which has no 0/0 there.
pub const NEAR_SHANNON: f64 = 1e-3;

/// Predictions below this count as this where pseudo-labels are solved for: a cluster that no row predicts can
/// then still be given rows, and what it changes is far below any tolerance in use.
pub const SIGMA_FLOOR: f64 = 1e-12;

/// x ln x, continued by 0 at 0.
#[inline]
pub fn xlnx(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// Natural logarithm with the floor [`TINY`], so that an underflowed probability has a finite logarithm.
#[inline]
pub fn ln_floor(x: f64) -> f64 {
    x.max(TINY).ln()
}

/// ln Σ exp z without overflow. Empty input gives −∞.
pub fn log_sum_exp(z: &[f64]) -> f64 {
    let max = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + z.iter().map(|&v| (v - max).exp()).sum::<f64>().ln()
}

/// ln softmax of one row of logits. The largest entry keeps its full relative precision however near it is to 0,
/// so that the entropy of a decided row does too.
///
/// ```
/// let mut log_sigma = [0.0; 2];
/// partita::simplex::log_softmax(&[1e4, -1e4], &mut log_sigma);
/// assert_eq!(log_sigma, [0.0, -2e4]);
/// ```
pub fn log_softmax(z: &[f64], out: &mut [f64]) {
    let Some(top) = (0..z.len()).reduce(|best, i| if z[i] > z[best] { i } else { best }) else { return };
    let max = z[top];
    let rest: f64 = z.iter().enumerate().map(|(i, &v)| if i == top { 0.0 } else { (v - max).exp() }).sum();
    let excess = rest.ln_1p();
    for (o, &v) in out.iter_mut().zip(z) {
        *o = (v - max) - excess;
    }
}

/// ln softmax of single-precision logits `[n, k]`, row by row, into `out`.
pub fn log_softmax_rows(z: impl Iterator<Item = f32>, k: usize, out: &mut Vec<f64>) {
    out.clear();
    out.extend(z.map(f64::from));
    for row in out.chunks_exact_mut(k) {
        let lse = log_sum_exp(row);
        row.iter_mut().for_each(|v| *v -= lse);
    }
}

/// Index of the first largest entry.
///
/// ```
/// assert_eq!(partita::simplex::largest(&[0.2, 0.4, 0.4]), 1);
/// ```
pub fn largest<T: PartialOrd>(values: &[T]) -> usize {
    (1..values.len()).fold(0, |best, c| if values[c] > values[best] { c } else { best })
}

/// The uniform prior.
pub fn uniform(k: usize) -> Vec<f64> {
    vec![1.0 / k as f64; k]
}

/// Check that `u` is a prior over `k` clusters: positive and summing to one (then renormalised exactly).
pub fn check_prior(u: &[f64], k: usize) -> Result<Vec<f64>> {
    let problem = |problem: String| Err(Error::Prior { k, problem });
    if u.len() != k {
        return problem(format!("{} were given", u.len()));
    }
    if let Some(i) = u.iter().position(|v| !v.is_finite() || *v <= 0.0) {
        return problem(format!("entry {i} is {}", u[i]));
    }
    let sum: f64 = u.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return problem(format!("they sum to {sum}"));
    }
    Ok(u.iter().map(|v| v / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_softmax_survives_extreme_logits() {
        for z in [[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [0.0, 1e-300, -1e-300]] {
            let mut out = [0.0; 3];
            log_softmax(&z, &mut out);
            let sum: f64 = out.iter().map(|v| v.exp()).sum();
            assert!(out.iter().all(|v| v.is_finite()) && (sum - 1.0).abs() < 1e-12, "{z:?} -> {out:?}");
        }
    }

    #[test]
    fn a_prior_off_the_simplex_is_refused_with_its_problem() {
        for (u, word) in [
            (vec![0.5, 0.4], "sum to 0.9"),
            (vec![1.5, -0.5], "entry 1 is -0.5"),
            (vec![1.0], "1 were given"),
            (vec![f64::NAN, 1.0], "entry 0 is NaN"),
        ] {
            let message = check_prior(&u, 2).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
