//! A fit, step by step: what it does next depends on a state that can be saved and continued from.

use super::fitted::Fit;
use super::input::Input;
use super::layout::Layout;
use super::model::{Model, Predictions};
use super::params::{Params, Prior};
use super::plan::Plan;
use super::report::{Report, Restart, advice};
use super::score::Score;
use super::sizes::{Estimate, Range};
use super::source::Source;
use super::state::{Stage, TrainState};
use super::trainer::{Trainer, sample};
use super::trial::{Crowd, Trial};
use crate::error::{Error, Result};
use crate::metrics;
use crate::outliers::Outliers;
use crate::prepare::{Lift, MANY_CLUSTERS, Preparation, Prepared};
use crate::report::{Progress, StopReason};
use crate::simplex::uniform;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Share of training that estimating the prior takes, where it is done by many fits, ...
const ESTIMATING: f64 = 0.9;
/// ... and where it is done by a trial.
const TRYING: f64 = 0.2;

/// A fit between two steps: all that its result depends on besides the rows and the options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitState {
    /// The estimation of the prior, until it has ended.
    pub(super) estimate: Option<Estimate>,
    /// The fit from the graph of neighbours, until it has been compared with that of equal sizes.
    pub(super) trial: Option<Trial>,
    /// The prior that was estimated or given.
    pub(super) prior: Vec<f64>,
    pub(super) train: TrainState,
}

impl FitState {
    /// The training that is under way: that of the fit or, before it, those by which the prior is estimated.
    pub fn train(&self) -> &TrainState {
        &self.train
    }

    /// Whether the prior is still being estimated.
    pub fn is_estimating(&self) -> bool {
        self.estimate.is_some() || self.trial.as_ref().is_some_and(|trial| trial.train.is_none())
    }
}

/// A fit under way.
///
/// ```
/// use ndarray::Array2;
/// use partita::linear::{Fitting, Input, Params};
/// use partita::report::Silent;
/// let rows = Array2::from_shape_fn((60, 2), |(i, j)| (i % 3) as f32 * 10.0 * (j + i % 3) as f32 + (i / 3) as f32 * 0.01);
/// let (view, params) = (rows.view(), Params::new(3));
/// let input = Input::new(&view);
/// let prepared = input.prepared(params.recipe(), &Silent)?;
/// let mut fitting = Fitting::new(&input, &prepared, &params)?;
/// for _ in 0..100 {
///     fitting.advance()?;
/// }
/// // Whoever has the state, the rows and the options goes on to the same bits.
/// let kept = fitting.state().clone();
/// let mut resumed = Fitting::resume(&input, &prepared, &params, kept)?;
/// while fitting.advance()? {}
/// while resumed.advance()? {}
/// assert_eq!(fitting.finish()?.model, resumed.finish()?.model);
/// # Ok::<(), partita::Error>(())
/// ```
pub struct Fitting<'a> {
    plan: Plan,
    source: Source<'a>,
    trainer: Trainer<'a>,
    /// Rows whose neighbours decide about sizes, as long as there is a trial.
    crowd: Option<Crowd>,
    state: FitState,
    began: Instant,
}

impl<'a> Fitting<'a> {
    /// Before the first step.
    ///
    /// # Errors
    /// If the rows, what is known about them or an option cannot be used.
    pub fn new(input: &'a Input<'a>, prepared: &'a Prepared, params: &Params) -> Result<Self> {
        let (mut plan, source) = checked(input, prepared, params)?;
        let Prior::Estimated { least, most } = plan.params.prior else {
            return Self::begin(plan, source, None);
        };
        let range = Range { least, most };
        if let Some(layout) = plan.free_layout(&source) {
            plan.checked.prior = range.clip(&layout.shares);
            return Self::begin(plan, source, None);
        }
        if !may_try(&source, params.k) {
            let estimate = Estimate::begin(&plan, range, &sample(params.seed, &source)?);
            return Self::begin(plan, source, Some(estimate));
        }
        Self::try_graph(plan, source, range)
    }

    /// Begin with the fit itself or, if the prior is to be estimated, with that.
    fn begin(plan: Plan, source: Source<'a>, estimate: Option<Estimate>) -> Result<Self> {
        let trainer = trainer(&plan, estimate.as_ref(), source)?;
        let train = trainer.begin()?;
        let state = FitState { estimate, trial: None, prior: plan.checked.prior.clone(), train };
        Ok(Self { plan, source, trainer, crowd: None, state, began: Instant::now() })
    }

