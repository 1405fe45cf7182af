//! What is known of each cluster after some of the rows. It grows by one number with each row; the rest is bounded.

use super::{Example, Margin, Nearest, Portrait, PortraitOptions};
use partita::{Error, Result};
use std::collections::BTreeMap;

/// How a row stands in the cluster of its label.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    probability: f64,
    /// ln of the cluster's probability over that of all others: it tells rows apart whose probability rounds to one.
    odds: f64,
    /// The most probable one of the other clusters.
    runner_up: usize,
    /// How far its logit is behind.
    lead: f32,
}

impl Standing {
    /// From logits, or logarithms of probabilities, of at least two clusters.
    pub fn new(logits: &[f32], own: usize) -> Self {
        let others = || logits.iter().enumerate().filter(|&(c, _)| c != own);
        let (runner_up, second) =
            others().fold((own, f32::NEG_INFINITY), |best, (c, &z)| if z > best.1 { (c, z) } else { best });
        let second = f64::from(second);
        let rest: f64 = others().map(|(_, &z)| (f64::from(z) - second).exp()).sum();
        let lead = f64::from(logits[own]) - second;
        let odds = lead - rest.ln();
        Self { probability: 1.0 / (1.0 + (-odds).exp()), odds, runner_up, lead: lead as f32 }
    }
}

/// All clusters so far.
pub(super) struct Tally {
    clusters: Vec<Cluster>,
    /// Leads of the rows, by their cluster and their runner-up.
    leads: BTreeMap<(usize, usize), Vec<f32>>,
    options: PortraitOptions,
}

#[derive(Clone, Default)]
struct Cluster {
    size: usize,
    /// Sum of probabilities.
    confidence: f64,
    bins: Vec<usize>,
    /// The best so far, by what they are ordered by.
    typical: Vec<(f64, Example)>,
    doubtful: Vec<(f64, Example)>,
}

impl Tally {
    pub fn new(k: usize, options: &PortraitOptions) -> Result<Self> {
        let parameter =
            |name, value: usize, must| Err(Error::Parameter { name, value: value.to_string(), must });
        if k < 2 {
            return parameter("the number of clusters", k, "at least 2");
        }
        if options.bins == 0 {
            return parameter("the number of bins", 0, "at least 1");
        }
        let empty = Cluster { bins: vec![0; options.bins], ..Cluster::default() };
        Ok(Self { clusters: vec![empty; k], leads: BTreeMap::new(), options: *options })
    }

    /// Add rows from `start` on, in order.
    pub fn add(&mut self, start: usize, labels: &[u32], standings: &[Standing]) {
        for (i, (&label, standing)) in labels.iter().zip(standings).enumerate() {
            let Standing { probability, odds, runner_up, lead } = *standing;
            let cluster = &mut self.clusters[label as usize];
            cluster.size += 1;
            cluster.confidence += probability;
            let bins = cluster.bins.len();
            cluster.bins[((probability * bins as f64) as usize).min(bins - 1)] += 1;
            let example = Example { row: start + i, probability, runner_up };
            keep(&mut cluster.typical, (-odds, example), self.options.examples);
            keep(&mut cluster.doubtful, (odds, example), self.options.examples);
            self.leads.entry((label as usize, runner_up)).or_default().push(lead);
        }
    }

    /// The portraits, without features; `norm` is ‖W‖.
    pub fn finish(mut self, norm: Option<f64>) -> Vec<Portrait> {
        let rows: usize = self.clusters.iter().map(|cluster| cluster.size).sum();
        let clusters = std::mem::take(&mut self.clusters);
        let portrait = |(number, cluster): (usize, Cluster)| Portrait {
            cluster: number,
            size: cluster.size,
            share: cluster.size as f64 / rows.max(1) as f64,
            mean_confidence: (cluster.size > 0).then(|| cluster.confidence / cluster.size as f64),
            confidence: cluster.bins,
            typical: cluster.typical.into_iter().map(|(_, example)| example).collect(),
            doubtful: cluster.doubtful.into_iter().map(|(_, example)| example).collect(),
            nearest: self.nearest(number, norm),
            features: Vec::new(),
        };
        clusters.into_iter().enumerate().map(portrait).collect()
    }

    /// The most frequent runner-up of a cluster's rows, the first of equals.
    fn nearest(&mut self, cluster: usize, norm: Option<f64>) -> Option<Nearest> {
        let all = self.leads.range_mut((cluster, 0)..(cluster + 1, 0));
        let ((_, other), leads) = all.rev().max_by_key(|(_, leads)| leads.len())?;
        let middle = leads.len() / 2;
        let (below, median, _) = leads.select_nth_unstable_by(middle, f32::total_cmp);
        let median = f64::from(*median);
        let smallest = below.iter().copied().min_by(f32::total_cmp).map_or(median, f64::from);
        Some(Nearest {
            cluster: *other,
            rows: leads.len(),
            median_lead: median,
            smallest_lead: smallest,
            margin: norm
                .filter(|norm| *norm > 0.0)
                .map(|norm| Margin { median: median / norm, smallest: smallest / norm }),
        })
    }
}

/// Put an entry in its place among the lowest so far, of which there are at most `count`. An earlier row goes first
/// of equals.
fn keep(lowest: &mut Vec<(f64, Example)>, entry: (f64, Example), count: usize) {
    let at = lowest.partition_point(|kept| kept.0.total_cmp(&entry.0).is_le());
    if at < count {
        lowest.truncate(count - 1);
        lowest.insert(at, entry);
    }
}
