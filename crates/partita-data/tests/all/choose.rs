//! Choosing K on sets whose K is known, with the lift and the sizes of a fit.

use partita::choose::{Choice, Trial, Verdict, choose};
use partita::linear::{Input, LiftKind, Params, Prior};
use partita::report::Silent;
use partita::rng::{Stream, stream};
use partita_data::Features;
use partita_data::synth::gaussian_mixture;
use rand::RngExt;
use std::f32::consts::TAU;
use std::ops::RangeInclusive;

/// What `fit -k auto` chooses, with fewer starts.
fn chosen(values: Vec<f32>, m: usize, ks: RangeInclusive<usize>) -> Choice {
    let rows = Features::from_vec(values, m).expect("whole rows");
    let params = |k| Params { restarts: 2, lift: LiftKind::Auto, prior: Prior::Usual, ..Params::new(k) };
    let candidates: Vec<Params> = ks.map(params).collect();
    choose(&Input::new(&rows), &candidates, Trial { splits: 3, ..Trial::default() }, &Silent)
        .expect("the rows are good")
}

/// Rows about these points, so many about each, as far from them as a Gaussian of deviation `sd`.
fn blobs(points: &[([f32; 2], usize)], sd: f32) -> Vec<f32> {
    let mut rng = stream(7, Stream::Synthetic, 0);
    let mut normal = || -> f32 { (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0 };
    let row = |point: [f32; 2]| [point[0] + sd * normal(), point[1] + sd * normal()];
    let all = points.iter().flat_map(|&(point, count)| std::iter::repeat_n(point, count));
    all.flat_map(row).collect()
}

/// Rows on circles about the origin.
fn rings(radii: &[f32], of_each: usize) -> Vec<f32> {
    let mut rng = stream(8, Stream::Synthetic, 0);
    let mut row = |radius: f32| {
        let (turn, width) = (TAU * rng.random::<f32>(), 0.3 * rng.random::<f32>());
        [(radius + width) * turn.cos(), (radius + width) * turn.sin()]
    };
    radii.iter().flat_map(|&radius| (0..of_each).flat_map(|_| row(radius)).collect::<Vec<_>>()).collect()
}

/// Two half circles, one in the other.
fn moons(n: usize) -> Vec<f32> {
    let mut rng = stream(9, Stream::Synthetic, 0);
    let mut row = |i: usize| {
        let (turn, width) = (0.5 * TAU * rng.random::<f32>(), 0.9 + 0.2 * rng.random::<f32>());
        let (x, y) = (width * turn.cos(), width * turn.sin());
        if i.is_multiple_of(2) { [x, y] } else { [1.0 - x, 0.5 - y] }
    };
    (0..n).flat_map(&mut row).collect()
}

#[test]
fn the_number_of_gaussians_is_found_in_nine_of_ten_mixtures() {
    let mut found = Vec::new();
    for (seed, truth) in (3..=12usize).enumerate() {
        let (values, _) = gaussian_mixture(&vec![50; truth], 4 + seed, 5.0, seed as u64);
        let choice = chosen(values, 4 + seed, 2..=14);
        found.push((truth, choice.best, choice.support));
    }
    let right = found.iter().filter(|(truth, k, _)| truth == k).count();
    assert!(right >= 9, "{found:?}");
}

#[test]
fn clusters_that_could_be_merged_are_told_apart() {
    let line: Vec<([f32; 2], usize)> = (0..4).map(|i| ([16.0 * i as f32, 0.0], 100)).collect();
    let choice = chosen(blobs(&line, 1.0), 2, 2..=8);
    assert_eq!(choice.best, 4, "{choice:?}");
}

#[test]
fn clusters_of_different_sizes_are_counted() {
    let sizes = [([0.0, 0.0], 400), ([16.0, 0.0], 120), ([0.0, 16.0], 80)];
    let choice = chosen(blobs(&sizes, 1.0), 2, 2..=8);
    assert_eq!(choice.best, 3, "{choice:?}");
}

#[test]
fn clusters_of_any_shape_are_counted() {
    let choice = chosen(moons(400), 2, 2..=6);
    assert_eq!(choice.best, 2, "{choice:?}");
    let choice = chosen(rings(&[1.0, 3.0, 5.0], 300), 2, 2..=6);
    assert_eq!(choice.best, 3, "{choice:?}");
}

#[test]
fn in_rows_of_one_gaussian_nothing_is_found_again() {
    let (values, _) = gaussian_mixture(&[300], 10, 1.0, 3);
    let choice = chosen(values, 10, 2..=6);
    assert_eq!(choice.verdict(), Verdict::Unstable, "{choice:?}");
}

#[test]
fn threads_do_not_matter() {
    let (values, _) = gaussian_mixture(&[50, 60, 70], 3, 6.0, 2);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    let one = pool(1).install(|| chosen(values.clone(), 3, 2..=5));
    assert_eq!(pool(3).install(|| chosen(values, 3, 2..=5)), one);
}
