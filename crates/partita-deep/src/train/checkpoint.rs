//! All that a run needs to continue: weights, moments, and its progress. Random numbers need no state: they depend on
//! the seed, the epoch and the row.

use super::ahead::Source;
use super::{Epoch, Params, Trainer};
use crate::error::{DeepError, Result};
use crate::nets::Classifier;
use crate::weights::{tensors, walk};
use burn::module::Module;
use partita_data::Fingerprint;
use partita_data::safetensors_io::{Tensor, TensorFile, Values};
use std::path::Path;

const FORMAT: &str = "partita-checkpoint-4";

/// Where the state of a run is saved, and a fingerprint of what the run began with.
pub(super) struct Checkpoint<'a> {
    pub path: &'a Path,
    origin: String,
}

impl<'a> Checkpoint<'a> {
    /// The checkpoint of a run that has not begun.
    pub fn new(path: &'a Path, trainer: &Trainer<'_>) -> Self {
        Self { path, origin: format!("{:016x}", origin(trainer).0) }
    }

    /// Write the state after an epoch, whole or not at all.
    pub fn write(&self, trainer: &Trainer<'_>) -> Result<()> {
        let mut file = state(trainer);
        file.metadata.insert("origin".into(), self.origin.clone());
        Ok(file.write(self.path)?)
    }

    /// Load the state into a trainer that was made with the same options, images and weights.
    pub fn read(&self, trainer: &mut Trainer<'_>) -> Result<()> {
        let path = self.path;
        let file = TensorFile::read(path)?;
        take(trainer, &file, &self.origin)
            .map_err(|problem| DeepError::Option(format!("{} cannot be resumed: {problem}", path.display())))
    }
}

/// A fingerprint of what a run begins with besides its options: images, known labels, neighbours, weights.
fn origin(trainer: &Trainer<'_>) -> Fingerprint {
    let Source { pixels, neighbours, normalise, .. } = &trainer.source;
    let mut print = Fingerprint::default()
        .with_bytes(format!("{:?} {:?} {:?}", pixels.shape(), trainer.known, normalise).as_bytes())
        .with_bytes(pixels.bytes());
    for neighbour in *neighbours {
        print = print.with_bytes(&neighbour.to_le_bytes());
    }
    walk::each(&trainer.model.valid(), &mut |_, _, values| print = print.with_numbers(&values));
    print
}

/// Weights, moments, and the progress of the run.
fn state(trainer: &Trainer<'_>) -> TensorFile {
    let mut file = TensorFile::default();
    for (name, tensor) in tensors(&trainer.model.valid()) {
        file.tensors.insert(format!("model.{name}"), tensor);
    }
    for (name, moments) in &trainer.adam.moments {
        let kinds = [("first", &moments.first), ("second", &moments.second)];
        for (kind, values) in kinds.into_iter().filter(|(_, values)| !values.is_empty()) {
            let tensor = Tensor { shape: vec![values.len()], values: Values::F32(values.clone()) };
            file.tensors.insert(format!("{kind}.{name}"), tensor);
        }
    }
    let json = |value: serde_json::Result<String>| value.expect("options and losses are plain data");
    file.metadata.insert("format".into(), FORMAT.into());
    file.metadata.insert("params".into(), json(serde_json::to_string(&trainer.params)));
    file.metadata.insert("epochs".into(), json(serde_json::to_string(&trainer.epochs)));
    file.metadata.insert("head_losses".into(), json(serde_json::to_string(&trainer.head_losses)));
    file.metadata.insert("steps".into(), trainer.adam.steps.to_string());
    file
}

/// Load a state into a trainer, or say why it does not fit.
fn take(trainer: &mut Trainer<'_>, file: &TensorFile, origin: &str) -> std::result::Result<(), &'static str> {
    let text = |key: &str| file.metadata.get(key).map(String::as_str).unwrap_or_default();
    if text("format") != FORMAT {
        return Err("it is not a checkpoint of this version of Partita");
    }
    let params: Params = serde_json::from_str(text("params")).map_err(|_| "its options cannot be read")?;
    // More epochs may be asked for than at first; all other options must be the same.
    if params.cosine && params.epochs != trainer.params.epochs {
        return Err(
            "its rates fall towards the last of its epochs; give as many, or start again without --resume",
        );
    }
    if (Params { epochs: trainer.params.epochs, ..params }) != *trainer.params {
        return Err("it was made with other options; give the same, or start again without --resume");
    }
    if text("origin") != origin {
        return Err(
            "it was made from other images, known labels or initial weights; give the same, or start again without --resume",
        );
    }
    let epochs: Vec<Epoch> = serde_json::from_str(text("epochs")).map_err(|_| "its epochs cannot be read")?;
    if epochs.len() > trainer.params.epochs {
        return Err("it has more epochs than are asked for; give as many, or start again without --resume");
    }
    let head_losses: Vec<f64> =
        serde_json::from_str(text("head_losses")).map_err(|_| "the losses of its heads cannot be read")?;
    trainer.adam.steps = text("steps").parse().map_err(|_| "its steps cannot be read")?;
    trainer.model = fill(trainer.model.clone(), file).ok_or("tensors are missing or of another shape")?;
    trainer.adam.moments.clear();
    for (name, tensor) in &file.tensors {
        let Values::F32(values) = &tensor.values else { continue };
        if let Some(name) = name.strip_prefix("first.") {
            trainer.adam.moments.entry(name.to_owned()).or_default().first.clone_from(values);
        } else if let Some(name) = name.strip_prefix("second.") {
            trainer.adam.moments.entry(name.to_owned()).or_default().second.clone_from(values);
        }
    }
    (trainer.epochs, trainer.head_losses) = (epochs, head_losses);
    Ok(())
}

/// A classifier with the tensors under `model.`, if all of them exist and fit.
pub(super) fn fill(model: Classifier, file: &TensorFile) -> Option<Classifier> {
    let mut whole = true;
    let filled = walk::fill(model, &mut |name, shape| {
        let found = file.tensors.get(&format!("model.{name}")).filter(|tensor| tensor.shape == shape);
        match found.map(|tensor| &tensor.values) {
            Some(Values::F32(values)) => Some(values.clone()),
            _ => {
                whole = false;
                None
            }
        }
    });
    whole.then_some(filled)
}
