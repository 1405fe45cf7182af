//! Networks on images. Every build knows them; only one with the feature `deep` can open images and train.

use crate::call::run_job;
use crate::failure::raised;
use crate::fit::{slice, with_advice};
use crate::linear::{from_json, labels_array, to_json};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray4};
use partita_job::{AnyModel, Dataset, FitSpec, Given, Outputs, Resources, SizeSpec, predict_each};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Images that Python holds, channel after channel, or the files and folders that they are in.
#[derive(FromPyObject)]
enum Images<'py> {
    Pixels(PyReadonlyArray4<'py, u8>),
    Paths(Vec<PathBuf>),
}

/// Images that other threads can work on.
#[cfg_attr(not(feature = "deep"), expect(dead_code, reason = "a build without networks opens no images"))]
enum Source {
    Pixels([usize; 3], Vec<u8>),
    Paths(Vec<PathBuf>),
}

impl Images<'_> {
    fn source(self) -> Source {
        match self {
            Self::Paths(paths) => Source::Paths(paths),
            Self::Pixels(array) => {
                let array = array.as_array();
                let (_, channels, height, width) = array.dim();
                Source::Pixels([channels, height, width], array.iter().copied().collect())
            }
        }
    }
}

impl Source {
    #[cfg(feature = "deep")]
    fn open(self, skip_bad: bool, resources: &Resources) -> partita_job::Result<Dataset<'static>> {
        match self {
            Self::Pixels(shape, bytes) => Dataset::of_images(shape, bytes),
            Self::Paths(paths) => Dataset::open_images(&paths, skip_bad, resources),
        }
    }

    #[cfg(not(feature = "deep"))]
    fn open(self, _skip_bad: bool, _resources: &Resources) -> partita_job::Result<Dataset<'static>> {
        let problem = "this build of partita has no networks; build it with them: \
                       pip install ./python --config-settings build-args=\"--features deep\"";
        Err(partita_job::JobError::Refused { field: None, problem: problem.to_owned() })
    }
}

/// Images with those that a specification names beside them.
#[cfg(feature = "deep")]
fn beside(
    images: Dataset<'static>,
    spec: &FitSpec,
    resources: &Resources,
) -> partita_job::Result<Dataset<'static>> {
    images.beside(spec, resources)
}

#[cfg(not(feature = "deep"))]
fn beside(images: Dataset<'static>, _: &FitSpec, _: &Resources) -> partita_job::Result<Dataset<'static>> {
    Ok(images)
}

/// A trained network.
#[pyclass(frozen, module = "partita._native")]
pub struct NetworkModel(AnyModel);

/// The model, the labels, the report as JSON, the names of the images, and what to know about how they were read.
type Fitted<'py> = (NetworkModel, Bound<'py, PyArray1<i32>>, String, Option<Vec<String>>, Vec<String>);

/// Train a network on images as a specification in JSON says, with the resources in JSON; `names` are those of the first clusters.
#[pyfunction]
#[pyo3(signature = (images, spec, resources, *, known=None, names=None, progress=None))]
fn fit_network<'py>(
    py: Python<'py>,
    images: Images<'py>,
    spec: &str,
    resources: &str,
    known: Option<PyReadonlyArray1<'py, i32>>,
    names: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let (spec, resources): (FitSpec, Resources) = (from_json(spec)?, from_json(resources)?);
    let given = Given { known: slice(known.as_ref())?, names: names.map(Into::into), ..Given::default() };
    let (source, skip_bad) = (images.source(), spec.network.as_ref().is_some_and(|network| network.skip_bad));
    let (record, names, notes) = run_job(py, progress.as_ref(), |watch| {
        let dataset = beside(source.open(skip_bad, &resources)?, &spec, &resources)?;
        Outputs::default().check_for(&spec, &[], &resources)?;
        let record = partita_job::run(&spec, &dataset, &given, &resources, watch)?;
        let notes = dataset.notes().iter().map(ToString::to_string).collect();
        Ok((record, dataset.ids().map(<[String]>::to_vec), notes))
    })?;
    let record = with_advice(record);
    let (labels, told) = (labels_array(py, &record.labels), to_json(&record)?);
    Ok((NetworkModel(record.model), labels, told, names, notes))
}

#[pymethods]
impl NetworkModel {
    /// Probabilities of all clusters for each image.
    fn predict_proba<'py>(
        &self,
        py: Python<'py>,
        images: Images<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let resources = Resources { threads: Some(threads), ..Resources::default() };
        let (source, mut proba) = (images.source(), Vec::new());
        let proba = run_job(py, None, |watch| {
            let dataset = source.open(false, &resources)?;
            resources.on_threads(|| {
                predict_each(&self.0, &dataset, &SizeSpec::default(), watch, |block| {
                    proba.extend_from_slice(block.proba);
                    Ok(())
                })
            })??;
            Ok(proba)
        })?;
        let array = Array2::from_shape_vec((proba.len() / self.0.k(), self.0.k()), proba);
        Ok(array.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py))
    }

    /// Write the file that the command `partita` reads too.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.0.write(path).map_err(raised)
    }

    /// Read such a file; also the number of clusters, and the names of the first ones.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<(Self, usize, Vec<String>)> {
        let model = AnyModel::read(&path).map_err(raised)?;
        if model.linear().is_some() {
            let message = "this is no network; read it with EntropyClustering.load";
            return Err(PyValueError::new_err(format!("{}: {message}", path.display())));
        }
        let (k, names) = (model.k(), model.cluster_names().to_vec());
        Ok((Self(model), k, names))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("HAS_NETWORKS", cfg!(feature = "deep"))?;
    module.add_function(wrap_pyfunction!(fit_network, module)?)
}
