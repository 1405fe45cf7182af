//! The path that minimising the decisiveness takes as γ → 0.
//!
//! The paper's theorem: let W(γ) minimise γ‖W‖² + mean R_α(σ) over classifiers whose labels are allowed. As γ → 0, it
//! turns towards the widest classifier of the widest allowed labelling, for every α > 0. It turns only as fast as
//! 1/‖W‖, and ‖W‖ grows like ln(1/γ), so an angle of 1e-2 needs losses near e^-100. Therefore the norm is given here
//! and γ is computed: for each ρ, ln mean R_α is minimised over ‖W‖ = ρ with free biases, starting from the previous
//! direction. At such a minimum 2γW = −∇ mean R_α for some γ.
//!
//! The loss is not convex: this follows one minimum, the one near the start. Two clusters have two rows of
//! weights, as in the rest of the engine; the paper's single w has √2 times their norm and half their γ.

use super::decisive::log_loss;
use super::points::Centred;
use super::{Classifier, Points, add, dot, norm, scale};
use crate::balance::Bounds;
use crate::error::{Error, Result};
use crate::numeric::lbfgs;
use crate::report::{Flow, Observer, Progress, Silent};
use crate::simplex::NEAR_SHANNON;

/// Labellings that a classifier on the path may have. For all others the loss counts as infinite.
#[derive(Debug, Clone, Copy)]
pub enum Allowed<'a> {
    /// Any labelling: the decisiveness alone.
    All,
    /// Only this labelling. The loss is then the paper's supervised one, R_α(σ | y), among classifiers consistent
    /// with y.
    Labels(&'a [u32]),
    /// Labellings with cluster sizes within bounds, such as fair ones.
    Sizes(&'a Bounds),
}

impl Allowed<'_> {
    fn contains(&self, labels: &[u32]) -> bool {
        match self {
            Self::All => true,
            Self::Labels(only) => labels == *only,
            Self::Sizes(bounds) => {
                let mut sizes = vec![0; bounds.lower.len()];
                labels.iter().for_each(|&l| sizes[l as usize] += 1);
                sizes.iter().zip(&bounds.lower).zip(&bounds.upper).all(|((s, lo), hi)| lo <= s && s <= hi)
            }
        }
    }
}

/// Options of [`follow`].
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The order α of the entropy: 0, 1, infinity, or any positive number not within 1e-3 of 1.
    pub alpha: f64,
    /// The norms ρ, in the order in which they are visited. See [`norms`].
    pub norms: Vec<f64>,
    /// How each minimum is found.
    pub descent: lbfgs::Options,
}

impl Options {
    /// The given order and norms, and a descent that is as exact as rounding allows.
    pub fn new(alpha: f64, norms: Vec<f64>) -> Self {
        let descent = lbfgs::Options { history: 30, max_iterations: 2000, tolerance: 1e-9 };
        Self { alpha, norms, descent }
    }

    fn check(&self) -> Result<()> {
        let bad = |name, value: f64, must| Err(Error::Parameter { name, value: value.to_string(), must });
        let near = self.alpha != 1.0 && (self.alpha - 1.0).abs() < NEAR_SHANNON;
        if self.alpha.is_nan() || self.alpha < 0.0 || near {
            return bad("alpha", self.alpha, "at least 0, and 1 itself or not within 1e-3 of it");
        }
        match self.norms.iter().find(|rho| !(rho.is_finite() && **rho > 0.0)) {
            Some(&rho) => bad("norm", rho, "positive and finite"),
            None => Ok(()),
        }
    }
}

/// Norms in geometric progression at which a classifier of this margin has losses from about e^−from to e^−to.
///
/// ```
/// let norms = partita::margin::path::norms(0.5, 1.0, 10.0, 1000.0, 3);
/// assert!(norms.iter().zip([20.0, 200.0, 2000.0]).all(|(a, b)| (a / b - 1.0_f64).abs() < 1e-12));
/// ```
pub fn norms(margin: f64, alpha: f64, from: f64, to: f64, count: usize) -> Vec<f64> {
    // R_α falls like exp(−min(α, 1) ρ margin); R_0 does not fall.
    let rate = margin * if alpha > 0.0 { alpha.min(1.0) } else { 1.0 };
    let growth = (to / from).powf(1.0 / count.saturating_sub(1).max(1) as f64);
    (0..count).map(|i| from * growth.powi(i as i32) / rate).collect()
}

