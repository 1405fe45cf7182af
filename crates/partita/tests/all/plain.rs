//! K-means and mixtures of rows as they are: what must not matter, and what must be exact.

use partita::mixture::Covariance;
use partita::plain::{Clusters, Dense, Gaussians, KMeans, Plain, Seeds, Sparse, Start, judge, nearest};
use partita::report::Silent;
use rand::RngExt;

/// Rows in memory, row-major.
struct Table {
    x: Vec<f64>,
    m: usize,
}

impl Dense for Table {
    fn n(&self) -> usize {
        self.x.len() / self.m
    }
    fn m(&self) -> usize {
        self.m
    }
    fn read(&self, start: usize, out: &mut [f64]) -> partita::Result<()> {
        out.copy_from_slice(&self.x[start * self.m..][..out.len()]);
        Ok(())
    }
}

/// Rows around four places, many values of which are exactly zero.
fn table(n: usize) -> Table {
    let mut rng = partita::rng::stream(1, partita::rng::Stream::Synthetic, 0);
    let value =
        |i: usize, j: usize, noise: f64| if i % 4 == j { 6.0 + noise } else { (noise - 0.6).max(0.0) };
    let x = (0..n * 5).map(|at| value(at / 5, at % 5, rng.random())).collect();
    Table { x, m: 5 }
}

fn options(k: usize) -> KMeans {
    let (seeds, max_iterations) = (Seeds::PlusPlus, 100);
    KMeans { k, seeds, starts: 3, max_iterations, tolerance: 0.0, spherical: false, single: false, seed: 0 }
}

fn fit(options: KMeans, table: &Table, weights: Option<&[f64]>, given: Option<&[f64]>) -> Clusters {
    let plain = Plain::dense(table).expect("there are rows");
    options.fit(plain, weights, given, &Silent).expect("they can be clustered")
}

fn compressed(table: &Table) -> (Vec<i64>, Vec<i32>, Vec<f64>) {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in table.x.chunks(table.m) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as i32);
            values.push(*v);
        }
        starts.push(values.len() as i64);
    }
    (starts, columns, values)
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() <= tolerance, "{a} {b}"));
}

#[test]
fn centres_are_the_means_of_their_rows_and_the_inertia_is_around_them() {
    let table = table(301);
    let found = fit(options(4), &table, None, None);
    let mut inertia = 0.0;
    for c in 0..4 {
        let own: Vec<&[f64]> =
            table.x.chunks(5).zip(&found.labels).filter(|(_, l)| **l == c as u32).map(|(x, _)| x).collect();
        let centre = &found.centres[c * 5..(c + 1) * 5];
        let mean: Vec<f64> =
            (0..5).map(|j| own.iter().map(|x| x[j]).sum::<f64>() / own.len() as f64).collect();
        assert_close(centre, &mean, 1e-12);
        inertia += own.iter().flat_map(|x| x.iter().zip(&mean)).map(|(x, c)| (x - c).powi(2)).sum::<f64>();
    }
    assert!((found.inertia - inertia).abs() < 1e-9, "{} {inertia}", found.inertia);
}

#[test]
fn sparse_rows_give_what_dense_ones_give() {
    let table = table(300);
    let (starts, columns, values) = compressed(&table);
    let sparse =
        || Plain::sparse(Sparse { starts: &starts, columns: &columns, values: &values, m: 5 }).unwrap();
    for spherical in [false, true] {
        let options = KMeans { spherical, ..options(4) };
        let (full, thin) =
            (fit(options, &table, None, None), options.fit(sparse(), None, None, &Silent).unwrap());
        assert_eq!(full.labels, thin.labels);
        assert_close(&full.centres, &thin.centres, 1e-12);
        assert!((full.inertia - thin.inertia).abs() < 1e-9);
    }
}

#[test]
fn parts_of_a_sparse_matrix_that_do_not_fit_are_refused() {
    let bad = [(vec![0, 2], vec![0, 5], 2), (vec![0, 3], vec![0, 1], 2), (vec![1, 2], vec![0, 1], 2)];
    for (starts, columns, values) in bad {
        let values = vec![1.0; values];
        assert!(Plain::sparse(Sparse { starts: &starts, columns: &columns, values: &values, m: 5 }).is_err());
    }
}

#[test]
fn a_weight_of_three_is_a_row_given_three_times_and_no_weight_is_none() {
    let once = table(120);
    let weights: Vec<f64> = (0..120).map(|i| (i % 4) as f64).collect();
    let repeat = |(i, row): (usize, &[f64])| row.repeat(i % 4);
    let often = Table { x: once.x.chunks(5).enumerate().flat_map(repeat).collect(), m: 5 };
    let start = once.x[..15].to_vec();
    let options = KMeans { starts: 1, ..options(3) };
    let a = fit(options, &once, Some(&weights), Some(&start));
    let b = fit(options, &often, None, Some(&start));
    assert_close(&a.centres, &b.centres, 1e-9);
    assert!((a.inertia - b.inertia).abs() < 1e-9);
}

#[test]
fn rows_without_weight_are_never_seeds() {
    let table = table(80);
    let weights: Vec<f64> = (0..80).map(|i| f64::from(i % 4 == 1)).collect();
    for seeds in [Seeds::PlusPlus, Seeds::Random] {
        let options = KMeans { seeds, starts: 1, max_iterations: 1, ..options(5) };
        let found = fit(options, &table, Some(&weights), None);
        assert!(found.centres.chunks(5).all(|c| c[1] > 5.0), "{:?}", found.centres);
    }
}

#[test]
fn a_large_offset_changes_nothing() {
    let near = table(200);
    let far = Table { x: near.x.iter().map(|v| (v * 1024.0).round() + 1e9).collect(), m: 5 };
    let near = Table { x: near.x.iter().map(|v| (v * 1024.0).round()).collect(), m: 5 };
    let (a, b) = (fit(options(4), &near, None, None), fit(options(4), &far, None, None));
    assert_eq!(a.labels, b.labels);
    assert!((a.inertia / b.inertia - 1.0).abs() < 1e-9, "{} {}", a.inertia, b.inertia);
    assert_eq!(nearest(&Plain::dense(&far).unwrap(), &b.centres, None).unwrap().0, b.labels);
}

#[test]
fn a_mixture_in_other_units_is_the_same_mixture() {
    let table = table(400);
    let gaussians = Gaussians {
        k: 4,
        covariance: Covariance::Full,
        start: Start::KMeans,
        starts: 1,
        max_iterations: 100,
        tolerance: 1e-6,
        floor: 0.0,
        seed: 0,
        weights: None,
        means: None,
        covariances: None,
        bound: None,
    };
    let noisy = Table {
        x: table.x.iter().enumerate().map(|(i, v)| v + (i * 37 % 101) as f64 * 1e-3).collect(),
        m: 5,
    };
    let large = Table { x: noisy.x.iter().map(|v| 100.0 * v + 7e5).collect(), m: 5 };
    let [a, b] = [&noisy, &large].map(|rows| gaussians.fit(Plain::dense(rows).unwrap(), &Silent).unwrap());
    let means: Vec<f64> = a.mixture.means.iter().map(|v| 100.0 * v + 7e5).collect();
    assert_close(&means, &b.mixture.means, 1e-3);
    assert!((b.loss - a.loss - 5.0 * 100f64.ln()).abs() < 1e-6, "{} {}", a.loss, b.loss);
    let (_, likelihoods) = judge(Plain::dense(&large).unwrap(), &b.mixture).unwrap();
    assert!((likelihoods.iter().sum::<f64>() / 400.0 + b.loss).abs() < 1e-9);
}