    /// Begin with the fit from the graph of neighbours.
    fn try_graph(mut plan: Plan, source: Source<'a>, range: Range) -> Result<Self> {
        let seed = plan.params.seed;
        let crowd = Crowd::of(&sample(seed, &source)?, source.preparation(), plan.params.k);
        let layout = crowd.layout(plan.params.k, seed);
        plan.checked.prior = range.clip(&layout.shares);
        let trainer = Trainer::new(plan.clone(), source, Some(crowd.head(&layout)))?;
        let train = trainer.begin()?;
        let prior = plan.checked.prior.clone();
        let trial = Trial { prior: prior.clone(), train: None };
        let state = FitState { estimate: None, trial: Some(trial), prior, train };
        Ok(Self { plan, source, trainer, crowd: Some(crowd), state, began: Instant::now() })
    }

    /// Go on from a state of a fit of the same rows with the same options.
    ///
    /// # Errors
    /// As [`Fitting::new`]; or if the state is that of other rows or options, or damaged.
    pub fn resume(
        input: &'a Input<'a>,
        prepared: &'a Prepared,
        params: &Params,
        state: FitState,
    ) -> Result<Self> {
        let (mut plan, source) = checked(input, prepared, params)?;
        if !state.suits(&plan, &source) {
            return Err(Error::Parameter {
                name: "the state",
                value: "damaged, or that of a fit of other rows or options".to_owned(),
                must: "one of this fit",
            });
        }
        plan.checked.prior.clone_from(&state.prior);
        let crowd = match &state.trial {
            Some(_) => Some(Crowd::of(&sample(params.seed, &source)?, source.preparation(), params.k)),
            None => None,
        };
        // While a trial trains, the trainer has the one start of it, whatever that was: the state holds where it is now.
        let trainer = match &state.trial {
            Some(Trial { train: None, .. }) => Trainer::new(plan.clone(), source, Some(state.train.head(0)))?,
            _ => trainer(&plan, state.estimate.as_ref(), source)?,
        };
        Ok(Self { plan, source, trainer, crowd, state, began: Instant::now() })
    }

