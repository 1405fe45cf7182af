//! Many methods on the same rows, from the same seeds: what each reaches, how surely they differ, and what it costs.

mod contender;
mod significance;

pub use crate::metrics::Spread;
pub use contender::{Contender, RunResult, Setting, Shared};
pub use significance::paired_test;

use crate::error::{Error, Result};
use crate::linear::Input;
use crate::metrics::{self, Scores};
use crate::report::{Flow, Observer, Progress};
use serde::Serialize;
use std::sync::Mutex;
use std::time::Instant;

/// Rows on which the silhouette is measured.
const SILHOUETTE_ROWS: usize = 1000;

/// All runs of all methods.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Rows.
    pub n: usize,
    /// Features.
    pub m: usize,
    /// Clusters.
    pub k: usize,
    /// Starts of each run.
    pub restarts: usize,
    /// One run of every method for each of these.
    pub seeds: Vec<u64>,
    /// In the order asked for.
    pub methods: Vec<MethodResult>,
}

/// All runs of one method.
#[derive(Debug, Clone, Serialize)]
pub struct MethodResult {
    /// Its name.
    pub name: String,
    /// One for each seed, unless it failed.
    pub runs: Vec<Run>,
    /// Why it failed, if it did; the others went on.
    pub failure: Option<String>,
    /// The run with the lowest loss of its own.
    pub best: Option<usize>,
    /// Mean adjusted Rand index between the runs: how much the seed matters.
    pub agreement: Option<f64>,
    /// p-value of the paired test of ACC against the first method.
    pub p_value: Option<f64>,
}

/// One run of one method.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// Loss in the method's own terms.
    pub loss: f64,
    /// Seconds of the fit, without preparing the rows, which all methods share.
    pub seconds: f64,
    /// Against the truth, if that is known.
    pub scores: Option<Scores>,
    /// Silhouette on a sample of the raw rows, where it has a meaning; only without truth.
    pub silhouette: Option<f64>,
    /// mean H(σ), for methods with probabilities.
    pub decisiveness: Option<f64>,
    /// Median margin, for linear models.
    pub margin: Option<f64>,
    /// Clusters with at least one row.
    pub clusters_in_use: usize,
    #[serde(skip)]
    labels: Vec<u32>,
}

impl MethodResult {
    /// Spread of some number over the runs that have it.
    pub fn spread(&self, number: impl Fn(&Run) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.runs.iter().filter_map(number))
    }
}

/// Run every method once for each seed. A method that fails is reported with its reason; the others go on.
///
/// Runs go seed by seed, so that after the first round the time left is known.
pub fn compare(
    input: &Input<'_>,
    truth: Option<&[i64]>,
    contenders: &[Contender],
    setting: &Setting,
    seeds: &[u64],
    observer: &dyn Observer,
) -> Result<Comparison> {
    let mut methods: Vec<MethodResult> =
        contenders.iter().map(|c| MethodResult::new(c.to_string())).collect();
    let shared = Shared::new(input);
    let clock = Clock::new(contenders.len(), seeds.len(), observer);
    for &seed in seeds {
        for (at, (contender, result)) in contenders.iter().zip(&mut methods).enumerate() {
            if result.failure.is_some() {
                continue;
            }
            clock.begin(at);
            match contender.run(&shared, setting, seed, &clock) {
                Ok(found) => result.runs.push(judge(input, truth, found, seed)?),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => result.failure = Some(error.to_string()),
            }
            clock.end(at);
        }
    }
    for at in 0..methods.len() {
        let p_value = if at == 0 { None } else { against(&methods[at], &methods[0]) };
        methods[at].conclude(p_value)?;
    }
    let (n, m) = (input.rows.n(), input.rows.m());
    Ok(Comparison { n, m, k: setting.k, restarts: setting.restarts, seeds: seeds.to_vec(), methods })
}

fn judge(input: &Input<'_>, truth: Option<&[i64]>, found: RunResult, seed: u64) -> Result<Run> {
    let scores = truth.map(|truth| metrics::scores(truth, &found.labels)).transpose()?;
    let silhouette = match truth {
        // The same rows for all runs.
        None => metrics::silhouette(input.rows, &found.labels, SILHOUETTE_ROWS, 0)?,
        Some(_) => None,
    };
    let mut used = found.labels.clone();
    used.sort_unstable();
    used.dedup();
    Ok(Run {
        seed,
        loss: found.loss,
        seconds: found.seconds,
        scores,
        silhouette,
        decisiveness: found.decisiveness,
        margin: found.margin,
        clusters_in_use: used.len(),
        labels: found.labels,
    })
}

/// The paired test of ACC, if both have the same runs.
fn against(method: &MethodResult, first: &MethodResult) -> Option<f64> {
    let accuracies = |m: &MethodResult| -> Option<Vec<f64>> {
        m.runs.iter().map(|run| run.scores.map(|s| s.acc)).collect()
    };
    let (a, b) = (accuracies(method)?, accuracies(first)?);
    (a.len() == b.len() && a.len() > 1).then(|| paired_test(&a, &b))
}

impl MethodResult {
    fn new(name: String) -> Self {
        Self { name, runs: Vec::new(), failure: None, best: None, agreement: None, p_value: None }
    }

    fn conclude(&mut self, p_value: Option<f64>) -> Result<()> {
        self.p_value = p_value;
        self.best = (0..self.runs.len()).min_by(|&a, &b| self.runs[a].loss.total_cmp(&self.runs[b].loss));
        let labelings: Vec<&[u32]> = self.runs.iter().map(|run| &*run.labels).collect();
        if labelings.len() > 1 {
            self.agreement = Some(metrics::mean_pairwise_ari(&labelings)?);
        }
        Ok(())
    }
}

