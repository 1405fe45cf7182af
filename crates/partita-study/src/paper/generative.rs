//! Generative models beside entropy clustering: mixtures of Gaussians on the toys, K-means on Gaussian clusters.

use super::{Context, Findings};
use crate::chart::Chart;
use crate::error::Result;
use crate::table::{Table, words};
use crate::toy::{Minimum, SoftCentres, Toy, ToySettings, from_centres};
use partita::metrics::ari;
use partita::mixture::{Climbed, Covariance, GaussianMixture, one_hot};
use partita::objective::MutualInformation;
use partita::simplex::largest;
use partita_data::synth::{gaussian_mixture, sizes};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mixtures {
    toys: Vec<Named>,
    /// Draws of each toy.
    draws: u64,
    /// Starts of which the likeliest is kept.
    starts: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    toy: ToySettings,
}

/// The likeliest mixture from many starts: labels of random classifiers.
fn likeliest(toy: &Toy, shape: Covariance, starts: u64) -> Result<(Climbed, Vec<u32>)> {
    let method =
        GaussianMixture { max_iterations: 2000, tolerance: 1e-9, ..GaussianMixture::new(toy.k, shape) };
    let mut best: Option<Climbed> = None;
    for start in 0..starts {
        let labels = toy.random_classifier(start)?.labels(toy.points()?);
        if (0..toy.k as u32).any(|c| labels.iter().filter(|l| **l == c).count() < 3) {
            continue;
        }
        let found = method.climb(&toy.x, method.maximise(&toy.x, 2, &one_hot(&labels, toy.k))?)?;
        if best.as_ref().is_none_or(|best| found.loss < best.loss) {
            best = Some(found);
        }
    }
    let best = best.expect("every second start has clusters of equal size");
    let mut proba = vec![0.0; toy.n() * toy.k];
    best.mixture.responsibilities(&toy.x, &mut proba);
    let labels = proba.chunks_exact(toy.k).map(|p| largest(p) as u32).collect();
    Ok((best, labels))
}

pub fn mixtures(context: &Context<'_>) -> Result<Findings> {
    let settings: Mixtures = context.spec.settings()?;
    let mut out = Findings::default();
    let (mut charts, mut rows): (Vec<Chart>, _) = (Vec::new(), Vec::new());
    for (at, Named { name, toy: drawn }) in settings.toys.iter().enumerate() {
        context.progress(at as f64 / settings.toys.len() as f64)?;
        let mut solved = [0u64; 2];
        for draw in 0..settings.draws {
            let toy = Toy::redraw(drawn, draw);
            for (solved, shape) in solved.iter_mut().zip([Covariance::Full, Covariance::Spherical]) {
                let (found, labels) = likeliest(&toy, shape, settings.starts)?;
                *solved += u64::from(toy.accuracy(&labels)? == 1.0);
                if draw == 0 && shape == Covariance::Full {
                    let at = |x: f64, y: f64| {
                        let mut p = vec![0.0; toy.k];
                        found.mixture.responsibilities(&[x, y], &mut p);
                        let (best, even) = (largest(&p), 1.0 / toy.k as f64);
                        (best, (p[best] - even) / (1.0 - even))
                    };
                    charts.push(toy.chart(&format!("Mixture of Gaussians, {name}"), &labels, at));
                }
            }
        }
        let share = solved.map(|s| s as f64 / settings.draws as f64);
        out.number(format!("full, {name}"), share[0]);
        out.number(format!("spherical, {name}"), share[1]);
        let cell = |s: u64| format!("{s} of {}", settings.draws);
        rows.push(vec![name.clone(), cell(solved[0]), cell(solved[1])]);
    }
    out.figure("mixtures", 2, charts);
    let headings = words(&["toy", "full covariances", "one variance for each Gaussian"]);
    let title = "Draws of each toy that the likeliest mixture clusters without an error".to_owned();
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Isotropic {
    rows: usize,
    k: usize,
    gamma: f64,
    starts: u64,
    draws: u64,
    /// Distances of the centres at least, in standard deviations.
    separations: Vec<f64>,
    cases: Vec<Case>,
}

/// Clusters of these proportions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    shares: Vec<f64>,
}

/// How far the posterior of isotropic Gaussians of equal weight is from a linear softmax, at worst.
fn posterior_apart(toy: &Toy, kmeans: &Minimum<SoftCentres>) -> Result<f64> {
    // Gaussians of variance ½, as K-means has them.
    let linear = from_centres(&kmeans.at.centres, 2.0)?;
    let mut worst = 0.0f64;
    for x in toy.x.chunks_exact(2) {
        let distance = |c: &[f32]| (x[0] - f64::from(c[0])).powi(2) + (x[1] - f64::from(c[1])).powi(2);
        let z: Vec<f64> = kmeans.at.centres.chunks_exact(2).map(|c| -distance(c)).collect();
        let (mut bayes, mut softmax) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        partita::simplex::log_softmax(&z, &mut bayes);
        partita::simplex::log_softmax(&linear.logits(x), &mut softmax);
        worst = bayes.iter().zip(&softmax).fold(worst, |m, (a, b)| m.max((a.exp() - b.exp()).abs()));
    }
    Ok(worst)
}

pub fn isotropic(context: &Context<'_>) -> Result<Findings> {
    let s: Isotropic = context.spec.settings()?;
    let mut out = Findings::default();
    let (mut rows, mut posterior, mut done) = (Vec::new(), 0.0f64, 0.0);
    for case in &s.cases {
        for &separation in &s.separations {
            context.progress(done / (s.cases.len() * s.separations.len()) as f64)?;
            done += 1.0;
            let (mut agree, mut ours, mut theirs) = (0.0, 0.0, 0.0);
            for draw in 0..s.draws {
                let (x, truth) = gaussian_mixture(&sizes(s.rows, &case.shares), 2, separation, draw);
                let truth = truth.into_iter().map(|t| t as u32).collect();
                let toy = Toy::of(x.into_iter().map(f64::from).collect(), truth, s.k);
                let entropy = toy.lowest(&MutualInformation::new(s.k), s.gamma, s.starts)?;
                let kmeans = toy.lowest_soft_kmeans(1e-5, s.starts);
                posterior = posterior.max(posterior_apart(&toy, &kmeans)?);
                let share = 1.0 / s.draws as f64;
                agree += share * ari(&entropy.labels, &kmeans.labels)?;
                ours += share * toy.accuracy(&entropy.labels)?;
                theirs += share * toy.accuracy(&kmeans.labels)?;
            }
            out.number(format!("agreement, {}, {separation}", case.name), agree);
            rows.push(vec![
                case.name.clone(),
                separation.to_string(),
                format!("{agree:.3}"),
                format!("{:.1}", 100.0 * ours),
                format!("{:.1}", 100.0 * theirs),
            ]);
        }
    }
    out.number("posterior apart from a linear softmax", posterior);
    let headings =
        words(&["sizes", "centres apart, sd", "ARI of the two", "entropy: ACC, %", "K-means: ACC, %"]);
    let title = format!(
        "{} Gaussians of unit variance in the plane, {} rows, mean of {} draws",
        s.k, s.rows, s.draws
    );
    out.tables.push(Table { title, headings, rows, notes: Vec::new() });
    Ok(out)
}
