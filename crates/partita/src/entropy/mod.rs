//! Entropies, cross-entropies and divergences of one row: values, and gradients with respect to its logits.
//!
//! Everything starts from ln σ (see [`crate::simplex::log_softmax`]), so that no finite logits give NaN or
//! infinity. Each `value_and_gradient` writes d/dz for the logits z of σ = softmax(z), with shape `[K]`, and
//! returns the value.
//!
//! | here | in the paper |
//! |---|---|
//! | [`shannon`] | H(σ) |
//! | [`renyi`] | R_α(σ), any α ≥ 0 |
//! | [`cross::forward`], [`cross::reverse`] | H(y, σ), H(σ, y) |
//! | [`Fairness`] | KL(u‖ȳ), KL(ȳ‖u) of cluster shares |
//! | [`divergence::forward`], [`divergence::reverse`], [`divergence::kl`] | KL(y‖σ), KL(σ‖y), KL(p‖q) |

pub mod cross;
pub mod divergence;
mod fairness;
pub mod renyi;
pub mod shannon;

pub use fairness::Fairness;

/// d/dz of Σ σ c where d/dσ is `c`: σ_k (c_k − Σ σ c). `c` may be infinite where σ has underflowed.
fn through_softmax(log_sigma: &[f64], c: impl Fn(usize) -> f64, out: &mut [f64]) -> f64 {
    let mut mean = 0.0;
    for (k, (o, l)) in out.iter_mut().zip(log_sigma).enumerate() {
        let sigma = l.exp();
        // An underflowed σ has no say, whatever its c.
        *o = if sigma > 0.0 { sigma * c(k) } else { 0.0 };
        mean += *o;
    }
    for (o, l) in out.iter_mut().zip(log_sigma) {
        *o -= l.exp() * mean;
    }
    mean
}

#[cfg(test)]
pub(crate) mod testing {
    //! Finite differences, shared by the gradient tests of entropies and objectives.
    use crate::simplex::log_softmax;
    use proptest::prelude::*;

    /// ln softmax of every row of logits.
    pub fn log_sigma(z: &[f64], k: usize) -> Vec<f64> {
        let mut out = vec![0.0; z.len()];
        for (z, out) in z.chunks(k).zip(out.chunks_mut(k)) {
            log_softmax(z, out);
        }
        out
    }

    /// Central differences of `f`, a function of ln σ, with respect to the logits.
    pub fn differences(z: &[f64], k: usize, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let h = 1e-5;
        let at = |i: usize, step: f64| {
            let mut z = z.to_vec();
            z[i] += step;
            f(&log_sigma(&z, k))
        };
        (0..z.len()).map(|i| (at(i, h) - at(i, -h)) / (2.0 * h)).collect()
    }

    /// Assert that two gradients agree to `tolerance`, absolute for small and relative for large entries.
    pub fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
        assert_eq!(a.len(), b.len());
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "entry {i}: {a} against {b}");
        }
    }

    /// A row of 2 to 8 logits.
    pub fn logits() -> impl Strategy<Value = Vec<f64>> {
        (2usize..9).prop_flat_map(|k| prop::collection::vec(-6.0..6.0, k))
    }

    /// Rows that have broken softer formulas: huge logits, ties, an exact one-hot.
    pub fn extremes() -> Vec<Vec<f64>> {
        vec![
            vec![1e4, -1e4, 0.0],
            vec![-1e4, -1e4, -1e4],
            vec![1e4, 1e4, -1e4, 3.0],
            vec![0.0, -800.0],
            vec![1e300, -1e300],
            vec![0.0; 7],
        ]
    }
}
