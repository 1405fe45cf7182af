//! L-BFGS on functions with a known minimum, and at the limits of the arithmetic.

use partita::numeric::lbfgs::{Minimum, Options, minimise};
use partita::report::StopReason;
use partita::rng::{Stream, stream};
use rand::RngExt;

fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    let mut value = 0.0;
    for i in 0..x.len() - 1 {
        let (valley, slope) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
        value += 100.0 * valley * valley + slope * slope;
        gradient[i] += -400.0 * x[i] * valley - 2.0 * slope;
        gradient[i + 1] += 200.0 * valley;
    }
    value
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// The minimum without its long trace.
fn summary(minimum: &Minimum) -> String {
    let Minimum { iterations, evaluations, value, gradient_norm, stop, .. } = minimum;
    format!(
        "{value:e}, gradient {gradient_norm:e}, {iterations} iterations, {evaluations} evaluations, {stop:?}"
    )
}

fn norm(a: &[f64]) -> f64 {
    distance(a, &vec![0.0; a.len()])
}

/// Value and gradient of mean ln(1 + exp(-t wᵀx)) + decay ‖w‖² over fixed random rows.
struct Logistic {
    rows: Vec<[f64; 4]>,
    signs: Vec<f64>,
    decay: f64,
}

impl Logistic {
    fn new() -> Self {
        let mut rng = stream(3, Stream::Synthetic, 0);
        let mut draw = || rng.random_range(-1.0..1.0);
        let rows: Vec<[f64; 4]> = (0..200).map(|_| [draw(), 3.0 * draw(), draw(), 1.0]).collect();
        let signs = rows.iter().map(|r| if r[0] + 0.5 * r[1] + draw() > 0.2 { 1.0 } else { -1.0 }).collect();
        Self { rows, signs, decay: 1e-3 }
    }

    fn value(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let n = self.rows.len() as f64;
        let mut value = self.decay * w.iter().map(|v| v * v).sum::<f64>();
        gradient.iter_mut().zip(w).for_each(|(g, v)| *g = 2.0 * self.decay * v);
        for (row, t) in self.rows.iter().zip(&self.signs) {
            let margin = t * row.iter().zip(w).map(|(x, v)| x * v).sum::<f64>();
            value += (-margin).exp().ln_1p() / n;
            let pull = -t / (1.0 + margin.exp()) / n;
            gradient.iter_mut().zip(row).for_each(|(g, x)| *g += pull * x);
        }
        value
    }

    /// Newton's method with the exact Hessian: the oracle.
    fn newton(&self) -> Vec<f64> {
        let mut w = vec![0.0; 4];
        for _ in 0..30 {
            let mut gradient = vec![0.0; 4];
            self.value(&w, &mut gradient);
            let mut system = [[0.0; 5]; 4];
            for (i, equation) in system.iter_mut().enumerate() {
                equation[i] = 2.0 * self.decay;
                equation[4] = gradient[i];
            }
            for row in &self.rows {
                let p = 1.0 / (1.0 + (-row.iter().zip(&w).map(|(x, v)| x * v).sum::<f64>()).exp());
                for i in 0..4 {
                    for j in 0..4 {
                        system[i][j] += p * (1.0 - p) * row[i] * row[j] / self.rows.len() as f64;
                    }
                }
            }
            let step = solve(system);
            w.iter_mut().zip(step).for_each(|(v, s)| *v -= s);
        }
        w
    }
}

/// Gauss-Jordan on a positive definite system with its right side as the last column.
fn solve(mut a: [[f64; 5]; 4]) -> [f64; 4] {
    for pivot in 0..4 {
        let row = a[pivot].map(|v| v / a[pivot][pivot]);
        a[pivot] = row;
        for (_, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
            let factor = other[pivot];
            other.iter_mut().zip(row).for_each(|(o, r)| *o -= factor * r);
        }
    }
    a.map(|row| row[4])
}

#[test]
fn rosenbrock_valleys_are_followed_to_the_end() {
    for (dimensions, evaluations) in [(2, 80), (50, 400)] {
        let mut x = [-1.2, 1.0].repeat(dimensions / 2);
        let minimum = minimise(&mut x, &Options { tolerance: 1e-12, ..Options::default() }, rosenbrock);
        assert_eq!(minimum.stop, StopReason::Converged);
        assert!(distance(&x, &vec![1.0; dimensions]) < 1e-9, "{dimensions}: {x:?}");
        assert!(minimum.evaluations <= evaluations, "{dimensions}: {} evaluations", minimum.evaluations);
    }
}

#[test]
fn an_ill_conditioned_quadratic_reaches_its_closed_form() {
    let curvature: Vec<f64> = (0..40).map(|i| 10f64.powf(f64::from(i) * 4.0 / 39.0)).collect();
    let centre: Vec<f64> = (0..40).map(|i| f64::from(i).sin()).collect();
    // If the minimum value is not 0, its rounding hides small decreases, and with them the last digits of x.
    for (lowest, tolerance) in [(0.0, 1e-10), (7.0, 1e-6)] {
        let mut x = vec![0.0; 40];
        let options = Options { tolerance: 1e-14, max_iterations: 5000, ..Options::default() };
        let minimum = minimise(&mut x, &options, |x, gradient| {
            let mut value = lowest;
            for i in 0..x.len() {
                gradient[i] = curvature[i] * (x[i] - centre[i]);
                value += 0.5 * gradient[i] * (x[i] - centre[i]);
            }
            value
        });
        let off = distance(&x, &centre);
        assert_eq!(minimum.stop, StopReason::Converged);
        assert!(off < tolerance, "{off} after {} iterations", minimum.iterations);
    }
}

