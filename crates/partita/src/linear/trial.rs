//! Sizes of clusters in many dimensions, when nobody knows them: what the graph of neighbours shows, if neighbours agree better on it.
//!
//! The slowest modes of a walk among neighbours part rows where few edges lead across, whatever the sizes of the parts. They see large and
//! small clusters, but where sizes are equal no better than a fit that knows that. So the rows are fitted twice: from the clusters of the graph with the
//! sizes they have, and as usual with equal sizes. Fits of different priors cannot be compared by their losses, but by their neighbours: the
//! mutual information of their labels over its largest value ([`agreement`]).

use super::head::Head;
use super::init::at_centres;
use super::layout::{Layout, tightest};
use super::source::RowBatch;
use super::state::TrainState;
use crate::centres::{Table, unit_rows};
use crate::neighbours::{agreement, nearest};
use crate::prepare::{Preparation, modes};
use crate::simplex::largest;
use serde::{Deserialize, Serialize};

/// Rows that the graph is made of for each cluster: enough to tell equal sizes from others, in a fraction of the time that a fit takes, ...
const ROWS_PER_CLUSTER: usize = 150;
/// ... within these numbers in all; ...
const ROWS: (usize, usize) = (1_500, 5_000);
/// ... and how many it asks for.
const FEWEST_PER_CLUSTER: usize = 25;
/// Neighbours that a row is joined with, ...
const JOINED: usize = 10;
/// ... and those that should agree with it.
const NEAR: usize = 15;
/// The sizes of the graph are taken if neighbours agree better on them by this factor. With a graph of 2,000 rows, three seeds, it was 1.00 to 1.05 on
/// embeddings whose classes have the same size, up to 1.10 on raw pixels of such classes, and 1.06 to 1.6 where sizes differ.
const BETTER: f64 = 1.09;

/// The fit from the graph, which waits to be compared with that of equal sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The sizes that the graph shows.
    pub prior: Vec<f64>,
    /// What training came to, once it has ended.
    pub train: Option<TrainState>,
}

/// Some of the rows, with their neighbours among each other.
pub struct Crowd {
    x: Vec<f32>,
    weights: Option<Vec<f32>>,
    /// The same at length one and not whitened, as neighbours are found.
    unit: Vec<f32>,
    m: usize,
    near: Vec<u32>,
}

impl Crowd {
    /// Whether `n` rows are enough to show `k` clusters.
    pub fn suits(n: usize, k: usize) -> bool {
        n.min(ROWS.1) >= (FEWEST_PER_CLUSTER * k).max(2 * NEAR)
    }

    /// Every so many rows of a sample, to show `k` clusters.
    pub fn of(sample: &RowBatch, preparation: &Preparation, k: usize) -> Self {
        let n = sample.rows.len();
        let m = sample.x.len() / n;
        let every = n.div_ceil((ROWS_PER_CLUSTER * k).clamp(ROWS.0, ROWS.1));
        let weights = sample.marks().weights.map(|w| w.iter().step_by(every).copied().collect());
        let x: Vec<f32> = sample.x.chunks_exact(m).step_by(every).flatten().copied().collect();
        let mut plain = x.clone();
        if let Some(reduction) = &preparation.reduction {
            // Whitening serves training. It enlarges directions that are mostly noise, and neighbours are better found without it.
            let enlarged = reduction.enlargements();
            plain
                .chunks_exact_mut(m)
                .for_each(|row| row.iter_mut().zip(&enlarged).for_each(|(v, e)| *v /= e));
        }
        let unit = unit_rows(Table { x: &plain, m });
        let near = nearest(Table { x: &unit, m }, NEAR, |_| true).expect("nobody stops the search");
        Self { x, weights, unit, m, near }
    }

    /// The clusters that the graph shows.
    pub fn layout(&self, k: usize, seed: u64) -> Layout {
        let table = Table { x: &self.x, m: self.m };
        let joined: Vec<u32> =
            self.near.chunks_exact(NEAR).flat_map(|near| &near[..JOINED]).copied().collect();
        let modes = modes(Table { x: &self.unit, m: self.m }, &joined, k);
        let labels = tightest(Table { x: &modes, m: modes.len() / table.n() }, k, seed).labels;
        Layout::of_labels(table, self.weights.as_deref(), &labels, k)
    }

    /// Where training starts from a layout.
    pub fn head(&self, layout: &Layout) -> Head {
        at_centres(&layout.centres, layout.tightness, self.m)
    }

    /// Whether neighbours agree clearly better on the labels of `other` than on those of any of `usual`: one of them that happened to find a poor minimum
    /// says nothing about sizes.
    pub fn prefers(&self, other: &Head, usual: impl Iterator<Item = Head>) -> bool {
        let best = usual.map(|head| self.agreement(&head)).fold(0.0, f64::max);
        self.agreement(other) > BETTER * best
    }

    fn agreement(&self, head: &Head) -> f64 {
        let k = head.bias.len();
        let labels: Vec<u32> = head.logits(&self.x).chunks_exact(k).map(|z| largest(z) as u32).collect();
        agreement(&labels, &self.near, k)
    }
}
