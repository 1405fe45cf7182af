use super::*;
use crate::linear::{Fit, Input, LiftKind, Params, Prepare, fit};
use crate::report::Silent;
use crate::rng::{Stream, stream};
use crate::rows::Csr;
use ndarray::Array2;
use rand::{Rng, RngExt};

/// Nearly normal numbers.
fn normal(rng: &mut impl Rng) -> f32 {
    (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0
}

/// `n` rows of two rings in turns, one inside the other, and `noise` rows anywhere around them.
fn rings(n: usize, noise: usize) -> Array2<f32> {
    let mut rng = stream(2, Stream::Synthetic, 0);
    let mut rows = Vec::new();
    for i in 0..n {
        let (angle, radius) = (rng.random::<f32>() * 6.3, if i % 2 == 0 { 1.0 } else { 3.0 });
        rows.push(radius * angle.cos() + 0.1 * normal(&mut rng));
        rows.push(radius * angle.sin() + 0.1 * normal(&mut rng));
    }
    rows.extend((0..2 * noise).map(|_| 12.0 * rng.random::<f32>() - 6.0));
    Array2::from_shape_vec((n + noise, 2), rows).unwrap()
}

/// Four Gaussian clusters, in turns, 8 standard deviations apart.
fn gaussians(n: usize, d: usize) -> Array2<f32> {
    let mut rng = stream(3, Stream::Synthetic, d as u64);
    let place = |i: usize, j: usize| if j < 2 { 8.0 * (i >> j & 1) as f32 } else { 0.0 };
    Array2::from_shape_fn((n, d), |(i, j)| place(i, j) + normal(&mut rng))
}

fn found(x: &Array2<f32>, k: usize, rule: OutlierRule) -> Fit {
    let params = Params { outliers: Some(rule), lift: LiftKind::Auto, restarts: 2, ..Params::new(k) };
    fit(&Input::new(x), &params, &Silent).unwrap()
}

fn outliers(fit: &Fit) -> Vec<usize> {
    let labels = fit.assigned();
    (0..labels.len()).filter(|&row| labels[row] < 0).collect()
}

#[test]
fn noise_around_two_rings_is_found() {
    let x = rings(900, 100);
    let fit = found(&x, 2, OutlierRule::Auto);
    let outliers = outliers(&fit);
    let hits = outliers.iter().filter(|&&row| row >= 900).count();
    assert!(hits > 65 && outliers.len() - hits < 9, "{hits} of 100, {} of 900", outliers.len() - hits);
    let labels = fit.assigned();
    assert!((0..900).all(|row| labels[row] < 0 || labels[row] == labels[row % 2]));
}

#[test]
fn clean_gaussians_lose_few_rows() {
    for d in [2, 5, 20, 100] {
        let (x, labels) = (gaussians(1200, d), (0..1200).map(|i| i % 4).collect::<Vec<u32>>());
        let base = Preparation::fit(&x, &[d], Prepare::Centre, &Silent).unwrap();
        let (found, scores) = Outliers::fit(&x, &base, (&labels, 4), OutlierRule::Auto, 0).unwrap();
        let OutlierNote { share, .. } = found.note(&scores);
        assert!(share <= 0.02, "{d} dimensions: {share}");
    }
}

#[test]
fn rows_of_many_features_are_not_taken_for_outliers_by_chance() {
    // More rows than any sample, and more features than are kept.
    let x = gaussians(5000, 400);
    let base = Preparation::fit(&x, &[400], Prepare::Centre, &Silent).unwrap();
    let labels: Vec<u32> = (0..5000).map(|i| i % 4).collect();
    let (found, scores) = Outliers::fit(&x, &base, (&labels, 4), OutlierRule::Auto, 0).unwrap();
    assert_eq!(found.base.d(), 128);
    assert!(found.note(&scores).share <= 0.02, "{:?}", found.note(&scores));
}

#[test]
fn share_is_met_within_one_row() {
    let x = gaussians(600, 3);
    for share in [0.001, 0.01, 0.1, 0.333, 0.45] {
        let fit = found(&x, 4, OutlierRule::Share(share));
        let note = fit.report.outliers.unwrap();
        assert!((note.count as f64 - share * 600.0).abs() <= 1.0, "{share}: {note:?}");
        assert_eq!(note.count, outliers(&fit).len());
        assert_eq!(fit.report.cluster_sizes.iter().sum::<usize>(), 600 - note.count);
    }
}

#[test]
fn labels_of_a_fit_are_those_of_predict_outliers_too() {
    for (x, k) in [(rings(500, 60), 2), (gaussians(500, 40), 4)] {
        let fit = found(&x, k, OutlierRule::Share(0.1));
        assert_eq!(fit.model.assign(&x).unwrap(), fit.assigned());
        assert_eq!(fit.model.outlier_scores(&x).unwrap(), fit.outlier_scores);
        assert_eq!(fit.model.predict(&x).unwrap(), fit.labels);
        let alone = x.slice(ndarray::s![137..200, ..]).to_owned();
        assert_eq!(fit.model.assign(&alone).unwrap(), fit.assigned()[137..200]);
    }
}

#[test]
fn clusters_are_those_of_a_fit_that_does_not_look_for_outliers() {
    let x = rings(400, 40);
    let plain = Params { lift: LiftKind::Auto, restarts: 2, ..Params::new(2) };
    let plain = fit(&Input::new(&x), &plain, &Silent).unwrap();
    let with = found(&x, 2, OutlierRule::Auto);
    assert_eq!((with.labels, with.model.weight()), (plain.labels.clone(), plain.model.weight()));
    assert!(plain.outlier_scores.is_none() && plain.report.outliers.is_none());
    assert!(plain.model.outlier_scores(&x).unwrap().is_none());
    assert!(plain.assigned().iter().zip(&plain.labels).all(|(a, b)| *a == *b as i32));
}

#[test]
fn threads_and_units_do_not_matter() {
    let x = rings(300, 30);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| found(&x, 2, OutlierRule::Auto));
    let three = pool(3).install(|| found(&x, 2, OutlierRule::Auto));
    assert!(three.model == one.model && three.outlier_scores == one.outlier_scores);
    let large = found(&x.mapv(|v| v * 1024.0), 2, OutlierRule::Auto);
    assert_eq!(large.outlier_scores, one.outlier_scores);
}

