//! Statements about the losses themselves: how fast they fall, what batches do to them, how EM lowers them.

use super::{Context, Findings};
use crate::error::Result;
use crate::table::{Table, words};
use partita::entropy::{cross, renyi};
use partita::objective::Batch;
use partita::pseudo::{Em, Exact, Problem, PseudoLabels, Surrogate, Workspace};
use partita::rng::{Stream, stream};
use partita::simplex::{log_softmax, uniform};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::Deserialize;
use std::f64::consts::LN_2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decay {
    orders: Vec<f64>,
    epsilons: Vec<f64>,
    /// Logits, growing.
    logits: Vec<f64>,
}

/// ln g_α(x) for large x: the entropy of the binary prediction with logit x, where it does not underflow.
fn log_entropy(alpha: f64, x: f64) -> f64 {
    let mut row = [0.0; 2];
    log_softmax(&[x, 0.0], &mut row);
    match renyi::value(alpha, &row) {
        r if r > 1e-280 => r.ln(),
        // The leading term of each entropy; what is left out is e^-x times smaller.
        _ if alpha == 1.0 => -x + (x + 1.0).ln(),
        _ if alpha.is_infinite() => -x,
        _ if alpha > 1.0 => -x + (alpha / (alpha - 1.0)).ln(),
        _ => -alpha * x - (1.0 - alpha).ln(),
    }
}

