//! Whether a state belongs to a fit: that it has all that the next step takes for granted. A state may come from a file that is damaged, or that somebody
//! made to do harm.

use super::fitting::{FitState, may_try};
use super::head::Head;
use super::params::Prior;
use super::plan::Plan;
use super::polish;
use super::sizes::Range;
use super::source::Source;
use super::state::{Stage, TrainState};
use crate::numeric::optimise::Optimiser;
use crate::simplex::check_prior;

/// More steps than any fit makes, and few enough to count on.
const COUNTABLE: usize = u32::MAX as usize / 2;

impl FitState {
    /// Whether a fit with this plan can go on from here.
    pub(super) fn suits(&self, plan: &Plan, source: &Source<'_>) -> bool {
        let k = plan.params.k;
        let range = match plan.params.prior {
            Prior::Estimated { least, most } if plan.free_layout(source).is_none() => {
                Some(Range { least, most })
            }
            _ => None,
        };
        let tries = range.is_some() && may_try(source, k);
        let estimates = range.filter(|_| !tries);
        let shares = match plan.params.prior {
            Prior::Estimated { .. } => check_prior(&self.prior, k).is_ok(),
            _ => self.prior == plan.checked.prior,
        };
        let estimate = self.estimate.as_ref().is_none_or(|estimate| {
            estimates.is_some_and(|range| estimate.suits(range, |head| fits(head, k, source.m()), k))
        });
        let trial = self.trial.as_ref().is_none_or(|trial| {
            let tried = trial.train.as_ref().is_none_or(|train| train.suits(plan, source));
            tries && tried && check_prior(&trial.prior, k).is_ok()
        });
        shares && estimate && trial && self.train.suits(plan, source)
    }
}

/// Whether weights are those of `k` clusters of `m` features.
fn fits(head: &Head, k: usize, m: usize) -> bool {
    (head.weight.len(), head.bias.len()) == (k * m, k)
}

impl TrainState {
    /// Whether a training with this plan can go on from here.
    fn suits(&self, plan: &Plan, source: &Source<'_>) -> bool {
        let (k, n, m) = (plan.params.k, source.n(), source.m());
        let labelled = |start: &usize| self.labels.get(*start).is_some_and(|labels| labels.len() == n * k);
        let minimiser = self.minimiser.as_ref().is_none_or(|minimiser| {
            let options = polish::options(plan.iterations(self.stage));
            let has_place = !self.places.is_empty();
            has_place && minimiser.suits(k * m + k, options) && minimiser.evaluations() <= COUNTABLE
        });
        self.stack.suits(k, m)
            && self.is_at_a_step_of(plan, source)
            && self.first == 0
            && self.stack.restarts.iter().all(|start| *start < self.histories.len())
            && self.histories.iter().all(|history| history.iterations <= COUNTABLE)
            && self.sums.len() == self.stack.len()
            && (self.labels.is_empty() || self.stack.restarts.iter().all(labelled))
            && self.places.len() <= self.stack.len()
            && self.places.iter().all(|place| *place < self.stack.len())
            && minimiser
    }

    fn is_at_a_step_of(&self, plan: &Plan, source: &Source<'_>) -> bool {
        let lbfgs = plan.params.optimiser == Optimiser::Lbfgs;
        match self.stage {
            Stage::Search => !lbfgs && self.step <= plan.search(false).steps,
            Stage::Refine => !lbfgs && self.step < plan.refinement(source).steps,
            Stage::Minimise => lbfgs && self.step <= COUNTABLE,
            Stage::Polish => plan.params.polish > 0 && self.step <= COUNTABLE,
            Stage::Done => true,
        }
    }
}
