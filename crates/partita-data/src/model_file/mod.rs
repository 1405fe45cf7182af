//! Models on disk: a safetensors file that holds the model and everything needed to fit it again.

mod encoder;
mod names;
mod outliers;

pub use encoder::StoredEncoder;
pub use names::Names;

use crate::error::{DataError, Result};
use crate::safetensors_io::{Tensor, TensorFile, Values};
use crate::versions::Origin;
use crate::write::CompleteFile;
use partita::linear::{Model, Params};
use partita::mixture::Covariance;
use partita::prepare::{FeatureView, GraphLift, Landmarks, Lift, Preparation, QuadraticLift, RbfLift};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the layout, raised when an older reader would misread it.
const FORMAT: &str = "partita-linear-1";
/// The same for models with a lift.
const LIFTED: &str = "partita-linear-2";
/// The same for models that know outliers.
const WITH_OUTLIERS: &str = "partita-linear-3";
/// The same for models whose rows are encoded from raw items.
const ENCODED: &str = "partita-linear-4";

/// Gives the tensor of a name, which must have this shape.
type Take<'a> = dyn FnMut(&str, &[usize]) -> Result<Vec<f32>> + 'a;

/// Tensors by name.
pub type Tensors = BTreeMap<String, Tensor>;

/// A model with the options it was fitted with.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// Options of the fit, seed and preparation included.
    pub params: Params,
    /// The names of its columns and clusters.
    pub names: Names,
    /// The median of each feature, if missing values are filled with them.
    pub medians: Option<Vec<f32>>,
    /// How the rows of each of its parts are made from raw items; none for a part of features. Empty for a model of features alone.
    pub encoders: Vec<Option<StoredEncoder>>,
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

impl ViewRecord {
    fn of(view: &FeatureView) -> Self {
        Self { width: view.width, centred: !view.centre.is_empty(), normalise: view.normalise }
    }
}

/// The parts of a lift that are not tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
enum LiftRecord {
    Graph { landmarks: usize, neighbours: usize, slowness: f64, views: Vec<ViewRecord> },
    Quadratic { covariance: Covariance, views: Vec<ViewRecord> },
    Rbf { landmarks: usize, squared_width: f32, slowness: f64, views: Vec<ViewRecord> },
}

impl LiftRecord {
    fn views(&self) -> &[ViewRecord] {
        match self {
            Self::Graph { views, .. } | Self::Quadratic { views, .. } | Self::Rbf { views, .. } => views,
        }
    }
}

