//! States that are not as a fit left them are refused, or at least gone on with: a damaged file must not end the program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use ndarray::Array2;
use partita::linear::{Fitting, Input, Optimiser, Params, Prior, Refresh};
use partita::report::Silent;
use partita::rng::{Stream, stream};
use rand::RngExt;
use serde_json::{Value, json};

/// Three groups of rows of unequal size.
fn rows(n: usize, m: usize) -> Array2<f32> {
    let mut rng = stream(8, Stream::Synthetic, 0);
    Array2::from_shape_fn((n, m), |(i, j)| if i % 5 / 2 == j { 6.0 } else { 0.0 } + rng.random::<f32>())
}

/// What may be changed of a value: numbers become others, and lists shorter or longer.
fn changed(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(_) => {
            [json!(0), json!(1), json!(7), json!(1u64 << 40), json!(u64::MAX), json!(-0.5)].to_vec()
        }
        Value::Array(list) => {
            let longer = list.iter().chain(list.first()).cloned().collect();
            vec![json!([]), Value::Array(longer), Value::Array(list.iter().skip(1).cloned().collect())]
        }
        Value::String(_) => ["Search", "Refine", "Minimise", "Polish", "Done"].map(Value::from).to_vec(),
        _ => vec![Value::Null],
    }
}

/// The places of all parts of a value; of a list, its first and last entry.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(parts) => {
            parts.iter().for_each(|(key, part)| places(part, &format!("{at}/{key}"), found));
        }
        Value::Array(list) if !list.is_empty() => {
            places(&list[0], &format!("{at}/0"), found);
            places(&list[list.len() - 1], &format!("{at}/{}", list.len() - 1), found);
        }
        _ => {}
    }
}

/// Every change of every part of the state after `steps`; how many were refused, and how many gone on with.
fn damaged(x: &Array2<f32>, params: &Params, steps: usize) -> (usize, usize) {
    let input = Input::new(x);
    let prepared = input.prepared(params.recipe(), &Silent).unwrap();
    let mut fitting = Fitting::new(&input, &prepared, params).unwrap();
    (0..steps).for_each(|_| assert!(fitting.advance().unwrap()));
    let state = serde_json::to_value(fitting.state()).unwrap();
    let (mut all, mut refused, mut taken) = (Vec::new(), 0, 0);
    places(&state, "", &mut all);
    for place in all {
        for change in changed(state.pointer(&place).unwrap()) {
            let mut state = state.clone();
            *state.pointer_mut(&place).unwrap() = change;
            let Ok(state) = serde_json::from_value(state) else { continue };
            let Ok(mut fitting) = Fitting::resume(&input, &prepared, params, state) else {
                refused += 1;
                continue;
            };
            // What it comes to is another matter: an error, at worst.
            assert!((0.0..=1.0).contains(&fitting.progress().done), "{place}");
            let _ = (0..3).try_for_each(|_| fitting.advance().map(drop));
            let _ = (fitting.progress(), fitting.finish());
            taken += 1;
        }
    }
    (refused, taken)
}

#[test]
fn a_damaged_state_is_refused_or_gone_on_with() {
    let x = rows(60, 3);
    let base = Params { restarts: 2, epochs: Some(4), batch: Some(20), ..Params::new(3) };
    let polished = Params { polish: 3, optimiser: Optimiser::Adam, ..base.clone() };
    let epoch = Params { refresh: Refresh::Epoch, ..base.clone() };
    let lbfgs = Params { optimiser: Optimiser::Lbfgs, epochs: None, batch: None, ..base.clone() };
    // In many dimensions nobody sees the clusters, and the sizes are estimated by many fits or, with enough rows, by a trial.
    let sizes = Params { prior: Prior::unknown(3), ..base.clone() };
    let (few, many) = (rows(60, 40), rows(90, 40));
    let cases = [
        (&x, &base, 5),
        (&x, &polished, 14),
        (&x, &polished, 53),
        (&x, &epoch, 4),
        (&x, &lbfgs, 4),
        (&few, &sizes, 60),
        (&many, &sizes, 5),
        (&many, &sizes, 60),
    ];
    for (x, params, steps) in cases {
        let (refused, taken) = damaged(x, params, steps);
        assert!(refused > 20 && taken > 20, "{params:?} after {steps}: {refused} refused, {taken} taken");
    }
}
