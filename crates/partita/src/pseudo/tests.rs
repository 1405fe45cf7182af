//! Claims about the solvers together.

use super::*;
use crate::entropy::Fairness;
use crate::entropy::renyi;
use crate::entropy::testing::{assert_close, log_sigma};
use crate::objective::testing::{Sample, sample};
use crate::rng::{Stream, stream};
use crate::simplex::uniform;
use proptest::prelude::*;
use rand::RngExt;

const WEAK: Exact = Exact { fairness: Fairness::Weak, tolerance: 1e-10, max_iterations: 100 };
/// A mismatch counts up to (u/ȳ)² times in the optimality conditions, and known rows can make that 100.
const SHARP: Exact = Exact { fairness: Fairness::Strong, tolerance: 1e-12, max_iterations: 100 };
const PATIENT: Em = Em { max_iterations: 1_000_000, tolerance: 1e-13 };

fn solvers() -> Vec<Box<dyn PseudoLabels>> {
    let weak = Newton { fairness: Fairness::Weak, ..Newton::default() };
    let few = Em { max_iterations: 7, tolerance: 0.0 };
    vec![
        Box::new(few),
        Box::new(Exact::default()),
        Box::new(WEAK),
        Box::new(Newton::default()),
        Box::new(weak),
        Box::new(Renyi::new(2.5)),
    ]
}

fn labels(solver: &dyn PseudoLabels, s: &Sample, lambda: f64) -> (Vec<f64>, Solved) {
    let l = s.log_sigma();
    let mut y = vec![f64::NAN; l.len()];
    let problem = Problem { batch: s.batch(&l), prior: &s.prior, lambda };
    let solved = solver.solve(&problem, &mut y, &mut Workspace::default());
    (y, solved)
}

fn optimality(solver: &dyn PseudoLabels, s: &Sample, lambda: f64, y: &[f64]) -> f64 {
    let l = s.log_sigma();
    solver.surrogate().optimality(&Problem { batch: s.batch(&l), prior: &s.prior, lambda }, y)
}

