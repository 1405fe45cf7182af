//! How good a clustering is: against the truth (ACC, NMI, ARI), against other restarts (mean pairwise ARI), and
//! by itself (silhouette).
//!
//! Labels may be any integers and need not be consecutive; a negative label means "unknown", and its row is left
//! out. Nothing here ever selects a model: the truth is for reporting only.
//!
//! | file | what it holds |
//! |---|---|
//! | `contingency` | the table of clusters against classes, and what a label is |
//! | `assignment` | the best one-to-one assignment in such a table |
//! | `accuracy` | ACC and the matching behind it |
//! | `nmi`, `ari` | mutual information; agreement on pairs, also among restarts |
//! | `clusterwise` | how well each cluster is found again |
//! | `spread` | mean and standard deviation of several runs |
//! | `silhouette` | separation measured on a sample of rows |

mod accuracy;
mod ari;
mod assignment;
mod clusterwise;
mod contingency;
mod nmi;
mod silhouette;
mod spread;

pub use accuracy::{Matching, accuracy, matching};
pub use ari::{ari, mean_pairwise_ari};
pub use clusterwise::clusterwise;
pub use contingency::{Cell, Contingency, Label};
pub use nmi::nmi;
pub use silhouette::silhouette;
pub use spread::Spread;

use crate::error::Result;
use crate::simplex::xlnx;
use serde::{Deserialize, Serialize};

/// Mean entropy of rows of `k` probabilities, in nats: 0 when every row is decided.
pub fn mean_entropy(proba: &[f32], k: usize) -> f64 {
    let sum: f64 = proba.iter().map(|&p| -xlnx(f64::from(p))).sum();
    sum / (proba.len() / k).max(1) as f64
}

/// The three usual scores of a clustering against the truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Share of rows that are right under the best matching, from 0 to 1.
    pub acc: f64,
    /// Normalised mutual information, from 0 to 1.
    pub nmi: f64,
    /// Adjusted Rand index, at most 1.
    pub ari: f64,
}

/// ACC, NMI and ARI from one contingency table.
///
/// ```
/// let scores = partita::metrics::scores(&[0, 0, 1, 1], &[3usize, 3, 9, 9])?;
/// assert_eq!((scores.acc, scores.nmi, scores.ari), (1.0, 1.0, 1.0));
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// As [`Contingency::new`].
pub fn scores<T: Label, P: Label>(truth: &[T], predicted: &[P]) -> Result<Scores> {
    let table = Contingency::new(truth, predicted)?;
    Ok(Scores { acc: table.matching().accuracy(), nmi: table.nmi(), ari: table.ari() })
}
