//! The linear engine as a whole, on clusters that any sound option must find.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use ndarray::Array2;
use partita::linear::{Dims, Init, Input, Loss, Optimiser, Params, Refresh, Solver, fit};
use partita::metrics::accuracy;
use partita::report::Silent;
use partita::rng::{Stream, stream};
use rand::RngExt;

const K: usize = 3;

/// Three groups in ten dimensions, far apart compared with their width.
fn groups(n: usize) -> (Array2<f32>, Vec<usize>) {
    let mut rng = stream(9, Stream::Synthetic, 0);
    let truth: Vec<usize> = (0..n).map(|i| i % K).collect();
    let rows = Array2::from_shape_fn((n, 10), |(i, j)| {
        let centre = if j % K == truth[i] { 4.0 } else { 0.0 };
        centre + rng.random::<f32>() + rng.random::<f32>() - 1.0
    });
    (rows, truth)
}

fn check(name: &str, params: &Params) {
    let (rows, truth) = groups(240);
    let view = rows.view();
    let found = fit(&Input::new(&view), params, &Silent).unwrap_or_else(|e| panic!("{name}: {e}"));
    let acc = accuracy(&truth, &found.labels).unwrap();
    assert!(acc > 0.98, "{name}: ACC {acc}");
    assert!(found.report.loss.is_finite() && found.report.restarts.len() == params.restarts, "{name}");
    assert_eq!(found.model.predict(&view).unwrap(), found.labels, "{name}");
    assert_eq!(
        fit(&Input::new(&view), params, &Silent).unwrap().model,
        found.model,
        "{name}: not repeatable"
    );
}

fn base() -> Params {
    Params { restarts: 2, ..Params::new(K) }
}

#[test]
fn every_loss_finds_separated_groups() {
    for loss in [
        Loss::Strong,
        Loss::Weak,
        Loss::MutualInformation,
        Loss::Renyi(0.5),
        Loss::Renyi(f64::INFINITY),
        Loss::RenyiLabels(2.0),
    ] {
        check(&loss.to_string(), &Params { loss, ..base() });
    }
}

#[test]
fn every_way_to_train_finds_separated_groups() {
    check("once an epoch", &Params { refresh: Refresh::Epoch, ..base() });
    check("exact labels", &Params { solver: Solver::Exact, ..base() });
    check("momentum", &Params { optimiser: Optimiser::Sgd { momentum: 0.9 }, ..base() });
    check("adam", &Params { optimiser: Optimiser::Adam, ..base() });
    check("l-bfgs", &Params { optimiser: Optimiser::Lbfgs, restarts: 4, ..base() });
    check("polish", &Params { polish: 20, ..base() });
    check("full width", &Params { dims: Dims::Full, ..base() });
    for init in [Init::Random, Init::PlusPlus, Init::KMeans] {
        check("init", &Params { init, ..base() });
    }
}

#[test]
fn polishing_never_raises_the_loss() {
    let (rows, _) = groups(240);
    let view = rows.view();
    let plain = fit(&Input::new(&view), &base(), &Silent).unwrap().report.loss;
    let polished = fit(&Input::new(&view), &Params { polish: 30, ..base() }, &Silent).unwrap().report.loss;
    assert!(polished <= plain + 1e-4, "{polished} {plain}");
}

#[test]
fn a_warm_start_keeps_the_numbers_of_the_clusters() {
    let (rows, _) = groups(240);
    let view = rows.view();
    let first = fit(&Input::new(&view), &base(), &Silent).unwrap();
    let input = Input { warm_start: Some(&first.model), ..Input::new(&view) };
    let again = fit(&input, &Params { seed: 1, ..base() }, &Silent).unwrap();
    assert_eq!(again.labels, first.labels);
}

#[test]
fn a_start_of_another_shape_is_refused() {
    let (rows, _) = groups(60);
    let view = rows.view();
    let first = fit(&Input::new(&view), &base(), &Silent).unwrap();
    let input = Input { warm_start: Some(&first.model), ..Input::new(&view) };
    let message = fit(&input, &Params::new(4), &Silent).unwrap_err().to_string();
    assert!(message.contains("that of the model"), "{message}");
}

#[test]
fn the_bits_do_not_depend_on_threads_or_memory() {
    let (rows, _) = groups(700);
    let view = rows.view();
    let run = |threads, memory| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let input = Input { memory, ..Input::new(&view) };
        pool.install(|| fit(&input, &Params { restarts: 3, ..base() }, &Silent).unwrap().model)
    };
    let one = run(1, 1 << 30);
    assert_eq!(run(3, 1 << 30), one);
    assert_eq!(run(2, 0), one);
}

/// Groups of this width around random places.
fn around(k: usize, n: usize, width: f32) -> (Array2<f32>, Vec<usize>) {
    let mut rng = stream(3, Stream::Synthetic, 1);
    let centres = Array2::from_shape_fn((k, 8), |_| rng.random::<f32>() * 2.0 - 1.0);
    let truth: Vec<usize> = (0..n).map(|i| i % k).collect();
    let rows =
        Array2::from_shape_fn((n, 8), |(i, j)| centres[[truth[i], j]] + width * (rng.random::<f32>() - 0.5));
    (rows, truth)
}

#[test]
fn tight_groups_are_found_however_tight() {
    for (k, init) in
        [(20, Init::Auto), (20, Init::PlusPlus), (40, Init::Auto), (5, Init::KMeans), (5, Init::Auto)]
    {
        for width in [0.3, 0.03, 1e-3, 1e-5, 0.0] {
            let (rows, truth) = around(k, 40 * k, width);
            let view = rows.view();
            let params = Params { init, ..Params::new(k) };
            let found = fit(&Input::new(&view), &params, &Silent).unwrap();
            let acc = accuracy(&truth, &found.labels).unwrap();
            let loss = found.report.loss;
            assert!(acc > 0.97 && loss < 1.0, "{k} {init:?} {width}: ACC {acc}, loss {loss}");
        }
    }
}

#[test]
fn as_many_clusters_as_rows_is_a_fit() {
    let (rows, _) = around(90, 90, 0.0);
    let view = rows.view();
    let found = fit(&Input::new(&view), &Params::new(90), &Silent).unwrap();
    assert!(
        found.report.loss.is_finite() && found.report.cluster_sizes.iter().filter(|s| **s > 0).count() > 45
    );
}

#[test]
fn momentum_bears_any_gamma() {
    let (rows, truth) = groups(240);
    let view = rows.view();
    for (momentum, gamma) in [(0.9, 0.01), (0.5, 0.003), (0.9, 1e-4)] {
        let params = Params { optimiser: Optimiser::Sgd { momentum }, gamma: Some(gamma), ..base() };
        let found = fit(&Input::new(&view), &params, &Silent).unwrap();
        assert!(found.report.loss < 1.0, "{momentum} {gamma}: {}", found.report.loss);
        assert!(accuracy(&truth, &found.labels).unwrap() > 0.98, "{momentum} {gamma}");
    }
}

#[test]
fn a_fit_that_diverges_is_an_error() {
    let (rows, _) = groups(240);
    let view = rows.view();
    let params = Params { learning_rate: Some(1e38), optimiser: Optimiser::Adam, ..base() };
    let told = fit(&Input::new(&view), &params, &Silent).unwrap_err().to_string();
    assert!(told.contains("not finite") && told.contains("learning rate"), "{told}");
    let weights = vec![1e30; 240];
    let told = fit(&Input { weights: Some(&weights), ..Input::new(&view) }, &base(), &Silent).unwrap_err();
    assert!(told.to_string().contains("mean row weight"), "{told}");
}
