//! K-means and Gaussian mixtures of rows as they are: arrays in, arrays in the same units out.

use crate::call::{Watch, run};
use crate::failure::raised;
use crate::linear::{from_json, labels_array, to_json};
use half::f16;
use ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use partita::Result;
use partita::mixture::{Covariance, Mixture};
use partita::plain::{Clusters, Dense, Fitted, Gaussians, KMeans, Plain, Sparse, distances, judge, nearest};
use partita::report::StopReason;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

/// A matrix that Python holds, of which no digit is dropped.
pub enum PlainMatrix<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    F16(PyReadonlyArray2<'py, f16>),
    Sparse(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, i64>, usize),
}

impl<'py> FromPyObject<'_, 'py> for PlainMatrix<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.extract() {
            Ok(Self::F64(array))
        } else if let Ok(array) = object.extract() {
            Ok(Self::F32(array))
        } else if let Ok(array) = object.extract() {
            Ok(Self::F16(array))
        } else if let Ok((values, columns, starts, m)) = object.extract() {
            Ok(Self::Sparse(values, columns, starts, m))
        } else {
            Err(PyTypeError::new_err(
                "a matrix of float64, float32 or float16 is needed, or the parts of a CSR matrix",
            ))
        }
    }
}

/// An array of any type and layout, readable until Ctrl-C.
struct View<'a, T> {
    array: ArrayView2<'a, T>,
    watch: &'a Watch,
}

impl<T: Copy + Into<f64> + Sync> Dense for View<'_, T> {
    fn n(&self) -> usize {
        self.array.nrows()
    }
    fn m(&self) -> usize {
        self.array.ncols()
    }
    fn read(&self, start: usize, out: &mut [f64]) -> Result<()> {
        self.watch.check()?;
        for (i, out) in out.chunks_exact_mut(self.m().max(1)).enumerate() {
            out.iter_mut().zip(self.array.row(start + i)).for_each(|(out, v)| *out = (*v).into());
        }
        Ok(())
    }
}

/// What can be read without the interpreter's lock.
enum Borrowable<'a> {
    F32(ArrayView2<'a, f32>),
    F64(ArrayView2<'a, f64>),
    F16(ArrayView2<'a, f16>),
    Sparse(Sparse<'a>),
}

impl PlainMatrix<'_> {
    fn borrow(&self) -> PyResult<Borrowable<'_>> {
        Ok(match self {
            Self::F32(array) => Borrowable::F32(array.as_array()),
            Self::F64(array) => Borrowable::F64(array.as_array()),
            Self::F16(array) => Borrowable::F16(array.as_array()),
            Self::Sparse(values, columns, starts, m) => Borrowable::Sparse(Sparse {
                starts: starts.as_slice()?,
                columns: columns.as_slice()?,
                values: values.as_slice()?,
                m: *m,
            }),
        })
    }
}

impl Borrowable<'_> {
    fn with<T>(&self, watch: &Watch, work: impl FnOnce(Plain<'_>) -> Result<T>) -> Result<T> {
        match self {
            Self::F32(array) => work(Plain::dense(&View { array: array.view(), watch })?),
            Self::F64(array) => work(Plain::dense(&View { array: array.view(), watch })?),
            Self::F16(array) => work(Plain::dense(&View { array: array.view(), watch })?),
            Self::Sparse(rows) => work(Plain::sparse(*rows)?),
        }
    }
}

/// How a fit went.
#[derive(Serialize)]
struct Report {
    loss: f64,
    losses: Vec<f64>,
    bounds: Vec<f64>,
    iterations: usize,
    stop: StopReason,
}

type Centred<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i32>>, String);

/// K-means: centres, labels, and the report as JSON. `centres` are those of all starts, one after the other.
#[pyfunction]
#[pyo3(signature = (x, options, *, threads, weights=None, centres=None, progress=None))]
fn fit_kmeans<'py>(
    py: Python<'py>,
    x: PlainMatrix<'py>,
    options: &str,
    threads: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    centres: Option<PyReadonlyArray1<'py, f64>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Centred<'py>> {
    let options: KMeans = from_json(options)?;
    let rows = x.borrow()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let given = centres.as_ref().map(|c| c.as_slice()).transpose()?;
    let found = run(py, threads, progress.as_ref(), |watch| {
        rows.with(watch, |plain| options.fit(plain, weights, given, watch))
    })?;
    let Clusters { centres, labels, inertia, inertias, iterations, stop } = found;
    let report = Report { loss: inertia, losses: inertias, bounds: Vec::new(), iterations, stop };
    Ok((table(py, centres, options.k)?, labels_array(py, &labels), to_json(&report)?))
}

