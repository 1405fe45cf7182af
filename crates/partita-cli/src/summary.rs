//! A record as text for a person, or as JSON.

use crate::outputs;
use crate::portrait;
use crate::recommendation::Grounds;
use crate::spelling::flag;
use partita::linear::Ailment;
use partita::metrics::Scores;
use partita::mixture::Covariance;
use partita::outliers::OutlierNote;
use partita::prepare::{LiftNote, Prepare, PrepareNote, PrepareWhy};
use partita_data::Columns;
use partita_job::{Balanced, ChoiceNote, Details, LinearDetails, PlanNote, Record, spelled};
use std::path::Path;

/// A file that was written, and what it holds.
pub type Written<'a> = (&'a str, &'a Path);

/// Print a record: as JSON, or as text with the files that were written.
pub fn show(record: Record, written: &[Written<'_>], json: bool) -> anyhow::Result<()> {
    let advice = record.advice.as_deref().map(|advice| spelled(advice, &flag));
    let record = Record { advice, ..record };
    if json { outputs::print_json(&record) } else { Ok(outputs::say(&text(&record, written))?) }
}

/// Lines of a plan at most.
const PLAN: usize = 20;

/// What is done to the columns of tables, before the work begins.
pub fn plans(plans: &[PlanNote]) -> String {
    let line = |(at, line): (usize, String)| format!("  {:<13} {line}\n", if at == 0 { "plan" } else { "" });
    plans.iter().flat_map(|plan| plan.lines(PLAN).into_iter().enumerate().map(line)).collect()
}

/// What came out, line by line.
pub fn text(record: &Record, written: &[Written<'_>]) -> String {
    let mut out = heading(record);
    let mut line = |name: &str, value: String| out += &format!("  {name:<13} {value}\n");
    if let Some(choice) = &record.choice {
        line("choice", describe_choice(choice));
    }
    for columns in record.columns.iter().flatten() {
        line("columns", describe_columns(columns));
    }
    if let Some(missing) = record.missing.as_ref().filter(|missing| missing.rows > 0) {
        line("missing", format!("{} rows with missing values left out", missing.rows));
    }
    if let Some(missing) = record.missing.as_ref().filter(|missing| missing.filled > 0) {
        line("missing", format!("{} missing values filled with medians", missing.filled));
    }
    line("sizes", named_sizes(record));
    if let Some(portraits) = &record.portraits {
        portrait::lines(portraits, record).into_iter().for_each(|(name, value)| line(&name, value));
    }
    if let Some(OutlierNote { count, share, .. }) = record.outliers {
        let rows = if count == 1 { "row belongs" } else { "rows belong" };
        line("outliers", format!("{count} {rows} to no cluster ({:.1} %)", 100.0 * share));
    }
    if let Some(Balanced { moved, .. }) = record.balance {
        line("balance", format!("{moved} rows moved from their most probable cluster"));
    }
    for (name, value) in details(record) {
        line(name, value);
    }
    if let Some(scores) = record.metrics {
        let left = record.unscored.filter(|count| *count > 0);
        let left = left.map(|count| format!("  ({count} outliers left out)")).unwrap_or_default();
        line("truth", truth(scores) + &left);
    }
    #[cfg(feature = "deep")]
    if let Details::Network(details) = &record.details
        && let Some(held) = &details.holdout
    {
        line("held out", format!("{}  ({} images not trained on)", truth(held.metrics), held.n));
    }
    for warning in describe(&record.ailments, &|cluster| record.cluster(cluster)) {
        line("warning", warning);
    }
    if let Some(advice) = &record.advice {
        line("advice", advice.clone());
    }
    for (what, path) in written {
        line(what, path.display().to_string());
    }
    if written.is_empty() {
        line(
            "kept",
            "nothing; -o MODEL.safetensors keeps the model, --labels-out LABELS.csv the clusters".to_owned(),
        );
    }
    out
}

/// What was clustered, by what, in which time.
fn heading(record: &Record) -> String {
    let Record { n, k, seconds, .. } = record;
    match &record.details {
        #[cfg(feature = "deep")]
        Details::Network(details) => {
            let (net, epochs) = (details.params.net, details.epochs.len());
            format!("{n} images in {k} clusters by {net}, {epochs} epochs, {seconds:.0} s\n")
        }
        Details::Linear(details) => {
            format!("{n} rows of {} features in {k} clusters, {seconds:.2} s\n", details.m)
        }
    }
}

/// Names and values of what only one of the engines reports.
fn details(record: &Record) -> Vec<(&'static str, String)> {
    let doubt = |of: &str, all: &str| {
        format!("{:.4} nats of doubt {of} (0: sure of every {all})", record.decisiveness)
    };
    match &record.details {
        Details::Linear(details) => [vec![("decisiveness", doubt("a row", "row"))], linear(details)].concat(),
        #[cfg(feature = "deep")]
        Details::Network(details) => {
            let losses = details.epochs.last().map(|e| {
                let parts = format!(
                    "(clustering {:.4}, pairs {:.4}, disturbed {:.4})",
                    e.cluster, e.pairs, e.disturb
                );
                ("loss", format!("{:.4} {parts}", e.loss))
            });
            std::iter::once(("decisiveness", doubt("an image", "one"))).chain(losses).collect()
        }
    }
}

fn linear(r: &LinearDetails) -> Vec<(&'static str, String)> {
    let worst = r.restarts.iter().map(|r| r.loss).fold(f64::NEG_INFINITY, f64::max);
    let lift = r.lift.map(|lift| ("lift", describe_lift(lift)));
    let taught = (r.neighbours > 0)
        .then(|| ("neighbours", format!("each row is taught together with its {} nearest", r.neighbours)));
    let rest = vec![
        ("fairness", format!("{:.4} nats from the prior (0: sizes as expected)", r.fairness.max(0.0))),
        ("margin", format!("{:.2e} smallest, {:.2e} median", r.margin, r.median_margin)),
        ("loss", format!("{:.4} (best of {}, worst {worst:.4})", r.loss, r.restarts.len())),
        ("agreement", format!("{:.3} mean ARI between restarts", r.agreement)),
    ];
    r.prepare
        .iter()
        .map(|note| ("prepared", describe_preparation(*note)))
        .chain(lift)
        .chain(taught)
        .chain(rest)
        .collect()
}

/// Why there are as many clusters.
fn describe_choice(choice: &ChoiceNote) -> String {
    let ChoiceNote { k, stability, support, verdict, .. } = *choice;
    let others: Vec<String> = choice.plausible.iter().filter(|&&o| o != k).map(usize::to_string).collect();
    Grounds { best: &k.to_string(), stability, support, verdict, others: &others }.sentence()
}

/// What was done to the features first, and why.
fn describe_preparation(PrepareNote { kind, why }: PrepareNote) -> String {
    let kind = match kind {
        Prepare::Auto | Prepare::None => "not at all",
        Prepare::Centre => "centred",
        Prepare::Standardise => "standardised",
        Prepare::Robust => "standardised without outliers",
        Prepare::L2 => "divided by row norms",
        Prepare::Sphere => "angles from the mean",
        Prepare::Floor => "angles from the smallest values",
    };
    let why = match why {
        PrepareWhy::Asked => "as asked".to_owned(),
        PrepareWhy::Weighed => "every column of the table counts as one".to_owned(),
        PrepareWhy::OneUnit { ratio } => {
            format!("columns of one unit, spreads within a factor of {ratio:.1}")
        }
        PrepareWhy::Units { ratio } => {
            format!("columns of different units, spreads by a factor of {ratio:.0}")
        }
        PrepareWhy::Tails { ratio } => {
            format!("different units and outliers, which make deviations up to {ratio:.0} times as large")
        }
        PrepareWhy::OneSided { skewness } => format!("many one-sided features, mean skewness {skewness:.1}"),
        PrepareWhy::TwoSided { skewness } => format!("many features, mean skewness {skewness:.1}"),
    };
    format!("{kind} ({why})")
}

/// The feature map before the softmax.
fn describe_lift(lift: LiftNote) -> String {
    let apart = |slowness: f64| format!("slowness {slowness:.3} (0: clusters well apart)");
    match lift {
        LiftNote::Graph { landmarks, neighbours, slowness } => {
            format!("graph of {landmarks} landmarks, {neighbours} neighbours, {}", apart(slowness))
        }
        LiftNote::Quadratic { covariance } => {
            let shape = match covariance {
                Covariance::Spherical => "round",
                Covariance::Diagonal => "upright",
                Covariance::Tied => "alike",
                Covariance::Full => "of any shape",
            };
            format!("quadratic: the Gaussians of a mixture, {shape}")
        }
        LiftNote::Rbf { landmarks, width, slowness } => {
            format!("rbf of {landmarks} landmarks, width {width:.3}, {}", apart(slowness))
        }
    }
}

/// Agreement with the true labels.
pub fn truth(scores: Scores) -> String {
    format!("ACC {:.4}  NMI {:.4}  ARI {:.4}", scores.acc, scores.nmi, scores.ari)
}

/// Cluster sizes on a line; of many clusters, the range and the number in use, which those that are `lost` are not.
pub fn sizes(sizes: &[usize], lost: usize) -> String {
    if sizes.len() <= 20 {
        return sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    }
    let used = sizes.iter().filter(|s| **s > 0).count().min(sizes.len() - lost);
    let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    format!("{least} to {most}; {used} of {} clusters in use", sizes.len())
}

/// Sizes with the names of the clusters, where they have any.
fn named_sizes(record: &Record) -> String {
    let named = record.cluster_names.is_some() && record.cluster_sizes.len() <= 20;
    if !named {
        return sizes(&record.cluster_sizes, record.ailments.len());
    }
    let each = record.cluster_sizes.iter().enumerate();
    each.map(|(cluster, size)| format!("{} {size}", record.cluster(cluster))).collect::<Vec<_>>().join(", ")
}

/// The features of a table by name; of many, the first.
fn describe_columns(columns: &Columns) -> String {
    const SHOWN: usize = 12;
    let shown = columns.names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match columns.names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Clusters that are lost, by name: all that are dead on one line, since there may be many.
fn describe(ailments: &[Ailment], name: &dyn Fn(usize) -> String) -> Vec<String> {
    const SHOWN: usize = 12;
    let dead = ailments.iter().filter_map(|ailment| match ailment {
        Ailment::Dead { cluster } => Some(name(*cluster)),
        Ailment::Twin { .. } => None,
    });
    let dead: Vec<String> = dead.collect();
    let named = dead.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if dead.len() > SHOWN { ", …" } else { "" };
    let dead = match dead.len() {
        0 => None,
        1 => Some(format!("cluster {named} is dead: (almost) no row goes there")),
        count => Some(format!("{count} clusters are dead: (almost) no row goes there ({named}{more})")),
    };
    let twin = |ailment: &Ailment| match ailment {
        Ailment::Dead { .. } => None,
        Ailment::Twin { cluster, of } => {
            let (cluster, of) = (name(*cluster), name(*of));
            Some(format!(
                "cluster {cluster} is a twin of cluster {of}, which wins nearly all rows they share"
            ))
        }
    };
    dead.into_iter().chain(ailments.iter().filter_map(twin)).collect()
}