    /// Make the next step; false if there was none to make.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn advance(&mut self) -> Result<bool> {
        if self.has_ended() && !self.next_training()? {
            return Ok(false);
        }
        self.trainer.advance(&mut self.state.train)?;
        Ok(true)
    }

    /// Whether the training under way has ended. That of a trial ends before its refinement, which is only worth its time if the trial is preferred.
    fn has_ended(&self) -> bool {
        let train = &self.state.train;
        let on_trial = matches!(self.state.trial, Some(Trial { train: None, .. }));
        train.is_done() || (on_trial && train.stage() == Stage::Search && self.trainer.is_searched(train))
    }

    /// After a training: the next one, if there is one, of the estimation of the prior or of the fit itself.
    fn next_training(&mut self) -> Result<bool> {
        if self.state.trial.is_some() {
            return self.end_of_trial();
        }
        let Some(estimate) = &mut self.state.estimate else { return Ok(false) };
        let (scores, best) = self.trainer.judge(&self.state.train);
        let head = self.state.train.head(best);
        if let Some(prior) = estimate.take(head, scores[best].loss, self.trainer.sample()) {
            self.state.estimate = None;
            self.set_prior(prior);
        }
        self.trainer = trainer(&self.plan, self.state.estimate.as_ref(), self.source)?;
        self.state.train = self.trainer.begin()?;
        Ok(true)
    }

    /// After the fit from the graph: that of equal sizes. After both: the one that neighbours agree on; that from the graph is to be refined then.
    fn end_of_trial(&mut self) -> Result<bool> {
        let Some(Trial { prior, train }) = self.state.trial.take() else { return Ok(false) };
        let Some(tried) = train else {
            self.state.trial = Some(Trial { prior, train: Some(self.state.train.clone()) });
            self.set_prior(uniform(self.plan.params.k));
            self.trainer = trainer(&self.plan, None, self.source)?;
            self.state.train = self.trainer.begin()?;
            return Ok(true);
        };
        let train = &self.state.train;
        let usual = (0..train.restarts().len()).map(|place| train.head(place));
        if self.crowd.take().is_some_and(|crowd| crowd.prefers(&tried.head(0), usual)) {
            self.set_prior(prior);
            self.trainer = trainer(&self.plan, None, self.source)?;
            self.state.train = tried;
        }
        Ok(!self.state.train.is_done())
    }

    fn set_prior(&mut self, prior: Vec<f64>) {
        self.plan.checked.prior.clone_from(&prior);
        self.state.prior = prior;
    }

    /// All that the next step depends on.
    pub fn state(&self) -> &FitState {
        &self.state
    }

    /// What is being done, and the share of the fit that is done.
    pub fn progress(&self) -> Progress {
        let train = &self.state.train;
        let (done, loss) = (self.trainer.done(train), train.loss());
        let estimates = matches!(self.plan.params.prior, Prior::Estimated { .. })
            && self.plan.free_layout(&self.source).is_none();
        if let Some(estimate) = &self.state.estimate {
            return Progress { stage: "sizes", done: ESTIMATING * estimate.done(done), loss };
        }
        if let Some(trial) = &self.state.trial {
            let done = if trial.train.is_none() { TRYING * done } else { TRYING + (1.0 - TRYING) * done };
            return Progress { stage: if trial.train.is_none() { "sizes" } else { "training" }, done, loss };
        }
        let stage = match train.stage() {
            Stage::Search => "training",
            Stage::Refine => "refining",
            Stage::Minimise | Stage::Polish | Stage::Done => "polishing",
        };
        let done = if estimates { ESTIMATING + (1.0 - ESTIMATING) * done } else { done };
        Progress { stage, done, loss }
    }

    /// The best restart so far as a model of raw rows, the labels it gives them, and how it went.
    ///
    /// # Errors
    /// If the prior is still being estimated, if training left the range of numbers, or if the rows cannot be read.
    pub fn finish(self) -> Result<Fit> {
        let (input, rule) = (self.source.input(), self.plan.params.outliers);
        let (base, seed) = (self.base(), self.plan.params.seed);
        let mut labels = Vec::with_capacity(self.source.n());
        let (mut model, report) = self.clusters(|block| {
            labels.extend_from_slice(&block.labels);
            Ok(())
        })?;
        let Some(rule) = rule else { return Ok(Fit { model, labels, outlier_scores: None, report }) };
        let (outliers, scores) = Outliers::fit(input.rows, base, (&labels, model.k()), rule, seed)?;
        model.outliers = Some(outliers);
        let mut found = Fit { model, labels: Vec::new(), outlier_scores: None, report };
        found.relabel(labels, Some(scores));
        Ok(found)
    }

    /// [`Fitting::finish`] for rows whose labels need not be held: `sink` gets them block after block, with probabilities.
    ///
    /// # Errors
    /// As [`Fitting::finish`], and those of `sink`.
    pub fn finish_each(self, mut sink: impl FnMut(&Predictions) -> Result<()>) -> Result<(Model, Report)> {
        if self.plan.params.outliers.is_none() {
            return self.clusters(sink);
        }
        let rows = self.source.input().rows;
        let found = self.finish()?;
        found.model.predict_each(rows, |block| sink(block))?;
        Ok((found.model, found.report))
    }

    /// What is done to raw rows before a lift, or at all.
    fn base(&self) -> &'a Preparation {
        self.source.lift().map_or_else(|| self.source.preparation(), Lift::base)
    }

    /// The end of a fit without outliers.
    fn clusters(self, mut sink: impl FnMut(&Predictions) -> Result<()>) -> Result<(Model, Report)> {
        if self.state.is_estimating() {
            return Err(Error::Interrupted);
        }
        let (scores, best) = self.trainer.judge(&self.state.train);
        let mut report = self.report(&scores, best)?;
        let model = self.model(best);
        if !report.loss.is_finite() || !model.is_finite() {
            return Err(Error::Diverged);
        }
        model.predict_each(self.source.input().rows, |block| {
            block.labels.iter().for_each(|label| report.cluster_sizes[*label as usize] += 1);
            sink(block)
        })?;
        report.advice = advice(&report, &self.plan.params, self.plan.checked.lambda);
        report.seconds = self.began.elapsed().as_secs_f64();
        Ok((model, report))
    }

    /// The restart at this place, with the preparation folded back into its weights.
    fn model(&self, place: usize) -> Model {
        let (head, preparation) = (self.state.train.head(place), self.source.preparation());
        let (weight, bias) = preparation.fold(&head.weight, &head.bias);
        Model {
            lift: self.source.lift().cloned(),
            views: preparation.views.clone(),
            weight,
            bias,
            average: preparation.mean.clone(),
            prior: self.plan.checked.prior.iter().map(|&u| u as f32).collect(),
            outliers: None,
        }
    }

    fn report(&self, scores: &[Score], best: usize) -> Result<Report> {
        let train = &self.state.train;
        let Plan { params, checked, .. } = self.trainer.plan();
        let labelings: Vec<&[u32]> = scores.iter().map(|s| &*s.labels).collect();
        let agreement = if labelings.len() > 1 { metrics::mean_pairwise_ari(&labelings)? } else { 1.0 };
        let chosen = &scores[best];
        let mut margins = chosen.margins.clone();
        margins.sort_by(f32::total_cmp);
        let restarts = train.restarts().iter().zip(scores);
        let restarts =
            restarts.map(|(&restart, score)| Restart { seed: params.seed, restart, loss: score.loss });
        let history = train.history_of(best);
        Ok(Report {
            n: self.source.n(),
            m: self.source.raw_m(),
            k: params.k,
            prepare: self.source.notes().to_vec(),
            lift: self.source.lift().map(Lift::note),
            neighbours: self.source.neighbours(),
            prior: checked.prior.clone(),
            loss: chosen.loss,
            decisiveness: chosen.decisiveness,
            fairness: chosen.fairness,
            margin: f64::from(margins[0]),
            median_margin: f64::from(margins[margins.len() / 2]),
            outliers: None,
            cluster_sizes: vec![0; params.k],
            restarts: restarts.collect(),
            agreement,
            judged_rows: self.trainer.sample().rows.len(),
            steps: checked.steps,
            iterations: history.iterations,
            batch: checked.batch,
            stop: if train.is_done() { train.stop } else { StopReason::Interrupted },
            trace: history.losses.clone(),
            ailments: chosen.ailments.clone(),
            advice: None,
            seconds: 0.0,
        })
    }
}

