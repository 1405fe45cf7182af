//! The whole fit: prepare, start, train all restarts, choose by loss, fold back.

use super::align::align;
use super::init;
use super::kernel::EmStep;
use super::model::Model;
use super::optimise::{Optimiser, Pace, Schedule};
use super::params::{Checked, Loss, Params, Refresh, Solver};
use super::polish::polish;
use super::prepare::Preparation;
use super::relocate::relocate;
use super::score::{Ailment, Judge, Score, score};
use super::source::{Batch, Input, Source, check_distinct};
use super::train::{Buffers, Head, Labelling, Stack};
use crate::error::Result;
use crate::metrics;
use crate::objective::{self, BatchObjective, Fairness, MutualInformation, RenyiGradient, SelfLabelled};
use crate::pseudo::{Em, Exact, PseudoLabels, Renyi};
use crate::report::{Flow, Observer, Progress, StopReason};
use crate::rng::{Stream, stream};
use rand::seq::{SliceRandom, index};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Restarts are compared on all rows up to this many, and on a random sample of so many beyond.
const JUDGED_ROWS: usize = 20_000;

/// EM iterations for the pseudo-labels by which restarts are compared. The optimum itself ranks them alike and costs a
/// hundred times more at 200 clusters.
const JUDGE_ITERATIONS: usize = 50;
/// The same, to decide which starts are worth refining.
const RANK_ITERATIONS: usize = 20;

/// Iterations of L-BFGS where it is the whole optimiser.
const LBFGS_ITERATIONS: usize = 200;

/// When clusters are moved, as shares of the search.
const RELOCATE: [f64; 4] = [0.1, 0.2, 0.35, 0.5];
/// Rows that show how full the clusters are: so many, ...
const SCOUTS: usize = 2048;
/// ... or so many a cluster.
const SCOUTS_PER_CLUSTER: usize = 40;

/// Steps of the refinement, ...
const REFINE_STEPS: usize = 40;
/// ... rows of its batches, at least twice those of the search, ...
const REFINE_BATCH: usize = 2048;
/// ... and its learning rate at the start.
const REFINE_RATE: f64 = 0.625;

/// A fitted model with what is known about the fit.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model; takes raw rows.
    pub model: Model,
    /// The model's label of each row.
    pub labels: Vec<u32>,
    /// How it went.
    pub report: Report,
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Rows.
    pub n: usize,
    /// Features.
    pub m: usize,
    /// Clusters.
    pub k: usize,
    /// Loss of the chosen restart, norm included.
    pub loss: f64,
    /// mean H(σ): 0 when every row is decided.
    pub decisiveness: f64,
    /// KL(u‖σ̄): 0 when clusters are as large as the prior says.
    pub fairness: f64,
    /// Smallest lead of the winning logit over the second, over ‖W‖.
    pub margin: f64,
    /// Median of that lead.
    pub median_margin: f64,
    /// Rows in each cluster.
    pub cluster_sizes: Vec<usize>,
    /// Loss of each restart.
    pub restarts: Vec<Restart>,
    /// Mean adjusted Rand index between the labelings of the restarts; 1 with a single restart.
    pub agreement: f64,
    /// Rows on which restarts were compared.
    pub judged_rows: usize,
    /// Steps of the search.
    pub steps: usize,
    /// Rows of a batch.
    pub batch: usize,
    /// Why training stopped.
    pub stop: StopReason,
    /// Mean batch loss of the chosen restart in each epoch.
    pub trace: Vec<f64>,
    /// Clusters that are not alive, after all attempts to start them again.
    pub ailments: Vec<Ailment>,
    /// Seconds from the first read to the last label.
    pub seconds: f64,
}

/// One restart of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Restart {
    /// Seed of the fit.
    pub seed: u64,
    /// Number of the restart.
    pub restart: usize,
    /// Its loss when it was last judged.
    pub loss: f64,
}