impl ModelFile {
    /// A model and its options, stamped with this version of Partita.
    pub fn new(model: Model, params: Params) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { model, params, names: Names::default(), medians: None, encoders: Vec::new(), version }
    }

    /// Write to `path`, whole or not at all. The same model gives the same bytes.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.complete(path)?.appear()
    }

    /// The same file before it has its name.
    pub fn complete(&self, path: impl AsRef<Path>) -> Result<CompleteFile> {
        let model = &self.model;
        let (k, m) = (model.k(), model.width());
        let mut file = TensorFile::default();
        let mut tensor = |name: &str, shape: Vec<usize>, values: &[f32]| {
            let values = Values::F32(values.to_vec());
            file.tensors.insert(name.to_owned(), Tensor { shape, values });
        };
        tensor("weight", vec![k, m], model.weight());
        tensor("bias", vec![k], model.bias());
        tensor("average", vec![m], model.average());
        tensor("prior", vec![k], model.prior());
        for (i, view) in centred(model.views()) {
            tensor(&format!("centre.{i}"), vec![view.width], &view.centre);
        }
        if let Some(medians) = &self.medians {
            tensor("medians", vec![medians.len()], medians);
        }
        let lift = model.lift().map(|lift| write_lift(lift, &mut tensor));
        let outliers = model.outliers().map(|found| outliers::write(found, &mut tensor));
        let records: Vec<ViewRecord> = model.views().iter().map(ViewRecord::of).collect();
        let mut text = |key: &str, value: String| file.metadata.insert(key.to_owned(), value);
        let encoded = self.encoders.iter().any(Option::is_some);
        let format = match (&lift, &outliers) {
            _ if encoded => ENCODED,
            (_, Some(_)) => WITH_OUTLIERS,
            (Some(_), None) => LIFTED,
            (None, None) => FORMAT,
        };
        text("format", format.to_owned());
        if let Some(lift) = &lift {
            text("lift", json(path.as_ref(), lift)?);
        }
        if let Some(outliers) = &outliers {
            text("outliers", json(path.as_ref(), outliers)?);
        }
        text("version", self.version.clone());
        text("views", json(path.as_ref(), &records)?);
        text("params", json(path.as_ref(), &self.params)?);
        for (key, value) in self.names.entries().map_err(|e| unwritable(path.as_ref(), &e))? {
            text(key, value);
        }
        encoder::write(&self.encoders, &mut file).map_err(|e| unwritable(path.as_ref(), &e))?;
        file.complete(path)
    }

    /// Read from `path`, checking that all parts fit together. Options that an older version did not write yet get
    /// their defaults; what only a newer version knows is refused by name.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let TensorFile { mut tensors, metadata } = TensorFile::read(path).map_err(not_a_model)?;
        let version = metadata.get("version").map(String::as_str);
        let origin = Origin { path, kind: "Partita model", version };
        check_format(metadata.get("format").map(String::as_str), &origin)?;
        let text = |key: &str| {
            let found = metadata.get(key);
            found.ok_or_else(|| origin.corrupt(format!("its `{key}` entry is missing")))
        };
        let version = text("version")?.clone();
        let views = views(text("views")?, &origin)?;
        let stored = origin.options(text("params")?)?;
        let params = stored.fill(&Params::new(stored.need("k")?))?;
        let parts = Parts {
            views,
            lift: metadata.get("lift").map(|text| lift_record(text, &origin)).transpose()?,
            outliers: metadata.get("outliers").map(|text| outliers::record(text, &origin)).transpose()?,
        };
        let medians = tensors.remove("medians");
        let encoders = encoder::read(&metadata, &mut tensors, &origin)?;
        let model = model(tensors, parts, params.k, &origin)?;
        let medians = medians.map(|found| read_medians(found, model.m(), &origin)).transpose()?;
        let names = Names::read(&metadata, params.k, &origin)?;
        Ok(Self { model, params, names, medians, encoders, version })
    }
}

/// The error of a file that was taken for a model. By another name than that of a model, it is no broken model but something else,
/// such as the data.
fn not_a_model(error: DataError) -> DataError {
    match error {
        DataError::Corrupt { path, .. } if path.extension().is_none_or(|e| e != "safetensors") => {
            let what = "no model of Partita";
            let advice = "give a .safetensors file that a fit has written; in a command, the model comes before the data";
            DataError::OtherModel { path, what, advice }
        }
        error => error,
    }
}

/// The tensors of a lift; returns the rest of it.
fn write_lift(lift: &Lift, tensor: &mut impl FnMut(&str, Vec<usize>, &[f32])) -> LiftRecord {
    let (base, d) = (lift.base(), lift.d());
    tensor("lift.mean", vec![base.m()], &base.mean);
    tensor("lift.scale", vec![base.m()], &base.scale);
    for (i, view) in centred(&base.views) {
        tensor(&format!("lift.centre.{i}"), vec![view.width], &view.centre);
    }
    let views = base.views.iter().map(ViewRecord::of).collect();
    let mut landmarks = |landmarks: &Landmarks| {
        tensor("lift.landmarks", vec![base.m(), landmarks.n()], landmarks.columns());
        landmarks.n()
    };
    match lift {
        Lift::Graph(graph) => {
            let n = landmarks(&graph.landmarks);
            tensor("lift.scales", vec![n], &graph.scales);
            tensor("lift.modes", vec![n, d], &graph.modes);
            let (neighbours, slowness) = (graph.neighbours, graph.slowness);
            LiftRecord::Graph { landmarks: n, neighbours, slowness, views }
        }
        Lift::Quadratic(quadratic) => {
            let mixture = quadratic.mixture();
            let single = |values: &[f64]| -> Vec<f32> { values.iter().map(|&v| v as f32).collect() };
            tensor("lift.shares", vec![d], &single(&mixture.weights));
            tensor("lift.means", vec![d, base.d()], &single(&mixture.means));
            let shape = vec![d, mixture.shape.size(base.d())];
            tensor("lift.covariances", shape, &single(&mixture.covariances.concat()));
            LiftRecord::Quadratic { covariance: mixture.shape, views }
        }
        Lift::Rbf(rbf) => {
            let n = landmarks(&rbf.landmarks);
            tensor("lift.whiten", vec![n, d], &rbf.whiten);
            let (squared_width, slowness) = (rbf.squared_width, rbf.slowness);
            LiftRecord::Rbf { landmarks: n, squared_width, slowness, views }
        }
    }
}

