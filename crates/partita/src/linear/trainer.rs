//! Training as a whole: search from many starts, move clusters that are lost, refine the most promising, choose by loss.

use super::align::align;
use super::head::Head;
use super::init;
use super::labelling::Labelling;
use super::order::Order;
use super::plan::{Plan, Stretch};
use super::polish;
use super::relocate::relocate;
use super::score::{Score, score};
use super::source::{RowBatch, Source};
use super::stack::{Buffers, Gradient, Stack};
use super::state::{History, Stage, TrainState};
use crate::error::Result;
use crate::numeric::lbfgs::Minimiser;
use crate::numeric::optimise::{Optimiser, Pace};
use crate::objective::{self, BatchObjective, SelfLabelled};
use crate::report::StopReason;
use crate::rng::{Stream, stream};
use crate::simplex;
use rand::seq::index;
use rayon::prelude::*;
use std::ops::Range;

/// Restarts are compared on all rows if there are at most this many, otherwise on a random sample of this size.
const JUDGED_ROWS: usize = 20_000;

/// EM iterations for the pseudo-labels by which restarts are compared. The optimum itself ranks them alike and costs a
/// hundred times more at 200 clusters.
const JUDGE_ITERATIONS: usize = 50;
/// The same, to decide which starts are worth refining.
const RANK_ITERATIONS: usize = 20;

/// When clusters are moved, as shares of the search.
const RELOCATE: [f64; 4] = [0.1, 0.2, 0.35, 0.5];
/// Rows that show how full the clusters are: this number, ...
const SCOUTS: usize = 2048;
/// ... or this number per cluster.
const SCOUTS_PER_CLUSTER: usize = 40;

/// Share of training that the search takes; the refinement takes the rest.
const SEARCH: f64 = 0.8;

/// Advances a [`TrainState`]: knows the rows and the options, and holds what can be made again from them.
pub struct Trainer<'a> {
    plan: Plan,
    source: Source<'a>,
    /// The only start, if given.
    warm: Option<Head>,
    /// Rows on which restarts are judged.
    sample: RowBatch,
    /// A few of them, which show how full the clusters are.
    scouts: RowBatch,
    objective: Box<dyn BatchObjective>,
    labelling: (Stage, Labelling),
    order: Order,
    batch: RowBatch,
    buffers: Buffers,
    gradient: Gradient,
}

