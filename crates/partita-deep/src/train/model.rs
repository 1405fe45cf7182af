//! A trained network as a file, and its predictions for images.

use super::{Aim, Params, checkpoint};
use crate::error::{DeepError, Result};
use crate::nets::{Classifier, ImageShape};
use crate::weights::{complete, tensors, walk, walk::values};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData, activation::softmax};
use partita::report::{Flow, Observer, Progress};
use partita_data::CompleteFile;
use partita_data::model_file::Names;
use partita_data::safetensors_io::{TensorFile, Values};
use partita_data::versions::Origin;
use partita_embed::images::Pixels;
use partita_embed::photos::Normalise;
use rayon::prelude::*;
use std::path::Path;

/// Version of the layout, raised when an older reader would misread it.
const FORMAT: &str = "partita-deep-1";
/// The prefix that the layouts of all versions share.
const FAMILY: &str = "partita-deep-";
/// Maximum number of images that are predicted at once.
const BATCH: usize = 256;

/// A network that gives probabilities of clusters.
#[derive(Debug, Clone)]
pub struct DeepModel {
    /// The network, for prediction.
    pub(super) net: Classifier,
    /// The options it was trained with.
    pub params: Params,
    /// Shape of its images.
    pub shape: ImageShape,
    /// The head whose clusters count.
    pub head: usize,
    /// The names of the first clusters, where known labels were words; others are called by their number.
    pub cluster_names: Vec<String>,
    pub(super) normalise: Normalise,
    pub(super) device: Device,
}

impl DeepModel {
    /// Probabilities of all images, row after row, shape `[n, K]`.
    pub fn probabilities(&self, pixels: &Pixels, observer: &dyn Observer) -> Result<Vec<f32>> {
        if pixels.shape() != self.shape {
            let [c, h, w] = self.shape;
            let problem =
                format!("the model takes images of {c} channels and {h}×{w} pixels; convert them first");
            return Err(DeepError::Option(problem));
        }
        self.over(pixels, "predicting", observer, |x| {
            softmax(self.net.heads[self.head].forward(self.net.backbone.forward(x)), 1)
        })
    }

    /// Features of all images before the heads, row after row, and the number of features per image.
    pub fn features(&self, pixels: &Pixels, observer: &dyn Observer) -> Result<(Vec<f32>, usize)> {
        let out = self.over(pixels, "features", observer, |x| self.net.backbone.forward(x))?;
        let m = out.len() / pixels.len().max(1);
        Ok((out, m))
    }

    /// Apply `of` to all images, batch by batch.
    fn over(
        &self,
        pixels: &Pixels,
        stage: &'static str,
        observer: &dyn Observer,
        of: impl Fn(Tensor<4>) -> Tensor<2>,
    ) -> Result<Vec<f32>> {
        let (n, mut out) = (pixels.len(), Vec::new());
        // A batch that was small enough for training is small enough here.
        let batch = BATCH.min(self.params.batch).max(1);
        for start in (0..n).step_by(batch) {
            let rows: Vec<usize> = (start..n.min(start + batch)).collect();
            let x = input(&self.normalise, &rows, pixels);
            let numbers = values(of(Tensor::from_data(x, &self.device)));
            if numbers.iter().any(|v| !v.is_finite()) {
                return Err(DeepError::Option(format!(
                    "the network gives no finite numbers for images {start} to {}; its training failed, or its weights are broken",
                    start + rows.len() - 1
                )));
            }
            out.extend(numbers);
            let done = (start + rows.len()) as f64 / n as f64;
            if observer.progress(Progress { stage, done, loss: None }) == Flow::Stop {
                return Err(partita::Error::Interrupted.into());
            }
        }
        Ok(out)
    }

