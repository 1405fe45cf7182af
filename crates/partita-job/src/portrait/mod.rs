//! The portrait of a cluster: how large it is, how sure the model is of its rows, which rows show it best, which
//! features define it, and which other cluster is nearest.
//!
//! [`portraits`] is for linear models and reads the rows once, block by block. [`portraits_of_probabilities`] serves
//! every model that gives probabilities, such as a network; it knows neither features nor margins.
//!
//! The labels need not be the most probable ones: labels of bounded sizes are not. Whatever is stated about a row is stated
//! about the cluster of its label.

mod linear;
mod means;
mod tally;

pub use linear::portraits;

use crate::map::check_rows;
use partita::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tally::{Standing, Tally};

/// What portraits show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortraitOptions {
    /// How many of the most typical rows, and of the most doubtful ones.
    pub examples: usize,
    /// How many defining features.
    pub features: usize,
    /// Bins of the histogram of confidence.
    pub bins: usize,
}

impl Default for PortraitOptions {
    fn default() -> Self {
        Self { examples: 10, features: 10, bins: 20 }
    }
}

/// The portrait of one cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// Number of the cluster.
    pub cluster: usize,
    /// Rows in it.
    pub size: usize,
    /// Its share of all rows.
    pub share: f64,
    /// The mean probability of the cluster over its rows; none if it is empty.
    pub mean_confidence: Option<f64>,
    /// How many of its rows have a probability in each of equal bins from 0 to 1.
    pub confidence: Vec<usize>,
    /// Its rows of highest probability, the highest first. Rows whose probabilities all round to one are told apart
    /// by their logits.
    pub typical: Vec<Example>,
    /// Its rows of lowest probability, the lowest first.
    pub doubtful: Vec<Example>,
    /// The cluster that is the runner-up of most of its rows; none if it is empty.
    pub nearest: Option<Nearest>,
    /// The features with the largest [`DefiningFeature::value`] in size, the largest first; none where the model has
    /// no weights of features.
    pub features: Vec<DefiningFeature>,
}

/// A row of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Index of the row.
    pub row: usize,
    /// Probability of the cluster.
    pub probability: f64,
    /// The most probable one of the other clusters.
    pub runner_up: usize,
}

/// The nearest other cluster, as seen by the rows that have it as runner-up.
///
/// The lead of a row is its cluster's logit minus the runner-up's. It is negative for a row whose label is not its
/// most probable cluster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    /// Number of the other cluster.
    pub cluster: usize,
    /// Rows that have it as runner-up.
    pub rows: usize,
    /// Median of their leads; of an even number of rows the upper of the two in the middle.
    pub median_lead: f64,
    /// Smallest of their leads.
    pub smallest_lead: f64,
    /// The leads over ‖W‖; none where the model has no weights.
    pub margin: Option<Margin>,
}

/// Leads over the Frobenius norm ‖W‖ of the model's weights, which makes them comparable between models of the same rows.
///
/// `linear::Report::margin` divides in the same way. Its weights are those of prepared and reduced rows, though, and
/// these are for rows after the views, so that the two differ by a factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// Median lead over ‖W‖.
    pub median: f64,
    /// Smallest lead over ‖W‖.
    pub smallest: f64,
}

/// What a feature does to set a cluster apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DefiningFeature {
    /// Index of the feature.
    pub feature: usize,
    /// (W_cf − mean of W_jf over all other clusters j) · (x̄_cf − ā_f), where x̄_c is the mean of the cluster's rows
    /// after the views and ā the model's average.
    ///
    /// The sum over all features f is what the step from the average row to the cluster's mean row adds to the lead
    /// of the cluster's logit over the mean of the other logits. A negative value speaks against the cluster.
    pub value: f64,
}

/// A portrait of every cluster from probabilities `[n, k]` and labels alone.
///
/// Leads are differences of ln σ, as they are of logits. A probability that has underflowed to 0 counts as the smallest
/// that single precision holds, which bounds them.
///
/// # Errors
/// If there are not `k` probabilities and one label below `k` for every row, if `k` is below 2, if a probability is not a
/// number from 0 on, or if the histogram has no bins.
///
/// ```
/// use partita_job::portrait::{PortraitOptions, portraits_of_probabilities};
/// let proba = [0.9, 0.1, 0.4, 0.6, 0.2, 0.8];
/// let all = portraits_of_probabilities(&proba, 2, &[0, 1, 1], &PortraitOptions::default())?;
/// assert_eq!((all[1].size, all[1].typical[0].row, all[1].doubtful[0].row), (2, 2, 1));
/// # Ok::<(), partita::Error>(())
/// ```
pub fn portraits_of_probabilities(
    proba: &[f32],
    k: usize,
    labels: &[u32],
    options: &PortraitOptions,
) -> Result<Vec<Portrait>> {
    check_rows(proba, labels, k)?;
    if let Some(at) = proba.iter().position(|p| !p.is_finite() || *p < 0.0) {
        return Err(Error::Parameter {
            name: "a probability",
            value: format!("{} in row {}, column {}", proba[at], at / k, at % k),
            must: "a number from 0 to 1 (rows and columns count from 0)",
        });
    }
    let mut tally = Tally::new(k, options)?;
    let standing = |(p, &label): (&[f32], &u32)| {
        let logs: Vec<f32> = p.iter().map(|p| p.max(f32::MIN_POSITIVE).ln()).collect();
        Standing::new(&logs, label as usize)
    };
    let standings: Vec<Standing> = proba.par_chunks_exact(k).zip(labels).map(standing).collect();
    tally.add(0, labels, &standings);
    Ok(tally.finish(None))
}

#[cfg(test)]
mod tests;