impl<'a> Trainer<'a> {
    /// A trainer of these rows by these options; with `warm` from this start alone.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn new(plan: Plan, source: Source<'a>, warm: Option<Head>) -> Result<Self> {
        let sample = sample(plan.params.seed, &source)?;
        let wanted = SCOUTS.max(SCOUTS_PER_CLUSTER * plan.params.k);
        let every = (sample.rows.len() / wanted).max(1);
        let scouts = source.batch(sample.rows.iter().copied().step_by(every).collect())?;
        let search = plan.search(false);
        Ok(Self {
            order: Order::new(source.n(), plan.params.seed),
            objective: plan.smooth_objective(),
            labelling: (Stage::Search, plan.labelling(search.em_iterations)),
            plan,
            source,
            warm,
            sample,
            scouts,
            batch: RowBatch::default(),
            buffers: Buffers::default(),
            gradient: Gradient::default(),
        })
    }

    /// Number of starts that the search begins with.
    pub fn starts(&self) -> usize {
        match &self.warm {
            Some(_) => 1,
            None if self.source.is_warm() => self.plan.params.restarts,
            None => self.plan.params.restarts * self.plan.checked.starts_per_restart,
        }
    }

    /// All starts, before the first step.
    ///
    /// # Errors
    /// If the rows cannot be read, or if the model to start from does not fit.
    pub fn begin(&self) -> Result<TrainState> {
        self.begin_range(0..self.starts())
    }

    /// Some of the starts, to be searched apart from the others and [joined](TrainState::join) with them.
    ///
    /// # Errors
    /// As [`Trainer::begin`].
    pub fn begin_range(&self, starts: Range<usize>) -> Result<TrainState> {
        let (k, m) = (self.plan.params.k, self.source.m());
        let heads = match &self.warm {
            Some(head) => vec![head.clone()],
            None => init::heads(&self.source, &self.plan, starts.clone())?,
        };
        let mut stack = Stack::new(k, m, starts.clone().collect(), &heads);
        stack.sees_known = starts.clone().map(init::sees_known).collect();
        let lbfgs = self.plan.params.optimiser == Optimiser::Lbfgs;
        Ok(TrainState {
            stage: if lbfgs { Stage::Minimise } else { Stage::Search },
            step: 0,
            histories: vec![History::default(); heads.len()],
            first: starts.start,
            sums: vec![0.0; heads.len()],
            loss: None,
            labels: Vec::new(),
            places: if lbfgs { (0..heads.len()).rev().collect() } else { Vec::new() },
            minimiser: None,
            stop: if lbfgs { StopReason::Converged } else { StopReason::Finished },
            stack,
        })
    }

    /// Make the next step. Does nothing once training has ended.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn advance(&mut self, state: &mut TrainState) -> Result<()> {
        if state.stage == Stage::Search && state.step == self.stretch(Stage::Search).steps {
            self.promote(state)?;
        }
        match state.stage {
            Stage::Search | Stage::Refine => self.descend(state)?,
            Stage::Minimise | Stage::Polish => self.minimise(state),
            Stage::Done => {}
        }
        Ok(())
    }

    /// Whether all steps of the search are made, so that ranges of starts can be joined. The next step ranks them.
    pub fn is_searched(&self, state: &TrainState) -> bool {
        state.stage != Stage::Search || state.step == self.stretch(Stage::Search).steps
    }

    /// Share of training that is done, from 0 to 1.
    pub fn done(&self, state: &TrainState) -> f64 {
        let polished = self.plan.params.polish > 0;
        let before = if polished { SEARCH } else { 1.0 };
        let of = |stage| state.step as f64 / self.stretch(stage).steps as f64;
        match state.stage {
            Stage::Search => before * SEARCH * of(Stage::Search),
            Stage::Refine => before * (SEARCH + (1.0 - SEARCH) * of(Stage::Refine)),
            Stage::Minimise => {
                let ended = state.stack.len() - state.places.len();
                before * (ended as f64 + self.minimised(state)) / state.stack.len() as f64
            }
            Stage::Polish => SEARCH + (1.0 - SEARCH) * self.minimised(state),
            Stage::Done => 1.0,
        }
    }

    /// Share of the iterations of L-BFGS from this place that are made.
    fn minimised(&self, state: &TrainState) -> f64 {
        let made = state.minimiser.as_ref().map_or(0, Minimiser::iterations);
        made as f64 / self.plan.iterations(state.stage) as f64
    }

    fn stretch(&self, stage: Stage) -> Stretch {
        match stage {
            Stage::Refine => self.plan.refinement(&self.source),
            _ => self.plan.search(self.source.is_warm() || self.warm.is_some()),
        }
    }

    /// One step of descent on the next batch.
    fn descend(&mut self, state: &mut TrainState) -> Result<()> {
        let stretch = self.stretch(state.stage);
        let batches = self.source.n().div_ceil(stretch.batch);
        let (epoch, b) = (state.step / batches, state.step % batches);
        self.label(state, stretch, b == 0)?;
        let time = |t: &f64| state.step == (t * stretch.steps as f64) as usize;
        if state.stage == Stage::Search && RELOCATE.iter().any(time) {
            self.relocate_all(state);
        }
        let n = self.source.n();
        self.order.rows(epoch, b * n / batches..(b + 1) * n / batches, &mut self.batch.rows);
        self.source.gather(&mut self.batch)?;
        let labelling = (&self.labelling.1, &*state.labels);
        let follow = (self.plan.params.optimiser, pace(state, stretch));
        state.stack.descend(&self.batch, labelling, &mut self.buffers, &mut self.gradient, follow);
        self.count(state, stretch);
        Ok(())
    }

    /// Gradients of all restarts on these rows, without the norm. [`Trainer::advance`] finds and follows them itself; this is for those
    /// who gather them from several places and then [apply](Trainer::apply) their sum.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn gradient(&mut self, state: &mut TrainState, rows: &[usize]) -> Result<&Gradient> {
        self.label(state, self.stretch(state.stage), false)?;
        self.batch.rows.clear();
        self.batch.rows.extend_from_slice(rows);
        self.source.gather(&mut self.batch)?;
        let labelling = (&self.labelling.1, &*state.labels);
        state.stack.gradient(&self.batch, labelling, &mut self.buffers, &mut self.gradient);
        Ok(&self.gradient)
    }

    /// Follow gradients by the pace of the step that is next, as [`Trainer::advance`] follows those of its own batch.
    ///
    /// # Panics
    /// If the gradients are those of other restarts.
    pub fn apply(&mut self, state: &mut TrainState, gradient: &Gradient) {
        let stretch = self.stretch(state.stage);
        state.stack.apply(gradient, self.plan.params.optimiser, pace(state, stretch));
        self.gradient.losses.clone_from(&gradient.losses);
        self.count(state, stretch);
    }

    /// After the update of a step: its losses, and the end of the epoch and of the stage.
    fn count(&mut self, state: &mut TrainState, stretch: Stretch) {
        let batches = self.source.n().div_ceil(stretch.batch);
        let b = state.step % batches;
        let losses = &self.gradient.losses;
        state.loss = losses.iter().copied().reduce(f64::min);
        state.sums.iter_mut().zip(losses).for_each(|(s, l)| *s += l);
        (0..state.stack.len()).for_each(|at| state.history(at).iterations += 1);
        state.step += 1;
        if b + 1 == batches || state.step == stretch.steps {
            for at in 0..state.stack.len() {
                let sum = std::mem::take(&mut state.sums[at]);
                state.history(at).losses.push(sum / (b + 1) as f64);
            }
        }
        if state.stage == Stage::Refine && state.step == stretch.steps {
            self.end(state);
        }
    }

    /// Make ready how labels are found in this stage; those that hold for an epoch are computed again at its first batch.
    fn label(&mut self, state: &mut TrainState, stretch: Stretch, first_batch: bool) -> Result<()> {
        if self.labelling.0 != state.stage {
            self.labelling = (state.stage, self.plan.labelling(stretch.em_iterations));
        }
        if let Labelling::Fixed(objective) = &self.labelling.1
            && (first_batch || state.labels.is_empty())
        {
            state.labels = label_all(&self.source, &state.stack, objective)?;
        }
        Ok(())
    }

    /// From the search to the refinement: show what is known to those that have not seen it, and keep the best.
    fn promote(&mut self, state: &mut TrainState) -> Result<()> {
        self.show_known(&mut state.stack)?;
        let ranked = if state.stack.len() > 1 { ranking(&self.losses(&state.stack)) } else { vec![0] };
        state.stack.keep(&ranked[..self.plan.params.restarts.min(ranked.len())]);
        state.sums = vec![0.0; state.stack.len()];
        state.labels.clear();
        (state.stage, state.step) = (Stage::Refine, 0);
        Ok(())
    }

    /// After the last step of descent or minimisation: polish the best, if that was asked for.
    fn end(&self, state: &mut TrainState) {
        if self.plan.params.polish > 0 && state.stage != Stage::Polish {
            state.places = vec![ranking(&self.losses(&state.stack))[0]];
            (state.stage, state.step) = (Stage::Polish, 0);
        } else {
            state.stage = Stage::Done;
        }
    }

    /// One iteration of L-BFGS from the place that is its turn, at optimal pseudo-labels.
    fn minimise(&self, state: &mut TrainState) {
        let Some(&at) = state.places.last() else { return self.end(state) };
        let (rows, gamma) = (&self.sample, self.checked_gamma());
        let mut problem = polish::Problem::new(rows, &*self.objective, gamma, self.plan.params.k);
        let mut minimiser = match state.minimiser.take() {
            Some(minimiser) => minimiser,
            None => problem.begin(&state.stack.head(at), self.plan.iterations(state.stage)),
        };
        let ended = problem.advance(&mut minimiser);
        state.loss = Some(minimiser.value());
        state.step += 1;
        let Some(stop) = ended else {
            state.minimiser = Some(minimiser);
            return;
        };
        let head = problem.head(minimiser.x());
        state.stack.set_head(at, &head);
        let minimum = minimiser.minimum(stop);
        let history = state.history(at);
        history.iterations += minimum.iterations;
        history.losses.extend(&minimum.trace);
        if stop != StopReason::Converged && state.stage == Stage::Minimise {
            state.stop = stop;
        }
        state.places.pop();
        if state.places.is_empty() {
            self.end(state);
        }
    }

    fn checked_gamma(&self) -> f64 {
        self.plan.checked.gamma
    }

    fn losses(&self, stack: &Stack) -> Vec<f64> {
        let judge = self.plan.judge(RANK_ITERATIONS);
        let loss = |at| judge.loss(&stack.head(at), &self.sample, self.checked_gamma());
        (0..stack.len()).into_par_iter().map(loss).collect()
    }

    /// Every restart judged, and the place of the best.
    pub(super) fn judge(&self, state: &TrainState) -> (Vec<Score>, usize) {
        let judge = self.plan.judge(JUDGE_ITERATIONS);
        let (prior, gamma) = (&self.plan.checked.prior, self.checked_gamma());
        let scores: Vec<Score> = (0..state.stack.len())
            .into_par_iter()
            .map(|at| score(&state.stack.head(at), &self.sample, &judge, prior, gamma))
            .collect();
        let best = ranking(&scores.iter().map(|s| s.loss).collect::<Vec<_>>())[0];
        (scores, best)
    }

    /// The options, with every default filled in.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Rows on which restarts are judged.
    pub(super) fn sample(&self) -> &RowBatch {
        &self.sample
    }

    fn relocate_all(&self, state: &mut TrainState) {
        let stack = &mut state.stack;
        let moved: Vec<Option<Head>> = (0..stack.len())
            .into_par_iter()
            .map(|at| {
                let index = (state.step * self.plan.params.restarts + stack.restarts[at]) as u64;
                let mut rng = stream(self.plan.params.seed, Stream::Reseed, index);
                relocate(&stack.head(at), &self.scouts, &self.plan.checked.prior, &mut rng)
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
        for at in (0..stack.len()).filter(|&at| !stack.sees_known[at]).collect::<Vec<_>>() {
            let head = align(&stack.head(at), &batch)?;
            stack.set_head(at, &head);
            stack.sees_known[at] = true;
        }
        Ok(())
    }
}

/// Learning rate and norm weight of the step that is next.
fn pace(state: &TrainState, stretch: Stretch) -> Pace {
    let (rate, gamma) = stretch.schedule.at(state.step as f64 / stretch.steps as f64);
    Pace { rate: rate as f32, decay: 2.0 * gamma as f32, step: state.step as u32 + 1 }
}

/// The rows on which restarts are judged.
pub(super) fn sample(seed: u64, source: &Source<'_>) -> Result<RowBatch> {
    let n = source.n();
    let rows = if n <= JUDGED_ROWS {
        (0..n).collect()
    } else {
        let mut rng = stream(seed, Stream::Sample, 0);
        let mut rows = index::sample(&mut rng, n, JUDGED_ROWS).into_vec();
        rows.sort_unstable();
        rows
    };
    source.batch(rows)
}

/// Pseudo-labels of all rows, by the number of each restart.
fn label_all(source: &Source<'_>, stack: &Stack, objective: &SelfLabelled) -> Result<Vec<Vec<f32>>> {
    let (n, k) = (source.n(), stack.k);
    let starts = stack.restarts.iter().max().map_or(0, |last| last + 1);
    let mut labels = vec![Vec::new(); starts];
    let weights: Option<Vec<f64>> = source.weights().map(|w| w.iter().map(|&w| f64::from(w)).collect());
    for at in 0..stack.len() {
        let head = stack.head(at);
        let mut z = Vec::with_capacity(n * k);
        let mut log_sigma = Vec::new();
        for start in (0..n).step_by(4096) {
            let batch = source.batch((start..n.min(start + 4096)).collect())?;
            z.extend(head.logits(&batch.x));
        }
        simplex::log_softmax_rows(z.into_iter(), k, &mut log_sigma);
        let all = objective::Batch {
            log_sigma: &log_sigma,
            k,
            weights: weights.as_deref(),
            // A start that does not see them yet would meet labels it cannot follow.
            known: source.known().filter(|_| stack.sees_known[at]),
        };
        let mut ws = objective::Workspace::default();
        objective.label(all, &mut ws);
        labels[stack.restarts[at]] = ws.y.iter().map(|&y| y as f32).collect();
    }
    Ok(labels)
}

/// Places from the lowest loss to the highest; what is no number comes last.
fn ranking(losses: &[f64]) -> Vec<usize> {
    let loss = |place: usize| if losses[place].is_nan() { f64::INFINITY } else { losses[place] };
    let mut places: Vec<usize> = (0..losses.len()).collect();
    places.sort_by(|&a, &b| loss(a).total_cmp(&loss(b)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_is_no_number_is_the_worst() {
        assert_eq!(ranking(&[f64::NAN, 2.0, -f64::NAN, 1.0, f64::INFINITY])[..2], [3, 1]);
    }
}