/// The minimum at one norm.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// ρ = ‖W‖.
    pub norm: f64,
    /// W and b.
    pub classifier: Classifier,
    /// ln mean R_α(σ).
    pub log_loss: f64,
    /// ln γ for the γ at which this W is stationary for γ‖W‖² + mean R_α(σ). γ itself may underflow.
    pub log_gamma: f64,
    /// The smallest margin of a row at W/ρ; see [`Classifier::margin`].
    pub margin: f64,
    /// The angle between W and the direction asked for.
    pub angle: Option<f64>,
    /// The part of the gradient that no γ balances, divided by the part that some γ does. Zero at a minimum inside
    /// the allowed set.
    pub imbalance: f64,
    /// Number of descent steps.
    pub iterations: usize,
}

/// Follow the minimum from `start` through all norms; angles are measured to `towards`.
///
/// The result does not depend on the number of threads.
///
/// ```
/// use partita::margin::{Classifier, Points, of_labels, path};
/// let points = Points::new(&[0.0, 0.3, 1.0, -0.5, 4.0, 0.0, 5.0, 1.5], 2)?;
/// let widest = of_labels(points, &[0, 0, 1, 1], 2, &Default::default())?.separated().expect("separable");
/// let start = Classifier::new(vec![-1.0, 0.5, 1.0, -0.5], vec![2.5, -2.5], 2)?;
/// let norms = path::norms(widest.margin, 1.0, 5.0, 1000.0, 12);
/// let options = path::Options::new(1.0, norms);
/// let steps = path::follow(points, &start, Some(&widest.classifier), path::Allowed::All, &options)?;
/// let (first, last) = (&steps[0], &steps[11]);
/// assert!(last.angle < first.angle && last.angle.is_some_and(|a| a < 1e-2));
/// assert!(last.margin <= widest.margin && last.margin > 0.99 * widest.margin);
/// assert!(last.log_gamma < -900.0);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// If an option is out of range, if a classifier has another width or number of clusters, if W is zero, or if the labels of `start` are not allowed.
pub fn follow(
    points: Points<'_>,
    start: &Classifier,
    towards: Option<&Classifier>,
    allowed: Allowed<'_>,
    options: &Options,
) -> Result<Vec<Step>> {
    follow_watched(points, start, towards, allowed, options, &Silent)
}

/// [`follow`] with an observer, which may stop it.
///
/// # Errors
/// The errors of [`follow`], and [`Error::Interrupted`] if the observer asks to stop.
pub fn follow_watched(
    points: Points<'_>,
    start: &Classifier,
    towards: Option<&Classifier>,
    allowed: Allowed<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Vec<Step>> {
    options.check()?;
    check_shapes(points, start, towards, allowed)?;
    let centred = Centred::new(points);
    let mut path = Path { points, centred, k: start.k(), allowed, towards, options, observer, done: 0.0 };
    let mut v = path.variables(start)?;
    let mut steps = Vec::with_capacity(options.norms.len());
    for (i, &rho) in options.norms.iter().enumerate() {
        path.done = i as f64 / options.norms.len() as f64;
        steps.push(path.step(rho, &mut v));
        if path.stopped() {
            return Err(Error::Interrupted);
        }
    }
    Ok(steps)
}

fn check_shapes(
    points: Points<'_>,
    start: &Classifier,
    towards: Option<&Classifier>,
    allowed: Allowed<'_>,
) -> Result<()> {
    if start.m() != points.m() {
        return Err(Error::Width { expected: start.m(), found: points.m() });
    }
    let length = |what, found, expected| match found == expected {
        true => Ok(()),
        false => Err(Error::Length { what, found, expected }),
    };
    if let Some(towards) = towards {
        length("the direction asked for", towards.weights.len(), start.weights.len())?;
    }
    if let Allowed::Sizes(bounds) = allowed {
        length("the lower bounds", bounds.lower.len(), start.k())?;
        length("the upper bounds", bounds.upper.len(), start.k())?;
    }
    if !allowed.contains(&start.labels(points)) {
        let value = "labels outside of the allowed set".to_string();
        return Err(Error::Parameter { name: "start", value, must: "a classifier whose labels are allowed" });
    }
    Ok(())
}

struct Path<'a> {
    points: Points<'a>,
    centred: Centred,
    k: usize,
    allowed: Allowed<'a>,
    towards: Option<&'a Classifier>,
    options: &'a Options,
    observer: &'a dyn Observer,
    /// Share of the norms visited so far.
    done: f64,
}

