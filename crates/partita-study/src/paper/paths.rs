//! As γ → 0 the direction of W turns to that of the widest margin.

use super::curves::order;
use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use crate::toy::{Toy, ToySettings};
use partita::margin::path::{self, Allowed, Step, follow};
use partita::margin::{self, Classifier, MaxMargin, of_labels};
use partita::objective::SelfLabelled;
use partita::pseudo::{Exact, PseudoLabels, Renyi};
use partita::simplex::uniform;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    sets: Vec<ToySettings>,
    orders: Vec<f64>,
    /// Norms visited.
    steps: usize,
    /// γ visited by the self-labelling losses, which have no form in logarithms.
    gammas: Vec<f64>,
}

/// The widest classifier, with every weight changed by up to a fifth of the largest.
fn start(toy: &Toy, widest: &MaxMargin) -> Result<Classifier> {
    let points = toy.points()?;
    let largest = widest.classifier.weights.iter().fold(0.0f64, |m, w| m.max(w.abs()));
    let shifted = |amount: f64| {
        let shift = |(i, w): (usize, &f64)| w + amount * largest * (1.0 + 7.0 * i as f64).sin();
        let weights = widest.classifier.weights.iter().enumerate().map(shift).collect();
        Classifier::new(weights, widest.classifier.biases.clone(), 2)
    };
    // The nearest of ever smaller changes that moves no row to another cluster.
    let mut amount = 0.2;
    while shifted(amount)?.labels(points) != toy.truth {
        amount /= 2.0;
    }
    Ok(shifted(amount)?)
}

/// By how much the logit of a row's own cluster leads where a self-labelling loss begins.
const LEAD: f64 = 8.0;
/// An angle on a logarithmic axis; rounding below this is not drawn.
const SMALLEST: f64 = 1e-6;

/// A toy set with its widest classifier, and a start beside it.
struct Case<'a> {
    settings: &'a Settings,
    toy: Toy,
    widest: MaxMargin,
    start: Classifier,
}

/// The worst of what was found over all sets.
struct Worst {
    last_angle: f64,
    lost_margin: f64,
    still: f64,
    apart: f64,
}

impl<'a> Case<'a> {
    fn new(settings: &'a Settings, set: &ToySettings) -> Result<Self> {
        let toy = Toy::draw(set);
        let exact = margin::Options { tolerance: 1e-10, ..margin::Options::default() };
        let widest = of_labels(toy.points()?, &toy.truth, toy.k, &exact)?.separated();
        let widest = widest.expect("bars do not overlap");
        let start = start(&toy, &widest)?;
        Ok(Self { settings, toy, widest, start })
    }

    /// Follow one order through these norms.
    fn follow(&self, alpha: f64, norms: Vec<f64>) -> Result<Vec<Step>> {
        let (towards, allowed) = (Some(&self.widest.classifier), Allowed::Labels(&self.toy.truth));
        let options = path::Options::new(alpha, norms);
        Ok(follow(self.toy.points()?, &self.start, towards, allowed, &options)?)
    }

    /// One order from losses of e^-20 to e^-5000, as a line.
    fn order(&self, colour: usize, alpha: f64, worst: &mut Worst) -> Result<Mark> {
        let steps =
            self.follow(alpha, path::norms(self.widest.margin, alpha, 20.0, 5000.0, self.settings.steps))?;
        let end = steps.last().and_then(|s| s.angle).expect("at least one norm, and an angle asked for");
        if alpha == 0.0 {
            worst.still = worst.still.min(end);
        } else {
            worst.last_angle = worst.last_angle.max(end);
            // The direction may pass the widest one and come back to it; the margin tells the better one.
            let late = steps.windows(2).filter(|w| w[0].log_loss < -100.0);
            let lost = late.map(|w| (w[0].margin - w[1].margin) / self.widest.margin);
            worst.lost_margin = lost.fold(worst.lost_margin, f64::max);
        }
        // R_0 has no slope for γ to balance; it is drawn where the others of its norm are.
        let place = |s: &Step| if alpha == 0.0 { s.norm * self.widest.margin } else { -s.log_gamma };
        let points = steps.iter().filter_map(|s| Some((place(s), s.angle?.max(SMALLEST)))).collect();
        Ok(Mark::Line { name: order(alpha), points, colour, dashed: false })
    }

    /// A self-labelling loss through all γ, as a line, and where it ends.
    fn self_labelled(
        &self,
        name: &str,
        colour: usize,
        solver: Box<dyn PseudoLabels>,
    ) -> Result<(Mark, Classifier)> {
        let loss = SelfLabelled { solver, prior: uniform(self.toy.k), lambda: 100.0 };
        // Decided enough that the first γ finds the labelling that the start has.
        let grown = |values: &[f64]| values.iter().map(|v| LEAD / self.widest.margin * v).collect();
        let mut at = Classifier::new(grown(&self.start.weights), grown(&self.start.biases), 2)?;
        let mut points = Vec::new();
        for &gamma in &self.settings.gammas {
            at = self.toy.descend(&loss, gamma, &at)?.at;
            points.push(((1.0 / gamma).ln(), at.angle(&self.widest.classifier)));
        }
        Ok((Mark::Line { name: name.to_owned(), points, colour, dashed: true }, at))
    }

    fn chart(&self, context: &Context<'_>, worst: &mut Worst, out: &mut Findings) -> Result<Chart> {
        let mut marks = Vec::new();
        for (colour, &alpha) in self.settings.orders.iter().enumerate() {
            context.progress(colour as f64 / self.settings.orders.len() as f64)?;
            marks.push(self.order(colour, alpha, worst)?);
        }
        let exact = Exact { tolerance: 1e-14, ..Exact::default() };
        let (line, ours) = self.self_labelled("ours", 6, Box::new(exact))?;
        marks.push(line);
        let renyi = Renyi { tolerance: 1e-14, ..Renyi::new(2.0) };
        let (line, second) = self.self_labelled("labels, α = 2", 7, Box::new(renyi))?;
        marks.push(line);
        let k = self.toy.k;
        let angle = ours.angle(&self.widest.classifier);
        out.number(format!("self-labelled angle, K = {k}"), angle);
        out.number(format!("self-labelled angle of order 2, K = {k}"), second.angle(&self.widest.classifier));
        // At the same norm, Shannon's path is where theory has ours.
        let shannon = self.follow(1.0, vec![ours.norm()])?;
        let apart = shannon.iter().filter_map(|s| Some((s.angle? - angle).abs()));
        worst.apart = apart.fold(worst.apart, f64::max);
        let (x, y) = (Axis { log: true, ..Axis::new("ln 1/γ") }, Axis { log: true, ..Axis::new("angle") });
        Ok(Chart { title: format!("Angle to the widest margin, K = {k}"), x, y, marks })
    }
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let mut out = Findings::default();
    let mut worst = Worst { last_angle: 0.0, lost_margin: 0.0, still: f64::INFINITY, apart: 0.0 };
    let mut charts = Vec::new();
    for set in &settings.sets {
        charts.push(Case::new(&settings, set)?.chart(context, &mut worst, &mut out)?);
    }
    out.figure("paths", 2, charts);
    out.number("largest last angle", worst.last_angle);
    out.number("largest loss of margin", worst.lost_margin);
    out.number("angle of order 0", worst.still);
    out.number("self-labelled apart from Shannon", worst.apart);
    Ok(out)
}
