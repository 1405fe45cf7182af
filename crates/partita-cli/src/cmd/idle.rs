//! Options that would silently be ignored beside others are refused instead.

use crate::args::{MethodArgs, OptimiserArg, RefreshArg};
use anyhow::{Result, bail};
use partita::linear::{EM_ITERATIONS, Loss};

/// Refuse the first option that was given; `why` says where it has no meaning and what to do.
pub fn refuse(given: &[(&str, bool)], why: &str) -> Result<()> {
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => bail!("{name} has no meaning {why}"),
        None => Ok(()),
    }
}

/// Options of the linear engine that its loss or its optimiser does not use.
pub fn refuse_of_method(method: &MethodArgs) -> Result<()> {
    let em = method.em_iterations != EM_ITERATIONS;
    let momentum = ("--momentum", method.momentum != 0.0);
    match method.optimiser {
        OptimiserArg::Lbfgs => {
            let batches = [
                ("--epochs", method.epochs.is_some()),
                ("--batch", method.batch.is_some()),
                ("--learning-rate", method.learning_rate.is_some()),
                ("--refresh epoch", matches!(method.refresh, RefreshArg::Epoch)),
                ("--em-iterations", em),
                momentum,
            ];
            refuse(&batches, "with --optimiser lbfgs, which takes all rows at once; leave it out")?;
        }
        OptimiserArg::Adam => refuse(&[momentum], "with --optimiser adam, which has its own; leave it out")?,
        OptimiserArg::Sgd => {}
    }
    refuse_of_loss(method)
}

/// Options of either engine that its loss does not use.
pub fn refuse_of_loss(method: &MethodArgs) -> Result<()> {
    let em = method.em_iterations != EM_ITERATIONS;
    if method.loss != Loss::Strong {
        let labels = [("--exact-labels", method.exact_labels), ("--em-iterations", em)];
        refuse(
            &labels,
            "for this loss, which is labelled in its own way or not at all; it is for --loss strong",
        )?;
    }
    if method.loss == Loss::Hinge {
        refuse(&[("--lambda", method.lambda.is_some())], "for --loss hinge, which has no such weight")?;
    }
    refuse(&[("--em-iterations", em && method.exact_labels)], "with --exact-labels; leave one of them out")
}