#[test]
fn a_landmark_is_not_its_own_neighbour() {
    // Among 9 rows on a line, 1 apart, the 7th nearest other row to the first is 7 away.
    let x = Array2::from_shape_fn((9, 1), |(i, _)| i as f32);
    let base = Preparation::fit(&x, &[1], Prepare::None, &Silent).unwrap();
    let (found, _) = Outliers::fit(&x, &base, (&[0; 9], 1), OutlierRule::Auto, 0).unwrap();
    let unit = found.base.scale[0];
    let scales = found.scales(&Array2::from_shape_vec((3, 1), vec![0.0, 4.0, -1.0]).unwrap()).unwrap();
    let expected = [7.0, 4.0, 7.0].map(|s| s * unit);
    scales.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-5 * b, "{scales:?}"));
}

#[test]
fn dense_and_sparse_clusters_are_judged_by_their_own_measure() {
    let mut rng = stream(4, Stream::Synthetic, 0);
    let x = Array2::from_shape_fn((800, 2), |(i, j)| {
        let (place, width) = if i % 2 == 0 { (0.0, 0.05) } else { (20.0, 2.0) };
        if i == 0 && j == 0 { 1.0 } else { place + width * normal(&mut rng) }
    });
    let fit = found(&x, 2, OutlierRule::Auto);
    let outliers = outliers(&fit);
    // 20 widths from a narrow cluster, which would be half a width of the other.
    assert!(outliers.contains(&0) && outliers.len() < 16, "{outliers:?}");
}

#[test]
fn sparse_rows_have_the_scores_of_filled_ones() {
    let x = gaussians(200, 160).mapv(|v| if v > 0.7 { v } else { 0.0 });
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as i32);
            values.push(*v);
        }
        starts.push(values.len());
    }
    let fit = found(&x, 4, OutlierRule::Share(0.1));
    let filled = fit.model.outlier_scores(&x).unwrap().unwrap();
    let csr = Csr::new(starts, columns.into(), values.into(), 160).unwrap();
    let sparse = fit.model.outlier_scores(&csr).unwrap().unwrap();
    filled.iter().zip(&sparse).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{a} {b}"));
}

#[test]
fn copies_and_few_rows_do_no_harm() {
    let few = Array2::from_shape_fn((12, 2), |(i, j)| [0.0f32, 1.0, 7.0][i % 3] + j as f32);
    for rule in [OutlierRule::Auto, OutlierRule::Share(0.2)] {
        let fit = found(&few, 3, rule);
        let scores = fit.outlier_scores.as_ref().unwrap();
        assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)), "{scores:?}");
        assert_eq!(fit.model.assign(&few).unwrap(), fit.assigned());
    }
    // On a grid most rows have the same scale; none is an outlier for being a little further from the others.
    let grid = Array2::from_shape_fn((400, 2), |(i, j)| {
        let place = if i < 200 { 0.0 } else { 50.0 };
        place + if j == 0 { (i % 10) as f32 } else { (i / 10 % 20) as f32 }
    });
    assert_eq!(outliers(&found(&grid, 2, OutlierRule::Auto)), [0usize; 0]);
}

#[test]
fn other_numbers_of_clusters_leave_the_scores() {
    let mut x = gaussians(400, 2);
    x.column_mut(0).iter_mut().enumerate().for_each(|(i, v)| {
        if i % 4 == 0 {
            *v *= 0.1;
        }
    });
    let old = found(&x, 4, OutlierRule::Auto);
    let mut other = old.clone();
    let number = [2, 0, 3, 1];
    let mut turned = old.model.clone();
    turned = crate::Model::new(
        turned.views().to_vec(),
        number
            .iter()
            .flat_map(|&c| turned.weight()[c * turned.width()..][..turned.width()].to_vec())
            .collect(),
        number.iter().map(|&c| turned.bias()[c]).collect(),
        turned.average().to_vec(),
        number.iter().map(|&c| turned.prior()[c]).collect(),
    )
    .unwrap();
    let turned = match old.model.lift() {
        Some(lift) => turned.lifted(lift.clone()).unwrap(),
        None => turned,
    };
    other.number_like(&turned, &x).unwrap();
    assert_ne!(other.labels, old.labels);
    assert_eq!(other.model.outlier_scores(&x).unwrap(), old.outlier_scores);
    assert_eq!(other.model.assign(&x).unwrap(), other.assigned());
}
