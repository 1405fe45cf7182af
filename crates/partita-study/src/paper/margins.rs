//! Margins: signed ones need a labelling, unsigned ones do not.

use super::{Context, Findings};
use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use crate::toy::{Toy, ToySettings};
use partita::margin::{self, Classifier, Hyperplane, of_labels};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    toy: ToySettings,
    /// Angles in degrees by which boundaries are turned from the widest one.
    turns: Vec<f64>,
}

/// The boundary through the origin whose normal is turned from that of `widest`.
fn turned(widest: &Hyperplane, degrees: f64) -> Result<Classifier> {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let [x, y] = [widest.normal[0], widest.normal[1]];
    let (x, y, b) = (cosine * x - sine * y, sine * x + cosine * y, cosine * widest.offset);
    Ok(Classifier::new(vec![x / 2.0, y / 2.0, -x / 2.0, -y / 2.0], vec![b / 2.0, -b / 2.0], 2)?)
}

/// The boundary as a line across the picture.
fn boundary(name: &str, plane: &Hyperplane, reach: (f64, f64), colour: usize, dashed: bool) -> Mark {
    let foot = (-plane.offset * plane.normal[0], -plane.offset * plane.normal[1]);
    let along = (-plane.normal[1], plane.normal[0]);
    // As far as the picture goes, whichever side the line leaves it on.
    let far = (0.97 * reach.0 / along.0.abs().max(1e-12)).min(0.97 * reach.1 / along.1.abs().max(1e-12));
    let end = |t: f64| (foot.0 + t * along.0, foot.1 + t * along.1);
    Mark::Line { name: name.to_owned(), points: vec![end(-far), end(far)], colour, dashed }
}

/// A short line from each row to the boundary, in the colour of its margin's sign.
fn distances(toy: &Toy, plane: &Hyperplane, margins: &[f64]) -> Vec<Mark> {
    let rows = toy.x.chunks_exact(2).zip(margins);
    let to_foot = |(x, margin): (&[f64], &f64)| {
        let d = plane.distance(x);
        let foot = (x[0] - d * plane.normal[0], x[1] - d * plane.normal[1]);
        let colour = if *margin < 0.0 { 7 } else { 6 };
        Mark::Line { name: String::new(), points: vec![(x[0], x[1]), foot], colour, dashed: false }
    };
    rows.map(to_foot).collect()
}

/// The least margins found, and how far unsigned ones are from signed ones by a classifier's own labels.
struct Least {
    consistent: f64,
    inconsistent: f64,
    unsigned: f64,
    differ: f64,
}

/// Measure a classifier; the marks for both pictures, with distances where it disagrees with the truth.
fn measure(toy: &Toy, classifier: &Classifier, dashed: bool, least: &mut Least) -> Result<[Vec<Mark>; 2]> {
    let points = toy.points()?;
    let labels = classifier.labels(points);
    let signed = classifier.signed_margins(points, &toy.truth)?;
    let unsigned = classifier.unsigned_margins(points);
    let by_own_labels = classifier.signed_margins(points, &labels)?;
    let smallest = |margins: &[f64]| margins.iter().copied().fold(f64::INFINITY, f64::min);
    let plane = classifier.hyperplane().expect("two clusters have one boundary");
    let agrees = labels == toy.truth;
    let (seen, name, colour) = match agrees {
        true => (&mut least.consistent, "consistent", 3),
        false => (&mut least.inconsistent, "inconsistent", 4),
    };
    *seen = seen.min(smallest(&signed));
    least.unsigned = least.unsigned.min(smallest(&unsigned));
    least.differ =
        unsigned.iter().zip(&by_own_labels).fold(least.differ, |most, (a, b)| most.max((a - b).abs()));
    Ok([signed, unsigned].map(|margins| {
        let mut marks = if agrees { Vec::new() } else { distances(toy, &plane, &margins) };
        marks.push(boundary(name, &plane, toy.window(), colour, dashed));
        marks
    }))
}

pub fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.spec.settings()?;
    let toy = Toy::draw(&settings.toy);
    let options = margin::Options { tolerance: 1e-9, ..margin::Options::default() };
    let separation = of_labels(toy.points()?, &toy.truth, 2, &options)?;
    let (widest, size) = separation.separated().and_then(|m| m.binary()).expect("two bars do not overlap");
    let infinite = f64::INFINITY;
    let mut least = Least { consistent: infinite, inconsistent: infinite, unsigned: infinite, differ: 0.0 };
    let mut marks = [Vec::new(), Vec::new()];
    for &degrees in &settings.turns {
        let more = measure(&toy, &turned(&widest, degrees)?, degrees == 0.0, &mut least)?;
        marks.iter_mut().zip(more).for_each(|(marks, more)| marks.extend(more));
    }
    let [mut signed, mut unsigned] = marks;
    signed.extend(toy.dots(&toy.truth));
    let points = toy.x.chunks_exact(2).map(|x| (x[0], x[1])).collect();
    unsigned.push(Mark::Dots { name: String::new(), points, colour: 6 });
    let reach = toy.window();
    let chart = |title: &str, marks| {
        let (x, y) = (Axis::between("", -reach.0, reach.0), Axis::between("", -reach.1, reach.1));
        Chart { title: title.to_owned(), x, y, marks }
    };
    let mut out = Findings::default();
    let titles = ["Signed margins (classification)", "Unsigned margins (clustering)"];
    out.figure("margins", 2, vec![chart(titles[0], signed), chart(titles[1], unsigned)]);
    out.number("least margin of a consistent classifier", least.consistent);
    out.number("least margin of an inconsistent classifier", least.inconsistent);
    out.number("least unsigned margin", least.unsigned);
    out.number("unsigned is signed by its own labels", least.differ);
    out.number("half the gap", size);
    Ok(out)
}
