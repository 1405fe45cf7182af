//! The mean row of each cluster after the model's views, and the features by which it differs from the average.

use super::DefiningFeature;
use partita::linear::Model;
use partita::prepare::FeatureView;
use partita::rows::Csr;
use rayon::prelude::*;

/// Sums over the rows of each cluster, in the order of the rows whatever the number of threads.
pub(super) struct Means<'a> {
    model: &'a Model,
    clusters: Vec<Sum>,
}

/// A sum over the rows x of one cluster, for a view v(x) = f · (x − c), where f is 1 or 1/‖x − c‖.
#[derive(Clone)]
struct Sum {
    /// Σ v(x) of rows that are filled, and Σ f · x of sparse ones.
    values: Vec<f64>,
    /// Σ f of sparse rows: what c has yet to be multiplied by.
    factors: f64,
}

/// What is done to raw rows before they are averaged: by the model or, if it has one, by its lift.
fn views(model: &Model) -> &[FeatureView] {
    model.lift().map_or(model.views(), |lift| &lift.base().views)
}

impl<'a> Means<'a> {
    pub fn new(model: &'a Model) -> Self {
        let nothing = Sum { values: vec![0.0; model.m()], factors: 0.0 };
        Self { model, clusters: vec![nothing; model.k()] }
    }

    /// Add raw rows `[labels.len(), m]`.
    pub fn add(&mut self, block: &[f32], labels: &[u32]) {
        let model = self.model;
        self.each(labels, |sum, i| {
            let mut row = &block[i * model.m()..(i + 1) * model.m()];
            let mut values = &mut sum.values[..];
            for view in views(model) {
                let (part, rest) = row.split_at(view.width);
                let (sums, others) = values.split_at_mut(view.width);
                (row, values) = (rest, others);
                let shifted =
                    part.iter().enumerate().map(|(f, x)| f64::from(*x) - centre_at(&view.centre, f));
                let squares = if view.normalise { shifted.clone().map(|x| x * x).sum() } else { 1.0 };
                let factor = inverse_root(squares);
                sums.iter_mut().zip(shifted).for_each(|(sum, x)| *sum += factor * x);
            }
        });
    }

    /// Add the rows of `sparse` from `start` on, for a model of one view.
    pub fn add_sparse(&mut self, sparse: &Csr<'_>, start: usize, labels: &[u32]) {
        let view = &views(self.model)[0];
        let centre: f64 = view.centre.iter().map(|c| f64::from(*c).powi(2)).sum();
        self.each(labels, |sum, i| {
            let row = sparse.row(start + i).map(|(f, x)| (f, f64::from(x)));
            let squares = if view.normalise {
                // ‖x − c‖², where most of x is zero.
                centre + row.clone().map(|(f, x)| x * (x - 2.0 * centre_at(&view.centre, f))).sum::<f64>()
            } else {
                1.0
            };
            let factor = inverse_root(squares);
            row.for_each(|(f, x)| sum.values[f] += factor * x);
            sum.factors += factor;
        });
    }

    /// Add the rows of each cluster to its sum, one thread for a cluster.
    fn each(&mut self, labels: &[u32], add: impl Fn(&mut Sum, usize) + Sync) {
        let mut members = vec![Vec::new(); self.clusters.len()];
        for (i, &label) in labels.iter().enumerate() {
            members[label as usize].push(i);
        }
        self.clusters.par_iter_mut().zip(members).for_each(|(sum, members)| {
            members.into_iter().for_each(|i| add(sum, i));
        });
    }

    /// The features that set a cluster of so many rows apart, at most `count`.
    pub fn defining(&self, cluster: usize, size: usize, count: usize) -> Vec<DefiningFeature> {
        let (k, m) = (self.model.k(), self.model.m());
        let sum = &self.clusters[cluster];
        // Sparse rows have one view, the first.
        let centre = &views(self.model)[0].centre;
        let weight = |c: usize, f: usize| f64::from(self.model.weight()[c * m + f]);
        let value = |f: usize| {
            let mean = (sum.values[f] - sum.factors * centre_at(centre, f)) / size as f64;
            // The weights of a lifted model are not for features: how far the cluster is off counts, in units of the spread.
            if let Some(lift) = self.model.lift() {
                return (mean - f64::from(lift.base().mean[f])) * f64::from(lift.base().scale[f]);
            }
            let others: f64 = (0..k).filter(|&c| c != cluster).map(|c| weight(c, f)).sum();
            (weight(cluster, f) - others / (k - 1) as f64) * (mean - f64::from(self.model.average()[f]))
        };
        let mut all: Vec<DefiningFeature> =
            (0..m).map(|feature| DefiningFeature { feature, value: value(feature) }).collect();
        all.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()).then(a.feature.cmp(&b.feature)));
        all.truncate(count);
        all
    }
}

/// c of a feature; a view without a centre subtracts nothing.
fn centre_at(centre: &[f32], feature: usize) -> f64 {
    centre.get(feature).map_or(0.0, |c| f64::from(*c))
}

/// 1/√x, or 0 of a row at the centre, which stays there.
fn inverse_root(squares: f64) -> f64 {
    if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 }
}
