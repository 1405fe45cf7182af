//! Many dimensions: neighbours that teach, and sizes that the graph of neighbours shows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use ndarray::Array2;
use partita::linear::{Fit, FitState, Fitting, Input, Neighbours, Params, Prior, fit};
use partita::metrics::ari;
use partita::report::Silent;
use partita::rng::{Stream, stream};
use rand::RngExt;

const FEATURES: usize = 40;

/// Clusters of these sizes around random centres, in turns as long as they last, and the cluster of each row.
fn clusters(sizes: &[usize], apart: f32) -> (Array2<f32>, Vec<u32>) {
    let mut rng = stream(6, Stream::Synthetic, 0);
    let centres: Vec<f32> =
        (0..sizes.len() * FEATURES).map(|_| apart * (rng.random::<f32>() - 0.5)).collect();
    let most = *sizes.iter().max().unwrap();
    let labels: Vec<u32> =
        (0..most).flat_map(|i| (0..sizes.len() as u32).filter(move |&c| i < sizes[c as usize])).collect();
    // The sum of three uniform numbers is nearly normal.
    let mut noise = || (0..3).map(|_| rng.random::<f32>() - 0.5).sum::<f32>();
    let rows = Array2::from_shape_fn((labels.len(), FEATURES), |(i, j)| {
        centres[labels[i] as usize * FEATURES + j] + noise()
    });
    (rows, labels)
}

fn fitted(x: &Array2<f32>, params: &Params) -> Fit {
    fit(&Input::new(x), params, &Silent).unwrap()
}

#[test]
fn neighbours_teach_many_clusters_and_not_few() {
    let (x, truth) = clusters(&[90; 20], 1.0);
    let params = Params { restarts: 3, ..Params::new(20) };
    let taught = fitted(&x, &params);
    let alone = fitted(&x, &Params { neighbours: Neighbours::Exactly(0), ..params.clone() });
    assert_eq!((taught.report.neighbours, alone.report.neighbours), (15, 0));
    let (with, without) = (ari(&truth, &taught.labels).unwrap(), ari(&truth, &alone.labels).unwrap());
    assert!(with > without, "{with} with neighbours, {without} without");
    // Labels are those of the rows themselves: a row alone gets the same one.
    assert_eq!(taught.model.predict(&x).unwrap(), taught.labels);
    for k in [10, 24] {
        // Too few clusters, too few rows in each.
        assert_eq!(fitted(&x, &Params { restarts: 1, ..Params::new(k) }).report.neighbours, 0);
    }
}

#[test]
fn neither_the_threads_nor_the_memory_change_what_neighbours_teach() {
    let (x, _) = clusters(&[40; 18], 1.0);
    let params = Params { restarts: 2, neighbours: Neighbours::Exactly(10), ..Params::new(18) };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| fitted(&x, &params));
    let three = pool(3).install(|| fitted(&x, &params));
    let little = fit(&Input { memory: 0, ..Input::new(&x) }, &params, &Silent).unwrap();
    assert!(one.model == three.model && one.model == little.model);
}

#[test]
fn sizes_are_found_where_they_differ_and_left_equal_where_they_do_not() {
    let params = Params { restarts: 3, prior: Prior::unknown(4), ..Params::new(4) };
    let (x, truth) = clusters(&[420, 90, 60, 30], 2.0);
    let found = fitted(&x, &params);
    let mut shares = found.report.prior.clone();
    shares.sort_by(|a, b| b.total_cmp(a));
    for (share, truth) in shares.iter().zip([0.7, 0.15, 0.1, 0.05]) {
        assert!((share - truth).abs() < 0.03, "{shares:?}");
    }
    assert!(ari(&truth, &found.labels).unwrap() > 0.97);
    let (x, _) = clusters(&[100; 4], 2.0);
    let equal = fitted(&x, &params);
    assert_eq!(equal.report.prior, [0.25; 4]);
    let usual = fitted(&x, &Params { prior: Prior::Uniform, ..params });
    assert_eq!(equal.model, usual.model);
}

#[test]
fn by_default_sizes_are_those_of_a_search_unless_rows_are_too_few_or_labels_name_clusters() {
    let (x, labels) = clusters(&[240, 80, 40, 40], 6.0);
    let with = |prior, known: Option<&[i32]>, x: &Array2<f32>| {
        let params = Params { restarts: 2, prior, ..Params::new(4) };
        fit(&Input { known, ..Input::new(x) }, &params, &Silent).unwrap()
    };
    let usual = with(Prior::Usual, None, &x);
    assert_eq!(usual.model, with(Prior::unknown(4), None, &x).model);
    assert!(usual.report.prior[0] > 0.5, "{:?}", usual.report.prior);
    let known: Vec<i32> =
        labels.iter().enumerate().map(|(i, &l)| if i % 9 == 0 { l as i32 } else { -1 }).collect();
    assert_eq!(with(Prior::Usual, Some(&known), &x).report.prior, [0.25; 4]);
    let (few, _) = clusters(&[24, 8, 4, 4], 6.0);
    assert_eq!(with(Prior::Usual, None, &few).report.prior, [0.25; 4]);
}

#[test]
fn a_search_for_sizes_resumed_at_any_step_ends_in_the_same_bits() {
    for sizes in [[150, 40, 20], [70, 70, 70]] {
        let (x, _) = clusters(&sizes, 2.0);
        let params = Params { restarts: 2, epochs: Some(8), prior: Prior::unknown(3), ..Params::new(3) };
        let whole = fitted(&x, &params);
        let input = Input::new(&x);
        let prepared = input.prepared(params.recipe(), &Silent).unwrap();
        let mut fitting = Fitting::new(&input, &prepared, &params).unwrap();
        let mut step = 0;
        while fitting.advance().unwrap() {
            step += 1;
            if step % 5 == 2 {
                let kept = serde_json::to_string(fitting.state()).unwrap();
                let state: FitState = serde_json::from_str(&kept).unwrap();
                fitting = Fitting::resume(&input, &prepared, &params, state).unwrap();
            }
        }
        assert_eq!(fitting.finish().unwrap().model, whole.model, "after {step} steps");
    }
}