    /// `fresh` with the weights of this network, where names and shapes agree.
    pub(super) fn continued(&self, fresh: Classifier) -> Classifier {
        let own = tensors(&self.net);
        walk::fill(fresh, &mut |name, shape| {
            let tensor = own.get(name).filter(|tensor| tensor.shape == shape)?;
            match &tensor.values {
                Values::F32(values) => Some(values.clone()),
                _ => None,
            }
        })
    }

    /// Write the model, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(self.complete(path)?.appear()?)
    }

    /// The same file before it has its name.
    pub fn complete(&self, path: &Path) -> Result<CompleteFile> {
        let about = (self.shape, self.head, (self.normalise.mean, self.normalise.deviation));
        let texts = [
            ("format", FORMAT.to_owned()),
            ("params", serde_json::to_string(&self.params).expect("options are plain data")),
            ("about", serde_json::to_string(&about).expect("numbers")),
        ];
        let names = Names { clusters: self.cluster_names.clone(), ..Names::default() };
        let names = names.entries().expect("names are text");
        let metadata = texts.into_iter().chain(names).map(|(key, text)| (key.to_owned(), text)).collect();
        let tensors = tensors(&self.net).into_iter().map(|(name, t)| (format!("model.{name}"), t)).collect();
        Ok(TensorFile { tensors, metadata }.complete(path)?)
    }

    /// A file of the weights before the heads, under PyTorch's names, before it has its own name.
    pub fn complete_backbone(&self, path: &Path) -> Result<CompleteFile> {
        complete(&self.net.backbone, self.params.net, self.normalise, path)
    }

    /// Whether a file is such a model, of any version, judging by its metadata.
    pub fn is_one(path: &Path) -> bool {
        let ours = |file: TensorFile| file.metadata.get("format").is_some_and(|f| f.starts_with(FAMILY));
        TensorFile::read(path).is_ok_and(ours)
    }

    /// Read a model. Options that an older version did not write yet get their defaults; options that only a newer
    /// version knows are refused by name.
    pub fn read(path: &Path, device: Device) -> Result<Self> {
        let file = TensorFile::read(path)?;
        let broken = || {
            DeepError::Option(format!(
                "{} is not a model of a network, or it is broken; fit it again",
                path.display()
            ))
        };
        let text = |key: &str| file.metadata.get(key).ok_or_else(broken);
        let format = text("format")?;
        if !format.starts_with(FAMILY) {
            return Err(broken());
        }
        // Models of the first version do not state their version.
        let version = file.metadata.get("version").map(String::as_str);
        let origin = Origin { path, kind: "network model", version };
        origin.check_format(format, FORMAT)?;
        let stored = origin.options(text("params")?)?;
        let params = stored.fill(&Params::new(stored.need("k")?, stored.need("net")?))?;
        let (shape, head, (mean, deviation)): (ImageShape, usize, _) =
            serde_json::from_str(text("about")?).map_err(|_| broken())?;
        // The number of heads with K clusters, all of which must be in the file.
        let heads = match params.aim {
            Aim::Contrast { .. } => 0,
            Aim::Iic { heads, .. } => heads,
            _ => 1,
        };
        let sane = params.k >= 2 && head < heads && heads <= file.tensors.len();
        if !sane || shape.iter().any(|&d| d == 0 || d > 1 << 14) {
            return Err(broken());
        }
        let cluster_names = Names::read(&file.metadata, params.k, &origin)?.clusters;
        let net = Classifier::new(params.net, shape, &params.head_sizes(shape), &device)?;
        let net = checkpoint::fill(net, &file).ok_or_else(broken)?.valid();
        let normalise = Normalise { mean, deviation };
        Ok(Self { net, params, shape, head, cluster_names, normalise, device })
    }
}

