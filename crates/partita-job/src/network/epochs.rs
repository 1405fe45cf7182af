//! A file that grows by a line of JSON with every epoch.

use super::decide;
use crate::resources::Resources;
use partita::metrics::{mean_entropy, scores};
use partita::report::Silent;
use partita_data::DataError;
use partita_deep::train::{Aim, DeepModel, Epoch};
use partita_embed::images::Pixels;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// A line of JSON for every epoch.
pub(super) struct EpochLines<'a> {
    path: Option<&'a Path>,
    /// Opened with the first epoch: a run that cannot begin leaves an older file as it is.
    file: Option<File>,
    resume: bool,
    /// The stage of the last line.
    stage: String,
    /// Seconds that a run took before it was resumed.
    before: f64,
    truth: Option<&'a [i64]>,
    pixels: &'a Pixels,
    started: Instant,
}

impl<'a> EpochLines<'a> {
    pub fn new(resources: &'a Resources, truth: Option<&'a [i64]>, pixels: &'a Pixels) -> Self {
        let (path, resume) = (resources.metrics.as_deref(), resources.resume);
        let (stage, started) = (String::new(), Instant::now());
        Self { path, file: None, resume, stage, before: 0.0, truth, pixels, started }
    }

    pub fn write(&mut self, epoch: &Epoch, model: &DeepModel) -> partita_deep::Result<()> {
        let Some(path) = self.path else { return Ok(()) };
        let failed = |source| DataError::Write { path: path.to_owned(), source };
        if epoch.stage != self.stage || self.file.is_none() {
            self.file = Some(self.opened(path, epoch).map_err(failed)?);
            self.stage.clone_from(&epoch.stage);
        }
        let line = self.line(epoch, model)?;
        if let Some(file) = &mut self.file {
            writeln!(file, "{line}").map_err(failed)?;
        }
        Ok(())
    }

    /// The file for the epochs of a stage. A resumed run goes on in that of the run before, after what it does not do again.
    fn opened(&mut self, path: &Path, epoch: &Epoch) -> std::io::Result<File> {
        if !self.resume && self.stage.is_empty() {
            return File::create(path);
        }
        let file = File::options().create(true).append(true).open(path)?;
        let (kept, seconds) = before(&std::fs::read_to_string(path)?, epoch);
        file.set_len(kept as u64)?;
        if self.stage.is_empty() {
            self.before = seconds;
        }
        Ok(file)
    }

    /// What is known of an epoch. A network that still learns to compare views has no clusters.
    fn line(&self, epoch: &Epoch, model: &DeepModel) -> partita_deep::Result<Value> {
        let seconds = self.before + self.started.elapsed().as_secs_f64();
        if let Aim::Contrast { .. } = model.params.aim {
            return Ok(json!({ "epoch": epoch, "seconds": seconds }));
        }
        let k = model.params.k;
        let proba = model.probabilities(self.pixels, &Silent)?;
        let (labels, sizes) = decide(&proba, k);
        let scores = self.truth.map(|truth| scores(truth, &labels)).transpose()?;
        Ok(json!({
            "epoch": epoch, "seconds": seconds,
            "decisiveness": mean_entropy(&proba, k), "cluster_sizes": sizes, "metrics": scores,
        }))
    }
}

/// Bytes of the whole lines before that of this epoch or a later one of its stage, and the seconds that the last tells.
fn before(text: &str, epoch: &Epoch) -> (usize, f64) {
    let (mut kept, mut seconds) = (0, 0.0);
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let about: Value = serde_json::from_str(line).unwrap_or_default();
        let again = about["epoch"]["stage"] == *epoch.stage
            && about["epoch"]["epoch"].as_u64().is_none_or(|number| number >= epoch.epoch as u64);
        if again {
            break;
        }
        kept += line.len();
        seconds = about["seconds"].as_f64().unwrap_or(seconds);
    }
    (kept, seconds)
}
