//! Choosing the number of clusters, and comparing methods.

use crate::call::{Watched, run};
use crate::failure::{argument, raised};
use crate::input::Matrix;
use crate::linear::{from_json, to_json};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use partita::choose::{Trial, choose};
use partita::compare::{Contender, Setting, compare};
use partita::linear::{Dims, Input, Prepare};
use partita_job::portrait::portraits_of_probabilities;
use partita_job::{CandidateSpec, Field, USUAL_METHODS, contenders, palette};
use pyo3::prelude::*;
use serde::Deserialize;

/// Try the candidates of a specification in JSON; the choice as JSON.
#[pyfunction]
#[pyo3(signature = (x, spec, splits, *, threads, progress=None))]
fn choose_number<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    spec: &str,
    splits: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let candidates = from_json::<CandidateSpec>(spec)?.candidates();
    let rows = x.rows()?;
    let choice = run(py, threads, progress.as_ref(), |watch| {
        choose(&Input::new(&Watched { rows, watch }), &candidates, Trial { splits, curves: true }, watch)
    })?;
    to_json(&choice)
}

/// What is the same for all methods.
#[derive(Deserialize)]
struct Shared {
    k: usize,
    restarts: usize,
    epochs: Option<usize>,
    prepare: Prepare,
    dims: Option<Dims>,
}

/// Run methods, by name, on the same rows from the same seeds; the comparison as JSON.
#[pyfunction]
#[pyo3(signature = (x, methods, setting, seeds, *, threads, truth=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "one call crosses the seam; its caller names every argument")]
fn compare_methods<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    methods: Vec<String>,
    setting: &str,
    seeds: Vec<u64>,
    threads: usize,
    truth: Option<PyReadonlyArray1<'py, i64>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let contenders = contenders(&methods).map_err(raised)?;
    let Shared { k, restarts, epochs, prepare, dims } = from_json(setting)?;
    let setting = Setting { k, restarts, epochs, prepare, dims };
    let truth = truth.as_ref().map(|t| t.as_slice()).transpose()?;
    let rows = x.rows()?;
    let found = run(py, threads, progress.as_ref(), |watch| {
        compare(&Input::new(&Watched { rows, watch }), truth, &contenders, &setting, &seeds, watch)
    })?;
    to_json(&found)
}

/// The methods that can be compared, with what each is.
#[pyfunction]
fn methods() -> Vec<(&'static str, &'static str)> {
    Contender::all().map(|(name, _, what)| (name, what)).collect()
}

/// A portrait of every cluster from probabilities and labels alone, as JSON.
#[pyfunction]
fn portraits_of<'py>(
    proba: PyReadonlyArray2<'py, f32>,
    labels: PyReadonlyArray1<'py, i32>,
    options: &str,
) -> PyResult<String> {
    let (options, k) = (from_json(options)?, proba.shape()[1]);
    let labels: Vec<u32> = labels.as_array().iter().map(|&label| label as u32).collect();
    to_json(&portraits_of_probabilities(proba.as_slice()?, k, &labels, &options).map_err(raised)?)
}

/// The fields of a specification, with what each is called in Python.
#[pyfunction]
fn fields() -> Vec<(&'static str, &'static str)> {
    Field::ALL.iter().map(|&field| (field.name(), argument(field))).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("USUAL_METHODS", USUAL_METHODS)?;
    module.add("COLOURS", palette::CLUSTERS)?;
    module.add_function(wrap_pyfunction!(choose_number, module)?)?;
    module.add_function(wrap_pyfunction!(compare_methods, module)?)?;
    module.add_function(wrap_pyfunction!(methods, module)?)?;
    module.add_function(wrap_pyfunction!(portraits_of, module)?)?;
    module.add_function(wrap_pyfunction!(fields, module)?)
}
