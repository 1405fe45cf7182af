//! The linear engine: a fit, and the model that it leaves.

use crate::call::{Watched, ask, run};
use crate::failure::{of_file, raised};
use crate::input::Matrix;
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use partita::Error;
use partita::balance::Bounds;
use partita::linear::{Input, Model, Params, fit};
use partita_data::model_file::ModelFile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;

/// A trained linear softmax model with the options of its fit.
#[pyclass(frozen, module = "partita._native")]
pub struct LinearModel {
    model: Model,
    params: Params,
}

/// Options that start from `defaults` and take what the JSON object `given` says.
pub fn options<T: Serialize + DeserializeOwned>(defaults: &T, given: &str) -> PyResult<T> {
    let wrong = |e: serde_json::Error| PyValueError::new_err(e.to_string());
    let mut all = serde_json::to_value(defaults).map_err(wrong)?;
    let given: Value = serde_json::from_str(given).map_err(wrong)?;
    if let (Value::Object(all), Value::Object(given)) = (&mut all, given) {
        all.extend(given);
    }
    serde_json::from_value(all).map_err(wrong)
}

/// A result as JSON, for Python to read.
pub fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Labels as numpy's users expect them.
pub fn labels_array<'py>(py: Python<'py>, labels: &[u32]) -> Bound<'py, PyArray1<i32>> {
    labels.iter().map(|&l| l as i32).collect::<Vec<_>>().into_pyarray(py)
}

type Fitted<'py> = (LinearModel, Bound<'py, PyArray1<i32>>, String);

/// Cluster `x`: the model, the labels, and the report as JSON. The model keeps the options `stored`, or those of the fit.
/// Where `x` is a part of the caller's rows, `numbers` says which, for messages.
#[pyfunction]
#[pyo3(signature = (x, options, *, threads, weights=None, known=None, start=None, like=None, widths=None, memory=1 << 30, stored=None, numbers=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "one call crosses the seam; its caller names every argument")]
fn fit_linear<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    options: &str,
    threads: usize,
    weights: Option<PyReadonlyArray1<'py, f32>>,
    known: Option<PyReadonlyArray1<'py, i32>>,
    start: Option<&Bound<'py, LinearModel>>,
    like: Option<&Bound<'py, LinearModel>>,
    widths: Option<Vec<usize>>,
    memory: usize,
    stored: Option<&str>,
    numbers: Option<PyReadonlyArray1<'py, i64>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let params: Params = self::options(&Params::new(2), options)?;
    let stored = stored.map(|given| self::options(&params, given)).transpose()?;
    let rows = x.rows()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let known = known.as_ref().map(|k| k.as_slice()).transpose()?;
    let numbers = numbers.as_ref().map(|n| n.as_slice()).transpose()?;
    let (start, like) = (start.map(|s| s.get()), like.map(|l| l.get()));
    let found = run(py, threads, progress.as_ref(), |watch| {
        let rows = Watched { rows: &*rows, watch };
        let plain = Input::new(&rows);
        let input = Input {
            widths: widths.unwrap_or(plain.widths),
            weights,
            known,
            warm_start: start.map(|s| &s.model),
            memory,
            ..Input::new(&rows)
        };
        let mut found = fit(&input, &params, watch).map_err(|e| renumbered(e, numbers))?;
        found.report.stop.not_interrupted()?;
        if let Some(like) = like.filter(|_| !input.names_clusters()) {
            found.number_like(&like.model, &rows)?;
        }
        Ok(found)
    })?;
    let labels = labels_array(py, &found.labels);
    let report = to_json(&found.report)?;
    Ok((LinearModel { model: found.model, params: stored.unwrap_or(params) }, labels, report))
}

/// The error with the caller's number of the row that it is about.
fn renumbered(error: Error, numbers: Option<&[i64]>) -> Error {
    match (error, numbers) {
        (Error::NotFinite { row, column, value }, Some(numbers)) => {
            let row = numbers.get(row).map_or(row, |number| *number as usize);
            Error::NotFinite { row, column, value }
        }
        (other, _) => other,
    }
}

type Affine<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);
type View<'py> = (usize, Option<Bound<'py, PyArray1<f32>>>, bool);
type Explained<'py> =
    (Bound<'py, PyArray1<f32>>, usize, usize, f64, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// What makes the model again: a function and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, String));

impl LinearModel {
    fn matrix<'py>(&self, py: Python<'py>, values: Vec<f32>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let shape = (self.model.k(), self.model.m());
        let array =
            Array2::from_shape_vec(shape, values).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(array.into_pyarray(py))
    }
}

