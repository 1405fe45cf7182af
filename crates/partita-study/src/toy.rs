//! Small sets in the plane, their minima, and pictures of them.

use crate::chart::{Axis, Chart, Mark};
use crate::error::Result;
use partita::centres::plus_plus;
use partita::margin::{Classifier, Points};
use partita::numeric::lbfgs;
use partita::objective::{Batch, BatchObjective, Workspace};
use partita::rivals::Table;
use partita::rivals::soft_kmeans::SoftKMeans;
use partita::rng::{Stream, stream};
use partita::simplex::{largest, log_softmax};
use partita_data::synth::Bars;
use rand::RngExt;
use serde::Deserialize;
use std::f64::consts::PI;

/// How a toy set is drawn, as in a description.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToySettings {
    seed: u64,
    size: usize,
    length: f64,
    thickness: f64,
    gaps: Vec<f64>,
    notch: f64,
}

/// Rows in the plane and the bar of each.
pub struct Toy {
    pub x: Vec<f64>,
    single: Vec<f32>,
    pub truth: Vec<u32>,
    pub k: usize,
}

/// A minimum of a loss.
#[derive(Debug, Clone)]
pub struct Minimum<H> {
    /// W and b, or centres.
    pub at: H,
    pub loss: f64,
    pub labels: Vec<u32>,
}

/// Centres `[k, 2]` that share rows with the temperature γ.
#[derive(Debug, Clone)]
pub struct SoftCentres {
    pub centres: Vec<f32>,
    gamma: f64,
}

impl Toy {
    pub fn draw(settings: &ToySettings) -> Self {
        let ToySettings { seed, size, length, thickness, ref gaps, notch } = *settings;
        let bars = Bars { size, length, thickness, gaps: gaps.clone(), notch };
        let (single, truth) = bars.draw(seed);
        let x = single.iter().map(|v| f64::from(*v)).collect();
        Self { x, single, truth: truth.into_iter().map(|t| t as u32).collect(), k: gaps.len() + 1 }
    }

    /// Rows of the plane with their clusters.
    pub fn of(x: Vec<f64>, truth: Vec<u32>, k: usize) -> Self {
        let single = x.iter().map(|v| *v as f32).collect();
        Self { x, single, truth, k }
    }

    /// The same bars drawn with another seed.
    pub fn redraw(settings: &ToySettings, seed: u64) -> Self {
        Self::draw(&ToySettings { seed, ..settings.clone() })
    }

