//! What is reported about a fit.

use super::params::Params;
use super::score::Ailment;
use crate::outliers::OutlierNote;
use crate::prepare::{LiftNote, PrepareNote};
use crate::report::StopReason;
use serde::{Deserialize, Serialize};

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Rows.
    pub n: usize,
    /// Features.
    pub m: usize,
    /// Clusters.
    pub k: usize,
    /// What was done to the features of each file first, and why; empty if a model to start from decided it.
    pub prepare: Vec<PrepareNote>,
    /// The feature map before the softmax, if there is one.
    pub lift: Option<LiftNote>,
    /// Neighbours that each row was averaged with to teach it; 0 if rows teach themselves.
    pub neighbours: usize,
    /// The prior u over their sizes, as given or as estimated.
    pub prior: Vec<f64>,
    /// Loss of the chosen restart, norm included.
    pub loss: f64,
    /// mean H(σ): 0 when every row is decided.
    pub decisiveness: f64,
    /// KL(u‖σ̄): 0 when clusters are as large as the prior says.
    pub fairness: f64,
    /// Smallest lead of the winning logit over the second, over ‖W‖.
    pub margin: f64,
    /// Median of that lead.
    pub median_margin: f64,
    /// Rows that belong to no cluster, if outliers were asked for.
    #[serde(default)]
    pub outliers: Option<OutlierNote>,
    /// Rows in each cluster, outliers not counted.
    pub cluster_sizes: Vec<usize>,
    /// Loss of each restart.
    pub restarts: Vec<Restart>,
    /// Mean adjusted Rand index between the labelings of the restarts; 1 with a single restart.
    pub agreement: f64,
    /// Rows on which restarts were compared.
    pub judged_rows: usize,
    /// Steps of the search.
    pub steps: usize,
    /// Steps that the chosen restart made in all: search, refinement and polish.
    pub iterations: usize,
    /// Rows of a batch.
    pub batch: usize,
    /// Why training stopped.
    pub stop: StopReason,
    /// Mean batch loss of the chosen restart in each epoch.
    pub trace: Vec<f64>,
    /// Clusters that are not alive, after all attempts to start them again.
    pub ailments: Vec<Ailment>,
    /// What to change, if clusters are lost.
    pub advice: Option<String>,
    /// Seconds from the first read to the last label.
    pub seconds: f64,
}

/// Lost clusters have two causes: fairness is too weak to hold them, or the rows have fewer clusters.
pub(super) fn advice(report: &Report, params: &Params, lambda: f64) -> Option<String> {
    let (lost, k) = (report.ailments.len(), report.k);
    if lost == 0 {
        return None;
    }
    let usual = Params { lambda: None, ..params.clone() }.check(report.n).map_or(lambda, |c| c.lambda);
    // A lost cluster may still have a few rows; it is not in use all the same.
    let in_use = report.cluster_sizes.iter().filter(|s| **s > 0).count().min(k - lost);
    let are = if lost == 1 { "is" } else { "are" };
    Some(if lambda < usual {
        format!(
            "{lost} of {k} clusters {are} lost because fairness weighs too little to hold them (lambda = {lambda}): \
             without it one cluster for all rows is the most decisive answer; use lambda = {usual}"
        )
    } else if in_use < 2 {
        format!("{lost} of {k} clusters {are} lost, and the rows may have no clusters; ask for more restarts")
    } else {
        format!("{lost} of {k} clusters {are} lost; ask for at most {in_use} clusters, or for more restarts")
    })
}

/// One restart of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Restart {
    /// Seed of the fit.
    pub seed: u64,
    /// Number of the restart.
    pub restart: usize,
    /// Its loss when it was last judged.
    pub loss: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EntropyClustering;
    use ndarray::Array2;

    #[test]
    fn advice_asks_for_no_more_clusters_than_are_in_use() {
        let x = Array2::from_shape_fn((40, 2), |(i, j)| if i % 2 == j { 9.0 } else { 0.1 * i as f32 });
        let (params, report) = (Params::new(4), EntropyClustering::new(2).fit(&x).expect("a fit").report);
        let lambda = params.check(40).expect("usual options").lambda;
        let told = |ailments, cluster_sizes| {
            advice(&Report { k: 4, ailments, cluster_sizes, ..report.clone() }, &params, lambda)
        };
        assert_eq!(told(Vec::new(), vec![10; 4]), None);
        // A twin keeps a few rows, and is not in use all the same.
        let twin = told(vec![Ailment::Twin { cluster: 3, of: 1 }], vec![100, 86, 100, 14]).expect("advice");
        assert!(twin.starts_with("1 of 4 clusters is lost; ask for at most 3 clusters"), "{twin}");
        let dead = |cluster| Ailment::Dead { cluster };
        let two = told(vec![dead(2), dead(3)], vec![100, 90, 1, 0]).expect("advice");
        assert!(two.starts_with("2 of 4 clusters are lost; ask for at most 2 clusters"), "{two}");
        let all = told(vec![dead(1), dead(2), dead(3)], vec![100, 0, 0, 0]).expect("advice");
        assert!(all.contains("may have no clusters"), "{all}");
    }
}
