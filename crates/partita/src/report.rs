//! What a fit tells: why it stopped, how the loss went, and progress while it runs.

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
    /// Share of the whole fit that is done, from 0 to 1.
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

/// Observes nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&self, _: Progress) -> Flow {
        Flow::Continue
    }
}
