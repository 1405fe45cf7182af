//! What a network says of images: labels, probabilities, and how they change from epoch to epoch.

use crate::args::DeepArgs;
use anyhow::Result;
use partita::linear::{Ailment, DEAD};
use partita::metrics::{mean_entropy, scores};
use partita::simplex::largest;
use partita_data::{DataError, write_labels_csv, write_npy_f32_2d, write_npy_i32};
use partita_deep::images::Pixels;
use partita_deep::train::{Aim, DeepModel, Epoch};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// A line of JSON for every epoch.
pub struct Metrics<'a> {
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

impl<'a> Metrics<'a> {
    pub fn new(args: &'a DeepArgs, truth: Option<&'a [i64]>, pixels: &'a Pixels) -> Self {
        let (path, resume) = (args.metrics.as_deref(), args.resume);
        let (stage, started) = (String::new(), Instant::now());
        Self { path, file: None, resume, stage, before: 0.0, truth, pixels, started }
    }

    pub fn write(&mut self, epoch: &Epoch, model: &DeepModel) -> partita_deep::Result<()> {
        let Some(path) = self.path else { return Ok(()) };
        let failed = |source| DataError::Write { path: path.to_owned(), source };
        if epoch.stage != self.stage {
            self.file = Some(self.opened(path, epoch).map_err(failed)?);
            self.stage.clone_from(&epoch.stage);
        }
        let line = self.line(epoch, model)?;
        let file = self.file.as_mut().expect("opened with the first epoch of a stage");
        Ok(writeln!(file, "{line}").map_err(failed)?)
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

    /// What is told of an epoch. A network that still learns to compare views has no clusters.
    fn line(&self, epoch: &Epoch, model: &DeepModel) -> partita_deep::Result<Value> {
        let seconds = self.before + self.started.elapsed().as_secs_f64();
        if let Aim::Contrast { .. } = model.params.aim {
            return Ok(json!({ "epoch": epoch, "seconds": seconds }));
        }
        let proba = model.probabilities(self.pixels, &partita::report::Silent)?;
        let told = Told::new(&proba, model.params.k);
        let scores = self.truth.map(|truth| scores(truth, &told.labels)).transpose()?;
        Ok(json!({
            "epoch": epoch, "seconds": seconds,
            "decisiveness": mean_entropy(&proba, model.params.k), "cluster_sizes": told.sizes, "metrics": scores,
        }))
    }
}

/// Bytes of the whole lines before that of this epoch or a later one of its stage, and the seconds that the last tells.
fn before(text: &str, epoch: &Epoch) -> (usize, f64) {
    let (mut kept, mut seconds) = (0, 0.0);
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let told: Value = serde_json::from_str(line).unwrap_or_default();
        let again = told["epoch"]["stage"] == *epoch.stage
            && told["epoch"]["epoch"].as_u64().is_none_or(|number| number >= epoch.epoch as u64);
        if again {
            break;
        }
        kept += line.len();
        seconds = told["seconds"].as_f64().unwrap_or(seconds);
    }
    (kept, seconds)
}

/// Labels of images, from their probabilities.
pub struct Told<'a> {
    proba: &'a [f32],
    k: usize,
    pub labels: Vec<i32>,
    pub sizes: Vec<usize>,
}

impl<'a> Told<'a> {
    pub fn new(proba: &'a [f32], k: usize) -> Self {
        let labels: Vec<i32> = proba.chunks_exact(k).map(|row| largest(row) as i32).collect();
        let mut sizes = vec![0; k];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        Self { proba, k, labels, sizes }
    }

    /// Clusters that hardly any image goes to, by the measure of the linear engine.
    pub fn dead(&self, prior: &[f64]) -> Vec<Ailment> {
        let n = self.labels.len() as f64;
        let few = |c: &usize| (self.sizes[*c] as f64) < DEAD * prior[*c] * n;
        (0..self.k).filter(few).map(|cluster| Ailment::Dead { cluster }).collect()
    }

    fn confidence(&self) -> Vec<f32> {
        self.proba.chunks_exact(self.k).zip(&self.labels).map(|(row, &label)| row[label as usize]).collect()
    }

    pub fn write(&self, names: &[String], labels: Option<&Path>, proba: Option<&Path>) -> Result<()> {
        if let Some(path) = labels {
            match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
                true => write_npy_i32(path, &self.labels)?,
                false => write_labels_csv(path, Some(names), &self.labels, Some(&self.confidence()))?,
            }
        }
        if let Some(path) = proba {
            write_npy_f32_2d(path, self.proba, self.k)?;
        }
        Ok(())
    }

    pub fn table(&self, names: &[String]) -> String {
        let confidence = self.confidence();
        let lines = names.iter().zip(&self.labels).zip(confidence);
        let lines =
            lines.map(|((name, label), sure)| format!("{},{label},{sure}\n", partita_data::csv_cell(name)));
        std::iter::once("id,cluster,confidence\n".to_owned()).chain(lines).collect()
    }
}
