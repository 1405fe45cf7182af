//! Training as state: saved, resumed, split and joined with the same bits; and progress that never goes back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use ndarray::Array2;
use partita::linear::{
    Fit, FitState, Fitting, GROUP, Input, Loss, Optimiser, Params, Plan, Prior, Refresh, Source, TrainState,
    Trainer, fit,
};
use partita::report::{Flow, Observer, Progress, Silent};
use partita::rng::{Stream, stream};
use rand::RngExt;
use std::sync::Mutex;

fn rows(n: usize) -> Array2<f32> {
    let mut rng = stream(8, Stream::Synthetic, 0);
    Array2::from_shape_fn((n, 5), |(i, j)| if i % 4 == j { 3.0 } else { 0.0 } + rng.random::<f32>())
}

/// Options that lead to different kinds of training.
fn kinds() -> Vec<Params> {
    let base = Params { restarts: 2, epochs: Some(6), batch: Some(64), ..Params::new(4) };
    let polished = Params { polish: 3, optimiser: Optimiser::Adam, ..base.clone() };
    let momentum = Params { optimiser: Optimiser::Sgd { momentum: 0.5 }, loss: Loss::Sela, ..base.clone() };
    let epoch = Params { refresh: Refresh::Epoch, ..base.clone() };
    let lbfgs = Params { optimiser: Optimiser::Lbfgs, epochs: None, batch: None, ..base.clone() };
    let sizes = Params { prior: Prior::unknown(4), epochs: Some(2), ..base.clone() };
    let taught = Params { known_weight: 1.0, polish: 2, ..base.clone() };
    vec![base, polished, momentum, epoch, lbfgs, sizes, taught]
}

fn same(a: &Fit, b: &Fit) {
    assert_eq!((&a.model, &a.labels), (&b.model, &b.labels));
    let untimed = |fit: &Fit| {
        let mut report = fit.report.clone();
        report.seconds = 0.0;
        report
    };
    assert_eq!(untimed(a), untimed(b));
}

#[test]
fn a_fit_resumed_at_any_step_ends_in_the_same_bits() {
    let x = rows(300);
    let known: Vec<i32> = (0..300).map(|i| if i % 50 == 0 { i % 4 } else { -1 }).collect();
    for params in kinds() {
        let input = Input { known: Some(&known), ..Input::new(&x) };
        let whole = fit(&input, &params, &Silent).unwrap();
        let prepared = input.prepared(params.recipe(), &Silent).unwrap();
        let mut fitting = Fitting::new(&input, &prepared, &params).unwrap();
        let mut step = 0;
        while fitting.advance().unwrap() {
            step += 1;
            // Often enough to hit every stage and the middle of epochs; the state goes through its file format.
            if step % 7 == 3 {
                let kept = serde_json::to_string(fitting.state()).unwrap();
                let state: FitState = serde_json::from_str(&kept).unwrap();
                fitting = Fitting::resume(&input, &prepared, &params, state).unwrap();
            }
        }
        assert!(step > 10, "{params:?}");
        same(&fitting.finish().unwrap(), &whole);
    }
}

#[test]
fn the_more_the_cross_entropy_of_known_rows_weighs_the_lower_it_ends() {
    let x = rows(300);
    // Labels that contradict the clusters, so that both cannot be had.
    let known: Vec<i32> = (0..300).map(|i| if i % 10 == 0 { i / 10 % 4 } else { -1 }).collect();
    let cross_entropy = |known_weight: f64| -> f64 {
        let params = Params { known_weight, optimiser: Optimiser::Lbfgs, restarts: 1, ..Params::new(4) };
        let found = fit(&Input { known: Some(&known), ..Input::new(&x) }, &params, &Silent).unwrap();
        let sigma = found.model.predict_proba(&x).unwrap();
        (0..300).step_by(10).map(|i| -f64::from(sigma[(i, known[i] as usize)].max(1e-30)).ln()).sum()
    };
    let found = [0.0, 1.0, 20.0].map(cross_entropy);
    assert!(found[0] > found[1] && found[1] > found[2], "{found:?}");
}

