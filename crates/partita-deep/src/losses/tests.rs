//! Tensor losses, compared with the core's and with finite differences.

use super::vat::random;
use super::*;
use crate::device::tested;
use partita::linear::{Loss, Solver};
use partita::objective::Workspace;
use partita::simplex::uniform;

const N: usize = 6;
const K: usize = 3;

fn numbers(seed: u32) -> Vec<f32> {
    (0..(N * K) as u32).map(|i| ((i * 7 + seed * 13) % 11) as f32 / 3.0 - 1.5).collect()
}

fn leaf(values: &[f32]) -> Tensor<2> {
    let device = tested().autodiff();
    Tensor::from_data(TensorData::new(values.to_vec(), [N, K]), &device).require_grad()
}

#[test]
fn gradients_of_the_cores_losses_arrive_at_the_logits() {
    let known = [-1, 2, -1, -1, 0, -1];
    let names = [
        "strong",
        "weak",
        "mi",
        "renyi:2",
        "renyi-labels:2",
        "sela",
        "miadm-dec",
        "miadm-depict",
        "miadm-exact",
    ];
    for (name, known) in names.iter().flat_map(|name| [(name, None), (name, Some(&known[..]))]) {
        let loss: Loss = name.parse().unwrap();
        let solver = loss.solver(Solver::Em { iterations: 3 }, 10.0);
        let objective = loss.objective(solver, uniform(K), 10.0);
        let z = leaf(&numbers(1));
        let mut ws = Workspace::default();
        let term = core(z.clone(), known, |batch, out| objective.value_and_gradient(batch, out, &mut ws));
        let found = values(z.grad(&term.tensor.backward()).unwrap());
        let mut log_sigma = Vec::new();
        log_softmax_rows(numbers(1).into_iter(), K, &mut log_sigma);
        let mut expected = vec![0.0; N * K];
        let batch = Batch { log_sigma: &log_sigma, k: K, weights: None, known };
        let value = objective.value_and_gradient(batch, &mut expected, &mut ws);
        assert_eq!(term.value, value, "{name}");
        let worst = found.iter().zip(&expected).fold(0.0, |m: f64, (a, b)| m.max((f64::from(*a) - b).abs()));
        assert!(worst < 1e-6, "{name}: {worst}");
    }
}

/// A loss of two views in double precision.
type Oracle = fn(&[f64], &[f64]) -> f64;

fn sigma(z: &[f64]) -> Vec<f64> {
    let rows = z.chunks_exact(K).flat_map(|row| {
        let sum: f64 = row.iter().map(|v| v.exp()).sum();
        row.iter().map(move |v| v.exp() / sum)
    });
    rows.collect()
}

fn kl_oracle(z: &[f64], other: &[f64]) -> f64 {
    sigma(z).iter().zip(sigma(other)).map(|(p, q)| p * (p / q).ln()).sum::<f64>() / N as f64
}

fn iic_oracle(z: &[f64], other: &[f64]) -> f64 {
    let (p, q) = (sigma(z), sigma(other));
    let entry = |a: &[f64], b: &[f64], c: usize, k: usize| -> f64 {
        (0..N).map(|i| a[i * K + c] * b[i * K + k]).sum::<f64>() / N as f64
    };
    let joint = |c, k| (entry(&p, &q, c, k) + entry(&q, &p, c, k)) / 2.0;
    let margin = |c| (0..K).map(|k| joint(c, k)).sum::<f64>();
    let cells = (0..K).flat_map(|c| (0..K).map(move |k| (c, k)));
    -cells.map(|(c, k)| joint(c, k) * (joint(c, k) / (margin(c) * margin(k))).ln()).sum::<f64>()
}