/// The nearest centre of each row, and the sum of weight × squared distance to it.
#[pyfunction]
#[pyo3(signature = (x, centres, *, spherical, threads, weights=None))]
fn nearest_centres<'py>(
    py: Python<'py>,
    x: PlainMatrix<'py>,
    centres: PyReadonlyArray2<'py, f64>,
    spherical: bool,
    threads: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<(Bound<'py, PyArray1<i32>>, f64)> {
    let (rows, centres) = (x.borrow()?, centres.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let (labels, inertia) = run(py, threads, None, |watch| {
        rows.with(watch, |plain| nearest(&held(plain, spherical), centres, weights))
    })?;
    Ok((labels_array(py, &labels), inertia))
}

/// Distances of all rows to all centres, in single precision if `single`.
#[pyfunction]
#[pyo3(signature = (x, centres, *, spherical, single, threads))]
fn centre_distances<'py>(
    py: Python<'py>,
    x: PlainMatrix<'py>,
    centres: PyReadonlyArray2<'py, f64>,
    spherical: bool,
    single: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, k) = (x.borrow()?, centres.shape()[0]);
    let centres = centres.as_slice()?;
    if single {
        let found = run(py, threads, None, |watch| {
            rows.with(watch, |plain| distances(&held(plain, spherical), centres, |v| v as f32))
        })?;
        return Ok(Array2::from_shape_vec((found.len() / k, k), found)
            .map_err(bad)?
            .into_pyarray(py)
            .into_any());
    }
    let found = run(py, threads, None, |watch| {
        rows.with(watch, |plain| distances(&held(plain, spherical), centres, |v| v))
    })?;
    Ok(Array2::from_shape_vec((found.len() / k, k), found).map_err(bad)?.into_pyarray(py).into_any())
}

fn held(plain: Plain<'_>, spherical: bool) -> Plain<'_> {
    if spherical { plain.on_sphere() } else { plain }
}

type Mixed<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, String);

/// A mixture of Gaussians: shares, means, covariances (a line each), and the report as JSON.
#[pyfunction]
#[pyo3(signature = (x, options, *, threads, progress=None))]
fn fit_mixture<'py>(
    py: Python<'py>,
    x: PlainMatrix<'py>,
    options: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Mixed<'py>> {
    let options: Gaussians = from_json(options)?;
    let rows = x.borrow()?;
    let Fitted { mixture, bounds, losses, loss, iterations, stop } =
        run(py, threads, progress.as_ref(), |watch| rows.with(watch, |plain| options.fit(plain, watch)))?;
    let report = Report { loss, losses, bounds, iterations, stop };
    let covariances = PyArray2::from_vec2(py, &mixture.covariances)?;
    let k = options.k;
    Ok((mixture.weights.into_pyarray(py), table(py, mixture.means, k)?, covariances, to_json(&report)?))
}

type Judged<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Responsibilities of Gaussians for all rows, and ln density of each row.
#[pyfunction]
#[pyo3(signature = (x, shape, weights, means, covariances, *, threads))]
fn judge_mixture<'py>(
    py: Python<'py>,
    x: PlainMatrix<'py>,
    shape: &str,
    weights: Vec<f64>,
    means: PyReadonlyArray2<'py, f64>,
    covariances: PyReadonlyArray2<'py, f64>,
    threads: usize,
) -> PyResult<Judged<'py>> {
    let shape: Covariance = from_json(&format!("{shape:?}"))?;
    let (rows, k) = (x.borrow()?, weights.len());
    let covariances = covariances.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
    let mixture = Mixture::new(shape, weights, means.as_slice()?.to_vec(), covariances).map_err(raised)?;
    let (proba, likelihoods) =
        run(py, threads, None, |watch| rows.with(watch, |plain| judge(plain, &mixture)))?;
    Ok((
        Array2::from_shape_vec((likelihoods.len(), k), proba).map_err(bad)?.into_pyarray(py),
        likelihoods.into_pyarray(py),
    ))
}

/// Numbers in `k` rows.
fn table(py: Python<'_>, values: Vec<f64>, k: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    Ok(Array2::from_shape_vec((k, values.len() / k.max(1)), values).map_err(bad)?.into_pyarray(py))
}

fn bad(error: ndarray::ShapeError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_kmeans, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_centres, module)?)?;
    module.add_function(wrap_pyfunction!(centre_distances, module)?)?;
    module.add_function(wrap_pyfunction!(fit_mixture, module)?)?;
    module.add_function(wrap_pyfunction!(judge_mixture, module)?)
}