#[test]
fn logistic_regression_agrees_with_newton() {
    let problem = Logistic::new();
    let mut w = vec![0.0; 4];
    let options = Options { tolerance: 1e-11, ..Options::default() };
    let minimum = minimise(&mut w, &options, |w, gradient| problem.value(w, gradient));
    let oracle = problem.newton();
    assert!(distance(&w, &oracle) < 1e-9 * norm(&oracle), "{w:?} {oracle:?}");
    assert!(minimum.stop == StopReason::Converged && minimum.iterations < 40, "{}", summary(&minimum));
}

/// Rosenbrock with errors of about `noise` in the gradient, different at every point.
fn noisy(noise: f64, start: &[f64]) -> (Vec<f64>, Minimum) {
    let mut x = start.to_vec();
    let minimum = minimise(&mut x, &Options { tolerance: 1e-15, ..Options::default() }, |x, gradient| {
        let value = 3.0 + rosenbrock(x, gradient);
        for (g, v) in gradient.iter_mut().zip(x) {
            // A hash of the bits: unlike a smooth error, it has no minimum of its own.
            let hash =
                v.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0x85eb_ca6b);
            *g += noise * (hash as f64 / u64::MAX as f64 - 0.5);
        }
        value
    });
    (x, minimum)
}

#[test]
fn noise_in_the_gradient_ends_the_search_near_the_minimum() {
    for dimensions in [2, 10, 50] {
        let (_, minimum) = noisy(1e-7, &vec![0.5; dimensions]);
        assert_eq!(minimum.stop, StopReason::Converged, "{}", summary(&minimum));
        assert!(minimum.value - 3.0 < 1e-9 && minimum.evaluations < 1000, "{}", summary(&minimum));
    }
}

#[test]
fn the_result_is_never_worse_than_the_start() {
    for noise in [1e-7, 1e-3, 10.0] {
        for shift in 0..20 {
            // Starts at and around the minimum, where there is nothing but noise and rounding.
            let start = vec![1.0 + 1e-9 * f64::from(shift); 6];
            let (x, minimum) = noisy(noise, &start);
            let mut unused = vec![0.0; 6];
            let (before, after) = (3.0 + rosenbrock(&start, &mut unused), 3.0 + rosenbrock(&x, &mut unused));
            assert!(after <= before, "{before} became {after} with noise {noise}");
            assert_eq!((minimum.value, minimum.trace[0]), (after, before));
        }
    }
}

#[test]
fn the_same_start_gives_the_same_bits() {
    let (a, first) = noisy(1e-7, &[0.3; 20]);
    let (b, second) = noisy(1e-7, &[0.3; 20]);
    assert_eq!((a, first), (b, second));
}

#[test]
fn values_outside_the_domain_shorten_the_step() {
    // 8x - ln x is NaN below 0, where the first step (of length 1, to the left) leads.
    let (mut x, mut outside) = ([0.5], 0);
    let minimum = minimise(&mut x, &Options::default(), |x, gradient| {
        outside += usize::from(x[0] < 0.0);
        gradient[0] = 8.0 - 1.0 / x[0];
        8.0 * x[0] - x[0].ln()
    });
    assert!(outside > 0 && (x[0] - 0.125).abs() < 1e-8, "{}", summary(&minimum));
}

#[test]
fn a_start_that_is_not_finite_is_returned_as_it_is() {
    let mut x = [-1.0];
    let minimum = minimise(&mut x, &Options::default(), |x, gradient| {
        gradient[0] = 1.0 - 1.0 / x[0];
        x[0] - x[0].ln()
    });
    assert_eq!((x, minimum.iterations, minimum.stop), ([-1.0], 0, StopReason::Finished));
}

#[test]
fn a_function_scaled_by_a_power_of_two_takes_the_same_path() {
    let run = |scale: f64| {
        let mut x = vec![-1.2, 1.0, 0.3];
        let minimum = minimise(&mut x, &Options::default(), |x, gradient| {
            let value = rosenbrock(x, gradient);
            gradient.iter_mut().for_each(|g| *g *= scale);
            scale * value
        });
        (x, minimum.iterations, minimum.evaluations)
    };
    assert_eq!(run(1.0), run(2f64.powi(-20)));
}

#[test]
fn the_trace_has_the_start_and_every_iteration() {
    let mut x = vec![-1.2, 1.0];
    let options = Options { max_iterations: 7, ..Options::default() };
    let minimum = minimise(&mut x, &options, rosenbrock);
    assert_eq!((minimum.iterations, minimum.trace.len(), minimum.stop), (7, 8, StopReason::Finished));
    assert!(minimum.trace.is_sorted_by(|a, b| a > b), "{:?}", minimum.trace);
}
