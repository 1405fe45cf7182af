//! Methods other than the linear engine that see prepared rows, behind one model.

use crate::call::{Watch, Watched, ask, run};
use crate::input::Matrix;
use crate::linear::{from_json, labels_array, options, to_json};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use partita::linear::{Dims, Input, Prepare};
use partita::report::StopReason;
use partita::rivals::soft_kmeans::{SoftCentres, SoftKMeans};
use partita::rivals::temi::{Temi, TemiHead};
use partita::rivals::turtle::{Turtle, TurtleHead};
use partita::rivals::{Fit, Frame, Method, Model, fit};
use partita_job::SharedRows;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum AnyModel {
    SoftKMeans(Model<SoftCentres>),
    Turtle(Model<TurtleHead>),
    Temi(Model<TemiHead>),
}

macro_rules! with_model {
    ($any:expr, $model:ident => $body:expr) => {
        match $any {
            AnyModel::SoftKMeans($model) => $body,
            AnyModel::Turtle($model) => $body,
            AnyModel::Temi($model) => $body,
        }
    };
}

/// A trained rival.
#[pyclass(frozen, module = "partita._native")]
pub struct RivalModel(AnyModel);

/// How a fit went.
#[derive(Serialize)]
struct Report {
    loss: f64,
    losses: Vec<f64>,
    iterations: usize,
    stop: StopReason,
    decisiveness: f64,
    seconds: f64,
}

/// What is common to all fits.
struct Job<'a> {
    rows: SharedRows<'a>,
    watch: &'a Watch,
    frame: Frame,
}

impl Job<'_> {
    fn run<M: Method>(&self, method: &M, wrap: fn(Model<M::Head>) -> AnyModel) -> partita::Result<Found> {
        let rows = Watched { rows: self.rows.clone(), watch: self.watch };
        let Fit { model, labels, loss, losses, iterations, stop, decisiveness, seconds } =
            fit(&Input::new(&rows), method, self.frame, self.watch)?;
        stop.not_interrupted()?;
        Ok((wrap(model), labels, Report { loss, losses, iterations, stop, decisiveness, seconds }))
    }
}

type Found = (AnyModel, Vec<u32>, Report);
type Train = Box<dyn Fn(&Job<'_>) -> partita::Result<Found> + Send + Sync>;

fn trainer<M: Method + Serialize + DeserializeOwned + Send + Sync + 'static>(
    defaults: &M,
    given: &str,
    wrap: fn(Model<M::Head>) -> AnyModel,
) -> PyResult<Train> {
    let method = options(defaults, given)?;
    Ok(Box::new(move |job| job.run(&method, wrap)))
}

fn named(name: &str, given: &str) -> PyResult<Train> {
    match name {
        "soft-kmeans" => trainer(&SoftKMeans::new(1), given, AnyModel::SoftKMeans),
        "turtle" => trainer(&Turtle::new(2), given, AnyModel::Turtle),
        "temi" => trainer(&Temi::new(2), given, AnyModel::Temi),
        _ => Err(PyValueError::new_err(format!("there is no method {name}"))),
    }
}

/// Options that all rivals share.
#[derive(Deserialize)]
struct Shared {
    prepare: Prepare,
    dims: Dims,
    seed: u64,
}

/// Cluster `x` by the method of this name: the model, the labels, and the report as JSON.
#[pyfunction]
#[pyo3(signature = (x, name, options, shared, *, threads, progress=None))]
fn fit_rival<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    name: &str,
    options: &str,
    shared: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(RivalModel, Bound<'py, PyArray1<i32>>, String)> {
    let train = named(name, options)?;
    let shared: Shared = from_json(shared)?;
    let frame = Frame { prepare: shared.prepare, dims: shared.dims, seed: shared.seed };
    let rows = x.rows()?;
    let (model, labels, report) =
        run(py, threads, progress.as_ref(), |watch| train(&Job { rows, watch, frame }))?;
    Ok((RivalModel(model), labels_array(py, &labels), to_json(&report)?))
}

#[pymethods]
impl RivalModel {
    /// Assignments of raw rows; one-hot if the method is hard.
    fn predict_proba<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let proba = ask(py, &x, threads, |rows| with_model!(&self.0, model => model.predict_proba(rows)))?;
        Ok(proba.into_pyarray(py))
    }

    /// The numbers of the model by name.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = PyDict::new(py);
        let d = with_model!(&self.0, model => model.preparation.d());
        match &self.0 {
            AnyModel::SoftKMeans(model) => parts.set_item("centres", table(py, &model.head.centres, d)?)?,
            AnyModel::Turtle(model) => {
                parts.set_item("weight", table(py, &model.head.weight, d)?)?;
                parts.set_item("bias", PyArray1::from_slice(py, &model.head.bias))?;
            }
            AnyModel::Temi(_) => {}
        }
        let preparation = with_model!(&self.0, model => &model.preparation);
        let [view] = &preparation.views[..] else { return Ok(parts) };
        parts.set_item("view_centre", PyArray1::from_slice(py, &view.centre))?;
        parts.set_item("normalise", view.normalise)?;
        parts.set_item("mean", PyArray1::from_slice(py, &preparation.mean))?;
        parts.set_item("scale", PyArray1::from_slice(py, &preparation.scale))?;
        parts.set_item("reduced", preparation.reduction.is_some())?;
        Ok(parts)
    }

    /// What [`Self::__reduce__`] gave.
    #[staticmethod]
    fn restore(state: &[u8]) -> PyResult<Self> {
        Ok(Self(postcard::from_bytes(state).map_err(|e| PyValueError::new_err(e.to_string()))?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let state = postcard::to_stdvec(&self.0).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok((py.get_type::<Self>().getattr("restore")?, (PyBytes::new(py, &state),)))
    }
}

/// Numbers in rows of `d`.
fn table<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    values: &[T],
    d: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let array = Array2::from_shape_vec((values.len() / d.max(1), d), values.to_vec());
    Ok(array.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_rival, module)?)
}