/// `n` rows of normal-like logits of the given spread.
fn random(n: usize, k: usize, spread: f64, seed: u64) -> Sample {
    let mut rng = stream(seed, Stream::Sample, 0);
    let z = (0..n * k).map(|_| spread * (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>()).collect();
    Sample { z, k, weights: vec![1.0; n], known: vec![-1; n], prior: uniform(k) }
}

fn assert_on_simplex(y: &[f64], k: usize) {
    for row in y.chunks(k) {
        assert!(row.iter().all(|y| *y >= 0.0) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
    }
}

/// From 0.001 to 10,000.
fn any_lambda() -> impl Strategy<Value = f64> {
    (-3.0..4.0).prop_map(|e: f64| 10f64.powf(e))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn all_solvers_agree_at_convergence(s in sample(), lambda in 0.01..30.0) {
        let (exact, solved) = labels(&Exact::default(), &s, lambda);
        prop_assert!(solved.converged, "{:?}", solved);
        assert_close(&labels(&Newton::default(), &s, lambda).0, &exact, 1e-6);
        assert_close(&labels(&PATIENT, &s, lambda).0, &exact, 1e-6);
        let (weak, solved) = labels(&WEAK, &s, lambda);
        prop_assert!(solved.converged, "{:?}", solved);
        let newton = Newton { fairness: Fairness::Weak, ..Newton::default() };
        assert_close(&labels(&newton, &s, lambda).0, &weak, 1e-6);
    }

    #[test]
    fn the_optimality_conditions_hold_for_every_lambda(s in sample(), lambda in any_lambda()) {
        let weak = Exact { fairness: Fairness::Weak, ..SHARP };
        let renyi = Renyi { tolerance: 1e-12, ..Renyi::new(1.7) };
        // Rényi labels of one row against many known ones jump, and have no interior-point method to help.
        let solvers: [(Box<dyn PseudoLabels>, usize); 3] = [(Box::new(SHARP), 40), (Box::new(weak), 40), (Box::new(renyi), 100)];
        for (solver, most) in solvers {
            let (y, solved) = labels(&*solver, &s, lambda);
            prop_assert!(solved.converged && solved.iterations <= most, "{:?} {:?}", solver.surrogate(), solved);
            assert_on_simplex(&y, s.k);
            let optimality = optimality(&*solver, &s, lambda, &y);
            prop_assert!(optimality < 1e-9, "{} after {:?}", optimality, solved);
        }
    }

    #[test]
    fn the_loss_never_rises_along_em(s in sample(), lambda in any_lambda()) {
        let l = s.log_sigma();
        let problem = Problem { batch: s.batch(&l), prior: &s.prior, lambda };
        let mut before = f64::INFINITY;
        for max_iterations in 1..12 {
            let (y, solved) = labels(&Em { max_iterations, tolerance: 0.0 }, &s, lambda);
            let loss = Surrogate::OURS.loss(&problem, &y);
            prop_assert!(loss <= before + 1e-12 * (1.0 + loss.abs()), "{} then {}", before, loss);
            prop_assert!(solved.iterations == max_iterations || solved.residual == 0.0);
            before = loss;
        }
        let (best, _) = labels(&Exact::default(), &s, lambda);
        prop_assert!(Surrogate::OURS.loss(&problem, &best) <= before + 1e-9 * (1.0 + before.abs()));
    }

    #[test]
    fn a_weight_is_a_repetition(s in sample(), lambda in 0.1..100.0) {
        let (weighted, repeated) = (s.clone().with_integer_weights(), s.repeated());
        for solver in solvers() {
            let (a, b) = (labels(&*solver, &weighted, lambda).0, labels(&*solver, &repeated, lambda).0);
            let mut copies = b.chunks(s.k);
            for (row, w) in a.chunks(s.k).zip(&weighted.weights) {
                for _ in 0..*w as usize {
                    assert_close(row, copies.next().unwrap(), 1e-6);
                }
            }
        }
    }

    #[test]
    fn known_labels_are_kept_and_counted(s in sample(), lambda in 0.1..100.0) {
        for solver in solvers() {
            let (y, _) = labels(&*solver, &s, lambda);
            assert_on_simplex(&y, s.k);
            for (row, known) in y.chunks(s.k).zip(&s.known).filter(|(_, known)| **known >= 0) {
                prop_assert_eq!(row[*known as usize], 1.0);
            }
        }
    }

    #[test]
    fn a_used_workspace_changes_nothing(a in sample(), b in sample()) {
        for solver in solvers() {
            let mut ws = Workspace::default();
            for s in [&a, &b, &a] {
                let l = s.log_sigma();
                let mut y = vec![0.5; l.len()];
                solver.solve(&Problem { batch: s.batch(&l), prior: &s.prior, lambda: 9.0 }, &mut y, &mut ws);
                prop_assert_eq!(y, labels(&*solver, s, 9.0).0);
            }
        }
    }

    #[test]
    fn renyi_entropy_is_the_least_coupling(z in prop::collection::vec(-4.0..4.0, 4), alpha in 1.05..30.0) {
        let (l, coupling) = (log_sigma(&z, 4), Coupling::Renyi { alpha });
        let powers: Vec<f64> = l.iter().map(|l| alpha * l).collect();
        let best: Vec<f64> = log_sigma(&powers, 4).iter().map(|l| l.exp()).collect();
        let least = renyi::value(alpha, &l);
        prop_assert!((coupling.value(&l, &best) - least).abs() < 1e-10 * alpha / (alpha - 1.0));
        for other in [vec![0.25; 4], l.iter().map(|l| l.exp()).collect()] {
            prop_assert!(coupling.value(&l, &other) >= least - 1e-12);
        }
    }
}

#[test]
fn one_em_iteration_at_infinite_lambda_divides_by_the_mean() {
    let s = random(30, 4, 3.0, 1);
    let prior = [0.1, 0.2, 0.3, 0.4];
    let s = Sample { prior: prior.to_vec(), ..s };
    let (y, _) = labels(&Em { max_iterations: 1, tolerance: 0.0 }, &s, 1e14);
    let sigma: Vec<f64> = s.log_sigma().iter().map(|l| l.exp()).collect();
    let mean: Vec<f64> = (0..4).map(|k| sigma.iter().skip(k).step_by(4).sum::<f64>() / 30.0).collect();
    for (y, sigma) in y.chunks(4).zip(sigma.chunks(4)) {
        let fair: Vec<f64> = (0..4).map(|k| sigma[k] * prior[k] / mean[k]).collect();
        let sum: f64 = fair.iter().sum();
        assert_close(y, &fair.iter().map(|v| v / sum).collect::<Vec<_>>(), 1e-10);
    }
}

#[test]
fn many_em_iterations_at_infinite_lambda_are_exactly_fair() {
    let s = random(200, 5, 6.0, 2);
    let (y, _) = labels(&Em { max_iterations: 3000, tolerance: 0.0 }, &s, 1e9);
    let shares: Vec<f64> = (0..5).map(|k| y.iter().skip(k).step_by(5).sum::<f64>() / 200.0).collect();
    assert_close(&shares, &s.prior, 1e-6);
}

#[test]
fn the_exact_solver_takes_few_steps_at_every_size() {
    // The hard ones have nearly one-hot predictions that are far from fair: almost an assignment problem, whose
    // dual is all kinks.
    let easy = [(1000, 2, 4.0, 8), (1000, 20, 8.0, 8), (4000, 10, 8.0, 8)];
    let hard = [(500, 100, 12.0, 25), (256, 10, 40.0, 25), (4000, 10, 40.0, 25)];
    for (n, k, spread, most) in easy.into_iter().chain(hard) {
        let s = random(n, k, spread, 3);
        for lambda in [0.01, 1.0, 100.0, 1e4] {
            for solver in [Exact::default(), WEAK] {
                let (y, solved) = labels(&solver, &s, lambda);
                let case = format!("K = {k}, λ = {lambda}, {:?}: {solved:?}", solver.fairness);
                assert!(solved.converged && solved.iterations <= most, "{case}");
                let optimality = optimality(&solver, &s, lambda, &y);
                assert!(optimality < 1e-9, "{case}, {optimality}");
            }
        }
    }
}

#[test]
fn clusters_that_no_row_predicts_give_no_nan() {
    for dead in 1..4 {
        for floor in [-30.0, -200.0, -1e4] {
            let mut s = random(40, 5, 4.0, 4);
            for row in s.z.chunks_mut(5) {
                row[..dead].iter_mut().for_each(|z| *z += floor);
            }
            for lambda in [1e-3, 1.0, 100.0, 1e4] {
                for solver in solvers() {
                    let (y, solved) = labels(&*solver, &s, lambda);
                    assert!(solved.residual.is_finite(), "{solved:?}");
                    assert_on_simplex(&y, 5);
                }
                let (y, solved) = labels(&Exact::default(), &s, lambda);
                assert!(solved.converged, "{dead} dead at {floor}, λ = {lambda}: {solved:?}");
                if lambda >= 100.0 {
                    let share: f64 =
                        y.chunks(5).map(|row| row[..dead].iter().sum::<f64>()).sum::<f64>() / 40.0;
                    assert!(
                        (share / (0.2 * dead as f64) - 1.0).abs() < 0.1,
                        "strong fairness fills them: {share}"
                    );
                }
            }
        }
    }
}

/// Slow oracle: exponentiated gradient on the whole loss.
fn mirror_descent(surrogate: Surrogate, problem: &Problem<'_>, alpha: f64) -> Vec<f64> {
    let k = problem.batch.k;
    let mut y = vec![1.0 / k as f64; problem.batch.log_sigma.len()];
    let mut mean = vec![];
    for _ in 0..20_000 {
        surrogate::mean_labels(problem.batch, &y, &mut mean);
        for (y, l) in y.chunks_mut(k).zip(problem.batch.log_sigma.chunks(k)) {
            for c in 0..k {
                let coupling = (1.0 + y[c].ln() - alpha * l[c]) / (alpha - 1.0);
                y[c] *= (-0.02
                    * (coupling + problem.lambda * surrogate.fairness.slope(mean[c], problem.prior[c])))
                .exp();
            }
            let sum: f64 = y.iter().sum();
            y.iter_mut().for_each(|y| *y /= sum);
        }
    }
    y
}

#[test]
fn renyi_labels_agree_with_mirror_descent() {
    for (alpha, lambda) in [(1.3, 1.0), (2.0, 10.0), (6.0, 3.0)] {
        let s = random(20, 3, 4.0, 5);
        let l = s.log_sigma();
        let problem = Problem { batch: s.batch(&l), prior: &[0.5, 0.2, 0.3], lambda };
        let (mut y, solver) = (vec![0.0; l.len()], Renyi::new(alpha));
        let solved = solver.solve(&problem, &mut y, &mut Workspace::default());
        assert!(solved.converged && solved.iterations <= 10, "{solved:?}");
        assert_close(&y, &mirror_descent(solver.surrogate(), &problem, alpha), 1e-6);
    }
}

#[test]
fn a_large_order_gives_hard_fair_labels() {
    let s = random(400, 8, 6.0, 6);
    let (y, solved) = labels(&Renyi::new(2000.0), &s, 100.0);
    assert!(solved.converged, "{solved:?}");
    let soft = y.chunks(8).filter(|row| row.iter().copied().fold(0.0, f64::max) < 0.99).count();
    assert!(soft <= 20, "{soft} rows are undecided");
    let shares: Vec<f64> = (0..8).map(|k| y.iter().skip(k).step_by(8).sum::<f64>() / 400.0).collect();
    assert_close(&shares, &s.prior, 5e-3);
}
