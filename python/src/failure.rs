//! Errors of the engine as exceptions, in the words that scikit-learn's users know.

use partita::Error;
use partita_data::DataError;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};

/// The exception for what is wrong with rows or options.
pub fn raised(error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::NotFinite { row, column, value } if value.is_nan() => PyValueError::new_err(format!(
            "Input X contains NaN.\nThe first is in row {row}, column {column}. Clustering does not accept missing values \
             encoded as NaN natively: drop such rows, or fill the values with an imputer such as sklearn.impute.SimpleImputer."
        )),
        Error::NotFinite { row, column, .. } => PyValueError::new_err(format!(
            "Input X contains infinity or a value too large for dtype('float32').\nThe first is in row {row}, column {column}."
        )),
        Error::TooFewRows { rows, k } => {
            PyValueError::new_err(format!("n_samples={rows} should be >= n_clusters={k}."))
        }
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The exception for what is wrong with a file.
pub fn of_file(error: DataError) -> PyErr {
    match &error {
        DataError::Io { source, .. } => match source.raw_os_error() {
            // With an error number Python picks FileNotFoundError and its like.
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        },
        DataError::Write { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
