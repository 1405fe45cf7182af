//! Margins of labellings, checked against scikit-learn, brute force, and their own proofs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::margin::{Classifier, MaxMargin, Options, Points, Separation, Support, of_labels};
use partita::rng::{Stream, stream};
use proptest::prelude::*;
use rand::RngExt;
use serde::Deserialize;
use std::f64::consts::{PI, SQRT_2};

#[derive(Deserialize)]
struct Golden {
    binary: Vec<Problem>,
    multiclass: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    m: usize,
    k: usize,
    x: Vec<f64>,
    labels: Vec<u32>,
    margin: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/margin.json")).expect("the file is well-formed")
}

fn solve(x: &[f64], m: usize, labels: &[u32], k: usize) -> Separation {
    of_labels(Points::new(x, m).unwrap(), labels, k, &Options::default()).unwrap()
}

fn widest(x: &[f64], m: usize, labels: &[u32], k: usize) -> MaxMargin {
    match solve(x, m, labels, k) {
        Separation::Separated(found) => found,
        other => panic!("expected a margin, found {other:?}"),
    }
}

fn random(n: usize, m: usize, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, Stream::Synthetic, 0);
    (0..n * m).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Rows labelled by a random classifier, with at least one row in each cluster.
fn separable(n: usize, m: usize, k: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
    for attempt in 0.. {
        let (x, w) = (random(n, m, seed + 1000 * attempt), random(k, m + 1, seed + 1000 * attempt + 500));
        let biases = w[k * m..].iter().map(|b| 0.3 * b).collect();
        let labels =
            Classifier::new(w[..k * m].to_vec(), biases, m).unwrap().labels(Points::new(&x, m).unwrap());
        if (0..k as u32).all(|c| labels.contains(&c)) {
            return (x, labels);
        }
    }
    unreachable!("some random classifier uses all its clusters")
}

/// Length of Σ λ (e_own − e_rival) ⊗ x, and how far the weights are from balance and from summing to one.
fn combination(x: &[f64], m: usize, labels: &[u32], k: usize, support: &[Support]) -> (f64, f64) {
    let (mut point, mut flow) = (vec![0.0; k * m], vec![0.0; k]);
    for s in support {
        assert!(s.weight > 0.0 && labels[s.row] != s.rival, "{s:?}");
        for (cluster, sign) in [(labels[s.row], 1.0), (s.rival, -1.0)] {
            flow[cluster as usize] += sign * s.weight;
            (0..m).for_each(|j| point[cluster as usize * m + j] += sign * s.weight * x[s.row * m + j]);
        }
    }
    let sum: f64 = support.iter().map(|s| s.weight).sum();
    let off = flow.iter().fold((sum - 1.0).abs(), |most, f| f.abs().max(most));
    (point.iter().map(|v| v * v).sum::<f64>().sqrt(), off)
}

#[test]
fn binary_margins_are_those_of_scikit_learn() {
    for p in golden().binary {
        let (plane, margin) = widest(&p.x, p.m, &p.labels, 2).binary().unwrap();
        assert!((margin / p.margin - 1.0).abs() < 1e-5, "{margin} {}", p.margin);
        let sides =
            p.x.chunks(p.m).zip(&p.labels).map(|(row, &l)| plane.distance(row) * (1.0 - 2.0 * f64::from(l)));
        let least = sides.fold(f64::INFINITY, f64::min);
        assert!((least - margin).abs() < 1e-9, "the boundary has the margin it claims: {least} {margin}");
    }
}

#[test]
fn multi_class_margins_are_those_of_a_quadratic_program() {
    for p in golden().multiclass {
        let found = widest(&p.x, p.m, &p.labels, p.k);
        assert!((found.margin / p.margin - 1.0).abs() < 1e-5, "{} {}", found.margin, p.margin);
    }
}

#[test]
fn two_clusters_have_a_multi_class_margin_of_root_two_times_the_binary_one() {
    let p = &golden().binary[2];
    let found = widest(&p.x, p.m, &p.labels, 2);
    assert!((found.margin / (SQRT_2 * p.margin) - 1.0).abs() < 1e-5);
    let (a, b) = found.classifier.weights.split_at(p.m);
    assert!(a.iter().zip(b).all(|(a, b)| (a + b).abs() < 1e-12), "the rows are opposite");
}

