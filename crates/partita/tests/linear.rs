//! The linear engine as a whole, on clusters that any sound option must find.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use ndarray::Array2;
use partita::linear::{Dims, Init, Input, Loss, Optimiser, Params, Refresh, Solver, fit};
use partita::metrics::accuracy;
use partita::report::Silent;
use partita::rng::{Stream, stream};
use rand::RngExt;

const K: usize = 3;

/// Three groups in ten dimensions, far apart against their width.
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
