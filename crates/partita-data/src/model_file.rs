//! Models on disk: a safetensors file that holds the model and everything needed to fit it again.

use crate::error::{DataError, Result};
use crate::safetensors_io::{Tensor, TensorFile, Values};
use partita::linear::{Model, Params};
use partita::prepare::View;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the layout, raised when an older reader would misread it.
const FORMAT: &str = "partita-linear-1";

/// A model with the options it was fitted with.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// Options of the fit, seed and preparation included.
    pub params: Params,
    /// Version of the program that wrote the file.
    pub version: String,
}

/// The parts of a view that are not tensors.
#[derive(Serialize, Deserialize)]
struct ViewRecord {
    width: usize,
    centred: bool,
    normalise: bool,
}

impl ModelFile {
    /// A model and its options, stamped with this version of Partita.
    pub fn new(model: Model, params: Params) -> Self {
        Self { model, params, version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// Write to `path`, whole or not at all. The same model gives the same bytes.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let model = &self.model;
        let (k, m) = (model.k(), model.m());
        let mut file = TensorFile::default();
        let mut tensor = |name: &str, shape: Vec<usize>, values: &[f32]| {
            let values = Values::F32(values.to_vec());
            file.tensors.insert(name.to_owned(), Tensor { shape, values });
        };
        tensor("weight", vec![k, m], &model.weight);
        tensor("bias", vec![k], &model.bias);
        tensor("average", vec![m], &model.average);
        tensor("prior", vec![k], &model.prior);
        for (i, view) in model.views.iter().enumerate().filter(|(_, v)| !v.centre.is_empty()) {
            tensor(&format!("centre.{i}"), vec![view.width], &view.centre);
        }
        let record =
            |v: &View| ViewRecord { width: v.width, centred: !v.centre.is_empty(), normalise: v.normalise };
        let records: Vec<ViewRecord> = model.views.iter().map(record).collect();
        let mut text = |key: &str, value: String| file.metadata.insert(key.to_owned(), value);
        text("format", FORMAT.to_owned());
        text("version", self.version.clone());
        text("views", json(path.as_ref(), &records)?);
        text("params", json(path.as_ref(), &self.params)?);
        file.write(path)
    }

    /// Read from `path`, checking that all parts fit together.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut file = TensorFile::read(path)?;
        let corrupt = |problem: String| DataError::corrupt(path, "Partita model", problem);
        let other = |what, advice| DataError::OtherModel { path: path.to_owned(), what, advice };
        match file.metadata.get("format") {
            Some(format) if format == FORMAT => {}
            Some(format) if format.starts_with("partita-deep-") => {
                let advice = "only `partita predict` takes it, with images, if built with the feature `deep`";
                return Err(other("the model of a network", advice));
            }
            Some(format) if format.starts_with("partita-checkpoint-") => {
                let advice = "end the run with `partita fit --resume`, and use its model";
                return Err(other("the checkpoint of a run", advice));
            }
            Some(format) => {
                return Err(corrupt(format!("its format is {format}; this version reads {FORMAT}")));
            }
            None => {
                return Err(corrupt("it has no `format` entry; was it written by `partita fit`?".to_owned()));
            }
        }
        let text = |key: &str| {
            file.metadata.get(key).cloned().ok_or_else(|| corrupt(format!("its `{key}` entry is missing")))
        };
        let records: Vec<ViewRecord> =
            serde_json::from_str(&text("views")?).map_err(|e| corrupt(format!("views: {e}")))?;
        let params: Params =
            serde_json::from_str(&text("params")?).map_err(|e| corrupt(format!("params: {e}")))?;
        let version = text("version")?;
        let m = records.iter().try_fold(0usize, |m, v| m.checked_add(v.width)).unwrap_or(usize::MAX);
        let mut take = |name: &str, shape: &[usize]| match file.tensors.remove(name) {
            Some(Tensor { shape: found, values: Values::F32(values) }) if found == shape => Ok(values),
            Some(t) => {
                Err(corrupt(format!("tensor `{name}` has shape {:?}; {shape:?} of f32 is needed", t.shape)))
            }
            None => Err(corrupt(format!("tensor `{name}` is missing"))),
        };
        let weight = take("weight", &[params.k, m])?;
        let bias = take("bias", &[params.k])?;
        let average = take("average", &[m])?;
        let prior = take("prior", &[params.k])?;
        let mut views = Vec::with_capacity(records.len());
        for (i, ViewRecord { width, centred, normalise }) in records.into_iter().enumerate() {
            let name = format!("centre.{i}");
            let centre = if centred { take(&name, &[width])? } else { Vec::new() };
            views.push(View { width, centre, normalise });
        }
        if params.k < 2 || m == 0 {
            return Err(corrupt(format!("a model of {} clusters and {m} features cannot be", params.k)));
        }
        if let Some(bad) =
            [&weight, &bias, &average, &prior].iter().flat_map(|t| t.iter()).find(|v| !v.is_finite())
        {
            return Err(corrupt(format!("a weight is {bad}")));
        }
        Ok(Self { model: Model { views, weight, bias, average, prior }, params, version })
    }
}

fn json(path: &Path, value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| DataError::corrupt(path, "Partita model", e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::linear::{Input, Prepare, fit};
    use partita::report::Silent;
    use partita::rows::Rows;

    #[test]
    fn a_model_comes_back_as_it_was_for_every_preparation() {
        let (values, _) = crate::digits();
        let digits = crate::Features::from_vec(values, 64).unwrap();
        let directory = tempfile::tempdir().unwrap();
        for prepare in [Prepare::Auto, Prepare::None, Prepare::Centre, Prepare::Standardise, Prepare::L2] {
            let params = Params { restarts: 1, epochs: Some(1), prepare, ..Params::new(3) };
            let input = Input { widths: vec![30, 34], ..Input::new(&digits) };
            let found = fit(&input, &params, &Silent).unwrap();
            let path = directory.path().join("model.safetensors");
            let file = ModelFile::new(found.model, params);
            file.write(&path).unwrap();
            let back = ModelFile::read(&path).unwrap();
            assert_eq!(back, file);
            assert_eq!(back.model.predict(&digits).unwrap(), found.labels);
            assert_eq!(digits.n(), found.labels.len());
        }
    }

    #[test]
    fn a_file_that_is_no_model_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("other.safetensors");
        TensorFile::default().write(&path).unwrap();
        let message = ModelFile::read(&path).unwrap_err().to_string();
        assert!(message.contains("format") && message.contains("other.safetensors"), "{message}");
    }
}
