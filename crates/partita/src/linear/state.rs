//! Training as state: all that the next step depends on, so that it can be kept, sent elsewhere and gone on with.

use super::head::Head;
use super::stack::Stack;
use crate::numeric::lbfgs::Minimiser;
use crate::report::StopReason;
use serde::{Deserialize, Serialize};

/// What training is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Descent on batches from all starts.
    Search,
    /// Descent on larger batches from the most promising.
    Refine,
    /// L-BFGS on the sample instead of both, restart after restart.
    Minimise,
    /// L-BFGS on the sample from the best restart.
    Polish,
    /// Nothing: it has ended.
    Done,
}

/// What one start went through.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    /// Steps made.
    pub iterations: usize,
    /// Mean batch loss in each epoch, or the loss after each iteration.
    pub losses: Vec<f64>,
}

/// Training under way, between two steps.
///
/// It is a value: clone it, store it, or go on from it with a [`Trainer`](super::Trainer) of the same rows and options, to the same
/// bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainState {
    pub(super) stage: Stage,
    /// Steps made in this stage.
    pub(super) step: usize,
    pub(super) stack: Stack,
    /// What each start went through, also those dropped since, by their numbers from `first` on.
    pub(super) histories: Vec<History>,
    pub(super) first: usize,
    /// Sums of the batch losses in this epoch.
    pub(super) sums: Vec<f64>,
    /// The lowest batch loss of the last step.
    pub(super) loss: Option<f64>,
    /// Pseudo-labels that hold for this epoch, for each start.
    pub(super) labels: Vec<Vec<f32>>,
    /// Places that L-BFGS still has to minimise from, the next one last.
    pub(super) places: Vec<usize>,
    pub(super) minimiser: Option<Minimiser>,
    pub(super) stop: StopReason,
}

impl TrainState {
    /// What is being done.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Steps made in this stage.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Whether training has ended.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Latest loss on a batch of the best restart.
    pub fn loss(&self) -> Option<f64> {
        self.loss
    }

    /// Numbers of the restarts that are still in training.
    pub fn restarts(&self) -> &[usize] {
        &self.stack.restarts
    }

    /// Weights on prepared rows of the restart at this place.
    pub fn head(&self, place: usize) -> Head {
        self.stack.head(place)
    }

    /// The states of ranges of starts that were searched apart, as one: in the order of their starts, all at the same step of the
    /// search. With ranges that begin at multiples of [`GROUP`](super::GROUP) it has the bits of a search of all.
    ///
    /// # Panics
    /// If there are none, or if they are not at the same step of the search.
    pub fn join(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().expect("at least one range");
        for part in parts {
            assert!(
                part.stage == Stage::Search && (whole.stage, whole.step) == (part.stage, part.step),
                "ranges are joined at the same step of the search"
            );
            whole.stack.extend(part.stack);
            whole.histories.extend(part.histories);
            whole.sums.extend(part.sums);
            whole.labels.extend(part.labels.into_iter().skip(part.first));
            whole.loss = whole.loss.zip(part.loss).map(|(a, b)| a.min(b));
        }
        whole
    }

    /// What the start at this place went through.
    pub(super) fn history_of(&self, place: usize) -> &History {
        &self.histories[self.stack.restarts[place] - self.first]
    }

    /// The same, to add to it.
    pub(super) fn history(&mut self, place: usize) -> &mut History {
        let start = self.stack.restarts[place] - self.first;
        &mut self.histories[start]
    }
}