    pub fn points(&self) -> Result<Points<'_>> {
        Ok(Points::new(&self.x, 2)?)
    }

    pub fn rows(&self) -> &[f32] {
        &self.single
    }

    pub fn n(&self) -> usize {
        self.truth.len()
    }

    /// Share of rows with the right label, under the best names.
    pub fn accuracy(&self, labels: &[u32]) -> Result<f64> {
        Ok(partita::metrics::accuracy(&self.truth, labels)?)
    }

    /// The minimum of γ‖W‖² + loss that L-BFGS on all rows reaches from a classifier.
    pub fn descend(
        &self,
        loss: &dyn BatchObjective,
        gamma: f64,
        start: &Classifier,
    ) -> Result<Minimum<Classifier>> {
        let k = start.k();
        let mut v: Vec<f64> = start.weights.iter().chain(&start.biases).copied().collect();
        let (mut ws, mut slope) = (Workspace::default(), vec![0.0; self.n() * k]);
        let options = lbfgs::Options { history: 20, max_iterations: 3000, tolerance: 1e-10 };
        let outcome = lbfgs::minimise(&mut v, &options, |v, gradient| {
            let log_sigma = self.log_sigma(v, k);
            let batch = Batch { log_sigma: &log_sigma, k, weights: None, known: None };
            let value = loss.value_and_gradient(batch, &mut slope, &mut ws);
            self.pull_back(&slope, k, gradient);
            let weights = &v[..2 * k];
            gradient.iter_mut().zip(weights).for_each(|(g, w)| *g += 2.0 * gamma * w);
            value + gamma * weights.iter().map(|w| w * w).sum::<f64>()
        });
        let at = Classifier::new(v[..2 * k].to_vec(), v[2 * k..].to_vec(), 2)?;
        let labels = at.labels(self.points()?);
        Ok(Minimum { at, loss: outcome.value, labels })
    }

    /// ln σ of all rows for weights and biases one after the other.
    fn log_sigma(&self, v: &[f64], k: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.n() * k];
        let mut z = vec![0.0; k];
        for (x, out) in self.x.chunks_exact(2).zip(out.chunks_exact_mut(k)) {
            (0..k).for_each(|c| z[c] = v[2 * c] * x[0] + v[2 * c + 1] * x[1] + v[2 * k + c]);
            log_softmax(&z, out);
        }
        out
    }

    /// The gradient by weights and biases from that by the logits.
    fn pull_back(&self, slope: &[f64], k: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        for (x, slope) in self.x.chunks_exact(2).zip(slope.chunks_exact(k)) {
            for (c, s) in slope.iter().enumerate() {
                gradient[2 * c] += s * x[0];
                gradient[2 * c + 1] += s * x[1];
                gradient[2 * k + c] += s;
            }
        }
    }

    /// The lowest minimum from many starts.
    pub fn lowest(&self, loss: &dyn BatchObjective, gamma: f64, starts: u64) -> Result<Minimum<Classifier>> {
        let mut best: Option<Minimum<Classifier>> = None;
        for start in 0..starts {
            let found = self.descend(loss, gamma, &self.random_classifier(start)?)?;
            if best.as_ref().is_none_or(|best| found.loss < best.loss) {
                best = Some(found);
            }
        }
        Ok(best.expect("at least one start"))
    }

    /// A start: by turns random weights, and equal slices across a random direction.
    pub fn random_classifier(&self, number: u64) -> Result<Classifier> {
        let mut rng = stream(number, Stream::Init, 1);
        let size = 10f64.powf(rng.random_range(-1.0..1.0));
        if number % 2 == 1 {
            return self.slices(rng.random_range(0.0..PI), size);
        }
        let mut draw =
            |count: usize| -> Vec<f64> { (0..count).map(|_| size * rng.random_range(-1.0..1.0)).collect() };
        Ok(Classifier::new(draw(2 * self.k), draw(self.k), 2)?)
    }

    /// Clusters of equal size that follow each other in a direction.
    fn slices(&self, angle: f64, sharpness: f64) -> Result<Classifier> {
        let (y, x) = angle.sin_cos();
        let mut along: Vec<f64> = self.x.chunks_exact(2).map(|row| row[0] * x + row[1] * y).collect();
        along.sort_by(f64::total_cmp);
        let cut = |c: usize| {
            let at = c * self.n() / self.k;
            (along[at - 1] + along[at]) / 2.0
        };
        // Cluster c gains on cluster c - 1 where a row is beyond the cut between them.
        let middle = (self.k as f64 - 1.0) / 2.0;
        let weight = |c: usize| sharpness * (c as f64 - middle);
        let weights = (0..self.k).flat_map(|c| [weight(c) * x, weight(c) * y]).collect();
        let biases = (0..self.k).map(|c| -sharpness * (1..=c).map(cut).sum::<f64>()).collect();
        Ok(Classifier::new(weights, biases, 2)?)
    }

    /// Soft K-means from these centres. Its loss is the paper's: summed over the rows.
    pub fn soft_kmeans(&self, gamma: f64, centres: Vec<f32>) -> Minimum<SoftCentres> {
        let method =
            SoftKMeans { gamma, max_iterations: 10_000, tolerance: 1e-12, ..SoftKMeans::new(self.k) };
        let found = method.descend(Table { x: &self.single, m: 2 }, centres);
        let at = SoftCentres { centres: found.head.centres, gamma };
        let labels = self.x.chunks_exact(2).map(|x| at.predict(x[0], x[1]).0 as u32).collect();
        Minimum { at, loss: found.loss * self.n() as f64, labels }
    }

    /// The lowest minimum from many k-means++ seeds.
    pub fn lowest_soft_kmeans(&self, gamma: f64, starts: u64) -> Minimum<SoftCentres> {
        let table = Table { x: &self.single, m: 2 };
        let seeds = |start| plus_plus(table, self.k, &mut stream(start, Stream::Seeds, 1));
        let all = (0..starts).map(|start| self.soft_kmeans(gamma, seeds(start)));
        all.min_by(|a, b| a.loss.total_cmp(&b.loss)).expect("at least one start")
    }

    /// Means of the rows of each label.
    pub fn means(&self, labels: &[u32]) -> Vec<f32> {
        let mut sums = vec![[0.0f64; 3]; self.k];
        for (x, &label) in self.x.chunks_exact(2).zip(labels) {
            let sum = &mut sums[label as usize];
            *sum = [sum[0] + x[0], sum[1] + x[1], sum[2] + 1.0];
        }
        sums.iter().flat_map(|s| [(s[0] / s[2]) as f32, (s[1] / s[2]) as f32]).collect()
    }

    /// A picture of the rows in the colours of their labels, and of what is predicted elsewhere.
    pub fn chart(&self, title: &str, labels: &[u32], predict: impl Fn(f64, f64) -> (usize, f64)) -> Chart {
        let cells = self.places().into_iter().map(|(x, y)| predict(x, y)).collect();
        self.chart_of(title, labels, cells)
    }

    /// The places of a picture at which predictions are shown, line after line from the bottom.
    pub fn places(&self) -> Vec<(f64, f64)> {
        let (width, height) = self.window();
        let (columns, lines) = PLACES;
        let at = |i: usize, count: usize, reach: f64| reach * (2.0 * (i as f64 + 0.5) / count as f64 - 1.0);
        (0..columns * lines)
            .map(|i| (at(i % columns, columns, width), at(i / columns, lines, height)))
            .collect()
    }

    /// The same picture, with the predictions at all its places.
    pub fn chart_of(&self, title: &str, labels: &[u32], cells: Vec<(usize, f64)>) -> Chart {
        let (width, height) = self.window();
        let cells = cells.into_iter().map(Some).collect();
        let regions = Mark::Regions { x: (-width, width), y: (-height, height), columns: PLACES.0, cells };
        let axis = |reach: f64| Axis::between("", -reach, reach);
        let marks = std::iter::once(regions).chain(self.dots(labels)).collect();
        Chart { title: title.to_owned(), x: axis(width), y: axis(height), marks }
    }

    /// The rows, in the colours of their labels.
    pub fn dots(&self, labels: &[u32]) -> impl Iterator<Item = Mark> {
        (0..self.k).map(move |c| {
            let rows = self.x.chunks_exact(2).zip(labels).filter(|(_, l)| **l as usize == c);
            let points = rows.map(|(x, _)| (x[0], x[1])).collect();
            Mark::Dots { name: String::new(), points, colour: c }
        })
    }

    /// Half the width and height of a picture in which right angles look right.
    pub fn window(&self) -> (f64, f64) {
        let far = |axis: usize| self.x.iter().skip(axis).step_by(2).fold(0.0f64, |m, v| m.max(v.abs()));
        let height = (1.15 * far(1)).max(1.15 * far(0) / ASPECT);
        (ASPECT * height, height)
    }
}

