//! Specifications as JSON.

use super::FitSpec;
use crate::error::{JobError, Result};
use partita_data::{AtomicFile, DataError, open_regular};
use std::io::{Read, Write};
use std::path::Path;

impl FitSpec {
    /// A specification from JSON; missing fields have their defaults.
    ///
    /// # Errors
    /// If the text is no JSON, a field is unknown or a value has the wrong type; the error names it.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|e| JobError::file(None, format!("the specification cannot be read: {e}")))
    }

    /// The whole specification as JSON, with a line for each field.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// A specification from a file.
    ///
    /// # Errors
    /// As [`Self::from_json`], or if the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |source| DataError::Io { path: path.to_owned(), action: "read", source };
        let mut text = String::new();
        open_regular(path)?.read_to_string(&mut text).map_err(failed)?;
        Self::from_json(&text).map_err(|e| e.during(path.display().to_string()))
    }

    /// Write it to a file, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut file = AtomicFile::create(path)?;
        file.write_all(self.to_json().as_bytes())
            .map_err(|source| DataError::Write { path: path.to_owned(), source })?;
        Ok(file.finish()?)
    }
}
