//! Other clustering methods, all in one shape: the options of a method are a [`Method`], and [`fit`] makes a [`Fit`] of them.
//!
//! A method sees prepared rows in memory and finds a [`Head`], which assigns such rows to clusters. What surrounds it is the
//! same for all: [`fit`] prepares the rows, [`Model`] takes raw ones. The rivals that train the linear softmax model
//! itself (mutual information, SeLa, MIADM, Rényi, hinge) are losses of [`crate::linear`].

pub mod gmm;
pub mod kmeans;
mod parts;
pub mod soft_kmeans;
pub mod temi;
#[cfg(test)]
mod testing;
pub mod turtle;

pub use crate::centres::Table;

use crate::centres::KeepGoing;
use crate::error::{Error, Result, require};
use crate::linear::Input;
use crate::metrics::mean_entropy;
use crate::prepare::{Dims, LiftKind, Neighbours, Preparation, Prepare, Prepared, Recipe};
use crate::report::{Flow, Observer, Part, Progress, StopReason};
use crate::rows::{Rows, check_finite, check_width};
use crate::simplex::largest;
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Rows prepared and assigned by one thread at a time.
const BLOCK: usize = 128;

/// The options of a clustering method.
pub trait Method {
    /// What training finds.
    type Head: Head;

    /// Number of clusters.
    fn k(&self) -> usize;

    /// Check the options against the number of rows.
    fn check(&self, n: usize) -> Result<()>;

    /// Cluster prepared rows.
    fn train(&self, table: Table<'_>, seed: u64, observer: &dyn Observer) -> Result<Trained<Self::Head>>;
}

/// Assigns prepared rows to clusters.
pub trait Head: Send + Sync {
    /// Assignments of the rows `x` into `proba`, `[rows, k]`: each row sums to one, and is one-hot if the method is hard.
    fn assign(&self, x: &[f32], proba: &mut [f32]);
}

/// What training found.
#[derive(Debug, Clone)]
pub struct Trained<H> {
    /// The best restart.
    pub head: H,
    /// Its loss, in the method's own terms.
    pub loss: f64,
    /// Losses of all restarts.
    pub losses: Vec<f64>,
    /// Iterations of the best restart.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: StopReason,
}

/// What is done around every method.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// How rows are prepared.
    pub prepare: Prepare,
    /// Dimensions of a prepared row to use.
    pub dims: Dims,
    /// Seed of all random choices.
    pub seed: u64,
}

/// A fitted rival.
#[derive(Debug, Clone)]
pub struct Fit<H> {
    /// Takes raw rows.
    pub model: Model<H>,
    /// The cluster of each row.
    pub labels: Vec<u32>,
    /// Mean entropy of their assignments: 0 if the method is hard.
    pub decisiveness: f64,
    /// Loss of the best restart, in the method's own terms.
    pub loss: f64,
    /// Losses of all restarts.
    pub losses: Vec<f64>,
    /// Iterations of the best restart.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: StopReason,
    /// Seconds from the first read to the last label.
    pub seconds: f64,
}

/// A head with the preparation of the rows it was trained on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Model<H> {
    /// What is done to a raw row first.
    pub preparation: Preparation,
    /// Number of clusters.
    pub k: usize,
    /// What then assigns it.
    pub head: H,
}

/// Share of a fit that preparing the rows takes.
const PREPARING: f64 = 0.1;

impl Frame {
    /// How the rows are prepared.
    pub fn recipe(&self) -> Recipe {
        Recipe {
            prepare: self.prepare,
            dims: self.dims,
            seed: self.seed,
            lift: LiftKind::None,
            k: 0,
            neighbours: Neighbours::Exactly(0),
        }
    }
}

/// Cluster the rows of `input`, which are prepared into memory; weights and known labels are not used.
///
/// # Errors
/// If the rows or an option cannot be used, or if the observer stops it before there is a result.
pub fn fit<M: Method>(
    input: &Input<'_>,
    method: &M,
    frame: Frame,
    observer: &dyn Observer,
) -> Result<Fit<M::Head>> {
    let began = Instant::now();
    check(input, method, frame)?;
    let input = Input { warm_start: None, memory: usize::MAX, ..input.clone() };
    let prepared = input.prepared(frame.recipe(), &Part::new(observer, 0.0, PREPARING))?;
    let mut found = fit_prepared(&input, &prepared, method, frame, &Part::new(observer, PREPARING, 1.0))?;
    found.seconds = began.elapsed().as_secs_f64();
    Ok(found)
}

