//! One training step beside its two matrix products alone, on the calling thread.
//!
//! Prints lines `name microseconds`; `bench/step.py` sets them beside numpy's. Rows are read at random from a matrix
//! that is larger than the caches, as in training.

use ndarray::Array2;
use partita::linear::em::{EmStep, Logits, Marks, Scratch};
use partita::linear::{Buffers, Gradient, Head, Input, Labelling, Optimiser, RowBatch, Source, Stack};
use partita::numeric::optimise::Pace;
use partita::numeric::product;
use partita::prepare::{Dims, LiftKind, Neighbours, Prepare, Recipe};
use partita::report::Silent;
use partita::rng::{Stream, stream};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 10_000;
const M: usize = 1280;
const K: usize = 10;
const BATCH: usize = 250;
const ITERATIONS: usize = 5;
const STEPS: usize = 200;
const REPEATS: usize = 15;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be started");
    pool.install(run);
}

fn run() {
    let mut rng = stream(0, Stream::Synthetic, 0);
    let data = Array2::from_shape_fn((ROWS, M), |_| rng.random::<f32>());
    let view = data.view();
    let input = Input::new(&view);
    let recipe = Recipe {
        prepare: Prepare::Centre,
        dims: Dims::Full,
        seed: 0,
        lift: LiftKind::None,
        k: 2,
        neighbours: Neighbours::Auto,
    };
    let prepared = input.prepared(recipe, &Silent).expect("the data is finite");
    let source = Source::new(&input, &prepared);
    let mut order: Vec<usize> = (0..ROWS).collect();
    order.shuffle(&mut rng);

    report("products", products(&source));
    for restarts in [1, 8] {
        let name = if restarts == 1 { "step".to_owned() } else { format!("step_{restarts}_restarts") };
        report(&name, step(&source, &order, restarts));
    }
    report("pseudo_labels", pseudo_labels(&mut rng));
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn report(name: &str, seconds: f64) {
    println!("{name} {:.1}", seconds * 1e6);
}

/// The least mean time of a step over several repeats.
fn time(mut step: impl FnMut(usize)) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        let began = Instant::now();
        (0..STEPS).for_each(&mut step);
        least = least.min(began.elapsed().as_secs_f64() / STEPS as f64);
    }
    least
}

fn rows(order: &[usize], step: usize) -> &[usize] {
    let first = step % (ROWS / BATCH) * BATCH;
    &order[first..first + BATCH]
}

fn heads(restarts: usize) -> Vec<Head> {
    let mut rng = stream(1, Stream::Init, 0);
    let head =
        |_| Head { weight: (0..K * M).map(|_| rng.random::<f32>() - 0.5).collect(), bias: vec![0.0; K] };
    (0..restarts).map(head).collect()
}

/// The two products of a step, on consecutive rows of the same matrix: nothing is gathered, labelled or updated.
fn products(source: &Source<'_>) -> f64 {
    let all = source.batch((0..ROWS).collect()).expect("the data is in memory");
    let head = heads(1).remove(0);
    let (mut z, mut g) = (vec![0.0; BATCH * K], vec![0.0; K * M]);
    let d = vec![1e-3; K * BATCH];
    time(|step| {
        let first = step % (ROWS / BATCH) * BATCH;
        let x = &all.x[first * M..(first + BATCH) * M];
        product::logits(x, &head.weight, &head.bias, M, &mut z);
        product::weight_gradient(&d, x, M, &mut g);
        black_box((&z, &g));
    })
}

/// Everything: gather the rows, logits, pseudo-labels, gradient, update.
fn step(source: &Source<'_>, order: &[usize], restarts: usize) -> f64 {
    let labelling = Labelling::Em(em());
    let optimiser = Optimiser::Sgd { momentum: 0.9 };
    let mut stack = Stack::new(K, M, (0..restarts).collect(), &heads(restarts));
    let (mut buffers, mut batch) = (Buffers::default(), RowBatch::default());
    let mut gradient = Gradient::default();
    time(|step| {
        batch.rows.clear();
        batch.rows.extend_from_slice(rows(order, step));
        source.gather(&mut batch).expect("the data is in memory");
        stack.gradient(&batch, (&labelling, &[]), &mut buffers, &mut gradient);
        stack.apply(&gradient, optimiser, Pace { rate: 1.0, decay: 1e-4, step: 1 });
        black_box(&gradient.losses);
    })
}

fn em() -> EmStep {
    EmStep { prior: vec![1.0 / K as f32; K], lambda: 100.0, iterations: ITERATIONS }
}

/// Softmax, EM and logit gradient of one batch.
fn pseudo_labels(rng: &mut impl rand::Rng) -> f64 {
    let z: Vec<f32> = (0..BATCH * K).map(|_| 4.0 * rng.random::<f32>()).collect();
    let mut d = vec![0.0; BATCH * K];
    let mut scratch = Scratch::default();
    let em = em();
    time(|_| {
        black_box(em.gradient(Logits::own(&z), (K, 0), Marks::default(), &mut d, &mut scratch));
    })
}