/// Places of a picture across and up.
const PLACES: (usize, usize) = (180, 150);
/// Width of a chart over its height.
const ASPECT: f64 = 1.96;

impl SoftCentres {
    /// The most probable centre at a place, and how sure that is from 0 (a tie) to 1.
    pub fn predict(&self, x: f64, y: f64) -> (usize, f64) {
        let z = |c: &[f32]| -((x - f64::from(c[0])).powi(2) + (y - f64::from(c[1])).powi(2)) / self.gamma;
        surest(&self.centres.chunks_exact(2).map(z).collect::<Vec<_>>())
    }
}

/// The most probable cluster of a classifier at a place, and how sure that is from 0 (a tie) to 1.
pub fn predict(classifier: &Classifier, x: f64, y: f64) -> (usize, f64) {
    surest(&classifier.logits(&[x, y]))
}

fn surest(z: &[f64]) -> (usize, f64) {
    let mut log_sigma = vec![0.0; z.len()];
    log_softmax(z, &mut log_sigma);
    let best = largest(&log_sigma);
    let even = 1.0 / z.len() as f64;
    (best, (log_sigma[best].exp() - even) / (1.0 - even))
}

/// A classifier whose boundaries are those of nearest centres, with predictions of this sharpness.
pub fn from_centres(centres: &[f32], sharpness: f64) -> Result<Classifier> {
    let weights: Vec<f64> = centres.iter().map(|c| sharpness * f64::from(*c)).collect();
    let half_square = |c: &[f32]| 0.5 * c.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
    let biases = centres.chunks_exact(2).map(|c| -sharpness * half_square(c)).collect();
    Ok(Classifier::new(weights, biases, 2)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::objective::MutualInformation;

    fn toy(gaps: Vec<f64>) -> Toy {
        Toy::draw(&ToySettings { seed: 1, size: 20, length: 6.0, thickness: 0.5, gaps, notch: 0.3 })
    }

    #[test]
    fn slices_are_fair_and_follow_the_direction() {
        for k in 2..5 {
            let toy = toy(vec![1.0; k - 1]);
            let labels = toy.slices(PI / 2.0, 3.0).unwrap().labels(toy.points().unwrap());
            assert_eq!(labels, toy.truth, "bars are slices across y");
            let labels = toy.slices(0.4, 0.1).unwrap().labels(toy.points().unwrap());
            assert!((0..k as u32).all(|c| labels.iter().filter(|l| **l == c).count() == 20));
        }
    }

    #[test]
    fn a_minimum_is_stationary_and_no_start_ends_below_the_lowest() {
        let toy = toy(vec![1.3]);
        let loss = MutualInformation::new(2);
        let best = toy.lowest(&loss, 1e-3, 10).unwrap();
        let again = toy.descend(&loss, 1e-3, &best.at).unwrap();
        assert!((best.loss - again.loss).abs() < 1e-9 && best.labels == again.labels);
        for start in 0..10 {
            let found = toy.descend(&loss, 1e-3, &toy.random_classifier(start).unwrap()).unwrap();
            assert!(found.loss >= best.loss);
        }
    }

    #[test]
    fn classifiers_of_centres_have_their_labels() {
        let toy = toy(vec![1.3, 2.0]);
        let found = toy.lowest_soft_kmeans(1e-4, 5);
        let classifier = from_centres(&found.at.centres, 2.0).unwrap();
        assert_eq!(classifier.labels(toy.points().unwrap()), found.labels);
        assert_eq!(toy.means(&found.labels).len(), 6);
    }
}
