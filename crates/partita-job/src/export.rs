//! Results as files: checked before the work begins, written whole or not at all.

use crate::block::Block;
use crate::dataset::Dataset;
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::model::AnyModel;
use crate::predict::{over_rows, predict_each};
use crate::record::Record;
use crate::resources::Resources;
use crate::sizes::SizeSpec;
use crate::spec::FitSpec;
use partita::report::Observer;
use partita_data::{
    AtomicFile, CompleteFile, DataError, NpyWriter, STANDARD_INPUT, appear_together, labels_csv, npy_i32,
};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where the results of a job go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outputs {
    /// The model (`.safetensors`).
    pub model: Option<PathBuf>,
    /// The cluster of each row, −1 for outliers: with its name, its confidence and, where outliers were asked for, its score (`.csv`), or alone
    /// (`.npy`).
    pub labels: Option<PathBuf>,
    /// The probabilities of each row (`.npy`).
    pub proba: Option<PathBuf>,
    /// The weights of a network before its head, under PyTorch's names (`.safetensors`).
    pub backbone: Option<PathBuf>,
    /// The specification (`.json`).
    pub spec: Option<PathBuf>,
}

impl Outputs {
    /// Refuse, before any work is done, outputs that could not be written at its end, that would take each other's place, or
    /// that would replace an input. Files that grow during the work count too.
    ///
    /// # Errors
    /// The first such file.
    pub fn check<P: AsRef<Path>>(&self, inputs: &[P], resources: &Resources) -> Result<()> {
        self.check_with(&[], &paths(inputs), resources)
    }

    /// The same for a fit that reads the `inputs` beside those of its specification. A new model may take the place of the one it is
    /// like; no other output may.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_for(&self, spec: &FitSpec, inputs: &[&Path], resources: &Resources) -> Result<()> {
        if self.backbone.is_some() && spec.network.is_none() {
            let problem = "only a network has weights before a head; give `net`, or do not ask for them";
            return Err(JobError::refused(Field::Net, problem));
        }
        let read = spec.inputs();
        let inputs: Vec<&Path> = read.iter().map(PathBuf::as_path).chain(inputs.iter().copied()).collect();
        self.check_with(&stages(spec, resources), &inputs, resources)?;
        let others = [&self.labels, &self.proba, &self.spec].into_iter().filter_map(Option::as_deref);
        apart(&others.collect::<Vec<_>>(), spec.like.as_deref().as_slice())
    }

    fn check_with(&self, more: &[PathBuf], inputs: &[&Path], resources: &Resources) -> Result<()> {
        let all = [
            &self.model,
            &self.labels,
            &self.proba,
            &self.backbone,
            &self.spec,
            &resources.checkpoint,
            &resources.metrics,
        ];
        let all = all.into_iter().filter_map(Option::as_deref).chain(more.iter().map(PathBuf::as_path));
        check_files(&all.collect::<Vec<_>>(), inputs)?;
        let (model, weights) = ("a model is written as .safetensors", "weights are written as .safetensors");
        for (path, extensions, rule) in [
            (&self.backbone, &["safetensors"][..], weights),
            (&resources.checkpoint, &["safetensors"], weights),
            (&resources.metrics, &["jsonl", "json"], "lines of JSON are written as .jsonl"),
            (&self.model, &["safetensors"], model),
            (&self.labels, &["csv", "npy"], "labels are written as .csv or .npy"),
            (&self.proba, &["npy"], "probabilities are written as .npy"),
            (&self.spec, &["json"], "a specification is written as .json"),
        ] {
            path.as_deref().map_or(Ok(()), |path| named(path, extensions, rule))?;
        }
        Ok(())
    }

    /// Write what was asked for: labels and probabilities in one pass, then the model and the specification. All files appear together, or
    /// none does.
    ///
    /// # Errors
    /// If a file cannot be written, or the observer stops the work.
    pub fn write(
        &self,
        spec: &FitSpec,
        record: &Record,
        dataset: &Dataset<'_>,
        resources: &Resources,
    ) -> Result<()> {
        let mut tables = Tables::create(self.labels.as_deref(), self.proba.as_deref(), record.k)?;
        match (&record.proba, &record.model) {
            _ if self.labels.is_none() && self.proba.is_none() => {}
            (Some(proba), _) => tables.push(record.block(proba))?,
            (None, AnyModel::Linear(file)) => resources.on_threads(|| {
                over_rows(&file.model, &dataset.rows()?, Some(&record.labels), |block| tables.push(block))
            })??,
            #[cfg(feature = "deep")]
            (None, AnyModel::Network(_)) => {}
        }
        let mut files = tables.complete(dataset, record.cluster_names.as_deref().unwrap_or_default())?;
        if let Some(path) = &self.model {
            files.push(record.model.complete(path)?);
        }
        #[cfg(feature = "deep")]
        if let (Some(path), AnyModel::Network(model)) = (&self.backbone, &record.model) {
            files.push(model.complete_backbone(path)?);
        }
        if let Some(path) = &self.spec {
            files.push(complete(path, spec.to_json().as_bytes())?);
        }
        Ok(appear_together(files)?)
    }
}

/// The checkpoints of the stages of a network's training, where it has several.
fn stages(spec: &FitSpec, resources: &Resources) -> Vec<PathBuf> {
    #[cfg(feature = "deep")]
    if let (Some(network), Some(path)) = (&spec.network, &resources.checkpoint)
        && (network.scan.is_some() || network.pretext.is_some())
    {
        return partita_deep::train::checkpoints(path).into();
    }
    let _ = (spec, resources);
    Vec::new()
}

