//! What a network says of images: labels, probabilities, and how they change from epoch to epoch.

use crate::args::DeepArgs;
use anyhow::Result;
use partita::linear::score::{Ailment, DEAD};
use partita::metrics::{mean_entropy, scores};
use partita::simplex::largest;
use partita_data::{DataError, write_labels_csv, write_npy_f32_2d, write_npy_i32};
use partita_deep::images::Pixels;
use partita_deep::train::{Aim, DeepModel, Epoch, checkpoints};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// A line of JSON for every epoch.
pub struct Metrics<'a> {
    path: Option<&'a Path>,
    /// Opened with the first epoch: a run that cannot begin leaves an older file as it is.
    file: Option<File>,
    /// What a resumed run finds in the file and goes on from.
    before: Before,
    resume: bool,
    truth: Option<&'a [i64]>,
    pixels: &'a Pixels,
    started: Instant,
}

/// Epochs that were told of already, and the seconds they took.
#[derive(Default)]
struct Before {
    epochs: BTreeSet<(String, u64)>,
    seconds: f64,
    /// Bytes of whole lines; a run may have been killed while it wrote the last.
    whole: usize,
}

impl Before {
    /// Of the lines of a file.
    fn read(path: &Path) -> std::io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut before = Self { whole, ..Self::default() };
        let lines = text[..whole].lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        for line in lines {
            let of_epoch = &line["epoch"];
            let (stage, number) = (of_epoch["stage"].as_str(), of_epoch["epoch"].as_u64());
            before.epochs.extend(stage.map(str::to_owned).zip(number));
            before.seconds = line["seconds"].as_f64().unwrap_or(before.seconds);
        }
        Ok(before)
    }
}

impl<'a> Metrics<'a> {
    pub fn new(args: &'a DeepArgs, truth: Option<&'a [i64]>, pixels: &'a Pixels) -> Self {
        let kept = args.checkpoint.as_deref();
        let exists = |path: &Path| path.exists() || checkpoints(path).iter().any(|stage| stage.exists());
        let resume = args.resume && kept.is_some_and(exists);
        let path = args.metrics.as_deref();
        Self { path, file: None, before: Before::default(), resume, truth, pixels, started: Instant::now() }
    }

    pub fn write(&mut self, epoch: &Epoch, model: &DeepModel) -> partita_deep::Result<()> {
        let Some(path) = self.path else { return Ok(()) };
        let failed = |source| DataError::Write { path: path.to_owned(), source };
        if self.file.is_none() {
            let opened = if self.resume { self.append(path) } else { File::create(path) };
            self.file = Some(opened.map_err(failed)?);
        }
        if self.before.epochs.contains(&(epoch.stage.clone(), epoch.epoch as u64)) {
            return Ok(());
        }
        let line = self.line(epoch, model)?;
        let Some(file) = &mut self.file else { return Ok(()) };
        Ok(writeln!(file, "{line}").map_err(failed)?)
    }

    /// A resumed run goes on in the file of the run before.
    fn append(&mut self, path: &Path) -> std::io::Result<File> {
        let file = File::options().create(true).append(true).open(path)?;
        self.before = Before::read(path)?;
        file.set_len(self.before.whole as u64)?;
        Ok(file)
    }

    /// What is told of an epoch. A network that still learns to compare views has no clusters.
    fn line(&self, epoch: &Epoch, model: &DeepModel) -> partita_deep::Result<Value> {
        let seconds = self.before.seconds + self.started.elapsed().as_secs_f64();
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
