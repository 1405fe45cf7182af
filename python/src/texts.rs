//! Texts: lists of strings through the encoders of the job layer.

use crate::call::{run, run_job};
use crate::failure::raised;
use crate::fit::{Fitted, fitted, slice};
use crate::linear::{LinearModel, from_json, to_json};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use partita::rows::Rows;
use partita_data::Texts;
use partita_data::model_file::StoredEncoder;
use partita_embed::texts::{BERT, TFIDF};
use partita_job::{Dataset, FitSpec, Given, Resources, continue_fit, explain, portraits_of_items};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;

/// Cluster texts as a specification in JSON says; otherwise as `fit_linear`. With `go_on`, or from a model `like` of texts, they are encoded as that model does it.
#[pyfunction]
#[pyo3(signature = (texts, spec, *, threads, memory, weights=None, known=None, used=None, like=None, go_on=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "one call crosses the seam; its caller names every argument")]
fn fit_texts<'py>(
    py: Python<'py>,
    texts: Vec<String>,
    spec: &str,
    threads: usize,
    memory: usize,
    weights: Option<PyReadonlyArray1<'py, f32>>,
    known: Option<PyReadonlyArray1<'py, i32>>,
    used: Option<Vec<usize>>,
    like: Option<&Bound<'py, LinearModel>>,
    go_on: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Fitted<'py>> {
    let spec: FitSpec = from_json(spec)?;
    let resources = Resources { threads: Some(threads), memory, ..Resources::default() };
    let old = like.map(|like| &like.get().file);
    let given = Given {
        known: slice(known.as_ref())?,
        weights: slice(weights.as_ref())?,
        used: used.map(Cow::Owned),
        like: old.filter(|_| !go_on).map(|old| Cow::Borrowed(&old.model)),
        ..Given::default()
    };
    let record = run_job(py, progress.as_ref(), |watch| {
        let (texts, place) = (Texts::from_strings(texts), spec.data.encoder_weights.as_deref());
        let dataset = match old {
            Some(old) => Dataset::of_texts_for(&old.encoders, texts, place, &resources, watch)?,
            None => Dataset::of_texts(texts, None, &spec.data, &resources, watch)?,
        };
        match old.filter(|_| go_on) {
            Some(old) => continue_fit(&spec, &old.model, &dataset, &given, &resources, watch),
            None => partita_job::run(&spec, &dataset, &given, &resources, watch),
        }
    })?;
    fitted(py, record)
}

#[pymethods]
impl LinearModel {
    /// Whether it takes texts.
    pub fn takes_texts(&self) -> bool {
        let texts = |encoder: &StoredEncoder| [TFIDF, BERT].contains(&encoder.kind.as_str());
        self.file.encoders.iter().flatten().any(texts)
    }

    /// The rows of texts; those of texts without a word are zero.
    fn encode_texts<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<String>,
        threads: usize,
        weights: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (n, m) = (texts.len(), self.file.model.m());
        let values = run(py, threads, None, |watch| -> partita_job::Result<Vec<f32>> {
            let resources = Resources { threads: (threads > 0).then_some(threads), ..Resources::default() };
            let texts = Texts::from_strings(texts);
            let dataset =
                Dataset::of_texts_for(&self.file.encoders, texts, weights.as_deref(), &resources, watch)?;
            let mut found = vec![0.0; dataset.n() * m];
            dataset.rows()?.read(0, &mut found)?;
            let Some(numbers) = dataset.row_numbers() else { return Ok(found) };
            let mut all = vec![0.0; n * m];
            for (row, &number) in found.chunks_exact(m).zip(numbers) {
                all[number * m..(number + 1) * m].copy_from_slice(row);
            }
            Ok(all)
        })?;
        let rows =
            Array2::from_shape_vec((n, m), values).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(rows.into_pyarray(py))
    }

    /// Why a text went where it went, as JSON.
    fn explain_text(&self, text: String, weights: Option<PathBuf>) -> PyResult<String> {
        let resources = Resources::default();
        let silent = partita::report::Silent;
        let dataset = Dataset::of_texts_for(
            &self.file.encoders,
            Texts::from_strings([text]),
            weights.as_deref(),
            &resources,
            &silent,
        );
        to_json(&explain(&self.file, &dataset.map_err(raised)?, 0).map_err(raised)?)
    }

    /// The words and the typical texts of every cluster, as JSON.
    fn describe_texts(
        &self,
        py: Python<'_>,
        texts: Vec<String>,
        threads: usize,
        weights: Option<PathBuf>,
    ) -> PyResult<String> {
        let found = run(py, threads, None, |watch| -> partita_job::Result<_> {
            let resources = Resources { threads: (threads > 0).then_some(threads), ..Resources::default() };
            let texts = Texts::from_strings(texts);
            let dataset =
                Dataset::of_texts_for(&self.file.encoders, texts, weights.as_deref(), &resources, watch)?;
            let labels = self.file.model.assign(&dataset.rows()?)?;
            portraits_of_items(&self.file.model, &dataset, &labels)
        })?;
        to_json(&found)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_texts, module)?)
}
