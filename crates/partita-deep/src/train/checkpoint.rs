//! All that a run needs to go on: weights, moments, and how far it is. Random numbers need no state: they depend on
//! the seed, the epoch and the row.

use super::{Epoch, Params, Trainer};
use crate::error::{DeepError, Result};
use crate::nets::Classifier;
use crate::weights::{tensors, walk};
use burn::module::Module;
use partita_data::safetensors_io::{Tensor, TensorFile, Values};
use std::path::Path;

const FORMAT: &str = "partita-checkpoint-1";

/// Write the state after an epoch, whole or not at all.
pub(super) fn write(trainer: &Trainer<'_>, path: &Path) -> Result<()> {
    let mut file = TensorFile::default();
    for (name, tensor) in tensors(&trainer.model.valid()) {
        file.tensors.insert(format!("model.{name}"), tensor);
    }
    for (name, moments) in &trainer.adam.moments {
        for (kind, values) in [("first", &moments.first), ("second", &moments.second)] {
            let tensor = Tensor { shape: vec![values.len()], values: Values::F32(values.clone()) };
            file.tensors.insert(format!("{kind}.{name}"), tensor);
        }
    }
    let json = |value: std::result::Result<String, serde_json::Error>| value.unwrap_or_default();
    file.metadata.insert("format".into(), FORMAT.into());
    file.metadata.insert("params".into(), json(serde_json::to_string(&trainer.params)));
    file.metadata.insert("epochs".into(), json(serde_json::to_string(&trainer.epochs)));
    file.metadata.insert("steps".into(), trainer.adam.steps.to_string());
    Ok(file.write(path)?)
}

/// Put the state of a checkpoint into a trainer that was made with the same options.
pub(super) fn read(trainer: &mut Trainer<'_>, path: &Path) -> Result<()> {
    let file = TensorFile::read(path)?;
    let broken =
        |problem: &str| DeepError::Option(format!("{} cannot be resumed: {problem}", path.display()));
    let text = |key: &str| file.metadata.get(key).map(String::as_str).unwrap_or_default();
    if text("format") != FORMAT {
        return Err(broken("it is no checkpoint of Partita"));
    }
    let params: Params =
        serde_json::from_str(text("params")).map_err(|_| broken("its options cannot be read"))?;
    // More epochs may be asked for than at first; all else decides what the run is.
    if (Params { epochs: trainer.params.epochs, ..params }) != *trainer.params {
        return Err(broken("it was made with other options; give the same, or begin anew without --resume"));
    }
    let epochs: Vec<Epoch> =
        serde_json::from_str(text("epochs")).map_err(|_| broken("its epochs cannot be read"))?;
    trainer.adam.steps = text("steps").parse().map_err(|_| broken("its steps cannot be read"))?;
    trainer.model = fill(trainer.model.clone(), &file)
        .ok_or_else(|| broken("tensors are missing or of another shape"))?;
    trainer.adam.moments.clear();
    for (name, tensor) in &file.tensors {
        let Values::F32(values) = &tensor.values else { continue };
        if let Some(name) = name.strip_prefix("first.") {
            trainer.adam.moments.entry(name.to_owned()).or_default().first.clone_from(values);
        } else if let Some(name) = name.strip_prefix("second.") {
            trainer.adam.moments.entry(name.to_owned()).or_default().second.clone_from(values);
        }
    }
    trainer.epochs = epochs;
    Ok(())
}

/// A classifier with the tensors under `model.`, if all of them are there and fit.
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