/// Refuse all but linear models of this layout.
fn check_format(found: Option<&str>, origin: &Origin<'_>) -> Result<()> {
    let other = |what, advice| DataError::OtherModel { path: origin.path.to_owned(), what, advice };
    match found {
        Some(format) if format.starts_with("partita-deep-") => {
            let advice = "only `partita predict` takes it, with images, if built with the feature `deep`";
            Err(other("the model of a network", advice))
        }
        Some(format) if format.starts_with("partita-checkpoint-") => {
            let advice = "end the run with `partita fit --resume`, and use its model";
            Err(other("the checkpoint of a run", advice))
        }
        Some(FORMAT | LIFTED | WITH_OUTLIERS) => Ok(()),
        Some(format) => origin.check_format(format, ENCODED),
        None => Err(origin.corrupt("it has no `format` entry; was it written by `partita fit`?".to_owned())),
    }
}

/// Views that have a centre, by number.
fn centred(views: &[FeatureView]) -> impl Iterator<Item = (usize, &FeatureView)> {
    views.iter().enumerate().filter(|(_, view)| !view.centre.is_empty())
}

/// The parts of a lift that are not tensors.
fn lift_record(text: &str, origin: &Origin<'_>) -> Result<LiftRecord> {
    serde_json::from_str(text).map_err(|e| origin.unknown(format!("a lift with other parts ({e})")))
}

/// The views; one with a part that this version does not know would give other predictions.
fn views(text: &str, origin: &Origin<'_>) -> Result<Vec<ViewRecord>> {
    let views: Vec<Value> = serde_json::from_str(text).map_err(|e| origin.corrupt(format!("views: {e}")))?;
    let known = ["width", "centred", "normalise"];
    let mut parts = views.iter().filter_map(Value::as_object).flat_map(Map::keys);
    if let Some(part) = parts.find(|part| !known.contains(&part.as_str())) {
        return Err(origin.unknown(format!("views with `{part}`")));
    }
    let view = |view| serde_json::from_value(view).map_err(|e| origin.corrupt(format!("views: {e}")));
    views.into_iter().map(view).collect()
}

/// The views of these records, whose centres `take` gives.
fn read_views(records: Vec<ViewRecord>, prefix: &str, take: &mut Take<'_>) -> Result<Vec<FeatureView>> {
    let mut views = Vec::with_capacity(records.len());
    for (i, ViewRecord { width, centred, normalise }) in records.into_iter().enumerate() {
        let centre = if centred { take(&format!("{prefix}{i}"), &[width])? } else { Vec::new() };
        views.push(FeatureView { width, centre, normalise });
    }
    Ok(views)
}

/// The parts of a model that are not tensors.
struct Parts {
    views: Vec<ViewRecord>,
    lift: Option<LiftRecord>,
    outliers: Option<outliers::OutlierRecord>,
}

/// The model of `k` clusters from its tensors.
fn model(mut tensors: Tensors, parts: Parts, k: usize, origin: &Origin<'_>) -> Result<Model> {
    let Parts { views: records, lift, outliers } = parts;
    let mut take =
        |name: &str, shape: &[usize]| match tensors.remove(name) {
            Some(Tensor { shape: found, values: Values::F32(values) }) if found == shape => Ok(values),
            Some(t) => Err(origin
                .corrupt(format!("tensor `{name}` has shape {:?}; {shape:?} of f32 is needed", t.shape))),
            None => Err(origin.corrupt(format!("tensor `{name}` is missing"))),
        };
    let m = width(&records);
    let weight = take("weight", &[k, m])?;
    let bias = take("bias", &[k])?;
    let average = take("average", &[m])?;
    let prior = take("prior", &[k])?;
    let views = read_views(records, "centre.", &mut take)?;
    if k < 2 || m == 0 {
        return Err(origin.corrupt(format!("a model cannot have {k} clusters and {m} features")));
    }
    let plain = Model::new(views, weight, bias, average, prior).map_err(|e| origin.corrupt(e.to_string()))?;
    let model = match lift {
        Some(record) => {
            let lift = read_lift(record, m, &mut take).map_err(|e| match e {
                ReadLift::File(e) => e,
                ReadLift::Parts(e) => origin.corrupt(e.to_string()),
            })?;
            plain.lifted(lift).map_err(|e| origin.corrupt(e.to_string()))?
        }
        None => plain,
    };
    let Some(record) = outliers else { return Ok(model) };
    let found = outliers::read(record, k, &mut take, origin)?;
    model.with_outliers(found).map_err(|e| origin.corrupt(e.to_string()))
}

