//! Training a linear model step by step, with its state kept in a file so that a killed run can continue.

use crate::checkpoint::Checkpoint;
use crate::error::{JobError, Result};
use crate::resources::Resources;
use partita::Error;
use partita::linear::{Fit, Fitting, Input, PREPARING, Params};
use partita::report::{Flow, Observer, Part};
use std::time::Instant;

/// Fit the rows of `input`; a run that is stopped leaves its state in the checkpoint, if it has one.
pub(crate) fn train(
    input: &Input<'_>,
    params: &Params,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Fit> {
    let began = Instant::now();
    input.check(params.k)?;
    params.check(input.rows.n())?;
    let prepared = input.prepared(params.recipe(), &Part::new(observer, 0.0, PREPARING))?;
    let mut checkpoint = match &resources.checkpoint {
        Some(path) => Some(Checkpoint::new(path, input, &prepared, params)?),
        None => None,
    };
    let kept = match &checkpoint {
        Some(checkpoint) if resources.resume => checkpoint.read()?,
        _ => None,
    };
    let mut fitting = match kept {
        Some(state) => Fitting::resume(input, &prepared, params, state)?,
        None => Fitting::new(input, &prepared, params)?,
    };
    let part = Part::new(observer, PREPARING, 1.0);
    while fitting.advance()? {
        if let Some(checkpoint) = &mut checkpoint {
            checkpoint.write_if_due(fitting.state())?;
        }
        if part.progress(fitting.progress()) == Flow::Stop {
            return Err(stopped(checkpoint, &fitting));
        }
    }
    let mut found = fitting.finish()?;
    found.report.seconds = began.elapsed().as_secs_f64();
    Ok(found)
}

/// The interruption, with the state that is left in the checkpoint.
fn stopped(checkpoint: Option<Checkpoint<'_>>, fitting: &Fitting<'_>) -> JobError {
    let interrupted = JobError::from(Error::Interrupted);
    let Some(mut checkpoint) = checkpoint else { return interrupted };
    match checkpoint.write(fitting.state()) {
        Ok(()) => {
            let last = format!("step {} of {}", fitting.state().train().step(), fitting.progress().stage);
            JobError::Kept { kept: checkpoint.kept(last), cause: Box::new(interrupted) }
        }
        Err(error) => error,
    }
}
