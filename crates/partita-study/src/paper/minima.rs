//! Entropy clustering against K-means in the plane: where their minima are, and for which γ.

use super::{Context, Findings};
use crate::chart::Chart;
use crate::error::Result;
use crate::spec::Short;
use crate::table::{Table, words};
use crate::toy::{Minimum, SoftCentres, Toy, ToySettings, from_centres, predict};
use partita::margin::Classifier;
use partita::metrics::ari;
use partita::objective::MutualInformation;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    toy: ToySettings,
    /// Random starts among which the lowest minimum is taken for the global one.
    starts: u64,
    gammas: Vec<f64>,
    /// Draws of the toy on which the same is tried.
    #[serde(default)]
    draws: u64,
}

/// Sharpness at which centres become a classifier to start from.
const SHARPNESS: f64 = 4.0;

/// γ‖W‖² + mean H(σ) − H(σ̄): the objective's value is this plus ln K.
fn entropy_loss(found: &Minimum<Classifier>) -> f64 {
    found.loss - (found.at.k() as f64).ln()
}

fn entropy_chart(toy: &Toy, title: &str, found: &Minimum<Classifier>) -> Chart {
    toy.chart(title, &found.labels, |x, y| predict(&found.at, x, y))
}

fn kmeans_chart(toy: &Toy, title: &str, found: &Minimum<SoftCentres>) -> Chart {
    toy.chart(title, &found.labels, |x, y| found.at.predict(x, y))
}

pub fn teaser(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let (toy, gamma) = (Toy::draw(&settings.toy), settings.gammas[0]);
    let ours = toy.lowest(&MutualInformation::new(toy.k), gamma, settings.starts)?;
    let kmeans = toy.lowest_soft_kmeans(gamma, settings.starts);
    let mut out = Findings::default();
    out.number("kmeans accuracy", toy.accuracy(&kmeans.labels)?);
    out.number("entropy accuracy", toy.accuracy(&ours.labels)?);
    let mut both = 0;
    for draw in 0..settings.draws {
        context.progress(draw as f64 / settings.draws as f64)?;
        let toy = Toy::redraw(&settings.toy, draw);
        let ours = toy.lowest(&MutualInformation::new(toy.k), gamma, settings.starts)?;
        let kmeans = toy.lowest_soft_kmeans(gamma, settings.starts);
        both += u64::from(toy.accuracy(&ours.labels)? == 1.0 && toy.accuracy(&kmeans.labels)? < 0.6);
    }
    out.number("draws", both as f64 / settings.draws.max(1) as f64);
    out.figure(
        "teaser",
        2,
        vec![
            kmeans_chart(&toy, "K-means: the compactest clusters", &kmeans),
            entropy_chart(&toy, "Entropy clustering: the widest margin", &ours),
        ],
    );
    Ok(out)
}

pub fn minima(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let (toy, gamma) = (Toy::draw(&settings.toy), settings.gammas[0]);
    let loss = MutualInformation::new(toy.k);
    // (a) and (d) are the lowest of many starts; (c) and (b) are where the other method goes from there.
    let a = toy.lowest(&loss, gamma, settings.starts)?;
    context.progress(0.5)?;
    let d = toy.lowest_soft_kmeans(gamma, settings.starts);
    let c = toy.soft_kmeans(gamma, toy.means(&a.labels));
    let b = toy.descend(&loss, gamma, &from_centres(&d.at.centres, SHARPNESS)?)?;
    // And back again.
    let a_again = toy.descend(&loss, gamma, &from_centres(&c.at.centres, SHARPNESS)?)?;
    let d_again = toy.soft_kmeans(gamma, toy.means(&b.labels));
    let mut out = Findings::default();
    out.number("entropy global", entropy_loss(&a));
    out.number("entropy local", entropy_loss(&b));
    out.number("entropy difference", b.loss - a.loss);
    out.number("kmeans global", d.loss);
    out.number("kmeans local", c.loss);
    out.number("kmeans difference", c.loss - d.loss);
    out.number("entropy global accuracy", toy.accuracy(&a.labels)?);
    out.number("kmeans global accuracy", toy.accuracy(&d.labels)?);
    out.number("a from c", ari(&a.labels, &a_again.labels)?.min(ari(&a.labels, &c.labels)?));
    out.number("d from b", ari(&d.labels, &d_again.labels)?.min(ari(&d.labels, &b.labels)?));
    let title = |letter: &str, what: &str, loss: f64| format!("({letter}) {what} = {}", Short(loss));
    out.figure(
        "minima",
        2,
        vec![
            entropy_chart(&toy, &title("a", "entropy clustering, global: loss", entropy_loss(&a)), &a),
            entropy_chart(&toy, &title("b", "entropy clustering, local: loss", entropy_loss(&b)), &b),
            kmeans_chart(&toy, &title("c", "soft K-means, local: loss", c.loss), &c),
            kmeans_chart(&toy, &title("d", "soft K-means, global: loss", d.loss), &d),
        ],
    );
    Ok(out)
}

pub fn gammas(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let toy = Toy::draw(&settings.toy);
    let loss = MutualInformation::new(toy.k);
    let (mut ours, mut kmeans, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut out = Findings::default();
    for (at, &gamma) in settings.gammas.iter().enumerate() {
        context.progress(at as f64 / settings.gammas.len() as f64)?;
        let (a, d) =
            (toy.lowest(&loss, gamma, settings.starts)?, toy.lowest_soft_kmeans(gamma, settings.starts));
        out.number(format!("entropy {gamma}"), toy.accuracy(&a.labels)?);
        out.number(format!("kmeans {gamma}"), toy.accuracy(&d.labels)?);
        out.number(format!("norm {gamma}"), a.at.norm());
        rows.push(vec![
            gamma.to_string(),
            format!("{:.2}", toy.accuracy(&a.labels)?),
            format!("{:.2}", a.at.norm()),
            Short(entropy_loss(&a)).to_string(),
            format!("{:.2}", toy.accuracy(&d.labels)?),
            Short(d.loss).to_string(),
        ]);
        ours.push(entropy_chart(&toy, &format!("entropy clustering, γ = {gamma}"), &a));
        kmeans.push(kmeans_chart(&toy, &format!("soft K-means, γ = {gamma}"), &d));
    }
    ours.append(&mut kmeans);
    out.figure("gammas", settings.gammas.len(), ours);
    let headings = words(&["γ", "entropy: ACC", "‖W‖", "loss", "soft K-means: ACC", "loss"]);
    out.tables.push(Table { headings, rows, ..Table::default() });
    Ok(out)
}
