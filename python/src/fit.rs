//! Fits of the linear engine: specifications and arrays to the job layer, records to models and arrays.

use crate::call::{Watch, Watched, run_job};
use crate::failure::keyword;
use crate::input::{Matrix, table};
use crate::linear::{LinearModel, from_json, to_json};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use partita_job::{
    AnyModel, DataPart, Dataset, FitSpec, Given, Record, Resources, SharedRows, continue_fit, spelled,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

pub type Fitted<'py> = (LinearModel, Bound<'py, PyArray1<i32>>, Option<Bound<'py, PyArray1<f32>>>, String);

/// Cluster `x` as a specification in JSON says: the model, the labels, the outlier scores if outliers were asked for, and the report as JSON.
///
/// `like` is a model to start from, whose numbers are kept; with `go_on` training goes on from it. `used` are the rows to train on,
/// if not all are.
#[pyfunction]
#[pyo3(signature = (x, spec, *, threads, memory, weights=None, known=None, used=None, like=None, go_on=false, widths=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "one call crosses the seam; its caller names every argument")]
fn fit_linear<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    spec: &str,
    threads: usize,
    memory: usize,
    weights: Option<PyReadonlyArray1<'py, f32>>,
    known: Option<PyReadonlyArray1<'py, i32>>,
    used: Option<Vec<usize>>,
    like: Option<&Bound<'py, LinearModel>>,
    go_on: bool,
    widths: Option<Vec<usize>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let spec: FitSpec = from_json(spec)?;
    let resources = Resources { threads: Some(threads), memory, ..Resources::default() };
    let file = like.map(|like| &like.get().file);
    let like = file.map(|file| &file.model);
    let old = like.filter(|_| go_on);
    let given = Given {
        known: slice(known.as_ref())?,
        weights: slice(weights.as_ref())?,
        used: used.map(Cow::Owned),
        like: like.filter(|_| !go_on).map(Cow::Borrowed),
        ..Given::default()
    };
    let columns = if let Matrix::Table(columns) = &x { Some(columns.clone()) } else { None };
    let rows = if columns.is_some() { None } else { Some(x.rows()?) };
    let record = run_job(py, progress.as_ref(), |watch| {
        let dataset = match (columns, rows) {
            (Some(columns), _) => table(columns, &spec, file.filter(|file| !file.encoders.is_empty()))?,
            (None, Some(rows)) => dataset(rows, widths, watch)?,
            (None, None) => unreachable!("what is no table has rows"),
        };
        match old {
            Some(old) => continue_fit(&spec, old, &dataset, &given, &resources, watch),
            None => partita_job::run(&spec, &dataset, &given, &resources, watch),
        }
    })?;
    fitted(py, record)
}

/// The values where they are.
pub fn slice<'a, T: numpy::Element + Clone>(
    array: Option<&'a PyReadonlyArray1<'_, T>>,
) -> PyResult<Option<Cow<'a, [T]>>> {
    Ok(array.map(|array| array.as_slice()).transpose()?.map(Cow::Borrowed))
}

/// Rows as one part, with these widths of groups of features.
fn dataset<'a>(
    rows: SharedRows<'a>,
    widths: Option<Vec<usize>>,
    watch: &'a Watch,
) -> partita_job::Result<Dataset<'a>> {
    let part = DataPart::new(Arc::new(Watched { rows, watch }));
    let widths = widths.unwrap_or_else(|| part.widths.clone());
    Dataset::new(vec![DataPart { widths, ..part }])
}

/// The record with its advice in Python's words.
pub fn with_advice(record: Record) -> Record {
    Record { advice: record.advice.as_ref().map(|advice| spelled(advice, &keyword)), ..record }
}

/// A record of the linear engine as Python takes it.
pub fn fitted(py: Python<'_>, record: Record) -> PyResult<Fitted<'_>> {
    let record = with_advice(record);
    let (labels, told) = (record.assigned().into_pyarray(py), to_json(&record)?);
    let scores = record.outlier_scores.map(|scores| scores.into_pyarray(py));
    match record.model {
        AnyModel::Linear(file) => Ok((LinearModel { file: *file }, labels, scores, told)),
        _ => Err(PyValueError::new_err("a network is trained by NetworkClustering")),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_linear, module)?)
}
