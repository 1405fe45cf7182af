//! The model that a fit of the linear engine leaves.

use crate::call::ask;
use crate::failure::raised;
use crate::input::{Matrix, table};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use partita::linear::{Model, Params};
use partita::prepare::FeatureView;
use partita::rows::Rows;
use partita_data::Columns;
use partita_data::model_file::{ModelFile, StoredEncoder, Tensors};
use partita_embed::tables::{KIND, TableEncoder};
use partita_job::items::Items;
use partita_job::onnx::{to_onnx, write_onnx};
use partita_job::portrait::{PortraitOptions, portraits};
use partita_job::{AnyModel, Dataset, FitSpec, JobError, SizeSpec};
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
    pub file: ModelFile,
}

fn unreadable(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What Python wrote as JSON.
pub fn from_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(unreadable)
}

/// Options that start from `defaults` and take what the JSON object `given` says.
pub fn options<T: Serialize + DeserializeOwned>(defaults: &T, given: &str) -> PyResult<T> {
    let mut all = serde_json::to_value(defaults).map_err(unreadable)?;
    let given: Value = from_json(given)?;
    if let (Value::Object(all), Value::Object(given)) = (&mut all, given) {
        all.extend(given);
    }
    serde_json::from_value(all).map_err(unreadable)
}

/// A result as JSON, for Python to read.
pub fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(unreadable)
}

/// Clusters as numpy's users expect them.
pub fn labels_array<'py>(py: Python<'py>, labels: &[u32]) -> Bound<'py, PyArray1<i32>> {
    labels.iter().map(|&l| l as i32).collect::<Vec<_>>().into_pyarray(py)
}

