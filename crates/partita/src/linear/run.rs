//! Training as a whole: search from many starts, move clusters that are lost, refine the most promising, choose by loss.

use super::align::align;
use super::fit::{Report, Restart};
use super::init;
use super::optimise::{Optimiser, Pace, Schedule};
use super::params::{Checked, Loss, Params, Solver};
use super::polish::polish;
use super::relocate::relocate;
use super::score::{Score, score};
use super::source::{Batch, Source};
use super::train::{Buffers, Head, Labelling, Stack};
use crate::error::Result;
use crate::metrics;
use crate::pseudo::Exact;
use crate::report::{Flow, Observer, Progress, StopReason};
use crate::rng::{Stream, stream};
use rand::seq::{SliceRandom, index};
use rayon::prelude::*;

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

/// One fit under way.
pub struct Run<'a> {
    /// The options as given, ...
    pub params: &'a Params,
    /// ... and with every default filled in.
    pub checked: &'a Checked,
    /// The prepared rows.
    pub source: &'a Source<'a>,
    /// Is told of progress, and may stop it.
    pub observer: &'a dyn Observer,
    /// The only start, if given.
    pub warm: Option<&'a Head>,
}

/// The restart that was chosen.
pub struct Outcome {
    /// Its weights on prepared rows.
    pub head: Head,
    /// How it went.
    pub report: Report,
}

/// What one start went through.
#[derive(Debug, Clone, Default)]
struct Course {
    /// Steps made.
    iterations: usize,
    /// Mean batch loss in each epoch, or the loss after each iteration.
    losses: Vec<f64>,
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
    pub fn train(&self) -> Result<Outcome> {
        let Params { k, seed, restarts, .. } = *self.params;
        let heads = match self.warm {
            Some(head) => vec![head.clone()],
            None => {
                let each = if self.source.is_warm() { 1 } else { self.checked.starts_per_restart };
                init::heads(self.source, self.params.init, (k, restarts * each), seed)?
            }
        };
        let starts = heads.len();
        let mut stack = Stack::new(k, self.source.m(), &heads);
        stack.sees_known = (0..starts).map(init::sees_known).collect();
        let mut courses = vec![Course::default(); starts];
        let sample = self.sample()?;
        let stop = match self.params.optimiser {
            Optimiser::Lbfgs => {
                let all: Vec<usize> = (0..starts).collect();
                self.minimise(&mut stack, &all, &sample, LBFGS_ITERATIONS, &mut courses)?
            }
            _ => self.search_and_refine(&mut stack, &sample, &mut courses)?,
        };
        let stop = if self.params.polish > 0 && stop != StopReason::Interrupted {
            let best = ranking(&self.losses(&stack, &sample))[0];
            match self.minimise(&mut stack, &[best], &sample, self.params.polish, &mut courses)? {
                StopReason::Interrupted => StopReason::Interrupted,
                _ => stop,
            }
        } else {
            stop
        };
        let scores = self.score_all(&stack, &sample);
        let best = ranking(&scores.iter().map(|s| s.loss).collect::<Vec<_>>())[0];
        let course = std::mem::take(&mut courses[stack.restarts[best]]);
        let report = self.report(&stack, &scores, best, stop, course, sample.rows.len())?;
        Ok(Outcome { head: stack.head(best), report })
    }

    fn search_and_refine(
        &self,
        stack: &mut Stack,
        sample: &Batch,
        courses: &mut [Course],
    ) -> Result<StopReason> {
        let scouts = self.scouts(sample)?;
        let stop = self.descend(&self.search(), stack, courses, Some(&scouts))?;
        if stop == StopReason::Interrupted {
            return Ok(stop);
        }
        self.show_known(stack)?;
        let ranked = ranking(&self.losses(stack, sample));
        stack.keep(&ranked[..self.params.restarts.min(ranked.len())]);
        self.descend(&self.refinement(), stack, courses, None)
    }

    /// L-BFGS on the restarts at these places, at optimal pseudo-labels.
    fn minimise(
        &self,
        stack: &mut Stack,
        places: &[usize],
        sample: &Batch,
        iterations: usize,
        courses: &mut [Course],
    ) -> Result<StopReason> {
        let objective = self.objective(match self.params.loss {
            Loss::Strong if self.checked.lambda > 0.0 => Box::new(Exact::default()),
            _ => self.solver(),
        });
        let mut stop = StopReason::Converged;
        for (place, &at) in places.iter().enumerate() {
            let go_on = |made: usize, loss: f64| {
                let done = (place as f64 + made as f64 / iterations as f64) / places.len() as f64;
                let progress = Progress { stage: "polishing", done, loss: Some(loss) };
                self.observer.progress(progress) == Flow::Continue
            };
            let mut head = stack.head(at);
            let outcome = polish(&mut head, sample, &*objective, self.checked.gamma, iterations, go_on);
            let course = &mut courses[stack.restarts[at]];
            course.iterations += outcome.iterations;
            course.losses.extend(&outcome.trace);
            if outcome.stop != StopReason::Converged {
                stop = outcome.stop;
            }
            stack.set_head(at, &head);
            if stop == StopReason::Interrupted {
                break;
            }
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
                anneal: if self.source.is_warm() || self.warm.is_some() { 1.0 } else { self.checked.anneal },
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
        courses: &mut [Course],
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
            stack.restarts.iter().for_each(|&restart| courses[restart].iterations += 1);
            if b + 1 == batches || step + 1 == stage.steps {
                for (at, sum) in sums.iter_mut().enumerate() {
                    courses[stack.restarts[at]].losses.push(*sum / (b + 1) as f64);
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

    /// The rows on which restarts are judged.
    pub fn sample(&self) -> Result<Batch> {
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
        course: Course,
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
            prior: self.checked.prior.clone(),
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
            iterations: course.iterations,
            batch: self.checked.batch,
            stop,
            trace: course.losses,
            ailments: chosen.ailments.clone(),
            advice: None,
            seconds: 0.0,
        })
    }
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
