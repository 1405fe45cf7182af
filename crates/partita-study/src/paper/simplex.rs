//! Supervised losses of three classes, on the triangle of predictions.

use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use partita::entropy::renyi;
use partita::simplex::largest;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    alpha: f64,
    /// The true class, from 0.
    label: usize,
}

/// Cells of a picture across and up.
const CELLS: (usize, usize) = (240, 140);
/// Height of a triangle of side 1.
const HEIGHT: f64 = 0.866_025_403_784_438_6;

/// σ at a place of the triangle, whose corners are (0, 0), (1, 0) and (½, HEIGHT); none outside.
fn prediction(x: f64, y: f64) -> Option<[f64; 3]> {
    let third = y / HEIGHT;
    let second = x - third / 2.0;
    let sigma = [1.0 - second - third, second, third];
    sigma.iter().all(|s| *s > 0.0).then_some(sigma)
}

fn entropy(alpha: f64, sigma: &[f64; 3]) -> f64 {
    renyi::value(alpha, &sigma.map(f64::ln))
}

/// The nearest prediction in which the label ties for the most probable class: what exceeds it is shared with it.
fn nearest_tie(sigma: &[f64; 3], label: usize) -> [f64; 3] {
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| sigma[*b].total_cmp(&sigma[*a]));
    let mut out = *sigma;
    let pair = (sigma[order[0]] + sigma[label]) / 2.0;
    (out[order[0]], out[label]) = (pair, pair);
    // A third class between them would now lead, so that all three are alike.
    if order[1] != label && sigma[order[1]] > pair {
        out = [1.0 / 3.0; 3];
    }
    out
}

/// R_α(σ | y) with jumps: the entropy where σ agrees with y, and ln K elsewhere.
fn jumping(alpha: f64, sigma: &[f64; 3], label: usize) -> f64 {
    if largest(sigma) == label { entropy(alpha, sigma) } else { 3f64.ln() }
}

/// How far the loss with jumps leaps across the border between the label and its rival, where the third class has the probability `rest`.
fn leap(alpha: f64, label: usize, rest: f64) -> f64 {
    let (rival, third) = ((label + 1) % 3, (label + 2) % 3);
    let at = |lead: f64| {
        let mut sigma = [rest; 3];
        sigma[label] = (1.0 - rest) / 2.0 + lead;
        sigma[rival] = (1.0 - rest) / 2.0 - lead;
        sigma[third] = rest;
        jumping(alpha, &sigma, label)
    };
    at(-1e-9) - at(1e-9)
}

/// R_α(σ | y), continuous: the entropy where σ agrees with y, that of the nearest tie elsewhere.
fn supervised(alpha: f64, sigma: &[f64; 3], label: usize) -> f64 {
    match largest(sigma) == label {
        true => entropy(alpha, sigma),
        false => entropy(alpha, &nearest_tie(sigma, label)),
    }
}

fn picture(title: &str, cell: impl Fn(&[f64; 3]) -> (usize, f64)) -> Chart {
    let (columns, lines) = CELLS;
    let at = |i: usize| {
        let x = ((i % columns) as f64 + 0.5) / columns as f64;
        let y = ((i / columns) as f64 + 0.5) / lines as f64 * HEIGHT;
        prediction(x, y).map(|sigma| cell(&sigma))
    };
    let cells = (0..columns * lines).map(at).collect();
    let regions = Mark::Regions { x: (0.0, 1.0), y: (0.0, HEIGHT), columns, cells };
    let corner = |x: f64, y: f64, colour: usize| Mark::Dots {
        name: format!("class {}", colour + 1),
        points: vec![(x, y)],
        colour,
    };
    let marks = vec![regions, corner(0.0, 0.0, 0), corner(1.0, 0.0, 1), corner(0.5, HEIGHT, 2)];
    let (x, y) = (Axis::between("", -0.35, 1.35), Axis::between("", -0.05, 0.95));
    Chart { title: title.to_owned(), x, y, marks }
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let Settings { alpha, label } = context.spec.settings()?;
    let most = 3f64.ln();
    let mut out = Findings::default();
    let predicted = picture("Predictions by their most probable class", |sigma| (largest(sigma), 1.0));
    let title = format!("R(σ | y = {}): pale is low", label + 1);
    let loss = picture(&title, |sigma| (label, supervised(alpha, sigma, label) / most));
    let title = format!("With jumps: ln 3 where y = {} is not the class", label + 1);
    let leaping = picture(&title, |sigma| (label, jumping(alpha, sigma, label) / most));
    out.figure("simplex", 3, vec![predicted, leaping, loss]);
    let (mut apart, mut jump, mut with_jumps) = (0.0f64, 0.0f64, 0.0f64);
    for i in 1..200 {
        for j in 1..200 - i {
            let sigma = [f64::from(i) / 200.0, f64::from(j) / 200.0, f64::from(200 - i - j) / 200.0];
            let losses = [0, 1, 2].map(|y| supervised(alpha, &sigma, y));
            let least = losses.into_iter().fold(f64::INFINITY, f64::min);
            apart = apart.max((least - entropy(alpha, &sigma)).abs());
            let least =
                [0, 1, 2].map(|y| jumping(alpha, &sigma, y)).into_iter().fold(f64::INFINITY, f64::min);
            with_jumps = with_jumps.max((least - entropy(alpha, &sigma)).abs());
            let near = [sigma[0] + 1e-7, sigma[1] - 1e-7, sigma[2]];
            jump = jump.max((losses[label] - supervised(alpha, &near, label)).abs());
        }
    }
    out.number("entropy is the least supervised loss", apart);
    out.number("largest jump", jump);
    out.number("with jumps, too", with_jumps);
    let leaps = (1..33).map(|i| leap(alpha, label, f64::from(i) / 100.0));
    out.number("least leap away from the centre", leaps.fold(f64::INFINITY, f64::min));
    out.number("leap at the centre", leap(alpha, label, 1.0 / 3.0 - 1e-6).abs());
    Ok(out)
}