/// SimCLR's loss by its definition, at temperature ½.
fn contrast_oracle(z: &[f64], other: &[f64]) -> f64 {
    let rows: Vec<&[f64]> = z.chunks_exact(K).chain(other.chunks_exact(K)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let likeness = |i: usize, j: usize| {
        let (a, b) = (rows[i], rows[j]);
        2.0 * dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    let of = |i: usize| {
        let others = (0..2 * N).filter(|&j| j != i).map(|j| likeness(i, j).exp()).sum::<f64>();
        others.ln() - likeness(i, (i + N) % (2 * N))
    };
    (0..2 * N).map(of).sum::<f64>() / (2 * N) as f64
}

/// SCAN's loss by its definition, with weight 5.
fn neighbours_oracle(z: &[f64], other: &[f64]) -> f64 {
    let (p, q) = (sigma(z), sigma(other));
    let alike = |i: usize| (0..K).map(|c| p[i * K + c] * q[i * K + c]).sum::<f64>().ln();
    let mean = |c: usize| (0..N).map(|i| p[i * K + c]).sum::<f64>() / N as f64;
    let entropy = -(0..K).map(|c| mean(c) * mean(c).ln()).sum::<f64>();
    -(0..N).map(alike).sum::<f64>() / N as f64 - 5.0 * entropy
}

fn check(loss: fn(Tensor<2>, Tensor<2>) -> Tensor<1>, oracle: Oracle) {
    let (a, b) = (numbers(1), numbers(5));
    let (z, other) = (leaf(&a), leaf(&b));
    let value = loss(z.clone(), other.clone());
    let wide = |v: &[f32]| v.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
    let (a, b) = (wide(&a), wide(&b));
    assert!((f64::from(values(value.clone())[0]) - oracle(&a, &b)).abs() < 1e-6);
    let gradients = value.backward();
    for (first, leaf) in [(true, &z), (false, &other)] {
        let found = values(leaf.grad(&gradients).unwrap());
        for i in 0..N * K {
            let at = |step: f64| {
                let (mut a, mut b) = (a.clone(), b.clone());
                if first {
                    a[i] += step;
                } else {
                    b[i] += step;
                }
                oracle(&a, &b)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((f64::from(found[i]) - expected).abs() < 1e-6, "{i}: {} {expected}", found[i]);
        }
    }
}

#[test]
fn divergences_of_views_have_the_right_values_and_gradients() {
    check(kl, kl_oracle);
    check(symmetric_kl, |a, b| kl_oracle(a, b) + kl_oracle(b, a));
    check(iic, iic_oracle);
    check(|a, b| contrast(a, b, 0.5), contrast_oracle);
    check(|a, b| neighbours(a, b, 5.0), neighbours_oracle);
}

#[test]
fn a_disturbance_has_its_length_and_raises_the_divergence() {
    let device = tested().autodiff();
    let x = Tensor::<4>::from_data(TensorData::new(vec![0.5f32; 4 * 12], [4, 1, 3, 4]), &device);
    let weight: Vec<f32> = (0..36u32).map(|i| (i * 5 % 7) as f32 / 7.0 - 0.4).collect();
    let weight = Tensor::<2>::from_data(TensorData::new(weight, [12, 3]), &device);
    let logits = |x: Tensor<4>| x.flatten::<2>(1, 3).matmul(weight.clone());
    let vat = Vat { epsilon: 1.5, xi: 0.1 };
    let z = logits(x.clone());
    let r = vat.disturbance(&x, &z, (0, 0), logits);
    let norms = values(r.clone().flatten::<2>(1, 3).square().sum_dim(1).sqrt());
    assert!(norms.iter().all(|n| (n - 1.5).abs() < 1e-5), "{norms:?}");
    let at = |r: Tensor<4>| values(kl(z.clone(), logits(x.clone() + r)))[0];
    let other = random(&x, 1, 9);
    let length = other.clone().flatten::<2>(1, 3).square().sum_dim(1).sqrt().reshape([4, 1, 1, 1]);
    let other = other * 1.5 / length;
    assert!(at(r.clone()) > 1.2 * at(other.clone()), "{} {}", at(r), at(other));
    assert_eq!(values(r), values(vat.disturbance(&x, &z, (0, 0), logits)), "the same seed, the same bits");
}

#[test]
fn cross_entropies_with_fixed_labels_have_the_right_values_and_gradients() {
    let log_y: Vec<f64> =
        sigma(&numbers(4).iter().map(|v| f64::from(*v)).collect::<Vec<_>>()).iter().map(|y| y.ln()).collect();
    for direction in Direction::BOTH {
        let oracle = |z: &[f64]| {
            let sigma = sigma(z);
            let term = |(s, l): (&f64, &f64)| match direction {
                Direction::Forward => -l.exp() * s.ln(),
                Direction::Reverse => -s * l,
            };
            sigma.iter().zip(&log_y).map(term).sum::<f64>() / N as f64
        };
        let values_of = numbers(2);
        let z = leaf(&values_of);
        let term = fixed(z.clone(), &log_y, direction);
        let wide: Vec<f64> = values_of.iter().map(|v| f64::from(*v)).collect();
        assert!((term.value - oracle(&wide)).abs() < 1e-12, "{direction:?}");
        let found = values(z.grad(&term.tensor.backward()).unwrap());
        for i in 0..N * K {
            let at = |step: f64| {
                let mut z = wide.clone();
                z[i] += step;
                oracle(&z)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((f64::from(found[i]) - expected).abs() < 1e-6, "{direction:?} {i}");
        }
    }
}

#[test]
fn the_forward_half_has_the_gradient_of_its_value() {
    let z: Vec<f64> = numbers(2).into_iter().map(f64::from).collect();
    let y = sigma(&numbers(3).into_iter().map(f64::from).collect::<Vec<_>>());
    let at = |z: &[f64], gradient: &mut [f64]| {
        let log_sigma: Vec<f64> = sigma(z).iter().map(|s| s.ln()).collect();
        forward(&log_sigma, &y, K, 0.7, gradient)
    };
    let mut gradient = vec![0.0; z.len()];
    assert!(at(&z, &mut gradient) > 0.0);
    for i in 0..z.len() {
        let moved = |by: f64| {
            let mut z = z.clone();
            z[i] += by;
            at(&z, &mut vec![0.0; z.len()])
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((gradient[i] - difference).abs() < 1e-9, "{i}: {} {difference}", gradient[i]);
    }
    // Labels that are the predictions change nothing.
    let log_y: Vec<f64> = y.iter().map(|y| y.ln()).collect();
    let mut gradient = vec![0.0; z.len()];
    assert!(forward(&log_y, &y, K, 1.0, &mut gradient).abs() < 1e-12);
    assert!(gradient.iter().all(|g| g.abs() < 1e-12));
}

#[test]
fn only_the_forward_half_calls_back_a_cluster_that_no_image_takes() {
    // Half of the images are decided for each of two clusters.
    let dead = 1e-6f64;
    let log_sigma: Vec<f64> =
        [[1.0 - 2.0 * dead, dead, dead], [dead, 1.0 - 2.0 * dead, dead]].concat().repeat(N / 2);
    let log_sigma: Vec<f64> = log_sigma.iter().map(|s| s.ln()).collect();
    let batch = Batch { log_sigma: &log_sigma, k: K, weights: None, known: None };
    let (mut ws, mut reverse) = (Workspace::default(), vec![0.0; N * K]);
    let solver = Loss::Strong.solver(Solver::Em { iterations: 5 }, 100.0);
    let objective = Loss::Strong.objective(solver, uniform(K), 100.0);
    objective.value_and_gradient(batch, &mut reverse, &mut ws);
    let third = |of: &[f64]| of.iter().skip(2).step_by(K).sum::<f64>();
    assert!((third(&ws.y) / N as f64 - 1.0 / 3.0).abs() < 0.01, "its labels are as many as they should be");
    let pull = third(&reverse);
    assert!(pull > 0.0 && pull < 2.0 * dead, "the reverse cross-entropy even lowers its logits: {pull}");
    let mut called = vec![0.0; N * K];
    forward(&log_sigma, &ws.y, K, 1.0, &mut called);
    assert!((third(&called) + 1.0 / 3.0).abs() < 0.01, "{called:?}");
}