/// Predict all rows once, and write their labels, their probabilities, or both; `seen` sees them on the way.
///
/// # Errors
/// As [`predict_each`], or if a file cannot be written.
pub fn write_predictions(
    model: &AnyModel,
    dataset: &Dataset<'_>,
    sizes: &SizeSpec,
    (labels, proba): (Option<&Path>, Option<&Path>),
    observer: &dyn Observer,
    mut seen: impl FnMut(Block<'_>),
) -> Result<()> {
    let mut tables = Tables::create(labels, proba, model.k())?;
    predict_each(model, dataset, sizes, observer, |block| {
        seen(block);
        tables.push(block)
    })?;
    Ok(appear_together(tables.complete(dataset, model.cluster_names())?)?)
}

/// Labels and probabilities on their way to files.
struct Tables<'a> {
    labels_out: Option<&'a Path>,
    proba: Option<NpyWriter>,
    labels: Vec<i32>,
    confidence: Vec<f32>,
    /// Only if the model knows outliers.
    outlier_scores: Option<Vec<f32>>,
}

impl<'a> Tables<'a> {
    fn create(labels_out: Option<&'a Path>, proba: Option<&Path>, k: usize) -> Result<Self> {
        let proba = proba.map(|path| NpyWriter::create(path, k)).transpose()?;
        Ok(Self { labels_out, proba, labels: Vec::new(), confidence: Vec::new(), outlier_scores: None })
    }

    fn push(&mut self, block: Block<'_>) -> Result<()> {
        if let Some(writer) = &mut self.proba {
            writer.push(block.proba)?;
        }
        if self.labels_out.is_some() {
            self.confidence.extend(block.confidence());
            self.labels.extend(block.assigned());
            if let Some(scores) = block.outlier_scores() {
                self.outlier_scores.get_or_insert_default().extend(scores);
            }
        }
        Ok(())
    }

    fn complete(self, dataset: &Dataset<'_>, names: &[String]) -> Result<Vec<CompleteFile>> {
        let labels = match self.labels_out {
            Some(path) if extension(path) == "npy" => Some(npy_i32(path, &self.labels)?),
            Some(path) => {
                let (confidence, scores) = (Some(&*self.confidence), self.outlier_scores.as_deref());
                let rows = (dataset.ids(), dataset.row_numbers());
                Some(labels_csv(path, rows, &self.labels, names, confidence, scores)?)
            }
            None => None,
        };
        let proba = self.proba.map(NpyWriter::complete).transpose()?;
        Ok(labels.into_iter().chain(proba).collect())
    }
}

/// Refuse files of any kind that could not be written, that are named twice, or that are read as well.
///
/// # Errors
/// The first such file.
pub fn check_files<P: AsRef<Path>>(given: &[&Path], inputs: &[P]) -> Result<()> {
    let inputs = paths(inputs);
    let stream = Path::new(STANDARD_INPUT);
    if inputs.iter().filter(|path| **path == stream).count() > 1 {
        let problem = "standard input (-) is named for two inputs; name a file for one of them";
        return Err(JobError::file(None, problem.to_owned()));
    }
    if given.contains(&stream) {
        let problem = "- names standard output, and this goes into a file only; name the file";
        return Err(JobError::file(None, problem.to_owned()));
    }
    given.iter().try_for_each(|path| writable(path))?;
    let places: Vec<PathBuf> = given.iter().map(|path| place(path)).collect();
    if let Some(at) = (0..places.len()).find(|&i| places[..i].contains(&places[i])) {
        let problem = format!("{} is named for two outputs; give each its own file", given[at].display());
        return Err(JobError::file(None, problem));
    }
    apart(given, &inputs)
}

fn paths<P: AsRef<Path>>(given: &[P]) -> Vec<&Path> {
    given.iter().map(AsRef::as_ref).collect()
}

/// Refuse outputs that would replace a file which is read.
///
/// # Errors
/// The first such file.
pub fn apart(given: &[&Path], inputs: &[&Path]) -> Result<()> {
    let read: Vec<PathBuf> = inputs.iter().map(|path| place(path)).collect();
    match given.iter().find(|path| read.contains(&place(path))) {
        Some(path) => {
            let path = path.display();
            let problem = format!("{path} is read by this command and would be lost; write to another file");
            Err(JobError::file(None, problem))
        }
        None => Ok(()),
    }
}

/// Where a file is or will be: different spellings of one path give the same place.
fn place(path: &Path) -> PathBuf {
    let beside = || {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Refuse a name without one of these extensions.
///
/// # Errors
/// If it has none of them.
pub fn named(path: &Path, extensions: &[&str], rule: &str) -> Result<()> {
    if extensions.contains(&&*extension(path)) {
        return Ok(());
    }
    Err(JobError::file(None, format!("{}: {rule}; name the file so", path.display())))
}

/// Begin a file there and drop it again, which leaves nothing behind.
///
/// # Errors
/// If it cannot be written.
pub fn writable(path: &Path) -> Result<()> {
    AtomicFile::create(path)?;
    Ok(())
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Write a whole file, or nothing.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(complete(path, bytes)?.appear()?)
}

/// A whole file that does not have its name yet; [`partita_data::appear_together`] gives it.
///
/// # Errors
/// If it cannot be written.
pub fn complete(path: &Path, bytes: &[u8]) -> Result<CompleteFile> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|source| DataError::Write { path: path.to_owned(), source })?;
    Ok(file.complete()?)
}
