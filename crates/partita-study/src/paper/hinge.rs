//! Max-margin clustering by the hinge loss: the widest labelling for every γ below a threshold, unlike entropies.

use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use crate::labelings::{Labelling, Small, angle as angle_between};
use crate::table::{Table, words};
use crate::toy::{Minimum, Toy};
use partita::margin::Classifier;
use partita::objective::MutualInformation;
use rayon::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    rows: usize,
    seeds: Vec<u64>,
    /// From large to small.
    gammas: Vec<f64>,
}

/// The minimum of γ‖w‖² + mean max(0, 1 − t wᵀx) for one labelling t = ±1: w, and the loss.
#[derive(Debug, Clone)]
struct Soft {
    w: [f64; 2],
    loss: f64,
}

/// Steps of the solver at most, and the violation of optimality at which it stops.
const STEPS: usize = 200_000;
const VIOLATION: f64 = 1e-11;

/// Solve the dual, max Σβ − ‖Σ β t x‖²/4γ over 0 ≤ β ≤ 1/n with Σ β t = 0, by its most violating pairs; nothing if it
/// proves on the way that the minimum is above `bound`.
fn soft(x: &[f64], labels: &[u32], gamma: f64, bound: f64) -> Option<Soft> {
    let n = labels.len();
    let (row, cap) = (|i: usize| [x[2 * i], x[2 * i + 1]], 1.0 / n as f64);
    let t: Vec<f64> = labels.iter().map(|l| if *l == 0 { 1.0 } else { -1.0 }).collect();
    let (mut beta, mut w) = (vec![0.0; n], [0.0; 2]);
    // t_i times the slope of the dual: equal for all free β at the optimum, and then minus the bias.
    let slope = |i: usize, w: &[f64; 2]| t[i] - (w[0] * row(i)[0] + w[1] * row(i)[1]);
    let mut gap = (0.0, 0.0);
    for _ in 0..STEPS {
        let up = |i: &usize| if t[*i] > 0.0 { beta[*i] < cap } else { beta[*i] > 0.0 };
        let down = |i: &usize| if t[*i] > 0.0 { beta[*i] > 0.0 } else { beta[*i] < cap };
        let by_slope = |a: &usize, b: &usize| slope(*a, &w).total_cmp(&slope(*b, &w));
        let (Some(i), Some(j)) = ((0..n).filter(up).max_by(by_slope), (0..n).filter(down).min_by(by_slope))
        else {
            break;
        };
        gap = (slope(i, &w), slope(j, &w));
        if gap.0 - gap.1 <= VIOLATION {
            break;
        }
        let d = [row(i)[0] - row(j)[0], row(i)[1] - row(j)[1]];
        let curvature = (d[0] * d[0] + d[1] * d[1]) / (2.0 * gamma);
        let room = |i: usize, sign: f64| if sign > 0.0 { cap - beta[i] } else { beta[i] };
        let step = ((gap.0 - gap.1) / curvature).min(room(i, t[i])).min(room(j, -t[j]));
        beta[i] += t[i] * step;
        beta[j] -= t[j] * step;
        // Exactly at a border, or rounding would keep the pair violating for ever.
        for b in [i, j] {
            beta[b] = if beta[b] < 1e-15 {
                0.0
            } else if beta[b] > cap - 1e-15 {
                cap
            } else {
                beta[b]
            };
        }
        w = [0, 1].map(|a| (0..n).map(|i| beta[i] * t[i] * row(i)[a]).sum::<f64>() / (2.0 * gamma));
        if beta.iter().sum::<f64>() - gamma * (w[0] * w[0] + w[1] * w[1]) > bound {
            return None;
        }
    }
    let bias = gap.0.midpoint(gap.1);
    let hinge = |i: usize| (1.0 - t[i] * (w[0] * row(i)[0] + w[1] * row(i)[1] + bias)).max(0.0);
    let loss = gamma * (w[0] * w[0] + w[1] * w[1]) + (0..n).map(hinge).sum::<f64>() / n as f64;
    Some(Soft { w, loss })
}

/// What the minimum over all fair labelings is at one γ.
struct Lowest {
    gamma: f64,
    /// Whether its labelling is the widest.
    widest: bool,
    /// The angle to the widest classifier.
    angle: f64,
    /// ‖w‖ times the widest margin: 1 where w is the hard-margin one.
    norm: f64,
}

fn angle(a: [f64; 2], b: &[f64]) -> f64 {
    (a[0] * b[1] - a[1] * b[0]).abs().atan2(a[0] * b[0] + a[1] * b[1])
}

fn lowest(small: &Small, gamma: f64) -> Lowest {
    let (plane, margin) = small.separable[0].widest.binary().expect("two clusters");
    // The widest classifier itself has no hinge loss: no minimum is above its norm.
    let bound = (1.0 + 1e-9) * gamma / (margin * margin);
    let found = |labels: &Vec<u32>| Some((labels.clone(), soft(&small.x, labels, gamma, bound)?));
    let all: Vec<(Vec<u32>, Soft)> = small.all.par_iter().filter_map(found).collect();
    let (labels, Soft { w, .. }) = all
        .iter()
        .min_by(|a, b| a.1.loss.total_cmp(&b.1.loss))
        .expect("the widest is not above its own norm");
    let (widest, w) = (*labels == small.separable[0].labels, *w);
    // The sign of a labelling is a matter of names.
    let turned = angle(w, &plane.normal).min(angle([-w[0], -w[1]], &plane.normal));
    Lowest { gamma, widest, angle: turned, norm: w[0].hypot(w[1]) * margin }
}