#[pymethods]
impl LinearModel {
    /// The most probable cluster of each row.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let labels = ask(py, &x, threads, |rows| self.model.predict(rows))?;
        Ok(labels_array(py, &labels))
    }

    /// The likeliest labels whose sizes are `exact` shares of the prior, or between `least` and `most` rows.
    #[pyo3(signature = (x, threads, least=None, most=None))]
    fn predict_sized<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
        least: Option<usize>,
        most: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let n = x.rows()?.n();
        let bounds = match (least, most) {
            (None, None) => Bounds::exact(&self.model.shares(), n),
            (least, most) => Bounds::between(least.unwrap_or(0), most.unwrap_or(n), self.model.k()),
        };
        let bounds = bounds.map_err(raised)?;
        let found = ask(py, &x, threads, |rows| self.model.predict_balanced(rows, &bounds))?;
        Ok(labels_array(py, &found.labels))
    }

    /// Probabilities of all clusters for each row.
    fn predict_proba<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(ask(py, &x, threads, |rows| self.model.predict_proba(rows))?.into_pyarray(py))
    }

    /// Logits of all clusters for each row.
    fn logits<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(ask(py, &x, threads, |rows| self.model.logits_all(rows))?.into_pyarray(py))
    }

    /// Why a row went where it went: probabilities, cluster, runner-up, base, features and what each adds.
    fn explain<'py>(&self, py: Python<'py>, x: Matrix<'py>, row: usize) -> PyResult<Explained<'py>> {
        let why = self.model.explain(&*x.rows()?, row).map_err(raised)?;
        let features: Vec<i64> = why.contributions.iter().map(|c| c.feature as i64).collect();
        let values: Vec<f64> = why.contributions.iter().map(|c| c.value).collect();
        let proba = why.proba.into_pyarray(py);
        Ok((proba, why.cluster, why.runner_up, why.base, features.into_pyarray(py), values.into_pyarray(py)))
    }

    /// W and b for raw rows; for rows after their views if a view divides by the norm.
    fn affine<'py>(&self, py: Python<'py>) -> PyResult<Affine<'py>> {
        let plain = || (self.model.weight.clone(), self.model.bias.clone());
        let (weight, bias) = self.model.affine().unwrap_or_else(plain);
        Ok((self.matrix(py, weight)?, bias.into_pyarray(py)))
    }

    /// W and b as they are: for rows after their views.
    fn inner<'py>(&self, py: Python<'py>) -> PyResult<Affine<'py>> {
        let bias = PyArray1::from_slice(py, &self.model.bias);
        Ok((self.matrix(py, self.model.weight.clone())?, bias))
    }

    /// For each group of features: its width, what is subtracted from it, and whether it is divided by its norm.
    fn views<'py>(&self, py: Python<'py>) -> Vec<View<'py>> {
        let centre = |c: &[f32]| (!c.is_empty()).then(|| PyArray1::from_slice(py, c));
        self.model.views.iter().map(|v| (v.width, centre(&v.centre), v.normalise)).collect()
    }

    /// The mean training row after the views.
    fn average<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.model.average)
    }

    /// The prior over the sizes of clusters.
    fn prior<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.shares().into_pyarray(py)
    }

    /// The options of the fit, as JSON.
    fn params(&self) -> PyResult<String> {
        to_json(&self.params)
    }

    /// Write the file that the command `partita` reads too.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        ModelFile::new(self.model.clone(), self.params.clone()).write(path).map_err(of_file)
    }

    /// Read such a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let ModelFile { model, params, .. } = ModelFile::read(path).map_err(of_file)?;
        Ok(Self { model, params })
    }

    /// What [`Self::__reduce__`] gave.
    #[staticmethod]
    fn restore(model: &[u8], params: &str) -> PyResult<Self> {
        let model = postcard::from_bytes(model).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self { model, params: options(&Params::new(2), params)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let state = postcard::to_stdvec(&self.model).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let restore = py.get_type::<Self>().getattr("restore")?;
        Ok((restore, (PyBytes::new(py, &state), self.params()?)))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_linear, module)?)
}
