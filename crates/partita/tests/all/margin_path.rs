//! The theorem in numbers: as γ → 0, decisive classifiers turn towards the widest fair clustering.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::balance::Bounds;
use partita::entropy::renyi;
use partita::margin::path::{self, Allowed, Step, follow};
use partita::margin::{Classifier, MaxMargin, Options, Points, of_labels};
use partita::numeric::lbfgs;
use partita::objective::{Batch, BatchObjective, SelfLabelled, Workspace};
use partita::pseudo::{Exact, PseudoLabels, Renyi};
use partita::rng::{Stream, stream};
use partita::simplex::{log_softmax, uniform};
use rand::RngExt;

const ORDERS: [f64; 6] = [0.1, 0.5, 1.0, 2.0, 5.0, f64::INFINITY];
/// Rows and clusters: few enough to try all fair labellings.
const SHAPES: [(usize, usize); 3] = [(10, 2), (9, 3), (8, 4)];

fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, Stream::Synthetic, 1);
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// All labellings with clusters of `n / k` rows that continue `labels`; clusters are numbered in order of appearance.
fn fair(n: usize, k: usize, labels: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
    if labels.len() == n {
        return found.push(labels.clone());
    }
    let size = |c| labels.iter().filter(|&&l| l == c).count();
    let next = labels.iter().max().map_or(0, |most| most + 1);
    let open: Vec<u32> = (0..=next).filter(|&c| (c as usize) < k && size(c) < n / k).collect();
    for c in open {
        labels.push(c);
        fair(n, k, labels, found);
        labels.pop();
    }
}

/// All separable fair labellings with their margins, the widest first.
fn by_brute_force(points: Points<'_>, k: usize) -> Vec<(Vec<u32>, MaxMargin)> {
    let mut labellings = Vec::new();
    fair(points.n(), k, &mut Vec::new(), &mut labellings);
    let exact = Options { tolerance: 1e-10, ..Options::default() };
    let margin = |labels: Vec<u32>| {
        let found = of_labels(points, &labels, k, &exact).unwrap().separated();
        found.map(|found| (labels, found))
    };
    let mut all: Vec<_> = labellings.into_iter().filter_map(margin).collect();
    all.sort_by(|a, b| b.1.margin.total_cmp(&a.1.margin));
    all
}

/// A classifier near the widest one.
fn nearby(points: Points<'_>, labels: &[u32], widest: &Classifier, seed: u64) -> Classifier {
    let noise = random(widest.weights.len(), seed);
    let shifted = |amount: f64| {
        let weights = widest.weights.iter().zip(&noise).map(|(w, e)| w + amount * e).collect();
        Classifier::new(weights, widest.biases.clone(), widest.m()).unwrap()
    };
    let amounts = (0..).map(|i| 0.2 * 0.5f64.powi(i));
    amounts.map(shifted).find(|c| c.labels(points) == labels).unwrap()
}

/// A fair problem solved by brute force, with a start near the widest classifier.
struct Case {
    x: Vec<f64>,
    k: usize,
    bounds: Bounds,
    /// Separable fair labellings, the widest first.
    all: Vec<(Vec<u32>, MaxMargin)>,
    start: Classifier,
}

impl Case {
    fn new(n: usize, k: usize, seed: u64) -> Self {
        let x = random(2 * n, seed);
        let points = Points::new(&x, 2).unwrap();
        let all = by_brute_force(points, k);
        let start = nearby(points, &all[0].0, &all[0].1.classifier, seed + 100);
        let bounds = Bounds::exact(&vec![1.0 / k as f64; k], n).unwrap();
        Self { x, k, bounds, all, start }
    }

    fn points(&self) -> Points<'_> {
        Points::new(&self.x, 2).unwrap()
    }

    fn widest(&self) -> &MaxMargin {
        &self.all[0].1
    }

    /// Steps from losses of e^−20 to e^−5000.
    fn follow(&self, alpha: f64, allowed: Allowed<'_>) -> Vec<Step> {
        let norms = path::norms(self.widest().margin, alpha, 20.0, 5000.0, 20);
        let towards = Some(&self.widest().classifier);
        follow(self.points(), &self.start, towards, allowed, &path::Options::new(alpha, norms)).unwrap()
    }
}

/// Mean R_α(σ) by the plain formula.
fn mean_entropy(points: Points<'_>, classifier: &Classifier, alpha: f64) -> f64 {
    let entropy = |row: &[f64]| {
        let mut log_sigma = vec![0.0; classifier.k()];
        log_softmax(&classifier.logits(row), &mut log_sigma);
        renyi::value(alpha, &log_sigma)
    };
    points.rows().map(entropy).sum::<f64>() / points.n() as f64
}

