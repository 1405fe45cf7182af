//! Judging restarts without truth: their loss on the same rows, and whether every cluster is alive.

use super::em::{EmStep, Logits, Scratch};
use super::head::Head;
use super::source::RowBatch;
use super::supervision;
use crate::numeric::product;
use crate::objective::{self, BatchObjective, Fairness};
use crate::simplex;
use serde::{Deserialize, Serialize};

/// A cluster that is chosen by less than this share of its prior is dead.
pub const DEAD: f64 = 0.1;
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
    /// Follow clusters that get new numbers.
    pub(super) fn renumber(&mut self, number: &[usize]) {
        match self {
            Self::Dead { cluster } => *cluster = number[*cluster],
            Self::Twin { cluster, of } => (*cluster, *of) = (number[*cluster], number[*of]),
        }
    }

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
    /// Clusters that are not alive.
    pub ailments: Vec<Ailment>,
}

/// What restarts are compared by.
pub enum Judge {
    /// The default loss, by the fast kernel.
    Em(EmStep),
    /// Any other loss.
    Objective(Box<dyn BatchObjective>),
}

impl Judge {
    /// The loss of one restart on these rows, norm included.
    pub fn loss(&self, head: &Head, sample: &RowBatch, gamma: f64) -> f64 {
        self.data_loss(&head.logits(&sample.x), head.bias.len(), sample) + gamma * head.squared_norm()
    }

    /// The loss of rows with logits `z` `[n, k]`, without the norm.
    fn data_loss(&self, z: &[f32], k: usize, sample: &RowBatch) -> f64 {
        let loss = match self {
            Self::Em(em) => em.gradient(
                Logits::own(z),
                (k, 0),
                sample.marks(),
                &mut vec![0.0; z.len()],
                &mut Scratch::default(),
            ),
            Self::Objective(objective) => objective_loss(&**objective, z, k, sample),
        };
        loss + supervision::term(z, (k, 0, k), sample.marks(), |_, _, _| {})
    }
}

fn objective_loss(objective: &dyn BatchObjective, z: &[f32], k: usize, sample: &RowBatch) -> f64 {
    let mut log_sigma = Vec::new();
    simplex::log_softmax_rows(z.iter().copied(), k, &mut log_sigma);
    let marks = sample.marks();
    let weights: Option<Vec<f64>> = marks.weights.map(|w| w.iter().map(|&w| f64::from(w)).collect());
    let batch =
        objective::Batch { log_sigma: &log_sigma, k, weights: weights.as_deref(), known: marks.known };
    let mut gradient = vec![0.0; log_sigma.len()];
    objective.value_and_gradient(batch, &mut gradient, &mut objective::Workspace::default())
}

/// Judge one restart on these rows.
pub fn score(head: &Head, sample: &RowBatch, judge: &Judge, prior: &[f64], gamma: f64) -> Score {
    let z = head.logits(&sample.x);
    let k = prior.len();
    let norm = head.squared_norm();
    let loss = judge.data_loss(&z, k, sample) + gamma * norm;
    let leads =
        z.chunks_exact(k).map(top_two).map(|(_, lead)| (f64::from(lead) / norm.sqrt()) as f32).collect();
    let (census, labels) = Census::take(z, k, sample);
    Score {
        loss,
        decisiveness: census.entropy,
        fairness: Fairness::Strong.value(&census.soft, prior),
        ailments: census.ailments(prior),
        margins: leads,
        labels,
    }
}

/// How the rows spread over the clusters of one restart, and the label of each row.
pub fn census(head: &Head, sample: &RowBatch) -> (Census, Vec<u32>) {
    Census::take(head.logits(&sample.x), head.bias.len(), sample)
}

/// The first largest logit and its lead over the second.
fn top_two(z: &[f32]) -> (u32, f32) {
    let best = simplex::largest(z);
    let second = (0..z.len()).filter(|&c| c != best).map(|c| z[c]).fold(f32::NEG_INFINITY, f32::max);
    (best as u32, z[best] - second)
}

/// Hard and soft shares of the clusters, and who wins the soft share of whom.
#[derive(Debug, Clone)]
pub struct Census {
    /// Share of the rows that each cluster wins.
    pub hard: Vec<f64>,
    /// Mean probability of each cluster.
    pub soft: Vec<f64>,
    /// `[k, k]`: soft share of cluster i on rows that cluster j wins.
    won: Vec<f64>,
    /// mean H(σ).
    pub entropy: f64,
}

impl Census {
    /// Count the rows whose logits `[n, k]` are `z`.
    fn take(mut z: Vec<f32>, k: usize, sample: &RowBatch) -> (Self, Vec<u32>) {
        let labels: Vec<u32> = z.chunks_exact(k).map(|z| top_two(z).0).collect();
        product::softmax_rows(&mut z, k);
        let weights = sample.marks().weights;
        let total: f64 = weights.map_or(labels.len() as f64, |w| w.iter().map(|&w| f64::from(w)).sum());
        let share = |i: usize| weights.map_or(1.0, |w| f64::from(w[i])) / total;
        let mut census = Self { hard: vec![0.0; k], soft: vec![0.0; k], won: vec![0.0; k * k], entropy: 0.0 };
        for (i, (sigma, &label)) in z.chunks_exact(k).zip(&labels).enumerate() {
            let label = label as usize;
            census.hard[label] += share(i);
            for (c, s) in sigma.iter().enumerate() {
                let soft = share(i) * f64::from(*s);
                census.soft[c] += soft;
                census.won[c * k + label] += soft;
            }
        }
        product::entropy_terms(&mut z);
        let terms = z.chunks_exact(k).enumerate();
        census.entropy = terms.map(|(i, h)| share(i) * h.iter().map(|&h| f64::from(h)).sum::<f64>()).sum();
        (census, labels)
    }

    /// Clusters that are dead or twins.
    pub fn ailments(&self, prior: &[f64]) -> Vec<Ailment> {
        let k = prior.len();
        (0..k)
            .filter_map(|cluster| {
                let winner =
                    |&a: &usize, &b: &usize| self.won[cluster * k + a].total_cmp(&self.won[cluster * k + b]);
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