/// The loss in the variables of the descent: the logits of centred rows x are s (V x/‖V‖ + c).
struct Point {
    value: f64,
    /// Gradients with respect to s V/‖V‖ and to s c.
    weights: Vec<f64>,
    biases: Vec<f64>,
    /// The part of `weights` along V.
    radial: f64,
}

impl Path<'_> {
    /// V with ‖V‖ = 1, followed by c. The mean of V over the clusters is removed: it would only add to the norm.
    fn variables(&self, start: &Classifier) -> Result<Vec<f64>> {
        let m = self.centred.m;
        let mut shared = vec![0.0; m];
        start.weights.chunks_exact(m).for_each(|w| add(&mut shared, 1.0 / self.k as f64, w));
        let mut v = start.weights.clone();
        v.chunks_exact_mut(m).for_each(|w| add(w, -1.0, &shared));
        let length = norm(&v);
        if !(length > 0.0 && length.is_finite()) {
            let value = length.to_string();
            return Err(Error::Parameter {
                name: "the norm of the start",
                value,
                must: "positive and finite",
            });
        }
        let mut c = self.centred.biases_inside(&start.weights, &start.biases);
        scale(&mut v, 1.0 / length);
        scale(&mut c, 1.0 / length);
        v.extend(c);
        Ok(v)
    }

    fn step(&self, rho: f64, v: &mut [f64]) -> Step {
        let size = self.k * self.centred.m;
        let s = rho * self.centred.radius;
        let descent = lbfgs::minimise(v, &self.options.descent, |v, out| self.descend(s, v, out));
        let length = norm(&v[..size]);
        scale(&mut v[..size], 1.0 / length);
        let (unit, c) = v.split_at(size);
        let mut classifier =
            Classifier { weights: unit.to_vec(), biases: self.centred.biases_outside(unit, c) };
        let margin = classifier.margin(self.points);
        scale(&mut classifier.weights, rho);
        scale(&mut classifier.biases, rho);
        let point = self.point(s, v);
        let (log_loss, radial) = point.as_ref().map_or((f64::INFINITY, f64::NAN), |p| (p.value, p.radial));
        Step {
            norm: rho,
            log_loss,
            log_gamma: log_loss + (-s * radial).max(0.0).ln() - (2.0 * rho * rho).ln(),
            margin,
            angle: self.towards.map(|towards| classifier.angle(towards)),
            imbalance: point.map_or(f64::NAN, |p| p.imbalance(unit)),
            iterations: descent.iterations,
            classifier,
        }
    }

    fn point(&self, s: f64, v: &[f64]) -> Option<Point> {
        let (weights, biases) = v.split_at(self.k * self.centred.m);
        let length = norm(weights);
        let weights: Vec<f64> = weights.iter().map(|w| w * s / length).collect();
        let biases: Vec<f64> = biases.iter().map(|c| c * s).collect();
        let allowed = |labels: &[u32]| self.allowed.contains(labels);
        let loss = log_loss(&self.centred, &weights, &biases, self.options.alpha, allowed)?;
        let radial = dot(&weights, &loss.weights) / s;
        Some(Point { value: loss.value, weights: loss.weights, biases: loss.biases, radial })
    }

    fn stopped(&self) -> bool {
        self.observer.progress(Progress { stage: "path", done: self.done, loss: None }) == Flow::Stop
    }

    fn descend(&self, s: f64, v: &[f64], out: &mut [f64]) -> f64 {
        // Without a finite loss the descent ends at once.
        let point = if self.stopped() { None } else { self.point(s, v) };
        let Some(point) = point else {
            out.fill(f64::NAN);
            return f64::INFINITY;
        };
        let (weights, biases) = out.split_at_mut(point.weights.len());
        let v = &v[..weights.len()];
        let length = norm(v);
        weights.copy_from_slice(&point.weights);
        add(weights, -point.radial / length, v);
        scale(weights, s / length);
        biases.copy_from_slice(&point.biases);
        scale(biases, s);
        point.value
    }
}

impl Point {
    fn imbalance(mut self, unit: &[f64]) -> f64 {
        add(&mut self.weights, -self.radial, unit);
        norm(&self.weights).hypot(norm(&self.biases)) / self.radial.abs()
    }
}
