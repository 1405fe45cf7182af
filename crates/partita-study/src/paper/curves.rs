//! Functions of one probability: entropies, supervised losses, divergences.

use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use partita::entropy::{cross, divergence, renyi};
use serde::Deserialize;
use std::f64::consts::LN_2;

/// Places along an axis.
const PLACES: usize = 401;
/// How near a probability comes to 0 and 1.
const EDGE: f64 = 1e-4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Orders {
    orders: Vec<f64>,
}

/// Probabilities from nearly 0 to nearly 1.
fn places() -> impl Iterator<Item = f64> {
    (0..PLACES).map(|i| EDGE + (1.0 - 2.0 * EDGE) * i as f64 / (PLACES - 1) as f64)
}

fn line(name: &str, colour: usize, dashed: bool, f: impl Fn(f64) -> f64) -> Mark {
    Mark::Line { name: name.to_owned(), points: places().map(|p| (p, f(p))).collect(), colour, dashed }
}

fn logs(p: f64) -> [f64; 2] {
    [p.ln(), (1.0 - p).ln()]
}

fn entropy(alpha: f64, p: f64) -> f64 {
    renyi::value(alpha, &logs(p))
}

/// The supervised loss R_α(σ | y) of class 0: the entropy where σ agrees with y, and ln 2 at worst.
fn supervised_loss(alpha: f64, p: f64) -> f64 {
    // The logistic loss goes on growing; others are constant where the label is not the most probable.
    match p >= 0.5 {
        true => entropy(alpha, p),
        false if alpha == f64::INFINITY => -p.ln(),
        false => LN_2,
    }
}

/// An order as text; infinity has a sign of its own.
pub fn order(alpha: f64) -> String {
    if alpha.is_infinite() { "α = ∞".to_owned() } else { format!("α = {alpha}") }
}

pub fn renyi(context: &Context<'_>) -> Result<Findings> {
    let orders: Orders = context.spec.settings()?;
    let curve = |(at, &alpha): (usize, &f64)| line(&order(alpha), at, false, |p| entropy(alpha, p));
    let marks = orders.orders.iter().enumerate().map(curve).collect();
    let (x, y) = (Axis::between("σ", 0.0, 1.0), Axis::between("R_α(σ, 1 − σ)", 0.0, 0.75));
    let mut out = Findings::default();
    out.figure("renyi", 1, vec![Chart { title: "Rényi entropies".to_owned(), x, y, marks }]);
    let largest = |f: &dyn Fn(f64) -> f64| places().map(f).fold(0.0, f64::max);
    let shannon = |p: f64| -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
    out.number("shannon", largest(&|p| (entropy(1.0, p) - shannon(p)).abs()));
    let top = orders.orders.iter().map(|&alpha| (entropy(alpha, 0.5) - LN_2).abs()).fold(0.0, f64::max);
    out.number("top", top);
    let rise = |p: f64| {
        let pairs = orders.orders.windows(2).map(|w| entropy(w[1], p) - entropy(w[0], p));
        pairs.fold(0.0, f64::max)
    };
    out.number("rise with the order", largest(&rise));
    out.number("near shannon", largest(&|p| (entropy(1.0 + 1e-6, p) - shannon(p)).abs()));
    Ok(out)
}

pub fn supervised(context: &Context<'_>) -> Result<Findings> {
    let orders: Orders = context.spec.settings()?;
    let mut out = Findings::default();
    let mut charts = Vec::new();
    let mut worst = 0.0f64;
    for &alpha in &orders.orders {
        let least = |p: f64| supervised_loss(alpha, p).min(supervised_loss(alpha, 1.0 - p));
        worst = places().map(|p| (least(p) - entropy(alpha, p)).abs()).fold(worst, f64::max);
        let marks = vec![
            line("label 1", 0, true, |p| supervised_loss(alpha, p)),
            line("label 2", 2, true, |p| supervised_loss(alpha, 1.0 - p)),
            line("entropy", 6, false, |p| entropy(alpha, p)),
        ];
        let title = format!("Entropy and supervised loss, {}", order(alpha));
        let (x, y) = (Axis::between("σ", 0.0, 1.0), Axis::between("", 0.0, 2.0));
        charts.push(Chart { title, x, y, marks });
    }
    out.figure("supervised", 2, charts);
    out.number("entropy is the least supervised loss", worst);
    let logistic = places().map(|p| (supervised_loss(f64::INFINITY, p) + p.ln()).abs()).fold(0.0, f64::max);
    out.number("infinite order is logistic", logistic);
    Ok(out)
}

pub fn divergences(_: &Context<'_>) -> Result<Findings> {
    let pair = |p: f64| [p, 1.0 - p];
    let named = |name: &str, p: f64| format!("{name} ({p}, {:.1})", 1.0 - p);
    let mut out = Findings::default();
    let (mut fairness, mut coupling) = (Vec::new(), Vec::new());
    for (colour, p) in [(0, 0.9), (2, 0.5)] {
        fairness.push(line(&named("u =", p), colour, false, |q| divergence::kl(&pair(p), &pair(q))));
        fairness.push(line("", colour, true, |q| divergence::kl(&pair(q), &pair(p))));
        coupling.push(line(&named("y =", p), colour, false, |s| cross::reverse(&logs(s), &logs(p))));
        coupling.push(line("", colour, true, |s| cross::forward(&pair(p), &logs(s))));
    }
    let chart = |title: &str, x: &str, marks| Chart {
        title: title.to_owned(),
        x: Axis::between(x, 0.0, 1.0),
        y: Axis::between("", 0.0, 2.5),
        marks,
    };
    out.figure(
        "divergences",
        2,
        vec![
            chart("KL(u‖ȳ) solid, KL(ȳ‖u) dashed", "ȳ", fairness),
            chart("H(σ, y) solid, H(y, σ) dashed", "σ", coupling),
        ],
    );
    // Towards an empty cluster the strong fairness grows without end, the weak one does not.
    let tiny = 1e-300;
    out.number("strong at an empty cluster", divergence::kl(&[0.5, 0.5], &[tiny, 1.0]));
    out.number("weak at an empty cluster", divergence::kl(&[tiny, 1.0], &[0.5, 0.5]));
    let mut slope = [0.0; 2];
    let mut steepest = 0.0f64;
    for p in places() {
        cross::reverse_and_gradient(&logs(p), &logs(0.5), &mut slope);
        steepest = slope.iter().fold(steepest, |most, s| most.max(s.abs()));
    }
    out.number("reverse slope at an unsure label", steepest);
    let best = places().min_by(|a, b| {
        let loss = |p: f64| cross::forward(&pair(0.9), &logs(p));
        loss(*a).total_cmp(&loss(*b))
    });
    out.number("forward optimum", best.unwrap_or(f64::NAN));
    Ok(out)
}