/// Properties 1 and 2: g(x (1 − ε)) / g(x) grows without end.
pub fn decay(context: &Context<'_>) -> Result<Findings> {
    let settings: Decay = context.spec.settings()?;
    let mut out = Findings::default();
    let (mut rows, mut slowest, mut off, mut falls) = (Vec::new(), f64::INFINITY, 0.0f64, 0.0f64);
    for &alpha in &settings.orders {
        let mut row = vec![super::curves::order(alpha)];
        for &epsilon in &settings.epsilons {
            let ratio = |x: f64| log_entropy(alpha, x * (1.0 - epsilon)) - log_entropy(alpha, x);
            let found: Vec<f64> = settings.logits.iter().map(|&x| ratio(x)).collect();
            falls = found.windows(2).fold(falls, |most, w| most.max(w[0] - w[1]));
            let (Some(&last), Some(&x)) = (found.last(), settings.logits.last()) else { continue };
            slowest = slowest.min(last);
            // An entropy of order α falls like exp(−min(α, 1) x).
            off = off.max((last / (alpha.min(1.0) * epsilon * x) - 1.0).abs());
            row.push(format!("{last:.0}"));
        }
        rows.push(row);
    }
    out.number("least logarithm of the ratio", slowest);
    out.number("fall of the ratio", falls);
    out.number("off from min(α, 1) ε x", off);
    let mut headings = words(&["order"]);
    headings.extend(settings.epsilons.iter().map(|e| format!("ε = {e}")));
    let title =
        format!("ln g(x (1 − ε)) / g(x) at x = {}", settings.logits.last().copied().unwrap_or(f64::NAN));
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    // Where logits are finite R_0 is ln 2; a one-hot row has none.
    out.number("R_0 of a one-hot row", renyi::value(0.0, &[0.0, f64::NEG_INFINITY]));
    let interior =
        [1e-300, 1e-9, 0.3, 0.5].map(|p: f64| (renyi::value(0.0, &[p.ln(), (-p).ln_1p()]) - LN_2).abs());
    out.number("R_0 inside", interior.into_iter().fold(0.0, f64::max));
    Ok(out)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Batches {
    rows: usize,
    k: usize,
    lambda: f64,
    sizes: Vec<usize>,
    /// Random sets of predictions and labels, each with a random partition into batches of every size.
    draws: u64,
}

/// Random distributions: softmax of numbers of this spread, as logarithms.
fn distributions(n: usize, k: usize, spread: f64, seed: u64, at: u64) -> Vec<f64> {
    let mut rng = stream(seed, Stream::Sample, at);
    let mut out = vec![0.0; n * k];
    for row in out.chunks_exact_mut(k) {
        let z: Vec<f64> = (0..k).map(|_| spread * (2.0 * rng.random::<f64>() - 1.0)).collect();
        log_softmax(&z, row);
    }
    out
}

/// mean H(σ, y) + λ H(u, ȳ) of some rows.
fn loss(log_sigma: &[f64], log_y: &[f64], k: usize, lambda: f64, rows: &[usize]) -> f64 {
    let (mut coupling, mut mean) = (0.0, vec![0.0; k]);
    for &row in rows {
        let y = &log_y[row * k..][..k];
        coupling += cross::reverse(&log_sigma[row * k..][..k], y) / rows.len() as f64;
        mean.iter_mut().zip(y).for_each(|(m, y)| *m += y.exp() / rows.len() as f64);
    }
    coupling - lambda * mean.iter().map(|m| m.ln()).sum::<f64>() / k as f64
}

/// The loss of a whole set is at most the mean of its batches'; and how EM lowers it.
pub fn bound(context: &Context<'_>) -> Result<Findings> {
    let s: Batches = context.spec.settings()?;
    let mut out = Findings::default();
    let mut excess = vec![(f64::INFINITY, 0.0); s.sizes.len()];
    let mut rise = 0.0f64;
    for draw in 0..s.draws {
        context.progress(draw as f64 / s.draws as f64)?;
        let spread = 0.5 + draw as f64 % 8.0;
        let (log_sigma, log_y) =
            (distributions(s.rows, s.k, spread, draw, 0), distributions(s.rows, s.k, spread, draw, 1));
        let mut order: Vec<usize> = (0..s.rows).collect();
        order.shuffle(&mut stream(draw, Stream::Order, 0));
        let whole = loss(&log_sigma, &log_y, s.k, s.lambda, &order);
        for (&size, (least, mean)) in s.sizes.iter().zip(&mut excess) {
            let batches = order.chunks_exact(size);
            let count = batches.len() as f64;
            let over =
                batches.map(|b| loss(&log_sigma, &log_y, s.k, s.lambda, b)).sum::<f64>() / count - whole;
            *least = over.min(*least);
            *mean += over / s.draws as f64;
        }
        rise = rise.max(em_rise(&log_sigma, s.k, s.lambda));
    }
    let least = excess.iter().map(|e| e.0).fold(f64::INFINITY, f64::min);
    out.number("least excess of batches", least);
    out.number("largest rise of the loss in an EM step", rise);
    let rows =
        s.sizes.iter().zip(&excess).map(|(size, (least, mean))| {
            vec![size.to_string(), format!("{least:.2e}"), format!("{mean:.2e}")]
        });
    let headings = words(&["rows of a batch", "least excess", "mean excess"]);
    let title = format!("Mean loss of the batches less the loss of all {} rows, {} draws", s.rows, s.draws);
    out.tables.push(Table { title, headings, rows: rows.collect(), notes: Vec::new() });
    Ok(out)
}

/// The largest rise of the loss in any of EM's first steps, and below its minimum if it should ever fall there.
fn em_rise(log_sigma: &[f64], k: usize, lambda: f64) -> f64 {
    let prior = uniform(k);
    let batch = Batch { log_sigma, k, weights: None, known: None };
    let problem = Problem { batch, prior: &prior, lambda };
    let (mut y, mut ws) = (vec![0.0; log_sigma.len()], Workspace::default());
    let mut at = |solver: &dyn PseudoLabels| {
        solver.solve(&problem, &mut y, &mut ws);
        Surrogate::OURS.loss(&problem, &y)
    };
    let steps: Vec<f64> = (1..20).map(|steps| at(&Em { max_iterations: steps, tolerance: 0.0 })).collect();
    let least = at(&Exact { tolerance: 1e-13, ..Exact::default() });
    let rise = steps.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    rise.max(least - steps[steps.len() - 1])
}
