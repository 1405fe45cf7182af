//! `partita demo`: cluster the digits that come with Partita, and draw what came out.

use crate::args::DemoArgs;
use crate::outputs;
use crate::picture::Scene;
use crate::progress::Terminal;
use crate::summary;
use anyhow::{Context, Result};
use partita::metrics::Scores;
use partita_data::{DIGITS_FEATURES, DIGITS_ROWS, Features, digits};
use partita_job::export::write;
use partita_job::{DataPart, Dataset, FitSpec, Given, Record, Resources, run as fit};
use std::path::Path;
use std::sync::Arc;

/// Digits, and clusters asked for.
const K: usize = 10;
/// Pixels of an image's side, and the value of full ink.
const SIDE: usize = 8;
const INK: f32 = 16.0;

pub fn run(args: &DemoArgs) -> Result<()> {
    outputs::check_picture(&args.output)?;
    let terminal = Terminal::new(true)?;
    let (pixels, truth) = digits();
    let rows = Features::from_vec(pixels.clone(), DIGITS_FEATURES)?;
    let dataset = Dataset::new(vec![DataPart::new(Arc::new(rows))])?;
    let given =
        Given { truth: Some(truth.iter().map(|&digit| i64::from(digit)).collect()), ..Given::default() };
    let spec = FitSpec { seed: args.seed, ..FitSpec::new(K) };
    let record = fit(&spec, &dataset, &given, &Resources::default(), &terminal)?;
    terminal.finish();
    let metrics = record.metrics.context("the digits have labels")?;
    let model = record.model.linear().context("no network was asked for")?;
    let proba = model.predict_proba(&dataset.rows()?)?;
    let holdings = Holding::all(&record.labels, &truth);
    let scene = Scene {
        rows: &pixels,
        side: SIDE,
        ink: INK,
        proba: proba.as_slice().context("probabilities lie row after row")?,
        labels: &record.labels,
        captions: &holdings.iter().map(|h| (h.cluster, h.caption())).collect::<Vec<_>>(),
        subtitle: &subtitle(metrics),
    };
    write(&args.output, &scene.draw()?)?;
    Ok(outputs::say(&text(&record, &holdings, &args.output))?)
}

fn subtitle(metrics: Scores) -> String {
    format!(
        "partita demo: {DIGITS_ROWS} images of 8 x 8 pixels, K = {K}; accuracy {:.1} %",
        100.0 * metrics.acc
    )
}

fn text(record: &Record, holdings: &[Holding], picture: &Path) -> String {
    let mut out = summary::text(record, &[("picture", picture)]);
    out += "what the clusters hold (the digits' labels were not used to find them):\n";
    for h in holdings {
        out += &format!("  cluster {}  {:>4} rows, {}\n", h.cluster, h.size, h.words());
    }
    out
}

/// What a cluster holds, by the true labels.
struct Holding {
    cluster: usize,
    size: usize,
    /// Rows of each digit, most frequent first.
    digits: Vec<(usize, usize)>,
}

impl Holding {
    /// One for each cluster, in the order of the digits they mostly hold.
    fn all(labels: &[u32], truth: &[u8]) -> Vec<Self> {
        let mut counts = vec![[0; K]; K];
        for (&label, &digit) in labels.iter().zip(truth) {
            counts[label as usize][usize::from(digit)] += 1;
        }
        let mut all: Vec<Self> = counts.iter().enumerate().map(|(c, counts)| Self::new(c, counts)).collect();
        all.sort_by_key(|h| (h.digits.first().map(|d| d.0), h.cluster));
        all
    }

    fn new(cluster: usize, counts: &[usize]) -> Self {
        let mut digits: Vec<(usize, usize)> =
            counts.iter().copied().enumerate().filter(|d| d.1 > 0).collect();
        digits.sort_by_key(|d| std::cmp::Reverse(d.1));
        Self { cluster, size: counts.iter().sum(), digits }
    }

    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.size as f64
    }

    /// For the picture, where there is little room.
    fn caption(&self) -> String {
        match self.digits.first() {
            Some(&(digit, count)) => format!("{:.0}% are {digit}", self.percent(count)),
            None => "empty".to_owned(),
        }
    }

    fn words(&self) -> String {
        let part = |&(digit, count): &(usize, usize)| format!("{:.1} % are {digit}", self.percent(count));
        let parts: Vec<String> = self.digits.iter().take(3).map(part).collect();
        if parts.is_empty() { "empty".to_owned() } else { parts.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_told_in_the_order_of_their_digits() {
        let holdings = Holding::all(&[4, 4, 4, 2, 2], &[7, 7, 1, 3, 3]);
        let order: Vec<usize> = holdings.iter().map(|h| h.cluster).collect();
        assert_eq!(order, [0, 1, 3, 5, 6, 7, 8, 9, 2, 4]);
        assert_eq!(holdings[9].caption(), "67% are 7");
        assert_eq!(holdings[9].words(), "66.7 % are 7, 33.3 % are 1");
        assert_eq!(holdings[0].words(), "empty");
    }
}
