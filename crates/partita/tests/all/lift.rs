//! Fits with a lift, from outside: any shapes, new rows, explanations, going on.

use ndarray::Array2;
use partita::linear::{Input, LiftKind, Params, Prior, fit};
use partita::prepare::Lift;
use partita::report::Silent;
use partita::rng::{Stream, stream};
use partita::{EntropyClustering, metrics};
use rand::RngExt;

/// A ring around a disc of a third as many rows, and which of them each row belongs to.
fn target(n: usize, seed: u64) -> (Array2<f32>, Vec<u32>) {
    let mut rng = stream(seed, Stream::Synthetic, 0);
    let truth: Vec<u32> = (0..n as u32).map(|i| u32::from(!i.is_multiple_of(4))).collect();
    let mut x = Array2::zeros((n, 2));
    for (i, &label) in truth.iter().enumerate() {
        let (angle, spread) = (rng.random::<f32>() * 6.3, rng.random::<f32>());
        let radius = if label == 1 { 4.0 + 0.5 * spread } else { spread };
        x[[i, 0]] = 100.0 + radius * angle.cos();
        x[[i, 1]] = radius * angle.sin();
    }
    (x, truth)
}

fn params() -> Params {
    Params { lift: LiftKind::Graph, prior: Prior::unknown(2), ..Params::new(2) }
}

#[test]
fn a_ring_and_what_it_surrounds_are_two_clusters_for_new_rows_too() {
    let (x, truth) = target(900, 1);
    let found = fit(&Input::new(&x), &params(), &Silent).unwrap();
    assert_eq!(metrics::ari(&truth, &found.labels).unwrap(), 1.0);
    let (others, truth) = target(3000, 2);
    assert!(metrics::ari(&truth, &found.model.predict(&others).unwrap()).unwrap() > 0.99);
    let planes = fit(&Input::new(&x), &Params { lift: LiftKind::None, ..params() }, &Silent).unwrap();
    assert!(metrics::ari(&target(900, 1).1, &planes.labels).unwrap() < 0.5);
}

#[test]
fn labels_are_those_of_the_model_whatever_the_budget_and_the_threads() {
    let (x, _) = target(500, 3);
    let few = Params { restarts: 1, prior: Prior::Uniform, epochs: Some(20), ..params() };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let held = pool(1).install(|| fit(&Input::new(&x), &few, &Silent).unwrap());
    assert!(held.model.predict(&x).unwrap() == held.labels);
    let read = pool(3).install(|| fit(&Input { memory: 0, ..Input::new(&x) }, &few, &Silent).unwrap());
    assert!(held.model == read.model && held.labels == read.labels);
}

#[test]
fn what_explains_a_row_sums_to_its_lead_in_terms_of_raw_features() {
    let (x, _) = target(600, 4);
    let found = fit(&Input::new(&x), &params(), &Silent).unwrap();
    for row in 0..20 {
        let why = found.model.explain(&x, row).unwrap();
        assert_eq!((why.contributions.len(), why.cluster as u32), (2, found.labels[row]));
        let logits = found.model.logits_all(&x).unwrap();
        let lead = f64::from(logits[[row, why.cluster]]) - f64::from(logits[[row, why.runner_up]]);
        let sum = why.base + why.contributions.iter().map(|c| c.value).sum::<f64>();
        assert!((sum - lead).abs() < 1e-3 * lead.abs().max(1.0), "row {row}: {sum} {lead}");
    }
}

#[test]
fn training_goes_on_with_the_lift_of_the_model() {
    let (x, _) = target(600, 5);
    let old = fit(&Input::new(&x), &params(), &Silent).unwrap().model;
    let (more, truth) = target(400, 6);
    let input = Input { warm_start: Some(&old), ..Input::new(&more) };
    let again = Params { restarts: 1, epochs: Some(1), prior: Prior::Given(old.shares()), ..params() };
    let found = fit(&input, &again, &Silent).unwrap();
    assert!(found.model.lift() == old.lift());
    assert!(metrics::ari(&truth, &found.labels).unwrap() > 0.99);
}

#[test]
fn rows_that_are_not_finite_are_named() {
    let (mut x, _) = target(300, 7);
    let found = EntropyClustering::new(2).lift(LiftKind::Graph).fit(&x).unwrap();
    x[[123, 1]] = f32::INFINITY;
    let message = found.model.predict(&x).unwrap_err().to_string();
    assert!(message.contains("row 123") && message.contains("column 1"), "{message}");
    let message = EntropyClustering::new(2).lift(LiftKind::Graph).fit(&x).unwrap_err().to_string();
    assert!(message.contains("row 123"), "{message}");
}

