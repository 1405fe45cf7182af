//! Margins of labellings and of classifiers.

use crate::call::run;
use crate::failure::raised;
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use partita::margin::{Classifier, Options, Points, Separation, Support, of_labels_watched, path};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn points<'a>(x: &'a PyReadonlyArray2<'_, f64>) -> PyResult<Points<'a>> {
    Points::new(x.as_slice()?, x.shape()[1]).map_err(raised)
}

fn classifier(
    weights: &PyReadonlyArray2<'_, f64>,
    biases: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Classifier> {
    let m = weights.shape()[1];
    Classifier::new(weights.as_slice()?.to_vec(), biases.as_slice()?.to_vec(), m).map_err(raised)
}

fn weights_array<'py>(py: Python<'py>, classifier: &Classifier) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let array = Array2::from_shape_vec((classifier.k(), classifier.m()), classifier.weights.clone());
    Ok(array.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py))
}

fn set_support(parts: &Bound<'_, PyDict>, support: &[Support]) -> PyResult<()> {
    let py = parts.py();
    parts.set_item("rows", support.iter().map(|s| s.row as i64).collect::<Vec<_>>().into_pyarray(py))?;
    parts.set_item(
        "rivals",
        support.iter().map(|s| i64::from(s.rival)).collect::<Vec<_>>().into_pyarray(py),
    )?;
    parts.set_item("weights", support.iter().map(|s| s.weight).collect::<Vec<_>>().into_pyarray(py))
}

/// The margin of a labelling, or the proof that it has none.
#[pyfunction]
fn margin_of_labels<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    labels: Vec<u32>,
    k: usize,
    tolerance: f64,
    max_iterations: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = points(&x)?;
    let options = Options { tolerance, max_iterations, ..Options::default() };
    let found = run(py, threads, None, |watch| of_labels_watched(rows, &labels, k, &options, watch))?;
    let parts = PyDict::new(py);
    // A proof that there is no margin is complete; one that was not found needs more iterations.
    let decided = !matches!(found, Separation::Undecided(_));
    match found {
        Separation::Separated(widest) => {
            parts.set_item("separated", true)?;
            parts.set_item("margin", widest.margin)?;
            parts.set_item("gap", widest.gap)?;
            parts.set_item("coef", weights_array(py, &widest.classifier)?)?;
            parts.set_item("intercept", PyArray1::from_slice(py, &widest.classifier.biases))?;
            parts.set_item("converged", widest.converged)?;
            set_support(&parts, &widest.support)?;
        }
        Separation::Inseparable(proof) | Separation::Undecided(proof) => {
            parts.set_item("separated", decided.then_some(false))?;
            parts.set_item("converged", decided)?;
            parts.set_item("margin", 0.0)?;
            parts.set_item("gap", proof.residual)?;
            set_support(&parts, &proof.violating)?;
        }
    }
    Ok(parts)
}

/// Margins of rows under a classifier: signed if labels are given, unsigned otherwise.
#[pyfunction]
#[pyo3(signature = (x, coef, intercept, labels=None))]
fn classifier_margins<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    labels: Option<Vec<u32>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (rows, classifier) = (points(&x)?, classifier(&coef, &intercept)?);
    if classifier.m() != rows.m() {
        let message = format!("X has {} features, but coef has {}", rows.m(), classifier.m());
        return Err(PyValueError::new_err(message));
    }
    let margins = match labels {
        Some(labels) => classifier.signed_margins(rows, &labels).map_err(raised)?,
        None => classifier.unsigned_margins(rows),
    };
    Ok(margins.into_pyarray(py))
}

type Step<'py> = (f64, f64, f64, f64, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// The way to the widest clustering: norm, ln loss, ln γ, margin, W and b for each norm.
#[pyfunction]
fn margin_path<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    alpha: f64,
    norms: Vec<f64>,
    threads: usize,
) -> PyResult<Vec<Step<'py>>> {
    let (rows, start) = (points(&x)?, classifier(&coef, &intercept)?);
    let options = path::Options::new(alpha, norms);
    let steps = run(py, threads, None, |watch| {
        path::follow_watched(rows, &start, None, path::Allowed::All, &options, watch)
    })?;
    steps
        .iter()
        .map(|step| {
            let biases = PyArray1::from_slice(py, &step.classifier.biases);
            let weights = weights_array(py, &step.classifier)?;
            Ok((step.norm, step.log_loss, step.log_gamma, step.margin, weights, biases))
        })
        .collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(margin_of_labels, module)?)?;
    module.add_function(wrap_pyfunction!(classifier_margins, module)?)?;
    module.add_function(wrap_pyfunction!(margin_path, module)?)
}