#[test]
fn the_direction_turns_to_the_widest_fair_clustering_for_every_order() {
    for ((n, k), seed) in SHAPES.into_iter().flat_map(|shape| (0..3).map(move |seed| (shape, seed))) {
        let case = Case::new(n, k, seed);
        for alpha in ORDERS {
            let steps = case.follow(alpha, Allowed::Sizes(&case.bounds));
            let angle = |i: usize| steps[i].angle.unwrap();
            assert!(angle(19) < 1e-3, "{n} {k} {seed} {alpha}: {}", angle(19));
            // Until losses reach e^-100, the rows that determine the margin may still change, and the direction with
            // them. Where only two rows determine it, the angle is mere rounding soon after.
            for i in (1..20).filter(|&i| steps[i - 1].log_loss < -100.0) {
                assert!(angle(i) < angle(i - 1).max(1e-7), "{n} {k} {seed} {alpha}: step {i}, {}", angle(i));
                assert!(angle(i) < 1e-2);
            }
            let last = &steps[19];
            assert!(last.imbalance < 1e-6 && last.margin <= case.widest().margin * (1.0 + 1e-9));
            assert!(last.margin > 0.999 * case.widest().margin, "{} {}", last.margin, case.widest().margin);
        }
    }
}

#[test]
fn the_angle_falls_as_one_over_the_norm() {
    let case = Case::new(9, 3, 1);
    for alpha in ORDERS {
        let steps = case.follow(alpha, Allowed::Sizes(&case.bounds));
        let scaled = |s: &Step| s.norm * s.angle.unwrap();
        assert!((scaled(&steps[19]) / scaled(&steps[14]) - 1.0).abs() < 0.02, "{alpha}");
    }
}

#[test]
fn the_lowest_loss_is_that_of_the_widest_fair_clustering() {
    for (n, k) in SHAPES {
        let case = Case::new(n, k, 7);
        for alpha in ORDERS {
            let options =
                path::Options::new(alpha, path::norms(case.widest().margin, alpha, 50.0, 2000.0, 8));
            let loss = |(labels, own): &(Vec<u32>, MaxMargin)| {
                let steps =
                    follow(case.points(), &own.classifier, None, Allowed::Labels(labels), &options).unwrap();
                steps[7].log_loss
            };
            let losses: Vec<f64> = case.all.iter().map(loss).collect();
            assert!(
                losses.len() > 2 && losses[1..].iter().all(|l| *l > losses[0]),
                "{n} {k} {alpha}: {losses:?}"
            );
        }
    }
}

#[test]
fn with_the_labels_given_the_path_is_the_same() {
    let case = Case::new(8, 4, 0);
    for alpha in ORDERS {
        let free = case.follow(alpha, Allowed::All);
        let supervised = case.follow(alpha, Allowed::Labels(&case.all[0].0));
        assert_eq!(free[19].classifier.labels(case.points()), case.all[0].0);
        assert!(free[19].classifier.angle(&supervised[19].classifier) < 1e-6, "{alpha}");
    }
}

#[test]
fn order_zero_goes_nowhere() {
    for (n, k) in SHAPES {
        let case = Case::new(n, k, 0);
        let steps = case.follow(0.0, Allowed::Sizes(&case.bounds));
        let apart = case.start.angle(&case.widest().classifier);
        assert!(apart > 1e-2, "{apart}");
        for step in steps {
            assert!(step.angle.unwrap() > 1e-2 && step.log_gamma == f64::NEG_INFINITY, "{step:?}");
            assert!((step.log_loss - (case.k as f64).ln().ln()).abs() < 1e-12);
        }
    }
}

#[test]
fn without_the_norm_every_separating_direction_is_as_good() {
    for (n, k) in SHAPES {
        let case = Case::new(n, k, 0);
        // The widest classifier, one near it, and one of another labelling: the loss falls to zero along each, so no
        // direction is the minimum.
        for direction in [&case.widest().classifier, &case.start, &case.all[1].1.classifier] {
            let grow = |by: f64, values: &[f64]| values.iter().map(|v| by * v).collect();
            let at = |lead: f64, alpha: f64| {
                let by = lead / direction.margin(case.points());
                let grown =
                    Classifier::new(grow(by, &direction.weights), grow(by, &direction.biases), 2).unwrap();
                mean_entropy(case.points(), &grown, alpha)
            };
            for alpha in [0.5, 1.0, 2.0, f64::INFINITY] {
                assert!(at(200.0, alpha) < 1e-12 * at(2.0, alpha), "{n} {k} {alpha}");
                assert!(at(1000.0, alpha) < 1e-100, "{n} {k} {alpha}");
            }
        }
        assert!(case.all[1].1.classifier.angle(&case.widest().classifier) > 0.1);
    }
}