/// Cluster the rows of `input`.
///
/// ```
/// use ndarray::Array2;
/// use partita::linear::{Input, Params, fit};
/// use partita::report::Silent;
/// let rows = Array2::from_shape_fn((60, 2), |(i, j)| (i % 3) as f32 * 10.0 * (j + i % 3) as f32 + (i / 3) as f32 * 0.01);
/// let view = rows.view();
/// let found = fit(&Input::new(&view), &Params::new(3), &Silent).unwrap();
/// assert_eq!(found.report.cluster_sizes, [20, 20, 20]);
/// ```
pub fn fit(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Fit> {
    let began = Instant::now();
    input.check(params.k)?;
    let checked = params.check(input.rows.n())?;
    let mut preparation = Preparation::fit(input.rows, &input.widths, params.prepare, observer)?;
    check_distinct(input.rows, params.k)?;
    preparation.reduce(input.rows, params.dims, params.seed)?;
    let source = Source::new(input, &preparation)?;
    let run = Run { params, checked: &checked, source: &source, observer };
    let outcome = run.train()?;
    let (weight, bias) = preparation.fold(&outcome.head.weight, &outcome.head.bias);
    let model = Model { views: preparation.views.clone(), weight, bias, average: preparation.mean.clone() };
    drop(source);
    let labels = model.predict(input.rows)?;
    let mut report = outcome.report;
    for &label in &labels {
        report.cluster_sizes[label as usize] += 1;
    }
    report.seconds = began.elapsed().as_secs_f64();
    Ok(Fit { model, labels, report })
}

struct Run<'a> {
    params: &'a Params,
    checked: &'a Checked,
    source: &'a Source<'a>,
    observer: &'a dyn Observer,
}

struct Outcome {
    head: Head,
    report: Report,
}

/// A stretch of training: so many steps on batches of one size.
struct Stage {
    name: &'static str,
    steps: usize,
    batch: usize,
    em_iterations: usize,
    schedule: Schedule,
    /// Where its share of the progress bar begins and ends.
    share: (f64, f64),
}