/// Why a lift cannot be read: a tensor, or what they amount to.
enum ReadLift {
    File(DataError),
    Parts(partita::Error),
}

impl From<DataError> for ReadLift {
    fn from(error: DataError) -> Self {
        Self::File(error)
    }
}

/// A lift to `d` features, from its record and its tensors.
fn read_lift(record: LiftRecord, d: usize, take: &mut Take<'_>) -> std::result::Result<Lift, ReadLift> {
    let raw = width(record.views());
    let (mean, scale) = (take("lift.mean", &[raw])?, take("lift.scale", &[raw])?);
    let base = |views, take: &mut Take<'_>| -> Result<Preparation> {
        Ok(Preparation { views: read_views(views, "lift.centre.", take)?, mean, scale, reduction: None })
    };
    Ok(match record {
        LiftRecord::Graph { landmarks, neighbours, slowness, views } => Lift::Graph(GraphLift {
            landmarks: Landmarks::from_columns(take("lift.landmarks", &[raw, landmarks])?, raw),
            scales: take("lift.scales", &[landmarks])?,
            modes: take("lift.modes", &[landmarks, d])?,
            base: base(views, take)?,
            neighbours,
            slowness,
        }),
        LiftRecord::Quadratic { covariance, views } => {
            let (shares, means) = (take("lift.shares", &[d])?, take("lift.means", &[d, raw])?);
            let size = covariance.size(raw);
            let covariances = take("lift.covariances", &[d, size])?;
            let covariances: Vec<Vec<f32>> = covariances.chunks(size.max(1)).map(<[f32]>::to_vec).collect();
            let base = base(views, take)?;
            let lift = QuadraticLift::from_parts(base, covariance, &shares, &means, &covariances);
            Lift::Quadratic(lift.map_err(ReadLift::Parts)?)
        }
        LiftRecord::Rbf { landmarks, squared_width, slowness, views } => Lift::Rbf(RbfLift {
            landmarks: Landmarks::from_columns(take("lift.landmarks", &[raw, landmarks])?, raw),
            whiten: take("lift.whiten", &[landmarks, d])?,
            base: base(views, take)?,
            squared_width,
            slowness,
        }),
    })
}

/// Features of all views together.
fn width(records: &[ViewRecord]) -> usize {
    records.iter().try_fold(0usize, |m, v| m.checked_add(v.width)).unwrap_or(usize::MAX)
}

/// The medians of `m` features.
fn read_medians(found: Tensor, m: usize, origin: &Origin<'_>) -> Result<Vec<f32>> {
    match found.values {
        Values::F32(values) if values.len() == m && values.iter().all(|v| v.is_finite()) => Ok(values),
        _ => Err(origin.corrupt(format!("its medians are not {m} numbers"))),
    }
}

fn json(path: &Path, value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| unwritable(path, &e))
}

