//! Errors of a job as exceptions, in the words that scikit-learn's users know and with options as Python spells them.

use partita::Error;
use partita_data::DataError;
#[cfg(feature = "deep")]
use partita_job::DeepError;
use partita_job::{Field, JobError};
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};

/// How a field is called in Python.
pub fn argument(field: Field) -> &'static str {
    match field {
        Field::Data => "X",
        Field::K => "n_clusters",
        Field::Seed => "random_state",
        Field::Restarts => "n_init",
        Field::Weights => "sample_weight",
        Field::Like => "warm_start",
        Field::Lambda => "lam",
        Field::Batch => "batch_size",
        Field::ExactLabels => "label_solver",
        Field::Threads => "n_jobs",
        Field::Memory => "max_memory",
        other => other.name(),
    }
}

/// How a field is written in a call.
pub fn keyword(field: Field) -> String {
    match field {
        Field::Data => argument(field).to_owned(),
        field => format!("{}=", argument(field)),
    }
}

/// The exception for what is wrong with a job.
pub fn raised(error: impl Into<JobError>) -> PyErr {
    let error = error.into();
    let message = error.message(&keyword);
    match innermost(&error) {
        JobError::Core(Error::Interrupted) if error.kept().is_none() => PyKeyboardInterrupt::new_err(()),
        JobError::Core(Error::Interrupted) => PyKeyboardInterrupt::new_err(message),
        JobError::Core(error) => of_rows(error).unwrap_or_else(|| PyValueError::new_err(message)),
        JobError::Data(error) => of_file(error, message),
        #[cfg(feature = "deep")]
        JobError::Deep(DeepError::Core(Error::Interrupted)) => PyKeyboardInterrupt::new_err(message),
        #[cfg(feature = "deep")]
        JobError::Deep(DeepError::Data(error)) => of_file(error, message),
        JobError::Threads(_) => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The error itself, without what was being done.
fn innermost(error: &JobError) -> &JobError {
    match error {
        JobError::During { cause, .. } | JobError::Kept { cause, .. } => innermost(cause),
        other => other,
    }
}

/// What scikit-learn has words of its own for.
fn of_rows(error: &Error) -> Option<PyErr> {
    Some(PyValueError::new_err(match error {
        Error::NotFinite { row, column, value } if value.is_nan() => format!(
            "Input X contains NaN.\nThe first is in row {row}, column {column}. Clustering does not accept missing values \
             encoded as NaN natively: drop such rows, or fill the values with an imputer such as sklearn.impute.SimpleImputer."
        ),
        Error::NotFinite { row, column, .. } => format!(
            "Input X contains infinity or a value too large for dtype('float32').\nThe first is in row {row}, column {column}."
        ),
        Error::TooFewRows { rows, k } => format!("n_samples={rows} should be >= n_clusters={k}."),
        _ => return None,
    }))
}

/// The exception for what is wrong with a file.
fn of_file(error: &DataError, message: String) -> PyErr {
    match error {
        DataError::Io { source, .. } => match source.raw_os_error() {
            // With an error number Python picks FileNotFoundError and its like.
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        DataError::Write { .. } => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
