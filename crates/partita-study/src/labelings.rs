//! All fair labelings of a few rows, and the margin of each.

use crate::error::Result;
use partita::margin::{Classifier, MaxMargin, Options, Points, Separation, of_labels};
use partita_data::synth;
use rayon::prelude::*;

/// Every labelling of `n` rows with `k` clusters of `n / k` rows, up to the names of the clusters.
///
/// # Panics
/// If `n` is not a multiple of `k`.
pub fn fair(n: usize, k: usize) -> Vec<Vec<u32>> {
    assert!(k > 0 && n.is_multiple_of(k), "{n} rows make no {k} clusters of equal size");
    let (mut all, mut labels, mut sizes) = (Vec::new(), Vec::with_capacity(n), vec![0; k]);
    extend(n / k, n, &mut labels, &mut sizes, &mut all);
    all
}

/// Give the next row every label that has room; a new cluster takes the first free name.
fn extend(size: usize, n: usize, labels: &mut Vec<u32>, sizes: &mut [usize], all: &mut Vec<Vec<u32>>) {
    if labels.len() == n {
        all.push(labels.clone());
        return;
    }
    for c in 0..sizes.len() {
        let fresh = sizes[c] == 0;
        if sizes[c] < size {
            sizes[c] += 1;
            labels.push(c as u32);
            extend(size, n, labels, sizes, all);
            labels.pop();
            sizes[c] -= 1;
        }
        if fresh {
            break;
        }
    }
}

/// Rows in the plane with all their fair labelings.
pub struct Small {
    pub x: Vec<f64>,
    pub k: usize,
    /// Fair labelings, separable or not.
    pub all: Vec<Vec<u32>>,
    /// Those that a linear classifier can have, the widest first.
    pub separable: Vec<Labelling>,
    /// Labelings of which neither could be proved.
    pub undecided: usize,
}

/// A labelling and its widest classifier.
pub struct Labelling {
    pub labels: Vec<u32>,
    pub widest: MaxMargin,
}

impl Small {
    /// Rows drawn uniformly from a square.
    pub fn draw(n: usize, k: usize, seed: u64) -> Result<Self> {
        let x: Vec<f64> = synth::uniform(n, 2, seed).0.into_iter().map(f64::from).collect();
        let all = fair(n, k);
        let exact = Options { tolerance: 1e-10, ..Options::default() };
        let points = Points::new(&x, 2)?;
        let found: Vec<Separation> = all
            .par_iter()
            .map(|labels| of_labels(points, labels, k, &exact))
            .collect::<partita::Result<_>>()?;
        let undecided = found.iter().filter(|s| matches!(s, Separation::Undecided(_))).count();
        let pairs = all.iter().zip(found);
        let mut separable: Vec<Labelling> = pairs
            .filter_map(|(labels, s)| Some(Labelling { labels: labels.clone(), widest: s.separated()? }))
            .collect();
        separable.sort_by(|a, b| b.widest.margin.total_cmp(&a.widest.margin));
        Ok(Self { x, k, all, separable, undecided })
    }

    pub fn points(&self) -> Result<Points<'_>> {
        Ok(Points::new(&self.x, 2)?)
    }

    /// The largest distance of two rows.
    pub fn diameter(&self) -> f64 {
        let rows = || self.x.chunks_exact(2);
        let distances = rows().flat_map(|a| rows().map(move |b| (a[0] - b[0]).hypot(a[1] - b[1])));
        distances.fold(0.0, f64::max)
    }
}

/// The angle between two classifiers in the plane, whatever the names of their clusters.
pub fn angle(a: &Classifier, b: &Classifier) -> Result<f64> {
    let mut least = f64::INFINITY;
    for names in permutations(b.k()) {
        let weights = names.iter().flat_map(|&c| b.weights[2 * c..][..2].to_vec()).collect();
        let biases = names.iter().map(|&c| b.biases[c]).collect();
        least = least.min(a.angle(&Classifier::new(weights, biases, 2)?));
    }
    Ok(least)
}

/// All orders of 0 to k − 1.
fn permutations(k: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for c in 0..k {
        let insert = |p: &Vec<usize>| {
            let grown = (0..=p.len()).map(|at| [&p[..at], &[c], &p[at..]].concat());
            grown.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(insert).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_angle_does_not_depend_on_names() {
        assert_eq!(permutations(3).iter().collect::<HashSet<_>>().len(), 6);
        let a = Classifier::new(vec![1.0, 0.0, -0.5, 1.0, -0.5, -1.0], vec![0.0; 3], 2).unwrap();
        let b = Classifier::new(vec![-0.5, -1.0, 1.0, 0.0, -0.5, 1.0], vec![0.0; 3], 2).unwrap();
        assert!(angle(&a, &b).unwrap() < 1e-6 && a.angle(&b) > 0.5);
    }

    #[test]
    fn fair_labelings_are_counted_once_each() {
        // n! / ((n/k)!^k k!)
        for (n, k, count) in [(4, 2, 3), (12, 2, 462), (6, 3, 15), (9, 3, 280)] {
            let all = fair(n, k);
            assert_eq!((all.len(), all.iter().collect::<HashSet<_>>().len()), (count, count));
            assert!(
                all.iter().all(|y| (0..k as u32).all(|c| y.iter().filter(|l| **l == c).count() == n / k))
            );
            assert!(all.iter().all(|y| y[0] == 0), "the first row has the first name");
        }
    }

    #[test]
    fn separable_labelings_come_with_their_margins_the_widest_first() {
        let small = Small::draw(8, 2, 3).unwrap();
        assert_eq!((small.all.len(), small.undecided), (35, 0));
        let margins: Vec<f64> = small.separable.iter().map(|l| l.widest.margin).collect();
        assert!(
            !margins.is_empty() && margins.is_sorted_by(|a, b| a >= b) && margins.iter().all(|m| *m > 0.0)
        );
        for l in &small.separable {
            assert_eq!(l.widest.classifier.labels(small.points().unwrap()), l.labels);
        }
    }
}
