//! Judging restarts without truth: their loss on the same rows, and whether every cluster is alive.

use super::kernel;
use super::source::Batch;
use super::train::Head;
use crate::entropy::shannon;
use crate::objective::{self, BatchObjective, Fairness};
use crate::simplex;
use serde::{Deserialize, Serialize};

/// A cluster that is chosen by less than this share of its prior is dead.
const DEAD: f64 = 0.1;
/// A cluster whose share of choices is below this part of its soft share is a twin of another.
const TWIN: f64 = 0.2;

/// What is wrong with a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Ailment {
    /// Hardly any row goes there.
    Dead {
        /// The cluster.
        cluster: usize,
    },
    /// It shares its rows softly with another cluster that wins nearly all of them.
    Twin {
        /// The cluster.
        cluster: usize,
        /// The one that wins.
        of: usize,
    },
}

impl Ailment {
    /// The cluster that is ill.
    pub fn cluster(self) -> usize {
        match self {
            Self::Dead { cluster } | Self::Twin { cluster, .. } => cluster,
        }
    }
}

/// One restart, judged on a sample of rows.
#[derive(Debug, Clone)]
pub struct Score {
    /// The loss, norm included.
    pub loss: f64,
    /// mean H(σ): 0 when every row is decided.
    pub decisiveness: f64,
    /// KL(u‖σ̄): 0 when the clusters are as large as the prior says.
    pub fairness: f64,
    /// The most probable cluster of each row.
    pub labels: Vec<u32>,
    /// Difference between the two largest logits of each row over ‖W‖.
    pub margins: Vec<f32>,
    /// Share of the rows that each cluster wins.
    pub shares: Vec<f64>,
    /// Clusters that are not alive.
    pub ailments: Vec<Ailment>,
}

/// Judge one restart on these rows.
pub fn score(
    head: &Head,
    sample: &Batch,
    objective: &dyn BatchObjective,
    prior: &[f64],
    gamma: f64,
) -> Score {
    let k = prior.len();
    let m = head.weight.len() / k;
    let n = sample.rows.len();
    let mut z = vec![0.0; n * k];
    kernel::logits(&sample.x, &head.weight, &head.bias, m, &mut z);
    let norm: f64 = head.weight.iter().map(|&w| f64::from(w).powi(2)).sum();
    let labels: Vec<u32> = z.chunks_exact(k).map(|z| top_two(z).0 as u32).collect();
    let margins = z.chunks_exact(k).map(|z| (f64::from(top_two(z).1) / norm.sqrt()) as f32).collect();
    let mut log_sigma: Vec<f64> = z.iter().map(|&v| f64::from(v)).collect();
    for row in log_sigma.chunks_exact_mut(k) {
        let lse = simplex::log_sum_exp(row);
        row.iter_mut().for_each(|v| *v -= lse);
    }
    let weights: Option<Vec<f64>> = sample.marks().weights.map(|w| w.iter().map(|&w| f64::from(w)).collect());
    let batch = objective::Batch { log_sigma: &log_sigma, k, weights: weights.as_deref(), known: sample.marks().known };
    let mut gradient = vec![0.0; log_sigma.len()];
    let value = objective.value_and_gradient(batch, &mut gradient, &mut objective::Workspace::default());
    let census = Census::take(batch, &labels);
    Score {
        loss: value + gamma * norm,
        decisiveness: batch.rows().map(|row| row.share * shannon::value(row.log_sigma)).sum(),
        fairness: Fairness::Strong.value(&census.soft, prior),
        ailments: census.ailments(prior),
        shares: census.hard,
        labels,
        margins,
    }
}

/// The first largest logit and its lead over the second.
fn top_two(z: &[f32]) -> (usize, f32) {
    let mut best = 0;
    for c in 1..z.len() {
        if z[c] > z[best] {
            best = c;
        }
    }
    let second = (0..z.len()).filter(|&c| c != best).map(|c| z[c]).fold(f32::NEG_INFINITY, f32::max);
    (best, z[best] - second)
}

/// Hard and soft shares of the clusters, and who wins the soft share of whom.
struct Census {
    hard: Vec<f64>,
    soft: Vec<f64>,
    /// `[k, k]`: soft share of cluster i on rows that cluster j wins.
    won: Vec<f64>,
}

impl Census {
    fn take(batch: objective::Batch<'_>, labels: &[u32]) -> Self {
        let k = batch.k;
        let mut census = Self { hard: vec![0.0; k], soft: vec![0.0; k], won: vec![0.0; k * k] };
        for (row, &label) in batch.rows().zip(labels) {
            let label = label as usize;
            census.hard[label] += row.share;
            for (c, l) in row.log_sigma.iter().enumerate() {
                let soft = row.share * l.exp();
                census.soft[c] += soft;
                census.won[c * k + label] += soft;
            }
        }
        census
    }

    fn ailments(&self, prior: &[f64]) -> Vec<Ailment> {
        let k = prior.len();
        (0..k)
            .filter_map(|cluster| {
                let winner = |&a: &usize, &b: &usize| self.won[cluster * k + a].total_cmp(&self.won[cluster * k + b]);
                let (hard, soft) = (self.hard[cluster], self.soft[cluster]);
                if hard < TWIN * soft && soft > DEAD * prior[cluster] {
                    let of = (0..k).filter(|&c| c != cluster).max_by(winner).unwrap_or(0);
                    Some(Ailment::Twin { cluster, of })
                } else if hard < DEAD * prior[cluster] {
                    Some(Ailment::Dead { cluster })
                } else {
                    None
                }
            })
            .collect()
    }
}