/// Images as the numbers that a network takes, made on all cores.
pub(super) fn input(normalise: &Normalise, rows: &[usize], pixels: &Pixels) -> TensorData {
    let [c, h, w] = pixels.shape();
    let numbers = rows.par_iter().flat_map_iter(|&row| {
        let mut numbers = Vec::with_capacity(c * h * w);
        normalise.append(&pixels.get(row), &mut numbers);
        numbers
    });
    TensorData::new(numbers.collect::<Vec<f32>>(), [rows.len(), c, h, w])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::tested;
    use crate::nets::Net;
    use crate::optimise::Pace;
    use partita::linear::{EM_ITERATIONS, Loss, Refresh, Solver};
    use partita::report::Silent;
    use serde_json::Value;
    use std::path::PathBuf;

    fn golden(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
    }

    /// Reads the model of version 0.1.0, see `tests/golden/model.py`.
    #[test]
    fn a_model_of_the_first_version_is_read_to_the_bit() {
        let json: Value = serde_json::from_slice(&std::fs::read(golden("model-1.json")).unwrap()).unwrap();
        let model = DeepModel::read(&golden("model-1.safetensors"), tested()).unwrap();
        let solver = Solver::Em { iterations: EM_ITERATIONS };
        let expected = Params {
            aim: Aim::Core { loss: Loss::MutualInformation, lambda: 2.0, solver, refresh: Refresh::Batch },
            disturb: 0.0,
            epochs: 20,
            batch: 12,
            heads: Pace { rate: 0.05, decay: 0.0 },
            seed: 5,
            ..Params::new(3, Net::Linear)
        };
        assert_eq!((&model.params, model.shape, model.head), (&expected, [1, 2, 2], 0));
        for (name, tensor) in tensors(&model.net) {
            let stored = &json["tensors"][format!("model.{name}")];
            assert_eq!(tensor.values, Values::F32(serde_json::from_value(stored.clone()).unwrap()), "{name}");
        }
        let images = serde_json::from_value(json["images"].clone()).unwrap();
        let proba = model.probabilities(&Pixels::new([1, 2, 2], images), &Silent).unwrap();
        let stored: Vec<f32> = serde_json::from_value(json["proba"].clone()).unwrap();
        let labels: Vec<usize> = serde_json::from_value(json["labels"].clone()).unwrap();
        assert_eq!((proba.len(), labels.len()), (stored.len(), 24));
        proba.iter().zip(&stored).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a} {b}"));
        for (p, label) in proba.chunks_exact(3).zip(labels) {
            assert!(p.iter().all(|v| *v <= p[label]));
        }
    }

    /// The result of reading that model after one of its texts was changed.
    fn changed(key: &str, text: impl Fn(&str) -> String) -> Result<DeepModel> {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("changed.safetensors");
        let mut file = TensorFile::read(golden("model-1.safetensors")).unwrap();
        let new = text(&file.metadata[key]);
        file.metadata.insert(key.to_owned(), new);
        file.write(&path).unwrap();
        assert!(DeepModel::is_one(&path));
        DeepModel::read(&path, tested())
    }

    #[test]
    fn options_that_are_missing_get_their_defaults() {
        let found = changed("params", |_| r#"{"k": 3, "net": "linear", "seed": 5}"#.to_owned()).unwrap();
        assert_eq!(found.params, Params { seed: 5, ..Params::new(3, Net::Linear) });
    }

    #[test]
    fn a_file_of_the_future_asks_for_an_update() {
        for (key, old, new, what) in [
            ("params", "\"k\":3", "\"k\":3,\"foo\":1", "knows `foo`;"),
            ("params", "\"linear\"", "\"transformer\"", "knows `net` = \"transformer\";"),
            ("params", "\"xi\":10.0", "\"xi\":10.0,\"steps\":2", "knows `vat` = {"),
            ("params", "\"mi\"", "\"novel\"", "knows `aim` = {"),
            ("format", "deep-1", "deep-2", "knows the format partita-deep-2;"),
        ] {
            let message = changed(key, |text| text.replace(old, new)).unwrap_err().to_string();
            assert!(message.contains("was written by a newer version of Partita"), "{message}");
            assert!(message.contains(what) && message.ends_with(": update Partita"), "{message}");
        }
    }
}