impl Run<'_> {
    /// Search from many starts, keep the most promising, refine those, choose the best.
    fn train(&self) -> Result<Outcome> {
        let Params { k, seed, restarts, .. } = *self.params;
        let starts = restarts * if self.source.is_warm() { 1 } else { self.checked.starts_per_restart };
        let heads = init::heads(self.source, self.params.init, (k, starts), seed)?;
        let mut stack = Stack::new(k, self.source.m(), &heads);
        stack.sees_known = (0..starts).map(init::sees_known).collect();
        let mut trace = vec![Vec::new(); starts];
        let sample = self.sample()?;
        let stop = match self.params.optimiser {
            Optimiser::Lbfgs => self.minimise(&mut stack, &sample, LBFGS_ITERATIONS, &mut trace)?,
            _ => self.search_and_refine(&mut stack, &sample, &mut trace)?,
        };
        if self.params.polish > 0 && stop != StopReason::Interrupted {
            let best = ranking(&self.losses(&stack, &sample))[0];
            stack.keep(&[best]);
            self.minimise(&mut stack, &sample, self.params.polish, &mut trace)?;
        }
        let scores = self.score_all(&stack, &sample);
        let best = ranking(&scores.iter().map(|s| s.loss).collect::<Vec<_>>())[0];
        let trace = std::mem::take(&mut trace[stack.restarts[best]]);
        let report = self.report(&stack, &scores, best, stop, trace, sample.rows.len())?;
        Ok(Outcome { head: stack.head(best), report })
    }

    fn search_and_refine(
        &self,
        stack: &mut Stack,
        sample: &Batch,
        trace: &mut [Vec<f64>],
    ) -> Result<StopReason> {
        let scouts = self.scouts(sample)?;
        let stop = self.descend(&self.search(), stack, trace, Some(&scouts))?;
        if stop == StopReason::Interrupted {
            return Ok(stop);
        }
        self.show_known(stack)?;
        let ranked = ranking(&self.losses(stack, sample));
        stack.keep(&ranked[..self.params.restarts]);
        self.descend(&self.refinement(), stack, trace, None)
    }

    /// L-BFGS on all restarts, at optimal pseudo-labels.
    fn minimise(
        &self,
        stack: &mut Stack,
        sample: &Batch,
        iterations: usize,
        trace: &mut [Vec<f64>],
    ) -> Result<StopReason> {
        let objective = self.objective(match self.params.loss {
            Loss::Strong if self.checked.lambda > 0.0 => Box::new(Exact::default()),
            _ => self.solver(),
        });
        let mut stop = StopReason::Converged;
        for at in 0..stack.restarts.len() {
            let done = at as f64 / stack.restarts.len() as f64;
            if self.observer.progress(Progress { stage: "polishing", done, loss: None }) == Flow::Stop {
                return Ok(StopReason::Interrupted);
            }
            let mut head = stack.head(at);
            let outcome = polish(&mut head, sample, &*objective, self.checked.gamma, iterations);
            trace[stack.restarts[at]].extend(&outcome.trace);
            if outcome.stop != StopReason::Converged {
                stop = outcome.stop;
            }
            stack.set_head(at, &head);
        }
        Ok(stop)
    }

    fn losses(&self, stack: &Stack, sample: &Batch) -> Vec<f64> {
        let judge = self.judge(RANK_ITERATIONS);
        let loss = |at| judge.loss(&stack.head(at), sample, self.checked.gamma);
        (0..stack.restarts.len()).into_par_iter().map(loss).collect()
    }

    fn score_all(&self, stack: &Stack, sample: &Batch) -> Vec<Score> {
        let judge = self.judge(JUDGE_ITERATIONS);
        (0..stack.restarts.len())
            .into_par_iter()
            .map(|at| score(&stack.head(at), sample, &judge, &self.checked.prior, self.checked.gamma))
            .collect()
    }

    /// Annealed training from the starts.
    fn search(&self) -> Stage {
        Stage {
            name: "training",
            steps: self.checked.steps,
            batch: self.checked.batch,
            em_iterations: self.em_iterations(),
            schedule: Schedule {
                rate: self.checked.rate,
                hold: 0.6,
                last_rate: 0.05,
                gamma: self.checked.gamma,
                anneal: if self.source.is_warm() { 1.0 } else { self.checked.anneal },
                anneal_until: 0.8,
            },
            share: (0.0, 0.8),
        }
    }

    /// Larger batches bring out which of the remaining restarts has the lowest loss.
    fn refinement(&self) -> Stage {
        Stage {
            name: "refining",
            steps: REFINE_STEPS,
            batch: REFINE_BATCH.max(2 * self.checked.batch).min(self.source.n()),
            em_iterations: 2 * self.em_iterations(),
            schedule: Schedule {
                rate: self.checked.rate * REFINE_RATE,
                hold: 0.0,
                last_rate: 0.0,
                gamma: self.checked.gamma,
                anneal: 1.0,
                anneal_until: 1.0,
            },
            share: (0.8, 1.0),
        }
    }

    /// A few rows that show how full the clusters are.
    fn scouts(&self, sample: &Batch) -> Result<Batch> {
        let wanted = SCOUTS.max(SCOUTS_PER_CLUSTER * self.params.k);
        let every = (sample.rows.len() / wanted).max(1);
        self.source.batch(sample.rows.iter().copied().step_by(every).collect())
    }

    fn relocate_all(&self, stack: &mut Stack, scouts: &Batch, step: usize) {
        let moved: Vec<Option<Head>> = (0..stack.restarts.len())
            .into_par_iter()
            .map(|at| {
                let index = (step * self.params.restarts + stack.restarts[at]) as u64;
                let mut rng = stream(self.params.seed, Stream::Reseed, index);
                relocate(&stack.head(at), scouts, &self.checked.prior, &mut rng)
            })
            .collect();
        for (at, head) in moved.iter().enumerate() {
            if let Some(head) = head {
                stack.set_head(at, head);
            }
        }
    }

    /// Let the restarts that searched without the known labels number their clusters after them.
    fn show_known(&self, stack: &mut Stack) -> Result<()> {
        let Some(known) = self.source.known() else { return Ok(()) };
        let rows: Vec<usize> = (0..known.len()).filter(|&i| known[i] >= 0).take(JUDGED_ROWS).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let batch = self.source.batch(rows)?;
        for at in (0..stack.restarts.len()).filter(|&at| !stack.sees_known[at]).collect::<Vec<_>>() {
            let head = align(&stack.head(at), &batch)?;
            stack.set_head(at, &head);
            stack.sees_known[at] = true;
        }
        Ok(())
    }

    fn em_iterations(&self) -> usize {
        match self.params.solver {
            Solver::Em { iterations } => iterations,
            Solver::Exact => 0,
        }
    }

    /// All steps of a stage.
    fn descend(
        &self,
        stage: &Stage,
        stack: &mut Stack,
        trace: &mut [Vec<f64>],
        scouts: Option<&Batch>,
    ) -> Result<StopReason> {
        let n = self.source.n();
        let batches = n.div_ceil(stage.batch);
        let mut labelling = self.labelling(stage.em_iterations);
        let mut buffers = Buffers::default();
        let mut batch = Batch::default();
        let mut order: Vec<usize> = (0..n).collect();
        let mut sums = vec![0.0; stack.restarts.len()];
        for step in 0..stage.steps {
            let (epoch, b) = (step / batches, step % batches);
            if b == 0 {
                order.shuffle(&mut stream(self.params.seed, Stream::Order, epoch as u64));
                if let Labelling::Fixed(objective, labels) = &mut labelling {
                    self.label_all(stack, objective, labels)?;
                }
            }
            if let Some(scouts) =
                scouts.filter(|_| RELOCATE.iter().any(|t| step == (t * stage.steps as f64) as usize))
            {
                self.relocate_all(stack, scouts, step);
            }
            batch.rows.clear();
            batch.rows.extend_from_slice(&order[b * n / batches..(b + 1) * n / batches]);
            let (rate, gamma) = stage.schedule.at(step as f64 / stage.steps as f64);
            let pace = Pace { rate: rate as f32, decay: 2.0 * gamma as f32, step: step as u32 + 1 };
            let how = (self.params.optimiser, pace);
            self.source.gather(&mut batch)?;
            let losses = stack.step(&batch, &labelling, how, &mut buffers);
            sums.iter_mut().zip(&losses).for_each(|(s, l)| *s += l);
            if b + 1 == batches || step + 1 == stage.steps {
                for (at, sum) in sums.iter_mut().enumerate() {
                    trace[stack.restarts[at]].push(*sum / (b + 1) as f64);
                    *sum = 0.0;
                }
            }
            let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
            let done =
                stage.share.0 + (stage.share.1 - stage.share.0) * (step + 1) as f64 / stage.steps as f64;
            let progress = Progress { stage: stage.name, done, loss: Some(least) };
            if self.observer.progress(progress) == Flow::Stop {
                return Ok(StopReason::Interrupted);
            }
        }
        Ok(StopReason::Finished)
    }

    /// Pseudo-labels of all rows for each restart.
    fn label_all(&self, stack: &Stack, objective: &SelfLabelled, labels: &mut Vec<Vec<f32>>) -> Result<()> {
        let (n, k) = (self.source.n(), stack.k);
        labels.resize(self.params.restarts, Vec::new());
        for at in 0..stack.restarts.len() {
            let head = stack.head(at);
            let mut log_sigma = Vec::with_capacity(n * k);
            for start in (0..n).step_by(4096) {
                let batch = self.source.batch((start..n.min(start + 4096)).collect())?;
                log_sigma.extend(head.logits(&batch).iter().map(|&v| f64::from(v)));
            }
            for row in log_sigma.chunks_exact_mut(k) {
                let lse = crate::simplex::log_sum_exp(row);
                row.iter_mut().for_each(|v| *v -= lse);
            }
            let weights: Option<Vec<f64>> =
                self.source.weights().map(|w| w.iter().map(|&w| f64::from(w)).collect());
            let all = objective::Batch {
                log_sigma: &log_sigma,
                k,
                weights: weights.as_deref(),
                known: self.source.known(),
            };
            let mut ws = objective::Workspace::default();
            objective.label(all, &mut ws);
            labels[stack.restarts[at]] = ws.y.iter().map(|&y| y as f32).collect();
        }
        Ok(())
    }

    fn labelling(&self, em_iterations: usize) -> Labelling {
        match (self.params.loss, self.params.solver, self.params.refresh) {
            (Loss::Strong | Loss::Weak | Loss::RenyiLabels(_), _, Refresh::Epoch) => {
                Labelling::Fixed(self.self_labelled(self.solver()), Vec::new())
            }
            (Loss::Strong, Solver::Em { .. }, Refresh::Batch) => Labelling::Em(self.em_step(em_iterations)),
            _ => Labelling::Objective(self.objective(self.solver())),
        }
    }

    fn self_labelled(&self, solver: Box<dyn PseudoLabels>) -> SelfLabelled {
        SelfLabelled { solver, prior: self.checked.prior.clone(), lambda: self.checked.lambda }
    }

    fn solver(&self) -> Box<dyn PseudoLabels> {
        match (self.params.loss, self.params.solver) {
            (Loss::Weak, _) => Box::new(Exact { fairness: Fairness::Weak, ..Exact::default() }),
            (Loss::RenyiLabels(alpha), _) => Box::new(Renyi::new(alpha)),
            (_, Solver::Em { iterations }) => Box::new(Em { max_iterations: iterations, tolerance: 0.0 }),
            (_, Solver::Exact) => Box::new(Exact::default()),
        }
    }

    fn objective(&self, solver: Box<dyn PseudoLabels>) -> Box<dyn BatchObjective> {
        let (prior, lambda) = (self.checked.prior.clone(), self.checked.lambda);
        match self.params.loss {
            Loss::MutualInformation => Box::new(MutualInformation { prior, lambda }),
            Loss::Renyi(alpha) => Box::new(RenyiGradient { alpha, prior, lambda }),
            Loss::Strong | Loss::Weak | Loss::RenyiLabels(_) => Box::new(self.self_labelled(solver)),
        }
    }

    /// What restarts are compared by: the same loss, with pseudo-labels close to their optimum.
    fn judge(&self, iterations: usize) -> Judge {
        match self.params.loss {
            Loss::Strong => Judge::Em(self.em_step(iterations)),
            _ => Judge::Objective(self.objective(self.solver())),
        }
    }

    fn em_step(&self, iterations: usize) -> EmStep {
        EmStep {
            prior: self.checked.prior.iter().map(|&u| u as f32).collect(),
            lambda: self.checked.lambda as f32,
            iterations,
        }
    }

    /// The rows on which restarts are judged.
    fn sample(&self) -> Result<Batch> {
        let n = self.source.n();
        let rows = if n <= JUDGED_ROWS {
            (0..n).collect()
        } else {
            let mut rng = stream(self.params.seed, Stream::Sample, 0);
            let mut rows = index::sample(&mut rng, n, JUDGED_ROWS).into_vec();
            rows.sort_unstable();
            rows
        };
        self.source.batch(rows)
    }

    fn report(
        &self,
        stack: &Stack,
        scores: &[Score],
        best: usize,
        stop: StopReason,
        trace: Vec<f64>,
        judged_rows: usize,
    ) -> Result<Report> {
        let labelings: Vec<&[u32]> = scores.iter().map(|s| &*s.labels).collect();
        let agreement = if labelings.len() > 1 { metrics::mean_pairwise_ari(&labelings)? } else { 1.0 };
        let chosen = &scores[best];
        let mut margins = chosen.margins.clone();
        margins.sort_by(f32::total_cmp);
        let restart = |at: usize| Restart {
            seed: self.params.seed,
            restart: stack.restarts[at],
            loss: scores[at].loss,
        };
        Ok(Report {
            n: self.source.n(),
            m: self.source.raw_m(),
            k: self.params.k,
            loss: chosen.loss,
            decisiveness: chosen.decisiveness,
            fairness: chosen.fairness,
            margin: f64::from(margins[0]),
            median_margin: f64::from(margins[margins.len() / 2]),
            cluster_sizes: vec![0; self.params.k],
            restarts: (0..scores.len()).map(restart).collect(),
            agreement,
            judged_rows,
            steps: self.checked.steps,
            batch: self.checked.batch,
            stop,
            trace,
            ailments: chosen.ailments.clone(),
            seconds: 0.0,
        })
    }
}

/// Places from the lowest loss to the highest.
fn ranking(losses: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..losses.len()).collect();
    places.sort_by(|&a, &b| losses[a].total_cmp(&losses[b]));
    places
}
