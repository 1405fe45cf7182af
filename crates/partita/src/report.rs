//! What a fit reports: why it stopped, how the loss went, and progress while it runs.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Why training stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The loss or its gradient no longer changed by more than the tolerance.
    Converged,
    /// All planned steps were made.
    Finished,
    /// The observer asked to stop; the result is the best so far.
    Interrupted,
}

impl StopReason {
    /// An error if the fit was interrupted, for callers that want all of a result or nothing.
    pub fn not_interrupted(self) -> Result<()> {
        if self == Self::Interrupted { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Progress of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub stage: &'static str,
    /// Share of the whole job that is done; grows from 0 to 1 once.
    pub done: f64,
    /// Latest loss on a batch of the best restart, if training has begun.
    pub loss: Option<f64>,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop as soon as possible.
    Stop,
}

/// Receives progress and may stop the fit. The terminal's bar, a web page and a notebook are observers.
pub trait Observer: Sync {
    /// Called often; must be cheap.
    fn progress(&self, progress: Progress) -> Flow;
}

/// One part of a longer job: what it reports as 0 to 1 is a stretch of the whole.
///
/// ```
/// use partita::report::{Flow, Observer, Part, Progress};
/// struct Print;
/// impl Observer for Print {
///     fn progress(&self, progress: Progress) -> Flow {
///         assert_eq!(progress.done, 0.75);
///         Flow::Continue
///     }
/// }
/// let second_half = Part::new(&Print, 0.5, 1.0);
/// second_half.progress(Progress { stage: "training", done: 0.5, loss: None });
/// ```
pub struct Part<'a> {
    observer: &'a dyn Observer,
    stage: Option<&'static str>,
    begin: f64,
    end: f64,
}

impl<'a> Part<'a> {
    /// The stretch from `begin` to `end`.
    pub fn new(observer: &'a dyn Observer, begin: f64, end: f64) -> Self {
        Self { observer, stage: None, begin, end }
    }

    /// The same under one name, whatever its steps are called; their losses are not comparable and are left out.
    pub fn named(self, stage: &'static str) -> Self {
        Self { stage: Some(stage), ..self }
    }

    /// The beginning of this part: may stop the job, and does not move it.
    pub fn still(&self) -> Self {
        Self { end: self.begin, ..*self }
    }

    /// Part `number` of `of` equal parts of this one.
    pub fn part(&self, number: usize, of: usize) -> Self {
        let share = (self.end - self.begin) / of as f64;
        let begin = self.begin + share * number as f64;
        Self { observer: self.observer, stage: self.stage, begin, end: begin + share }
    }
}

impl Observer for Part<'_> {
    fn progress(&self, progress: Progress) -> Flow {
        let done = self.begin + (self.end - self.begin) * progress.done;
        let (stage, loss) = self.stage.map_or((progress.stage, progress.loss), |stage| (stage, None));
        self.observer.progress(Progress { stage, done, loss })
    }
}

/// Observes nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&self, _: Progress) -> Flow {
        Flow::Continue
    }
}
