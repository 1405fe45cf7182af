//! Moving clusters that are dead, twins or starved to where there are too many rows for one.
//!
//! Fairness alone cannot do it: a cluster that wins no rows has no gradient to follow to a far region. So a few times
//! during the search such a cluster is taken away and given half of the fullest one.

use super::head::Head;
use super::score::census;
use super::source::RowBatch;
use crate::numeric::vector;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A cluster below this part of its prior is starved if another one overflows.
const STARVED: f64 = 0.6;
/// A cluster above this multiple of its prior overflows.
const OVERFULL: f64 = 1.5;
/// Logit difference between the two ends of a split cluster.
const CONTRAST: f32 = 8.0;
/// Squared distance between them that counts at least, rows having a mean squared norm of 1: to tell apart what is closer,
/// weights would have to be so large that no fairness repays their norm.
const LEAST_LENGTH: f32 = 1e-3;

/// The restart with its lost clusters relocated; `None` if it has none.
pub fn relocate(head: &Head, sample: &RowBatch, prior: &[f64], rng: &mut ChaCha8Rng) -> Option<Head> {
    let (census, labels) = census(head, sample);
    let mut fullness: Vec<f64> = census.hard.iter().zip(prior).map(|(h, u)| h / u).collect();
    let ill: Vec<usize> = census.ailments(prior).iter().map(|a| a.cluster()).collect();
    let movable = |c: &usize| fullness[*c] < STARVED || ill.contains(c);
    let mut movable: Vec<usize> = (0..prior.len()).filter(movable).collect();
    movable.sort_by(|&a, &b| fullness[a].total_cmp(&fullness[b]));
    let mut moved = None;
    for cluster in movable {
        let Some(full) = fullest(&fullness) else { break };
        let rows: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] as usize == full).collect();
        if rows.len() < 2 || full == cluster {
            break;
        }
        split(moved.get_or_insert_with(|| head.clone()), (full, cluster), sample, &rows, rng);
        fullness[full] /= 2.0;
        fullness[cluster] = fullness[full];
    }
    moved
}

/// The cluster that overflows most, if any does.
fn fullest(fullness: &[f64]) -> Option<usize> {
    let most = (0..fullness.len()).max_by(|&a, &b| fullness[a].total_cmp(&fullness[b]))?;
    (fullness[most] > OVERFULL).then_some(most)
}

/// Cut cluster `full` between a random row and the one farthest from it, and give the far side to cluster `empty`.
fn split(
    head: &mut Head,
    (full, empty): (usize, usize),
    sample: &RowBatch,
    rows: &[usize],
    rng: &mut ChaCha8Rng,
) {
    let m = sample.x.len() / sample.rows.len();
    let row = |i: usize| &sample.x[i * m..(i + 1) * m];
    let here = row(rows[rng.random_range(0..rows.len())]);
    let distance = |i: usize| vector::squared_distance(row(i), here);
    let far = rows.iter().copied().max_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    let there = row(far.expect("a full cluster has rows"));
    let length = vector::squared_distance(there, here).max(LEAST_LENGTH);
    let direction: Vec<f32> =
        there.iter().zip(here).map(|(a, b)| CONTRAST / 2.0 * (a - b) / length).collect();
    let middle: f32 = direction.iter().zip(there.iter().zip(here)).map(|(d, (a, b))| d * (a + b) / 2.0).sum();
    for (j, d) in direction.iter().enumerate() {
        let old = head.weight[full * m + j];
        head.weight[empty * m + j] = old + d;
        head.weight[full * m + j] = old - d;
    }
    head.bias[empty] = head.bias[full] - middle;
    head.bias[full] += middle;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};

    /// Three groups on a line; clusters 0 and 1 share the first, cluster 2 holds the other two.
    #[test]
    fn a_dead_cluster_is_given_half_of_an_overfull_one() {
        let x: Vec<f32> =
            (0..90).flat_map(|i| [(i % 3) as f32 + 0.01 * (i / 3) as f32 / 30.0, 1.0]).collect();
        let sample = RowBatch { x, rows: (0..90).collect(), ..RowBatch::default() };
        // Cluster 1 is a copy of cluster 0 that always loses.
        let head = Head { weight: vec![-9.0, 0.0, -9.0, 0.0, 9.0, 0.0], bias: vec![4.5, 4.0, -4.5] };
        let prior = [1.0 / 3.0; 3];
        let mut rng = stream(0, Stream::Reseed, 0);
        let moved = relocate(&head, &sample, &prior, &mut rng).expect("cluster 1 is dead");
        let (census, _) = census(&moved, &sample);
        assert!(census.hard.iter().all(|h| (h - 1.0 / 3.0).abs() < 1e-9), "{:?}", census.hard);
        assert_eq!(relocate(&moved, &sample, &prior, &mut rng), None);
    }
}
