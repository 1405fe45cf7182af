//! More than two clusters: entropy clustering finds the fair one of the widest margin.

use super::{Context, Findings};
use crate::error::Result;
use crate::toy::{Toy, ToySettings, predict};
use partita::margin::{self, of_labels};
use partita::objective::MutualInformation;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    toy: ToySettings,
    starts: u64,
    gamma: f64,
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let toy = Toy::draw(&settings.toy);
    let ours = toy.lowest(&MutualInformation::new(toy.k), settings.gamma, settings.starts)?;
    let kmeans = toy.lowest_soft_kmeans(settings.gamma, settings.starts);
    let points = toy.points()?;
    let margin_of = |labels: &[u32]| of_labels(points, labels, toy.k, &margin::Options::default());
    let widest = margin_of(&toy.truth)?.separated();
    let of_kmeans = margin_of(&kmeans.labels)?.separated().map_or(0.0, |m| m.margin);
    let mut out = Findings::default();
    out.number("kmeans accuracy", toy.accuracy(&kmeans.labels)?);
    out.number("entropy accuracy", toy.accuracy(&ours.labels)?);
    if let Some(widest) = widest {
        out.number("margin found", ours.at.margin(points) / widest.margin);
        out.number("margin of kmeans", of_kmeans / widest.margin);
        // The rows that hold the margin, and the pairs of clusters that they part.
        let mut pairs: Vec<(u32, u32)> = widest
            .support
            .iter()
            .map(|s| (toy.truth[s.row].min(s.rival), toy.truth[s.row].max(s.rival)))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        out.number("pairs that hold the margin", pairs.len() as f64);
    }
    out.figure(
        "multiclass",
        2,
        vec![
            toy.chart("Soft K-means", &kmeans.labels, |x, y| kmeans.at.predict(x, y)),
            toy.chart("Entropy clustering", &ours.labels, |x, y| predict(&ours.at, x, y)),
        ],
    );
    Ok(out)
}