type Affine<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);
type Group<'py> = (usize, Option<Bound<'py, PyArray1<f32>>>, bool);
type Explained<'py> =
    (Bound<'py, PyArray1<f32>>, usize, usize, f64, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// What makes the model again: a function and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, String, Option<String>));

impl LinearModel {
    /// A table as the model sees it.
    fn opened(&self, x: Matrix<'_>) -> PyResult<Dataset<'static>> {
        match x {
            Matrix::Table(columns) => table(columns, &FitSpec::default(), Some(&self.file)).map_err(raised),
            _ => Err(PyValueError::new_err(
                "the model was fitted to a table with named columns; give such a table",
            )),
        }
    }

    fn matrix<'py>(&self, py: Python<'py>, values: Vec<f32>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let shape = (self.file.model.k(), self.file.model.width());
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
        let labels = ask(py, &x, threads, |rows| self.file.model.predict(rows))?;
        Ok(labels_array(py, &labels))
    }

    /// The most probable cluster of each row, −1 for outliers if the model knows them.
    fn assign<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        Ok(ask(py, &x, threads, |rows| self.file.model.assign(rows))?.into_pyarray(py))
    }

    /// How sparse the place of each row is beside its cluster; none if the model does not know outliers.
    fn outlier_scores<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let scores = ask(py, &x, threads, |rows| self.file.model.outlier_scores(rows))?;
        Ok(scores.map(|scores| scores.into_pyarray(py)))
    }

    /// The likeliest labels of the sizes that a specification in JSON asks for.
    fn predict_sized<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
        sizes: &str,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let sizes: SizeSpec = from_json(sizes)?;
        let labels = ask(py, &x, threads, |rows| -> partita_job::Result<_> {
            sizes.check()?;
            let found = sizes.assign(&self.file.model, rows)?;
            found.map_or_else(|| Ok(self.file.model.predict(rows)?), |found| Ok(found.labels))
        })?;
        Ok(labels_array(py, &labels))
    }

    /// Probabilities of all clusters for each row.
    fn predict_proba<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(ask(py, &x, threads, |rows| self.file.model.predict_proba(rows))?.into_pyarray(py))
    }

    /// Logits of all clusters for each row.
    fn logits<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(ask(py, &x, threads, |rows| self.file.model.logits_all(rows))?.into_pyarray(py))
    }

    /// Why a row went where it went: probabilities, cluster, runner-up, base, features and what each adds.
    fn explain<'py>(&self, py: Python<'py>, x: Matrix<'py>, row: usize) -> PyResult<Explained<'py>> {
        let why = self.file.model.explain(&*x.rows()?, row).map_err(raised)?;
        let features: Vec<i64> = why.contributions.iter().map(|c| c.feature as i64).collect();
        let values: Vec<f64> = why.contributions.iter().map(|c| c.value).collect();
        let proba = why.proba.into_pyarray(py);
        Ok((proba, why.cluster, why.runner_up, why.base, features.into_pyarray(py), values.into_pyarray(py)))
    }

    /// Whether the model was fitted to a table whose columns have a plan.
    fn is_table(&self) -> bool {
        self.file.encoders.iter().flatten().any(|encoder| encoder.kind == KIND)
    }

    /// The rows that its plan makes of a table.
    fn encode<'py>(&self, py: Python<'py>, x: Matrix<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let dataset = self.opened(x)?;
        let rows = dataset.rows().map_err(raised)?;
        let mut values = vec![0.0; rows.n() * rows.m()];
        rows.read(0, &mut values).map_err(raised)?;
        let array = Array2::from_shape_vec((rows.n(), rows.m()), values);
        Ok(array.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py))
    }

    /// The names of the columns that its plan makes.
    fn features(&self) -> PyResult<Vec<String>> {
        let stored = self.file.encoders.iter().flatten();
        let names = stored.map(|stored| {
            let encoder = TableEncoder::restore(stored).map_err(JobError::from).map_err(raised)?;
            Ok(encoder.plan().columns.iter().flat_map(|column| column.features()).collect::<Vec<_>>())
        });
        Ok(names.collect::<PyResult<Vec<_>>>()?.concat())
    }

    /// Why a row of a table went where it went, as JSON.
    fn explain_table(&self, x: Matrix<'_>, row: usize) -> PyResult<String> {
        to_json(&partita_job::explain(&self.file, &self.opened(x)?, row).map_err(raised)?)
    }

    /// Clusters of the rows of a table in its language, as JSON.
    fn table_portraits(&self, x: Matrix<'_>, labels: PyReadonlyArray1<'_, i32>) -> PyResult<String> {
        let labels: Vec<i32> = labels.as_array().iter().copied().collect();
        let dataset = self.opened(x)?;
        let Some(Items::Table(items)) = dataset.items() else { return Ok("[]".to_owned()) };
        to_json(&items.portraits(&labels, self.file.model.k()).map_err(raised)?)
    }

    /// W and b for raw rows; for rows after their views if a view divides by the norm, for lifted rows if there is a lift.
    fn affine<'py>(&self, py: Python<'py>) -> PyResult<Affine<'py>> {
        let plain = || (self.file.model.weight().to_vec(), self.file.model.bias().to_vec());
        let (weight, bias) = self.file.model.affine().unwrap_or_else(plain);
        Ok((self.matrix(py, weight)?, bias.into_pyarray(py)))
    }

    /// W and b as they are: for rows after their views.
    fn inner<'py>(&self, py: Python<'py>) -> PyResult<Affine<'py>> {
        let bias = PyArray1::from_slice(py, self.file.model.bias());
        Ok((self.matrix(py, self.file.model.weight().to_vec())?, bias))
    }

    /// For each group of features: its width, what is subtracted from it, and whether it is divided by its norm.
    fn views<'py>(&self, py: Python<'py>) -> Vec<Group<'py>> {
        let centre = |c: &[f32]| (!c.is_empty()).then(|| PyArray1::from_slice(py, c));
        self.file.model.views().iter().map(|v| (v.width, centre(&v.centre), v.normalise)).collect()
    }

    /// Features of each group of raw ones.
    fn widths(&self) -> Vec<usize> {
        self.file.model.widths()
    }

    /// Whether rows pass a lift before W and b.
    fn is_lifted(&self) -> bool {
        self.file.model.lift().is_some()
    }

    /// The mean training row after the views.
    fn average<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.file.model.average())
    }

    /// The prior over the sizes of clusters.
    fn prior<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.file.model.shares().into_pyarray(py)
    }

    /// The options of the fit, as JSON.
    fn params(&self) -> PyResult<String> {
        to_json(&self.file.params)
    }

    /// The specification of such a fit, as JSON.
    fn spec(&self) -> String {
        FitSpec::of_params(&self.file.params).to_json()
    }

    /// A portrait of every cluster from rows with these labels, as JSON.
    fn portraits<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        labels: PyReadonlyArray1<'py, i32>,
        options: &str,
        threads: usize,
    ) -> PyResult<String> {
        let options: PortraitOptions = from_json(options)?;
        let labels: Vec<u32> = labels.as_array().iter().map(|&label| label as u32).collect();
        to_json(&ask(py, &x, threads, |rows| portraits(&self.file.model, rows, &labels, &options))?)
    }

    /// The model as ONNX.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &to_onnx(&self.file.model).map_err(raised)?))
    }

    /// Write it to a file, whole or not at all.
    fn write_onnx(&self, path: PathBuf) -> PyResult<()> {
        write_onnx(&self.file.model, path).map_err(raised)
    }

    /// The names of the features, if they have any, and those of the first clusters.
    fn names(&self) -> (Option<Vec<String>>, Vec<String>) {
        let columns = self.file.names.columns.iter().cloned();
        let columns: Option<Vec<Columns>> = columns.collect();
        let names = columns.map(|columns| columns.into_iter().flat_map(|c| c.names).collect::<Vec<_>>());
        (names.filter(|names| !names.is_empty()), self.file.names.clusters.clone())
    }

    /// Write the file that the command `partita` reads too, with the names of features, if they have any, and of clusters.
    fn save(&self, path: PathBuf, columns: Option<Vec<String>>, clusters: Vec<String>) -> PyResult<()> {
        let mut file = self.file.clone();
        // A plan knows the columns that it needs.
        if let Some(mut rest) = columns.filter(|_| file.encoders.is_empty()) {
            let widths = self.file.model.widths();
            let groups =
                widths.into_iter().map(|width| Some(Columns::named(rest.drain(..width.min(rest.len())))));
            file.names.columns = groups.collect();
        }
        file.names.clusters = clusters;
        file.write(path).map_err(raised)
    }

    /// Read such a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        match AnyModel::read(path).map_err(raised)? {
            AnyModel::Linear(file) => Ok(Self { file: *file }),
            _ => Err(PyValueError::new_err("this is a network; read it with NetworkClustering.load")),
        }
    }

    /// A model of one cluster, which takes everything.
    #[staticmethod]
    fn of_one_cluster(m: usize) -> PyResult<Self> {
        let view = FeatureView { width: m, centre: Vec::new(), normalise: false };
        let (weight, average) = (vec![0.0; m], vec![0.0; m]);
        let model = Model::new(vec![view], weight, vec![0.0], average, vec![1.0]).map_err(raised)?;
        Ok(Self { file: ModelFile::new(model, Params::new(1)) })
    }

    /// What [`Self::__reduce__`] gave.
    #[staticmethod]
    #[pyo3(signature = (model, params, tables=None))]
    fn restore(model: &[u8], params: &str, tables: Option<&str>) -> PyResult<Self> {
        let model = postcard::from_bytes(model).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let mut file = ModelFile::new(model, options(&Params::new(2), params)?);
        if let Some(tables) = tables {
            let (columns, plans): (_, Vec<Option<Value>>) = from_json(tables)?;
            let stored =
                |about: Value| StoredEncoder { kind: KIND.to_owned(), about, tensors: Tensors::new() };
            file.names.columns = columns;
            file.encoders = plans.into_iter().map(|plan| plan.map(stored)).collect();
        }
        Ok(Self { file })
    }

    /// A model in the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, _params, _tables=None))]
    fn of_file(bytes: &[u8], _params: &str, _tables: Option<&str>) -> PyResult<Self> {
        let place = tempfile::NamedTempFile::new()?;
        std::fs::write(place.path(), bytes)?;
        Ok(Self { file: ModelFile::read(place.path()).map_err(raised)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        if self.takes_texts() {
            let place = tempfile::tempdir()?;
            let path = place.path().join("model.safetensors");
            self.file.write(&path).map_err(raised)?;
            let of_file = py.get_type::<Self>().getattr("of_file")?;
            return Ok((of_file, (PyBytes::new(py, &std::fs::read(path)?), String::new(), None)));
        }
        let state =
            postcard::to_stdvec(&self.file.model).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let restore = py.get_type::<Self>().getattr("restore")?;
        let plans: Vec<Option<&Value>> =
            self.file.encoders.iter().map(|encoder| encoder.as_ref().map(|encoder| &encoder.about)).collect();
        let tables = (!plans.is_empty()).then(|| to_json(&(&self.file.names.columns, plans))).transpose()?;
        Ok((restore, (PyBytes::new(py, &state), self.params()?, tables)))
    }
}