/// The angle of the entropies' lowest minimum, from starts at every separable labelling.
fn entropy_angle(small: &Small, gamma: f64) -> Result<f64> {
    let toy = Toy::of(small.x.clone(), small.separable[0].labels.clone(), 2);
    let descend = |l: &Labelling| {
        let grown = |values: &[f64]| values.iter().map(|v| 8.0 / l.widest.margin * v).collect();
        let Classifier { weights, biases } = &l.widest.classifier;
        toy.descend(&MutualInformation::new(2), gamma, &Classifier::new(grown(weights), grown(biases), 2)?)
    };
    let found: Vec<Minimum<Classifier>> = small.separable.iter().map(descend).collect::<Result<_>>()?;
    let best = found.iter().min_by(|a, b| a.loss.total_cmp(&b.loss)).expect("a separable labelling");
    angle_between(&best.at, &small.separable[0].widest.classifier)
}

/// How near an angle and a norm must be to those of the widest classifier.
const SAME: f64 = 1e-6;

/// The largest γ from which on every smaller one gives the hard-margin classifier of the widest labelling.
fn threshold(found: &[Lowest]) -> f64 {
    let hard = |l: &&Lowest| l.widest && l.angle < SAME && (l.norm - 1.0).abs() < SAME;
    found.iter().rev().take_while(hard).last().map_or(0.0, |l| l.gamma)
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let mut out = Findings::default();
    let (mut rows, mut marks) = (Vec::new(), Vec::new());
    let (mut least, mut still, mut above) = (f64::INFINITY, f64::INFINITY, 0);
    for (at, &seed) in settings.seeds.iter().enumerate() {
        context.progress(at as f64 / settings.seeds.len() as f64)?;
        let small = Small::draw(settings.rows, 2, seed)?;
        let found: Vec<Lowest> = settings.gammas.iter().map(|&gamma| lowest(&small, gamma)).collect();
        let threshold = threshold(&found);
        least = least.min(threshold);
        above += usize::from(threshold < settings.gammas[0]);
        let smallest = *settings.gammas.last().expect("at least one γ");
        let entropy = entropy_angle(&small, smallest)?;
        still = still.min(entropy);
        rows.push(vec![
            seed.to_string(),
            small.all.len().to_string(),
            small.separable.len().to_string(),
            format!("{threshold:.1e}"),
            format!("{:.1e}", found.last().map_or(f64::NAN, |l| l.angle)),
            format!("{entropy:.1e}"),
        ]);
        if at == 0 {
            let place = |gamma: f64| 1.0 / gamma;
            let points = found.iter().map(|l| (place(l.gamma), l.angle.max(1e-9))).collect();
            marks.push(Mark::Line { name: "hinge".to_owned(), points, colour: 0, dashed: false });
            let entropies: Vec<f64> =
                settings.gammas.iter().map(|&gamma| entropy_angle(&small, gamma)).collect::<Result<_>>()?;
            let points =
                settings.gammas.iter().zip(entropies).map(|(g, a)| (place(*g), a.max(1e-9))).collect();
            marks.push(Mark::Line { name: "entropies".to_owned(), points, colour: 2, dashed: true });
        }
    }
    out.number("least threshold", least);
    out.number("sets with a threshold below the largest γ", above as f64);
    out.number("least angle of the entropies", still);
    let axis = |label: &str| Axis { log: true, ..Axis::new(label) };
    let title = "Angle of the lowest minimum to the widest margin, one set".to_owned();
    out.figure("hinge", 1, vec![Chart { title, x: axis("1/γ"), y: axis("angle"), marks }]);
    let headings = words(&[
        "set",
        "fair labelings",
        "separable",
        "threshold of γ",
        "hinge: angle at the smallest γ",
        "entropies: angle there",
    ]);
    let title = "The hinge loss, minimised for every fair labelling".to_owned();
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_machine_is_the_hard_one_for_small_gamma_and_no_worse_than_random_ones() {
        let small = Small::draw(8, 2, 1).unwrap();
        let (plane, margin) = small.separable[0].widest.binary().unwrap();
        let labels = &small.separable[0].labels;
        let hard = soft(&small.x, labels, 1e-5, f64::INFINITY).unwrap();
        assert!((hard.w[0].hypot(hard.w[1]) * margin - 1.0).abs() < 1e-7, "{hard:?}");
        assert!(angle(hard.w, &plane.normal).min(angle(hard.w.map(|v| -v), &plane.normal)) < 1e-7);
        for gamma in [1.0, 0.05] {
            let found = soft(&small.x, labels, gamma, f64::INFINITY).unwrap();
            assert!(soft(&small.x, labels, gamma, found.loss / 2.0).is_none());
            for i in 0..2000u32 {
                let w = [0u32, 1]
                    .map(|a| found.w[a as usize] + f64::from((i * (7 + a) + i / 13) % 41) / 20.0 - 1.0);
                let b = f64::from(i * 11 % 37) / 18.0 - 1.0;
                let loss = |(x, l): (&[f64], &u32)| {
                    let t = if *l == 0 { 1.0 } else { -1.0 };
                    (1.0 - t * (w[0] * x[0] + w[1] * x[1] + b)).max(0.0) / 8.0
                };
                let other = small.x.chunks_exact(2).zip(labels).map(loss).sum::<f64>();
                assert!(other + gamma * (w[0] * w[0] + w[1] * w[1]) >= found.loss - 1e-9, "{gamma}");
            }
        }
    }
}
