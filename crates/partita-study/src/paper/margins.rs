//! Margins: signed ones need a labelling, unsigned ones do not.

use super::{Context, Outcome};
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

pub fn run(context: &Context<'_>) -> Result<Outcome> {
    let settings: Settings = context.spec.settings()?;
    let toy = Toy::draw(&settings.toy);
    let (points, reach) = (toy.points()?, toy.window());
    let mut out = Outcome::default();
    let options = margin::Options { tolerance: 1e-9, ..margin::Options::default() };
    let Some((widest, size)) =
        of_labels(points, &toy.truth, 2, &options)?.separated().and_then(|m| m.binary())
    else {
        return Ok(out);
    };
    let (mut signed, mut unsigned) = (Vec::new(), Vec::new());
    let (mut consistent, mut inconsistent, mut free, mut differ) =
        (f64::INFINITY, f64::INFINITY, f64::INFINITY, 0.0f64);
    for &degrees in &settings.turns {
        let classifier = turned(&widest, degrees)?;
        let plane = classifier.hyperplane().expect("two clusters have one boundary");
        let given = classifier.signed_margins(points, &toy.truth)?;
        let own = classifier.unsigned_margins(points);
        let of_own = classifier.signed_margins(points, &classifier.labels(points))?;
        let least = given.iter().copied().fold(f64::INFINITY, f64::min);
        let agrees = classifier.labels(points) == toy.truth;
        if agrees {
            consistent = consistent.min(least);
        } else {
            inconsistent = inconsistent.min(least);
        }
        free = own.iter().copied().fold(free, f64::min);
        differ = own.iter().zip(&of_own).fold(differ, |most, (a, b)| most.max((a - b).abs()));
        let (name, colour) = if agrees { ("consistent", 3) } else { ("inconsistent", 4) };
        let mark = boundary(name, &plane, reach, colour, degrees == 0.0);
        if !agrees {
            signed.extend(distances(&toy, &plane, &given));
            unsigned.extend(distances(&toy, &plane, &own));
        }
        signed.push(mark.clone());
        unsigned.push(mark);
    }
    out.number("least margin of a consistent classifier", consistent);
    out.number("least margin of an inconsistent classifier", inconsistent);
    out.number("least unsigned margin", free);
    out.number("unsigned is signed by its own labels", differ);
    out.number("half the gap", size);
    let chart = |title: &str, mut marks: Vec<Mark>, labels: &[u32]| {
        marks.extend(toy.dots(labels));
        let (x, y) = (Axis::between("", -reach.0, reach.0), Axis::between("", -reach.1, reach.1));
        Chart { title: title.to_owned(), x, y, marks }
    };
    let grey = vec![6; toy.n()];
    let mut free_chart = chart("Unsigned margins (clustering)", unsigned, &grey);
    let all = toy.x.chunks_exact(2).map(|x| (x[0], x[1])).collect();
    free_chart.marks.push(Mark::Dots { name: String::new(), points: all, colour: 6 });
    let signed = chart("Signed margins (classification)", signed, &toy.truth);
    out.figure("margins", 2, vec![signed, free_chart]);
    Ok(out)
}