#[test]
fn in_the_plane_no_direction_has_a_wider_gap() {
    for seed in 0..20 {
        let (x, labels) = separable(12, 2, 2, seed);
        let gap = |angle: f64| {
            let along = |i: usize| angle.cos() * x[2 * i] + angle.sin() * x[2 * i + 1];
            let of = |c: u32| (0..12).filter(|&i| labels[i] == c).map(along).collect::<Vec<_>>();
            let low = of(0).into_iter().fold(f64::INFINITY, f64::min);
            0.5 * (low - of(1).into_iter().fold(f64::NEG_INFINITY, f64::max))
        };
        let best = (0..200_000).map(|i| gap(i as f64 * PI / 1e5)).fold(f64::NEG_INFINITY, f64::max);
        let (_, margin) = widest(&x, 2, &labels, 2).binary().unwrap();
        // Half a step of the search is 1.6e-5 radians, on rows within √2 of the origin.
        assert!(best <= margin * (1.0 + 1e-6) && margin < best + 5e-5, "{seed}: {best} {margin}");
    }
}

#[test]
fn the_result_keeps_its_promises() {
    for (seed, (n, m, k)) in
        [(30, 2, 2), (40, 3, 3), (60, 5, 4), (50, 20, 6), (700, 2, 3), (30, 100, 3)].into_iter().enumerate()
    {
        let (x, labels) = separable(n, m, k, seed as u64);
        let points = Points::new(&x, m).unwrap();
        let found = widest(&x, m, &labels, k);
        assert!(found.converged && found.gap <= 1e-6 * found.margin, "{n} {m} {k}: {found:?}");
        assert!((found.classifier.norm() - 1.0).abs() < 1e-12);
        assert_eq!(found.classifier.labels(points), labels);
        let signed = found.classifier.signed_margins(points, &labels).unwrap();
        let least = signed.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((least - found.margin).abs() < 1e-12, "{least} {}", found.margin);
        let (dual, off) = combination(&x, m, &labels, k, &found.support);
        assert!(off < 1e-12, "weights balance: {off}");
        assert!((dual - (found.margin + found.gap)).abs() < 1e-9, "{dual} {} {}", found.margin, found.gap);
    }
}

#[test]
fn labellings_that_cannot_be_separated_come_with_the_rows_in_the_way() {
    for (seed, (n, m, k)) in [(20, 2, 2), (30, 3, 3), (60, 4, 5), (200, 10, 3)].into_iter().enumerate() {
        let x = random(n, m, seed as u64);
        let labels: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
        let proof = solve(&x, m, &labels, k).inseparable().expect("labels without a pattern");
        let (length, off) = combination(&x, m, &labels, k, &proof.violating);
        assert!(length < 1e-8 && off < 1e-12 && proof.residual < 1e-8, "{length} {off} {}", proof.residual);
        // The violating rows alone are a proof: they cannot be separated either.
        let mut rows: Vec<usize> = proof.violating.iter().map(|s| s.row).collect();
        rows.dedup();
        let few: Vec<f64> = rows.iter().flat_map(|&i| x[i * m..][..m].to_vec()).collect();
        let mut names: Vec<u32> = rows.iter().map(|&i| labels[i]).collect();
        let mut used = names.clone();
        used.sort_unstable();
        used.dedup();
        names.iter_mut().for_each(|l| *l = used.iter().position(|u| u == l).unwrap() as u32);
        assert!(solve(&few, m, &names, used.len()).inseparable().is_some());
    }
}

