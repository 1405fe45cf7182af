//! Features of images as files, with the names of the images and their classes.

use crate::error::Result;
use crate::export::named;
use partita_data::{NpyWriter, ParquetRows, RowNames, appear_together, names_csv};
use std::path::{Path, PathBuf};

/// Where the features of images go: into an array (`.npy`) with a table of names beside it, or with their names into one table (`.parquet`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureFiles {
    /// The features.
    pub features: PathBuf,
    /// The names of their rows, where the features have none.
    pub names: Option<PathBuf>,
}

impl FeatureFiles {
    /// The files that belong to an output.
    ///
    /// # Errors
    /// If its name is that of another format.
    pub fn new(output: &Path) -> Result<Self> {
        named(output, &["npy", "parquet"], "features are written as .npy or .parquet")?;
        let array = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
        let names = array.then(|| output.with_extension("names.csv"));
        Ok(Self { features: output.to_owned(), names })
    }

    /// All files that will be written.
    pub fn paths(&self) -> Vec<&Path> {
        std::iter::once(&self.features).chain(&self.names).map(PathBuf::as_path).collect()
    }

    /// Write all rows of `m` features, which `each` passes on one after another. The files appear together, or none does.
    ///
    /// # Errors
    /// If a file cannot be written, or a row cannot be had.
    pub fn write(
        &self,
        names: RowNames<'_>,
        m: usize,
        each: impl FnOnce(&mut dyn FnMut(&[f32]) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let Some(beside) = &self.names else {
            let mut table = ParquetRows::create(&self.features, names, m)?;
            each(&mut |row| Ok(table.push(row)?))?;
            return Ok(table.complete()?.appear()?);
        };
        let mut array = NpyWriter::create(&self.features, m)?;
        each(&mut |row| Ok(array.push(row)?))?;
        Ok(appear_together(vec![names_csv(beside, names)?, array.complete()?])?)
    }
}
