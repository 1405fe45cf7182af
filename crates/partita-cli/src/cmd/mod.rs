//! One file for each command.

pub mod choose_k;
pub mod compare;
pub mod demo;
pub mod embed;
pub mod evaluate;
pub mod explain;
pub mod export;
pub mod fit;
pub mod predict;
pub mod reproduce;
pub mod update;
pub mod weights;

use crate::console;
use partita_job::{Dataset, Note, Result};

/// A data set that was opened, after its notes are shown.
fn opened(dataset: Result<Dataset<'static>>) -> Result<Dataset<'static>> {
    dataset.inspect(|dataset| show(dataset.notes()))
}

/// What a user should know about how files were read.
fn show(notes: &[Note]) {
    notes.iter().for_each(console::note);
}