#[test]
fn a_state_of_another_fit_is_refused() {
    let x = rows(100);
    let (input, params) = (Input::new(&x), Params::new(3));
    let prepared = input.prepared(params.recipe(), &Silent).unwrap();
    let state = Fitting::new(&input, &prepared, &params).unwrap().state().clone();
    let error = Fitting::resume(&input, &prepared, &Params::new(4), state).err().unwrap();
    assert!(error.to_string().contains("other rows or options"), "{error}");
}

#[test]
fn ranges_of_starts_searched_apart_are_the_search_of_all() {
    let x = rows(300);
    let params = Params { restarts: 3, epochs: Some(5), ..Params::new(4) };
    for params in [params.clone(), Params { refresh: Refresh::Epoch, ..params }] {
        let input = Input::new(&x);
        let prepared = input.prepared(params.recipe(), &Silent).unwrap();
        let plan = Plan { checked: params.check(300).unwrap(), params, layout: None };
        let mut trainer = Trainer::new(plan, Source::new(&input, &prepared), None).unwrap();
        assert_eq!(trainer.starts(), 9);
        let mut searched = |starts| {
            let mut state = trainer.begin_range(starts).unwrap();
            while !trainer.is_searched(&state) {
                trainer.advance(&mut state).unwrap();
            }
            state
        };
        let whole = searched(0..9);
        let joined =
            TrainState::join(vec![searched(0..GROUP), searched(GROUP..2 * GROUP), searched(2 * GROUP..9)]);
        assert_eq!(joined, whole);
    }
}

#[test]
fn gradients_can_be_found_apart_from_the_step() {
    let x = rows(200);
    let params = Params { restarts: 1, ..Params::new(4) };
    let input = Input::new(&x);
    let prepared = input.prepared(params.recipe(), &Silent).unwrap();
    let plan = Plan { checked: params.check(200).unwrap(), params, layout: None };
    let mut trainer = Trainer::new(plan, Source::new(&input, &prepared), None).unwrap();
    let mut state = trainer.begin().unwrap();
    let before = state.clone();
    let gradient = trainer.gradient(&mut state, &(0..200).collect::<Vec<_>>()).unwrap().clone();
    assert_eq!(state, before);
    assert_eq!((gradient.weight.len(), gradient.bias.len(), gradient.losses.len()), (3 * 4 * 5, 3 * 4, 3));
    // The first batch holds all rows, so its loss must be the same.
    trainer.advance(&mut state).unwrap();
    let least = gradient.losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((state.loss().unwrap() - least).abs() < 1e-5, "{:?} {least}", state.loss());
    // Found and applied apart, it is the same step up to the order of the rows.
    let mut apart = before;
    trainer.apply(&mut apart, &gradient);
    assert_eq!((apart.step(), apart.loss()), (1, Some(least)));
    for place in 0..3 {
        let (a, b) = (apart.head(place), state.head(place));
        a.weight.iter().zip(&b.weight).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
    }
}

/// Records everything that it is told.
#[derive(Default)]
struct Log(Mutex<Vec<f64>>);

impl Observer for Log {
    fn progress(&self, progress: Progress) -> Flow {
        self.0.lock().unwrap().push(progress.done);
        Flow::Continue
    }
}

#[test]
fn progress_grows_from_zero_to_one_once() {
    let x = rows(300);
    for params in kinds() {
        let log = Log::default();
        fit(&Input::new(&x), &params, &log).unwrap();
        let told = log.0.into_inner().unwrap();
        assert!(told.is_sorted() && told[0] < 0.1, "{params:?}: {told:?}");
        let last = told.last().unwrap();
        assert!((0.99..=1.0).contains(last), "{params:?}: {last}");
    }
}

#[test]
fn labels_can_be_streamed_instead_of_held() {
    let x = rows(300);
    let (input, params) = (Input::new(&x), Params { epochs: Some(3), ..Params::new(4) });
    let prepared = input.prepared(params.recipe(), &Silent).unwrap();
    let trained = || {
        let mut fitting = Fitting::new(&input, &prepared, &params).unwrap();
        while fitting.advance().unwrap() {}
        fitting
    };
    let mut labels = Vec::new();
    let (model, report) = trained()
        .finish_each(|block| {
            labels.extend_from_slice(&block.labels);
            Ok(())
        })
        .unwrap();
    let held = trained().finish().unwrap();
    assert_eq!((model, labels), (held.model, held.labels));
    assert_eq!(report.cluster_sizes, held.report.cluster_sizes);
}
