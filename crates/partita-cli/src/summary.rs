//! A fit told to a person.

use crate::sizes::Balanced;
use partita::linear::Ailment;
use partita::linear::Report;
use partita::metrics::Scores;
use std::path::Path;

/// A file that was written, and what it holds.
pub type Written<'a> = (&'a str, &'a Path);

/// What came out, line by line.
pub fn text(
    report: &Report,
    balanced: Option<Balanced>,
    metrics: Option<Scores>,
    written: &[Written<'_>],
) -> String {
    let r = report;
    let mut out = format!("{} rows of {} features in {} clusters, {:.2} s\n", r.n, r.m, r.k, r.seconds);
    let mut line = |name: &str, value: String| out += &format!("  {name:<13} {value}\n");
    line("sizes", sizes(&r.cluster_sizes));
    if let Some(Balanced { moved, .. }) = balanced {
        line("balance", format!("{moved} rows moved from their most probable cluster"));
    }
    line("decisiveness", format!("{:.4} nats of doubt a row (0: sure of every row)", r.decisiveness));
    line("fairness", format!("{:.4} nats from the prior (0: sizes as expected)", r.fairness));
    line("margin", format!("{:.2e} smallest, {:.2e} median", r.margin, r.median_margin));
    let worst = r.restarts.iter().map(|r| r.loss).fold(f64::NEG_INFINITY, f64::max);
    line("loss", format!("{:.4} (best of {}, worst {worst:.4})", r.loss, r.restarts.len()));
    line("agreement", format!("{:.3} mean ARI between restarts", r.agreement));
    if let Some(scores) = metrics {
        line("truth", truth(scores));
    }
    for ailment in &r.ailments {
        line("warning", describe(*ailment));
    }
    if let Some(advice) = &r.advice {
        line("advice", advice.clone());
    }
    for (what, path) in written {
        line(what, path.display().to_string());
    }
    out
}

/// Agreement with the true labels.
pub fn truth(scores: Scores) -> String {
    format!("ACC {:.4}  NMI {:.4}  ARI {:.4}", scores.acc, scores.nmi, scores.ari)
}

/// Cluster sizes on a line; of many clusters, the range and the number in use.
pub fn sizes(sizes: &[usize]) -> String {
    if sizes.len() <= 20 {
        return sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    }
    let used = sizes.iter().filter(|s| **s > 0).count();
    let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    format!("{least} to {most}; {used} of {} clusters in use", sizes.len())
}

/// An ailment.
pub fn describe(ailment: Ailment) -> String {
    match ailment {
        Ailment::Dead { cluster } => {
            format!("cluster {cluster} is dead: (almost) no row goes there")
        }
        Ailment::Twin { cluster, of } => {
            format!("cluster {cluster} is a twin of cluster {of}, which wins nearly all rows they share")
        }
    }
}
