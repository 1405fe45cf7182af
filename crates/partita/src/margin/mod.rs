//! Margins: how wide the gap of a labelling is, and the path to the widest one as γ → 0.
//!
//! The margin of a labelling y with K clusters is
//!
//! > |y| = max over ‖W‖_F = 1 and b of min_i min_{k ≠ y_i} (W_{y_i} − W_k)ᵀx_i + b_{y_i} − b_k,
//!
//! the paper's multi-class definition: the norm is taken over the whole matrix and leaves out the biases. For K = 2 the
//! paper has one vector w instead of two rows, and |y| is half the distance between the clusters' convex hulls. With
//! two rows, ±w/√2 is the best choice for a given difference, so the multi-class margin of two clusters is √2 times
//! the binary one. [`MaxMargin::margin`] is the former, [`MaxMargin::binary`] gives the latter.
//!
//! Both are hard-margin support vector machines. [`of_labels`] solves them until the gap to the dual proves the margin
//! to a relative tolerance, or until the dual proves that there is no margin; [`path::follow`] minimises the
//! decisiveness for growing ‖W‖ and reports how far its direction is from the widest one.
//!
//! | file | what it holds |
//! |---|---|
//! | `points` | rows in double precision, checked; centred and scaled for the solvers |
//! | `classifier` | W and b: labels, signed and unsigned margins, angles |
//! | `svm` | the margin of a labelling, with the proof |
//! | `corral` | Wolfe's active set: the point nearest to the origin |
//! | `cycle` | the best biases of a direction, by the cycle of smallest mean |
//! | `decisive` | ln mean R_α(σ) where R_α itself underflows |
//! | `path` | the minimum of ln mean R_α(σ) for growing norms |

mod classifier;
mod corral;
mod cycle;
mod decisive;
pub mod path;
mod points;
mod svm;

pub use classifier::{Classifier, Hyperplane};
pub use points::Points;
pub use svm::{Certificate, MaxMargin, Options, Separation, Support, of_labels, of_labels_watched};

/// The inner product, in eight sums side by side: a single running sum would not vectorise.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (x, y) in a.iter().zip(b) {
        (0..8).for_each(|lane| sums[lane] += x[lane] * y[lane]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(x, y)| *x += factor * y);
}

fn scale(a: &mut [f64], factor: f64) {
    a.iter_mut().for_each(|x| *x *= factor);
}
