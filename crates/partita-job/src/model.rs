//! Models of any kind: which one a file holds, and reading and writing it.

use crate::error::Result;
use partita::linear::Model;
use partita_data::model_file::ModelFile;
use partita_data::{Columns, CompleteFile};
use std::path::Path;

#[cfg(feature = "deep")]
use partita_deep::{device::Processor, train::DeepModel};

/// A trained model with the options of its fit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyModel {
    /// A linear model of rows.
    Linear(Box<ModelFile>),
    /// A network for images.
    #[cfg(feature = "deep")]
    Network(Box<DeepModel>),
}

impl AnyModel {
    /// Read a model of any kind that this build knows.
    ///
    /// # Errors
    /// If the file is no model, or one of a kind that this build does not know; the message says what it is instead.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        #[cfg(feature = "deep")]
        if DeepModel::is_one(path) {
            return Ok(Self::Network(Box::new(DeepModel::read(path, Processor::Cpu.device()?)?)));
        }
        Ok(Self::Linear(Box::new(ModelFile::read(path)?)))
    }

    /// Write it, whole or not at all. The same model gives the same bytes.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.complete(path)?.appear()?)
    }

    /// The same file before it has its name.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn complete(&self, path: impl AsRef<Path>) -> Result<CompleteFile> {
        match self {
            Self::Linear(file) => Ok(file.complete(path)?),
            #[cfg(feature = "deep")]
            Self::Network(model) => Ok(model.complete(path.as_ref())?),
        }
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        match self {
            Self::Linear(file) => file.model.k(),
            #[cfg(feature = "deep")]
            Self::Network(model) => model.params.k,
        }
    }

    /// The names of the first clusters, where known labels were words; others are called by their number.
    pub fn cluster_names(&self) -> &[String] {
        match self {
            Self::Linear(file) => &file.names.clusters,
            #[cfg(feature = "deep")]
            Self::Network(model) => &model.cluster_names,
        }
    }

    /// The names of the columns of each file that the model was fitted to; none where a file had no names.
    pub fn columns(&self) -> &[Option<Columns>] {
        match self {
            Self::Linear(file) => &file.names.columns,
            #[cfg(feature = "deep")]
            Self::Network(_) => &[],
        }
    }

    /// The linear model, if it is one.
    pub fn linear(&self) -> Option<&Model> {
        match self {
            Self::Linear(file) => Some(&file.model),
            #[cfg(feature = "deep")]
            Self::Network(_) => None,
        }
    }
}