/// The minimum of γ‖W‖² + a self-labelling loss, starting from a classifier.
fn self_labelled(points: Points<'_>, loss: &SelfLabelled, gamma: f64, start: &Classifier) -> Classifier {
    let (k, m) = (start.k(), start.m());
    let mut v: Vec<f64> = start.weights.iter().chain(&start.biases).copied().collect();
    let (mut ws, mut slope) = (Workspace::default(), vec![0.0; points.n() * k]);
    let options = lbfgs::Options { history: 20, max_iterations: 2000, tolerance: 1e-11 };
    lbfgs::minimise(&mut v, &options, |v, gradient| {
        let at = Classifier::new(v[..k * m].to_vec(), v[k * m..].to_vec(), m).unwrap();
        let mut log_sigma = vec![0.0; points.n() * k];
        for (row, out) in points.rows().zip(log_sigma.chunks_mut(k)) {
            log_softmax(&at.logits(row), out);
        }
        let batch = Batch { log_sigma: &log_sigma, k, weights: None, known: None };
        let value = loss.value_and_gradient(batch, &mut slope, &mut ws);
        gradient.fill(0.0);
        for (row, slope) in points.rows().zip(slope.chunks(k)) {
            for (c, s) in slope.iter().enumerate() {
                (0..m).for_each(|j| gradient[c * m + j] += s * row[j]);
                gradient[k * m + c] += s;
            }
        }
        gradient.iter_mut().zip(&at.weights).for_each(|(g, w)| *g += 2.0 * gamma * w);
        value + gamma * at.norm().powi(2)
    });
    Classifier::new(v[..k * m].to_vec(), v[k * m..].to_vec(), m).unwrap()
}

/// The paper's conjecture, as observed: a self-labelling loss follows the path of the decisiveness that remains of it
/// with the best labels: Shannon's for reverse cross-entropy, and Rényi's of order 2 for the labels of that order.
#[test]
fn self_labelling_losses_follow_the_path_of_their_decisiveness() {
    for ((n, k), seed) in SHAPES.into_iter().flat_map(|shape| (0..2).map(move |seed| (shape, seed))) {
        let case = Case::new(n, k, seed);
        let (points, widest) = (case.points(), case.widest());
        let exact = Exact { tolerance: 1e-14, ..Exact::default() };
        let renyi = Renyi { tolerance: 1e-14, ..Renyi::new(2.0) };
        let solvers: [(f64, Box<dyn PseudoLabels>); 2] = [(1.0, Box::new(exact)), (2.0, Box::new(renyi))];
        for (alpha, solver) in solvers {
            let loss = SelfLabelled { solver, prior: uniform(k), lambda: 100.0 };
            let grow = |values: &[f64]| values.iter().map(|v| 10.0 / widest.margin * v).collect();
            let mut at = Classifier::new(grow(&case.start.weights), grow(&case.start.biases), 2).unwrap();
            let mut angles = Vec::new();
            for gamma in [-6, -8, -10].map(|e| widest.margin.powi(2) * 10f64.powi(e)) {
                at = self_labelled(points, &loss, gamma, &at);
                angles.push(at.angle(&widest.classifier));
                let options = path::Options::new(alpha, vec![at.norm()]);
                let towards = Some(&widest.classifier);
                let path =
                    follow(points, &case.start, towards, Allowed::Sizes(&case.bounds), &options).unwrap();
                let apart = at.angle(&path[0].classifier);
                assert!(apart < 1e-3, "{n} {k} {seed} {alpha} {gamma:e}: {apart} from the path");
            }
            assert_eq!(at.labels(points), case.all[0].0);
            assert!(angles[2] < angles[0], "{n} {k} {seed} {alpha}: {angles:?}");
        }
    }
}

#[test]
fn the_gamma_told_makes_the_weights_stationary() {
    let case = Case::new(9, 3, 2);
    for alpha in ORDERS {
        let norms = path::norms(case.widest().margin, alpha, 4.0, 8.0, 3);
        let steps = follow(case.points(), &case.start, None, Allowed::All, &path::Options::new(alpha, norms))
            .unwrap();
        for step in steps {
            let at = |i: usize, shift: f64| {
                let mut moved = step.classifier.clone();
                let all = moved.weights.iter_mut().chain(&mut moved.biases);
                all.enumerate().filter(|(j, _)| *j == i).for_each(|(_, v)| *v += shift);
                let loss = mean_entropy(case.points(), &moved, alpha);
                loss + step.log_gamma.exp() * moved.norm().powi(2)
            };
            let plain = mean_entropy(case.points(), &step.classifier, alpha);
            assert!((step.log_loss - plain.ln()).abs() < 1e-9, "{alpha}: {} {}", step.log_loss, plain.ln());
            for i in 0..9 {
                let slope = (at(i, 1e-4) - at(i, -1e-4)) / 2e-4;
                assert!(slope.abs() < 1e-6 * plain, "{alpha}: variable {i}, {slope} beside {plain}");
            }
        }
    }
}

#[test]
fn bad_options_are_refused() {
    let case = Case::new(10, 2, 0);
    let refused = |alpha, norm, allowed| {
        let options = path::Options::new(alpha, vec![norm]);
        follow(case.points(), &case.start, None, allowed, &options).unwrap_err().to_string()
    };
    assert!(refused(1.0005, 1.0, Allowed::All).contains("alpha = 1.0005"));
    assert!(refused(-1.0, 1.0, Allowed::All).contains("alpha = -1"));
    assert!(refused(1.0, 0.0, Allowed::All).contains("norm = 0"));
    assert!(refused(1.0, 1.0, Allowed::Labels(&[0; 10])).contains("labels are allowed"));
}