fn unwritable(path: &Path, error: &serde_json::Error) -> DataError {
    DataError::corrupt(path, "Partita model", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Columns;
    use partita::linear::{Input, LiftKind, Loss, Prepare, Prior, fit};
    use partita::outliers::OutlierRule;
    use partita::report::Silent;
    use partita::rows::Rows;
    use std::path::PathBuf;

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

    /// The model of a lift, written to `path`.
    fn lifted(lift: LiftKind, path: &Path) {
        let (values, _) = crate::digits();
        let digits = crate::Features::from_vec(values[..300 * 64].to_vec(), 64).unwrap();
        let params = Params { restarts: 1, epochs: Some(1), lift, ..Params::new(3) };
        let input = Input { widths: vec![30, 34], ..Input::new(&digits) };
        let found = fit(&input, &params, &Silent).unwrap();
        let file = ModelFile::new(found.model, params);
        file.write(path).unwrap();
        let back = ModelFile::read(path).unwrap();
        assert!(back == file && back.model.lift().is_some());
        assert_eq!((back.model.m(), back.model.widths()), (64, vec![30, 34]));
        assert_eq!(back.model.predict(&digits).unwrap(), found.labels);
    }

    #[test]
    fn other_lifts_come_back_and_broken_ones_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.safetensors");
        for (lift, tensor, what) in [
            (LiftKind::Quadratic, "lift.covariances", "positive definite"),
            (LiftKind::Rbf, "lift.whiten", "the lift of the model"),
        ] {
            lifted(lift, &path);
            let mut broken = TensorFile::read(&path).unwrap();
            let Some(Tensor { values: Values::F32(values), .. }) = broken.tensors.get_mut(tensor) else {
                panic!("{tensor}")
            };
            values.fill(f32::NAN);
            broken.write(&path).unwrap();
            let message = ModelFile::read(&path).unwrap_err().to_string();
            assert!(message.contains(what) && message.contains("model.safetensors"), "{message}");
        }
    }

    #[test]
    fn a_lift_comes_back_as_it_was_and_a_broken_one_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.safetensors");
        lifted(LiftKind::Graph, &path);
        type Change = fn(&mut TensorFile);
        let changes: [(&str, Change); 4] = [
            ("`lift.modes` is missing", |file| drop(file.tensors.remove("lift.modes"))),
            ("the lift of the model", |file| {
                let Some(Tensor { values: Values::F32(scales), .. }) = file.tensors.get_mut("lift.scales")
                else {
                    panic!("scales")
                };
                scales[0] = f32::NAN;
            }),
            ("neighbours", |file| {
                let lift = file.metadata["lift"].replace("neighbours", "friends");
                file.metadata.insert("lift".to_owned(), lift);
            }),
            ("shape", |file| {
                let lift = file.metadata["lift"].replace("\"landmarks\":300", "\"landmarks\":299");
                file.metadata.insert("lift".to_owned(), lift);
            }),
        ];
        for (what, change) in changes {
            let mut broken = TensorFile::read(&path).unwrap();
            change(&mut broken);
            let other = directory.path().join("broken.safetensors");
            broken.write(&other).unwrap();
            let message = ModelFile::read(&other).unwrap_err().to_string();
            assert!(message.contains(what) && message.contains("broken.safetensors"), "{message}");
        }
    }

    /// A model that knows outliers, written to `path`.
    fn with_outliers(lift: LiftKind, path: &Path) {
        let (values, _) = crate::digits();
        // More features than distances are measured in.
        let digits = crate::Features::from_vec(values[..100 * 192].to_vec(), 192).unwrap();
        let outliers = Some(OutlierRule::Share(0.1));
        let params = Params { restarts: 1, epochs: Some(1), lift, outliers, ..Params::new(3) };
        let input = Input { widths: vec![90, 102], ..Input::new(&digits) };
        let found = fit(&input, &params, &Silent).unwrap();
        let assigned = found.assigned();
        assert_eq!(assigned.iter().filter(|label| **label < 0).count(), 10);
        let file = ModelFile::new(found.model, params);
        file.write(path).unwrap();
        let back = ModelFile::read(path).unwrap();
        assert!(back == file && back.model.outliers().is_some());
        assert_eq!(back.model.assign(&digits).unwrap(), assigned);
    }

    #[test]
    fn outliers_come_back_as_they_were_and_broken_ones_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.safetensors");
        with_outliers(LiftKind::Graph, &path);
        with_outliers(LiftKind::None, &path);
        let format = TensorFile::read(&path).unwrap().metadata["format"].clone();
        assert_eq!(format, WITH_OUTLIERS);
        let set = |tensor: &'static str, value: f32| {
            move |file: &mut TensorFile| match file.tensors.get_mut(tensor) {
                Some(Tensor { values: Values::F32(values), .. }) => values[0] = value,
                _ => panic!("{tensor}"),
            }
        };
        let text = |old: &'static str, new: &'static str| {
            move |file: &mut TensorFile| {
                let changed = file.metadata["outliers"].replacen(old, new, 1);
                assert_ne!(changed, file.metadata["outliers"]);
                file.metadata.insert("outliers".to_owned(), changed);
            }
        };
        type Change = Box<dyn Fn(&mut TensorFile)>;
        let changes: [(&str, Change); 8] = [
            ("`outliers.typical` is missing", Box::new(|file| drop(file.tensors.remove("outliers.typical")))),
            ("the outliers of the model", Box::new(set("outliers.typical", -1.0))),
            ("the outliers of the model", Box::new(set("outliers.landmarks", f32::NAN))),
            ("the outliers of the model", Box::new(set("outliers.reduction", f32::INFINITY))),
            ("the outliers of the model", Box::new(text("\"threshold\":0.", "\"threshold\":7."))),
            ("`outliers.landmarks` has shape", Box::new(text("\"landmarks\":100", "\"landmarks\":99"))),
            ("`outliers.reduction` has shape", Box::new(text("\"dims\":128", "\"dims\":0"))),
            ("outliers with other parts", Box::new(text("landmarks", "friends"))),
        ];
        for (what, change) in changes {
            let mut broken = TensorFile::read(&path).unwrap();
            change(&mut broken);
            let other = directory.path().join("broken.safetensors");
            broken.write(&other).unwrap();
            let message = ModelFile::read(&other).unwrap_err().to_string();
            assert!(message.contains(what) && message.contains("broken.safetensors"), "{what}: {message}");
        }
    }

    #[test]
    fn a_model_without_outliers_is_written_as_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.safetensors");
        ModelFile::read(golden("model-1.safetensors")).unwrap().write(&path).unwrap();
        let TensorFile { tensors, metadata } = TensorFile::read(&path).unwrap();
        assert_eq!(metadata["format"], FORMAT);
        assert!(!metadata["params"].contains("outliers") && !metadata.contains_key("outliers"));
        assert!(tensors.keys().all(|name| !name.contains("outliers")));
    }

    #[test]
    fn names_and_medians_come_back_and_those_of_another_model_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.safetensors");
        let plain = ModelFile::read(golden("model-1.safetensors")).unwrap();
        let columns = vec![Some(Columns::named(["a", "b"])), None];
        let names = Names { columns, clusters: vec!["cat".to_owned(), "dog".to_owned()] };
        let named = ModelFile { names, medians: Some(vec![1.0, 2.0, 3.0, 4.0]), ..plain.clone() };
        named.write(&path).unwrap();
        assert_eq!(ModelFile::read(&path).unwrap(), named);
        assert_eq!([0, 2].map(|k| named.names.cluster(k)), ["cat", "2"]);
        for (medians, clusters) in [(vec![1.0], 1), (vec![f32::NAN; 4], 1), (vec![0.0; 4], 9)] {
            let names = Names { clusters: vec!["x".to_owned(); clusters], ..Names::default() };
            ModelFile { names, medians: Some(medians), ..plain.clone() }.write(&path).unwrap();
            assert!(matches!(ModelFile::read(&path), Err(DataError::Corrupt { .. })));
        }
    }

    #[test]
    fn encoders_come_back_part_by_part_and_what_is_unknown_of_them_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.safetensors");
        let plain = ModelFile::read(golden("model-1.safetensors")).unwrap();
        let tensor = Tensor { shape: vec![2, 1], values: Values::F32(vec![0.5, 1.5]) };
        let about = serde_json::json!({ "words": ["a", "b"] });
        let encoder = StoredEncoder {
            kind: "tfidf".to_owned(),
            about,
            tensors: Tensors::from([("idf".to_owned(), tensor)]),
        };
        let encoded = ModelFile { encoders: vec![None, Some(encoder)], ..plain };
        encoded.write(&path).unwrap();
        assert_eq!(ModelFile::read(&path).unwrap(), encoded);
        let mut file = TensorFile::read(&path).unwrap();
        assert_eq!(file.metadata["format"], ENCODED);
        let other = file.metadata["encoders"].replace("about", "hidden");
        file.metadata.insert("encoders".to_owned(), other);
        file.write(&path).unwrap();
        let message = ModelFile::read(&path).unwrap_err().to_string();
        assert!(message.contains("encoders with other parts"), "{message}");
    }

    #[test]
    fn a_file_that_is_no_model_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("other.safetensors");
        TensorFile::default().write(&path).unwrap();
        let message = ModelFile::read(&path).unwrap_err().to_string();
        assert!(message.contains("format") && message.contains("other.safetensors"), "{message}");
    }

    fn golden(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
    }

    /// The model of version 0.1.0, see `tests/golden/make_model.py`.
    #[test]
    fn a_model_of_the_first_version_is_read_to_the_bit() {
        let json: Value = serde_json::from_slice(&std::fs::read(golden("model-1.json")).unwrap()).unwrap();
        let numbers = |part: &Value| -> Vec<f32> { serde_json::from_value(part.clone()).unwrap() };
        let ModelFile { model, params, names, medians, encoders, version } =
            ModelFile::read(golden("model-1.safetensors")).unwrap();
        let tensors = &json["tensors"];
        assert_eq!(model.weight(), numbers(&tensors["weight"]));
        assert_eq!(model.bias(), numbers(&tensors["bias"]));
        assert_eq!(model.average(), numbers(&tensors["average"]));
        assert_eq!(model.prior(), numbers(&tensors["prior"]));
        assert_eq!(model.views().len(), 2);
        for (i, view) in model.views().iter().enumerate() {
            assert_eq!((view.width, view.normalise), (2, true));
            assert_eq!(view.centre, numbers(&tensors[format!("centre.{i}")]));
        }
        assert_eq!(version, "0.1.0");
        assert_eq!((names, medians, encoders), (Names::default(), None, Vec::new()));
        let expected = Params {
            loss: Loss::Renyi(2.0),
            lambda: Some(0.7),
            prior: Prior::Given(vec![0.4, 0.3, 0.3]),
            prepare: Prepare::Sphere,
            restarts: 2,
            seed: 5,
            ..Params::new(3)
        };
        assert_eq!(params, expected);
        let rows = crate::Features::from_vec(numbers(&json["rows"]), 4).unwrap();
        let labels: Vec<u32> = serde_json::from_value(json["labels"].clone()).unwrap();
        assert_eq!(model.predict(&rows).unwrap(), labels);
    }

    /// The error for that model after a change of its texts.
    fn changed(key: &str, text: impl Fn(&str) -> String) -> Result<ModelFile> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("changed.safetensors");
        let mut file = TensorFile::read(golden("model-1.safetensors")).unwrap();
        let new = text(&file.metadata[key]);
        file.metadata.insert("version".to_owned(), "9.8.7".to_owned());
        file.metadata.insert(key.to_owned(), new);
        file.write(&path).unwrap();
        ModelFile::read(&path)
    }

    #[test]
    fn options_that_are_missing_get_their_defaults() {
        let known = ModelFile::read(golden("model-1.safetensors")).unwrap();
        let found = changed("params", |_| r#"{"k": 3, "seed": 5}"#.to_owned()).unwrap();
        assert_eq!(found.model, known.model);
        assert_eq!(found.params, Params { seed: 5, ..Params::new(3) });
    }

    #[test]
    fn a_file_of_the_future_asks_for_an_update() {
        let changes = [
            ("params", "\"k\":3", "\"k\":3,\"foo\":1", "knows `foo`;"),
            ("params", "renyi:2", "novel", "knows `loss` = \"novel\";"),
            ("params", "\"sphere\"", "{\"whiten\":0.5}", "knows `prepare` = {\"whiten\":0.5};"),
            ("views", "\"width\":2", "\"width\":2,\"power\":0.5", "knows views with `power`;"),
            ("format", "linear-1", "linear-5", "knows the format partita-linear-5;"),
        ];
        for (key, old, new, what) in changes {
            let message = changed(key, |text| text.replace(old, new)).unwrap_err().to_string();
            assert!(message.contains("changed.safetensors was written by Partita 9.8.7"), "{message}");
            assert!(message.contains(what) && message.ends_with(": update Partita"), "{message}");
        }
    }
}