/// Turns the progress of single runs into that of the whole, by the time that earlier runs of each method took.
struct Clock<'a> {
    observer: &'a dyn Observer,
    seeds: usize,
    state: Mutex<State>,
}

struct State {
    /// Seconds of the runs of each method so far.
    taken: Vec<Vec<f64>>,
    running: usize,
    since: Instant,
}

impl<'a> Clock<'a> {
    fn new(methods: usize, seeds: usize, observer: &'a dyn Observer) -> Self {
        let state = State { taken: vec![Vec::new(); methods], running: 0, since: Instant::now() };
        Self { observer, seeds, state: Mutex::new(state) }
    }

    fn begin(&self, method: usize) {
        let mut state = self.state.lock().expect("no panic holds it");
        (state.running, state.since) = (method, Instant::now());
    }

    fn end(&self, method: usize) {
        let mut state = self.state.lock().expect("no panic holds it");
        let seconds = state.since.elapsed().as_secs_f64();
        state.taken[method].push(seconds);
    }
}

impl State {
    /// Share of all work that is done when the present run is `done`.
    fn share(&self, seeds: usize, done: f64) -> f64 {
        let known: Vec<Option<Spread>> = self.taken.iter().map(|t| Spread::of(t.iter().copied())).collect();
        let all: f64 = known.iter().flatten().map(|s| s.mean).sum();
        let typical = all / known.iter().flatten().count().max(1) as f64;
        let expected = |method: usize| known[method].map_or(typical.max(1e-3), |s| s.mean);
        let total: f64 = (0..self.taken.len()).map(|m| expected(m) * seeds as f64).sum();
        let past: f64 = self.taken.iter().flatten().sum();
        ((past + expected(self.running) * done) / total).min(1.0)
    }
}

impl Observer for Clock<'_> {
    fn progress(&self, progress: Progress) -> Flow {
        let done = self.state.lock().expect("no panic holds it").share(self.seeds, progress.done);
        self.observer.progress(Progress { done, ..progress })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Prepare;
    use crate::report::Silent;
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;

    fn blobs() -> (Array2<f32>, Vec<i64>) {
        let mut rng = stream(0, Stream::Synthetic, 0);
        let rows = Array2::from_shape_fn((300, 3), |(i, j)| {
            f32::from(u8::from(i % 3 == j)) * 6.0 + rng.random::<f32>()
        });
        (rows, (0..300).map(|i| i % 3).collect())
    }

    fn setting() -> Setting {
        Setting { k: 3, restarts: 2, epochs: None, prepare: Prepare::Auto, dims: None }
    }

    #[test]
    fn every_method_separates_blobs() {
        let (rows, truth) = blobs();
        let view = rows.view();
        // Labels once an epoch, σ/√σ̄ and γ = 0 are not enough in so few steps; the results pages show it.
        // TURTLE and TEMI have tests of their own, with options for small data.
        let weak = [
            "ours-epoch",
            "sela-epoch",
            "miadm-dec",
            "miadm-depict",
            "miadm-depict-star",
            "miadm-exact",
            "turtle",
            "temi",
        ];
        let all: Vec<Contender> =
            Contender::all().filter(|(name, ..)| !weak.contains(name)).map(|(_, c, _)| c).collect();
        let found = compare(&Input::new(&view), Some(&truth), &all, &setting(), &[0, 1], &Silent).unwrap();
        for method in &found.methods {
            assert!(method.failure.is_none(), "{}: {:?}", method.name, method.failure);
            let acc = method.spread(|r| r.scores.map(|s| s.acc)).unwrap();
            assert!(acc.mean > 0.99, "{}: {}", method.name, acc.mean);
            assert!(method.best.is_some());
        }
        assert_eq!(found.methods[0].p_value, None);
        assert_eq!(found.methods[1].p_value, Some(1.0));
    }

    #[test]
    fn turtle_takes_reduced_rows_of_one_file() {
        let rows = blobs().0;
        let view = rows.view();
        let mut input = Input::new(&view);
        input.widths = vec![3];
        let reduced = Setting { dims: Some(crate::linear::Dims::Exactly(2)), ..setting() };
        let found = compare(&input, None, &["turtle".parse().unwrap()], &reduced, &[0], &Silent).unwrap();
        assert_eq!(found.methods[0].failure, None);
    }

    #[test]
    fn failures_are_reported_and_without_truth_there_are_internal_measures() {
        let (rows, _) = blobs();
        let view = rows.view();
        let all = ["kmeans".parse().unwrap(), "ours".parse().unwrap()];
        let odd =
            Setting { prepare: Prepare::None, dims: Some(crate::linear::Dims::Exactly(0)), ..setting() };
        let found = compare(&Input::new(&view), None, &all, &odd, &[0], &Silent).unwrap();
        assert!(found.methods.iter().all(|m| m.failure.as_ref().is_some_and(|f| f.contains("dims"))));
        let found = compare(&Input::new(&view), None, &all, &setting(), &[0, 1], &Silent).unwrap();
        assert!(found.methods.iter().all(|m| m.failure.is_none() && m.agreement.is_some()));
        assert!(found.methods[1].runs[0].silhouette.is_some());
    }

    #[test]
    fn progress_rises_to_one() {
        let state = State { taken: vec![vec![2.0, 2.0], vec![6.0]], running: 1, since: Instant::now() };
        assert!((state.share(2, 0.5) - 13.0 / 16.0).abs() < 1e-12);
        assert_eq!(state.share(2, 1.0), 1.0);
    }
}