/// [`fit`] on rows that were prepared from the input before, by the recipe of this frame.
///
/// # Errors
/// As [`fit`].
pub fn fit_prepared<M: Method>(
    input: &Input<'_>,
    prepared: &Prepared,
    method: &M,
    frame: Frame,
    observer: &dyn Observer,
) -> Result<Fit<M::Head>> {
    let began = Instant::now();
    check(input, method, frame)?;
    let k = method.k();
    input.check_distinct(k)?;
    let x = prepared.load(input.rows)?;
    let preparation = prepared.preparation().clone();
    let table = Table { x: &x, m: preparation.d() };
    let trained = method.train(table, frame.seed, observer)?;
    let proba = assign_all(&trained.head, table, k);
    Ok(Fit {
        model: Model { preparation, k, head: trained.head },
        labels: decide(&proba, k),
        decisiveness: mean_entropy(&proba, k),
        loss: trained.loss,
        losses: trained.losses,
        iterations: trained.iterations,
        stop: trained.stop,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Refuse options that cannot be used, before any work is done.
pub(crate) fn check(input: &Input<'_>, method: &impl Method, frame: Frame) -> Result<()> {
    let (n, k) = (input.rows.n(), method.k());
    input.check(k)?;
    if k > n {
        return Err(Error::TooFewRows { rows: n, k });
    }
    at_least_one("the number of clusters", k)?;
    if let Dims::Exactly(dims) = frame.dims {
        at_least_one("dims", dims)?;
    }
    method.check(n)
}

/// The restart with the lowest loss. If the observer asks to stop, the best so far.
fn best_of<H>(
    stage: &'static str,
    restarts: usize,
    observer: &dyn Observer,
    start: impl Fn(usize, KeepGoing<'_>) -> Result<Trained<H>>,
) -> Result<Trained<H>> {
    let mut best: Option<Trained<H>> = None;
    let mut losses: Vec<f64> = Vec::with_capacity(restarts);
    for restart in 0..restarts {
        let loss = losses.last().copied();
        let keep_going = |share: f64| {
            let done = (restart as f64 + share) / restarts as f64;
            observer.progress(Progress { stage, done, loss }) == Flow::Continue
        };
        if !keep_going(0.0) {
            break;
        }
        let found = start(restart, &keep_going)?;
        // What was cut short is worth keeping only if nothing was finished before it.
        if found.stop == StopReason::Interrupted {
            best = best.or(Some(found));
            break;
        }
        losses.push(found.loss);
        if best.as_ref().is_none_or(|best| found.loss < best.loss) {
            best = Some(found);
        }
    }
    let best = best.ok_or(Error::Interrupted)?;
    let stop = if losses.len() < restarts { StopReason::Interrupted } else { best.stop };
    Ok(Trained { losses: if losses.is_empty() { vec![best.loss] } else { losses }, stop, ..best })
}

fn at_least_one(name: &'static str, value: usize) -> Result<()> {
    require(name, value, value >= 1, "at least 1")
}

fn assign_all(head: &impl Head, table: Table<'_>, k: usize) -> Vec<f32> {
    let mut proba = vec![0.0; table.n() * k];
    proba
        .par_chunks_mut(BLOCK * k)
        .zip(table.x.par_chunks(BLOCK * table.m))
        .for_each(|(proba, x)| head.assign(x, proba));
    proba
}

/// The first most probable cluster of each row.
fn decide(proba: &[f32], k: usize) -> Vec<u32> {
    proba.chunks_exact(k).map(|p| largest(p) as u32).collect()
}

impl<H: Head> Model<H> {
    /// Assignments of raw rows, `[n, k]`.
    pub fn predict_proba(&self, rows: &dyn Rows) -> Result<Array2<f32>> {
        let (m, d, k) = (self.preparation.m(), self.preparation.d(), self.k);
        check_width(rows, m)?;
        if rows.sparse().is_some() {
            let table = self.prepared(rows)?.into_raw_vec_and_offset().0;
            let proba = assign_all(&self.head, Table { x: &table, m: d }, k);
            return Ok(Array2::from_shape_vec((rows.n(), k), proba).expect("n rows of k"));
        }
        let mut proba = vec![0.0; rows.n() * k];
        proba.par_chunks_mut(BLOCK * k).enumerate().try_for_each_init(
            || (Vec::new(), Vec::new()),
            |(raw, x), (i, proba)| {
                raw.resize(proba.len() / k * m, 0.0);
                x.resize(proba.len() / k * d, 0.0);
                rows.read(i * BLOCK, raw)?;
                check_finite(raw, m, i * BLOCK)?;
                self.preparation.apply(raw, x);
                self.head.assign(x, proba);
                Ok::<_, Error>(())
            },
        )?;
        Ok(Array2::from_shape_vec((rows.n(), k), proba).expect("n rows of k"))
    }

    /// Raw rows as the head takes them, `[n, d]`.
    pub fn prepared(&self, rows: &dyn Rows) -> Result<Array2<f32>> {
        let (m, d) = (self.preparation.m(), self.preparation.d());
        check_width(rows, m)?;
        let table = self.preparation.load(rows)?;
        if table.iter().any(|v| !v.is_finite()) {
            let mut row = vec![0.0; m];
            for i in 0..rows.n() {
                rows.read(i, &mut row)?;
                check_finite(&row, m, i)?;
            }
        }
        Ok(Array2::from_shape_vec((rows.n(), d), table).expect("n rows of d"))
    }

    /// The cluster of each raw row.
    pub fn predict(&self, rows: &dyn Rows) -> Result<Vec<u32>> {
        let proba = self.predict_proba(rows)?;
        Ok(decide(proba.as_slice().expect("made in row-major order"), self.k))
    }
}