#[test]
fn auto_takes_the_graph_where_neighbours_show_clusters_otherwise_a_mixture_and_leaves_other_rows_alone() {
    let lifted = |x: &Array2<f32>, k: usize| {
        let params = Params { lift: LiftKind::Auto, prior: Prior::Usual, restarts: 1, ..Params::new(k) };
        let found = fit(&Input::new(x), &params, &Silent).unwrap();
        assert_eq!(found.model.lift().is_some(), found.report.lift.is_some());
        (found.model.lift().map(Lift::kind), found)
    };
    let (x, truth) = target(900, 8);
    let (kind, found) = lifted(&x, 2);
    assert!(kind == Some(LiftKind::Graph) && metrics::ari(&truth, &found.labels).unwrap() == 1.0);
    // A narrow Gaussian within a wide one, in six dimensions: no gap, but two shapes.
    let mut rng = stream(9, Stream::Synthetic, 0);
    let mut normal = move || (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
    let nested = Array2::from_shape_fn((600, 6), |(i, _)| if i % 3 == 0 { 4.0 } else { 1.0 } * normal());
    let truth: Vec<u32> = (0..600).map(|i| u32::from(i % 3 == 0)).collect();
    let (kind, found) = lifted(&nested, 2);
    assert_eq!(kind, Some(LiftKind::Quadratic));
    assert!(metrics::ari(&truth, &found.labels).unwrap() > 0.9);
    let least = *found.report.cluster_sizes.iter().min().unwrap();
    assert!((170..230).contains(&least), "{:?}", found.report.cluster_sizes);
    assert_eq!(found.model.predict(&nested).unwrap(), found.labels);
    // Many features, too few rows for so many clusters, and copies of very few rows are left alone.
    let mut rng = stream(10, Stream::Synthetic, 0);
    let wide = Array2::from_shape_fn(
        (200, 40),
        |(i, j)| if i % 2 == j % 2 { 5.0 } else { 0.0 } + rng.random::<f32>(),
    );
    assert_eq!(lifted(&wide, 2).0, None);
    assert_eq!(lifted(&x.slice(ndarray::s![..19, ..]).to_owned(), 4).0, None);
    let mut copies = Array2::zeros((4000, 2));
    copies[[17, 0]] = 1.0;
    copies[[3999, 1]] = 1.0;
    assert_eq!(lifted(&copies, 2).0, None);
}

#[test]
fn every_lift_predicts_what_it_fitted_and_explains_it() {
    let (x, _) = target(300, 3);
    for lift in [LiftKind::Graph, LiftKind::Quadratic, LiftKind::Rbf] {
        let params = Params { lift, prior: Prior::Usual, restarts: 2, ..Params::new(2) };
        let found = fit(&Input::new(&x), &params, &Silent).unwrap();
        assert_eq!(found.model.lift().map(Lift::kind), Some(lift));
        assert_eq!(found.model.predict(&x).unwrap(), found.labels);
        let why = found.model.explain(&x, 7).unwrap();
        let sum = why.base + why.contributions.iter().map(|c| c.value).sum::<f64>();
        let proba = |c: usize| f64::from(why.proba[c]);
        let lead = (proba(why.cluster) / proba(why.runner_up)).ln();
        assert!((sum - lead).abs() < 1e-2 * lead.abs().max(1.0), "{lift:?}: {sum} {lead}");
    }
}

/// Five blobs in the plane, which random starts do not find, at the sizes that they have.
#[test]
fn planes_find_more_blobs_than_there_are_directions_at_their_own_sizes() {
    let mut rng = stream(11, Stream::Synthetic, 0);
    let places = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0], [4.5, 4.5]];
    let cluster = |i: usize| match i % 20 {
        0 => 0,
        1..=2 => 1,
        3..=5 => 2,
        6..=11 => 3,
        _ => 4,
    };
    let x = Array2::from_shape_fn((1000, 2), |(i, j)| places[cluster(i)][j] + rng.random::<f32>() * 2.0);
    let truth: Vec<u32> = (0..1000).map(|i| cluster(i) as u32).collect();
    for restarts in [1, 8] {
        let params = Params { prior: Prior::Usual, restarts, ..Params::new(5) };
        let found = fit(&Input::new(&x), &params, &Silent).unwrap();
        let ari = metrics::ari(&truth, &found.labels).unwrap();
        assert!(ari > 0.99, "{ari} {:?}", found.report.cluster_sizes);
    }
}
