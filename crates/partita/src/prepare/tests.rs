use super::*;
use crate::error::Error;
use crate::linear::{Input, Params, fit};
use crate::metrics::ari;
use crate::report::Silent;
use crate::rng::{Stream, stream};
use crate::rows::{Csr, Rows};
use ndarray::Array2;
use rand::RngExt;

/// Documents of three topics: words of the topic and words of all.
fn documents(n: usize, m: usize) -> (Array2<f32>, Csr<'static>) {
    let mut rng = stream(1, Stream::Synthetic, 0);
    let mut dense = Array2::zeros((n, m));
    for i in 0..n {
        for _ in 0..12 {
            let word = rng.random_range(0..m / 3);
            let word = if rng.random::<f32>() < 0.7 { word * 3 + i % 3 } else { rng.random_range(0..m) };
            dense[[i, word]] += 1.0 + rng.random::<f32>();
        }
    }
    let csr = compressed(&dense);
    (dense, csr)
}

fn compressed(dense: &Array2<f32>) -> Csr<'static> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in dense.rows() {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as i32);
            values.push(*v);
        }
        starts.push(values.len());
    }
    Csr::new(starts, columns.into(), values.into(), dense.ncols()).unwrap()
}

#[test]
fn every_preparation_gives_the_rows_that_filled_ones_give() {
    let (dense, sparse) = documents(400, 210);
    let view = dense.view();
    for how in
        [Prepare::Auto, Prepare::None, Prepare::Centre, Prepare::Standardise, Prepare::L2, Prepare::Sphere]
    {
        let prepared = |rows: &dyn Rows| {
            let mut preparation = Preparation::fit(rows, &[210], how, &Silent).unwrap();
            preparation.reduce(rows, Dims::Exactly(8), 0).unwrap();
            preparation.load(rows).unwrap()
        };
        let (a, b) = (prepared(&view), prepared(&sparse));
        let worst = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 2e-3, "{how:?}: {worst}");
    }
}

#[test]
fn a_fit_finds_the_same_clusters_and_predicts_rows_of_either_kind_alike() {
    let (dense, sparse) = documents(600, 240);
    let view = dense.view();
    let params = Params { restarts: 2, ..Params::new(3) };
    let found = fit(&Input::new(&sparse), &params, &Silent).unwrap();
    let filled = fit(&Input::new(&view), &params, &Silent).unwrap();
    assert!(ari(&filled.labels, &found.labels).unwrap() > 0.99);
    let proba = (found.model.predict_proba(&sparse).unwrap(), found.model.predict_proba(&view).unwrap());
    proba.0.iter().zip(&proba.1).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{a} {b}"));
}

#[test]
fn rare_and_frequent_words_are_of_one_unit() {
    // Column j has a value in every 2^(j/4)-th row, so that spreads differ by far more than an order of magnitude.
    let (n, m) = (4096, 40);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        for j in (0..m).filter(|j| i % (1 << (j / 4)) == 0) {
            columns.push(j as i32);
            values.push(if j < 4 { 9.0f32 } else { 0.2 } * (1.0 + (i % 7) as f32));
        }
        starts.push(columns.len());
    }
    let rows = Csr::new(starts, columns.into(), values.into(), m).unwrap();
    let prepared = Input::new(&rows).prepared(Params::new(3).recipe(), &Silent).unwrap();
    assert!(prepared.notes()[0].kind.normalises(), "{:?}", prepared.notes());
}

#[test]
fn rows_that_do_not_ascend_or_do_not_fit_are_refused() {
    for (starts, columns, values) in [
        (vec![0, 2], vec![1, 0], vec![1.0, 2.0]),
        (vec![0, 2], vec![1, 1], vec![1.0, 2.0]),
        (vec![0, 1], vec![3], vec![1.0]),
        (vec![0, 1], vec![-1], vec![1.0]),
        (vec![0, 2], vec![0], vec![1.0]),
        (vec![0, 3, 2], vec![0, 1], vec![1.0, 1.0]),
    ] {
        assert!(Csr::new(starts, columns.into(), values.into(), 3).is_err());
    }
}

#[test]
fn a_value_that_is_not_finite_is_named() {
    let rows = Csr::new(vec![0, 1, 1, 3], vec![2, 0, 1].into(), vec![1.0, 2.0, f32::NAN].into(), 4).unwrap();
    let error = fit(&Input::new(&rows), &Params::new(2), &Silent).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 2, column: 1, .. }), "{error}");
}