#[test]
fn one_row_in_two_clusters_is_named() {
    let x = [0.0, 0.0, 5.0, 1.0, 5.0, 1.0, 9.0, 9.0];
    let proof = solve(&x, 2, &[0, 0, 1, 1], 2).inseparable().unwrap();
    assert_eq!(proof.violating.iter().map(|s| s.row).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_margin_of_a_ten_millionth_is_still_proved() {
    for seed in 0..20 {
        // Rows on both sides of a wide strip, and two rows in its middle that nearly coincide.
        let mut x = random(22, 3, seed);
        for (i, row) in x.chunks_mut(3).enumerate() {
            row[0] = (0.1 + row[0].abs()) * if i % 2 == 0 { 1.0 } else { -1.0 };
        }
        x.copy_within(60..63, 63);
        (x[60], x[63]) = (1e-7, -1e-7);
        let labels: Vec<u32> = (0..22).map(|i| i % 2).collect();
        let found = widest(&x, 3, &labels, 2);
        let (_, margin) = found.binary().unwrap();
        assert!(found.converged && (margin / 1e-7 - 1.0).abs() < 1e-6, "{seed}: {margin:e} {found:?}");
    }
}

#[test]
fn margins_scale_with_the_data_and_ignore_where_it_is() {
    let (x, labels) = separable(40, 2, 3, 5);
    let base = widest(&x, 2, &labels, 3);
    let (sine, cosine) = 0.7f64.sin_cos();
    let moved: Vec<f64> = x
        .chunks(2)
        .flat_map(|r| [1e3 * (cosine * r[0] - sine * r[1]) + 5e4, 1e3 * (sine * r[0] + cosine * r[1]) - 2e4])
        .collect();
    let found = widest(&moved, 2, &labels, 3);
    assert!((found.margin / (1e3 * base.margin) - 1.0).abs() < 1e-6, "{} {}", found.margin, base.margin);
    let turned: Vec<f64> = base
        .classifier
        .weights
        .chunks(2)
        .flat_map(|w| [cosine * w[0] - sine * w[1], sine * w[0] + cosine * w[1]])
        .collect();
    let turned = Classifier::new(turned, vec![0.0; 3], 2).unwrap();
    assert!(found.classifier.angle(&turned) < 1e-3);
}

#[test]
fn names_and_order_do_not_matter() {
    let (x, labels) = separable(50, 3, 4, 8);
    let base = widest(&x, 3, &labels, 4).margin;
    let renamed: Vec<u32> = labels.iter().map(|l| (l + 1) % 4).collect();
    assert!((widest(&x, 3, &renamed, 4).margin / base - 1.0).abs() < 2e-6);
    let backwards: Vec<f64> = x.chunks(3).rev().flatten().copied().collect();
    let labels: Vec<u32> = labels.into_iter().rev().collect();
    assert!((widest(&backwards, 3, &labels, 4).margin / base - 1.0).abs() < 2e-6);
}

#[test]
fn bad_input_is_refused() {
    let points = Points::new(&[0.0, 1.0, 2.0], 1).unwrap();
    let refused =
        |labels: &[u32], k| of_labels(points, labels, k, &Options::default()).unwrap_err().to_string();
    assert!(refused(&[0, 1], 2).contains("2 entries where 3"));
    assert!(refused(&[0, 1, 2], 2).contains("the label of row 2 is 2"));
    assert!(refused(&[0, 1, 1], 3).contains("no row in cluster 2"));
    assert!(refused(&[0, 0, 0], 1).contains("at least 2"));
    assert!(Points::new(&[0.0, f64::NAN], 1).is_err() && Points::new(&[0.0; 3], 2).is_err());
}

proptest! {
    #[test]
    fn the_gap_bounds_the_error_of_a_run_cut_short(seed in 0u64..1000, steps in 0usize..12, k in 2usize..5) {
        let (x, labels) = separable(40, 4, k, seed);
        let exact = widest(&x, 4, &labels, k);
        let options = Options { max_iterations: steps, ..Options::default() };
        match of_labels(Points::new(&x, 4).unwrap(), &labels, k, &options).unwrap() {
            Separation::Separated(short) => {
                prop_assert!(short.margin <= exact.margin + exact.gap + 1e-12);
                prop_assert!(short.margin + short.gap >= exact.margin - 1e-12);
                prop_assert!(short.converged == (short.gap <= 1e-6 * short.margin));
            }
            Separation::Undecided(short) => prop_assert!(short.residual >= exact.margin),
            Separation::Inseparable(_) => prop_assert!(false, "the labelling is separable"),
        }
    }

    #[test]
    fn no_random_classifier_has_a_wider_margin(seed in 0u64..1000, k in 2usize..5) {
        let (x, labels) = separable(30, 2, k, seed);
        let points = Points::new(&x, 2).unwrap();
        let found = widest(&x, 2, &labels, k);
        for other in 0..50 {
            // Near the widest classifier, where wider ones would be if there were any.
            let noise = random(k, 3, 7 * seed + other);
            let near = |own: &[f64], noise: &[f64]| own.iter().zip(noise).map(|(a, b)| a + 0.01 * b).collect();
            let weights = near(&found.classifier.weights, &noise[..2 * k]);
            let biases = near(&found.classifier.biases, &noise[2 * k..]);
            let other = Classifier::new(weights, biases, 2).unwrap();
            let least = other.signed_margins(points, &labels).unwrap().into_iter().fold(f64::INFINITY, f64::min);
            prop_assert!(least <= found.margin + found.gap + 1e-12);
        }
    }
}