/// The trainer of what is next: of a round of the estimation, while it goes on, or of the fit.
fn trainer<'a>(plan: &Plan, estimate: Option<&Estimate>, source: Source<'a>) -> Result<Trainer<'a>> {
    match estimate {
        Some(estimate) => Trainer::new(estimate.plan(plan), source, estimate.start().cloned()),
        None => Trainer::new(plan.clone(), source, None),
    }
}

/// The options with every default filled in, and the rows they are for.
fn checked<'a>(input: &'a Input<'a>, prepared: &'a Prepared, params: &Params) -> Result<(Plan, Source<'a>)> {
    input.check(params.k)?;
    let source = Source::new(input, prepared).supervised(params.known_weight);
    params.check(input.rows.n())?;
    input.check_distinct(params.k)?;
    let layout = match Layout::is_seen(&source) {
        true => Some(Layout::of(&source, &sample(params.seed, &source)?, params.k, params.seed)),
        false => None,
    };
    let prior = params.prior.resolve(params.k, layout.is_some(), may_try(&source, params.k));
    let params = Params { prior, ..params.clone() };
    let mut checked = params.check(input.rows.n())?;
    if params.gamma.is_none() {
        checked.gamma *= layout.as_ref().map_or_else(|| crowded(params.k), |layout| layout.gamma);
    }
    Ok((Plan { params, checked, layout }, source))
}

/// Whether the graph of neighbours can show how large clusters are: nothing names them, and rows are enough.
pub(super) fn may_try(source: &Source<'_>, k: usize) -> bool {
    !source.is_warm() && source.known().is_none() && Crowd::suits(source.n(), k)
}

/// What γ is multiplied by for many clusters in many dimensions. They have few rows each for as many weights as any other, and a larger
/// norm keeps them from following these rows alone; beyond ten times as much, clusters begin to die.
fn crowded(k: usize) -> f64 {
    if k > MANY_CLUSTERS { 8.0 } else { 1.0 }
}
