//! Opening what a specification or a model takes: feature files, or images.

use super::{DataPart, Dataset};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::model::AnyModel;
use crate::resources::Resources;
use crate::spec::{DataSpec, FitSpec};
use partita_data::{OpenOptions, open};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "deep")]
use super::Pictures;

/// Something that a user should know about how the data was read. The front end shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// About a file, such as columns left out.
    Read {
        /// The file.
        path: PathBuf,
        /// What to know.
        text: String,
    },
    /// An image that was left out.
    Skipped(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, text } => write!(f, "note: {}: {text}", path.display()),
            Self::Skipped(what) => write!(f, "skipped: {what}"),
        }
    }
}

impl Dataset<'static> {
    /// Open feature files of the same rows.
    ///
    /// # Errors
    /// If a file cannot be read, or the files do not hold the same rows.
    pub fn open(spec: &DataSpec, resources: &Resources) -> Result<Self> {
        let options = OpenOptions {
            memory: resources.memory,
            array: spec.array.clone(),
            columns: spec.columns.clone(),
            id_column: spec.id_column.clone(),
            ..OpenOptions::default()
        };
        // Text is parsed by all threads of the current pool, so it is read inside the pool with the requested number of threads.
        let files = resources.on_threads(|| {
            spec.paths.iter().map(|path| open(path, &options)).collect::<partita_data::Result<Vec<_>>>()
        })??;
        let (mut parts, mut named, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for (mut file, path) in files.into_iter().zip(&spec.paths) {
            let note = |text: &String| Note::Read { path: path.clone(), text: text.clone() };
            notes.extend(file.notes().iter().map(note));
            named.extend(file.take_ids().map(|ids| (ids, path)));
            let columns = file.feature_names().map(<[String]>::to_vec);
            parts.push(DataPart { columns, origin: Some(path.clone()), ..DataPart::new(Arc::new(file)) });
        }
        let dataset = Self::new(parts)?;
        for ((a, a_path), (b, b_path)) in named.iter().zip(named.iter().skip(1)) {
            same_names(a, a_path, b, b_path)?;
        }
        Ok(Self { ids: named.into_iter().next().map(|(ids, _)| ids), notes, ..dataset })
    }

    /// Open what a specification names: feature files, or images for a network.
    ///
    /// # Errors
    /// As [`Self::open`], or if images cannot be used.
    pub fn open_for(spec: &FitSpec, resources: &Resources) -> Result<Self> {
        #[cfg(feature = "deep")]
        if let Some(network) = &spec.network {
            return Self::open_images(&spec.data.paths, network.skip_bad, resources);
        }
        Self::open(&spec.data, resources)
    }

    /// Open what a model takes: feature files, or images for a network. Bad images can be skipped only where there are images.
    ///
    /// # Errors
    /// As [`Self::open`], or if a field has no meaning for what the model takes.
    pub fn open_like(
        model: &AnyModel,
        spec: &DataSpec,
        skip_bad: bool,
        resources: &Resources,
    ) -> Result<Self> {
        match model {
            AnyModel::Linear(_) => {
                let why = "for a model of rows; leave it out";
                JobError::first_idle(&[(Field::SkipBad, skip_bad)], why)?;
                Self::open(spec, resources)
            }
            #[cfg(feature = "deep")]
            AnyModel::Network(_) => {
                crate::spec::refuse_for_images(spec, resources)?;
                Self::open_images(&spec.paths, skip_bad, resources)
            }
        }
    }

    /// Open images: folders of pictures, and files of MNIST, CIFAR or STL-10, one after another. With `skip_bad` those that
    /// cannot be decoded are left out, each with a note.
    ///
    /// # Errors
    /// If a place holds no images, or none that can be used.
    #[cfg(feature = "deep")]
    pub fn open_images(paths: &[PathBuf], skip_bad: bool, resources: &Resources) -> Result<Self> {
        if paths.is_empty() {
            return Err(JobError::Missing { field: Field::Data });
        }
        let (pictures, notes) = resources.on_threads(|| Pictures::open(paths, skip_bad))??;
        let ids = Some(pictures.names());
        Ok(Self { parts: Vec::new(), ids, notes, pictures: Some(pictures) })
    }

    /// Images that are in memory: the bytes of each, channel after channel and row after row, and how many channels, rows of
    /// pixels and pixels of a row each has.
    ///
    /// # Errors
    /// If the bytes are not those of whole images with 1 or 3 channels.
    #[cfg(feature = "deep")]
    pub fn of_images(shape: [usize; 3], bytes: Vec<u8>) -> Result<Self> {
        let len = shape.iter().product::<usize>();
        if !matches!(shape[0], 1 | 3) || bytes.is_empty() || len == 0 || !bytes.len().is_multiple_of(len) {
            let problem = format!(
                "{} bytes are no images of {} channels and {}×{} pixels; give at least one image with 1 or 3 channels",
                bytes.len(),
                shape[0],
                shape[1],
                shape[2]
            );
            return Err(JobError::refused(Field::Data, problem));
        }
        Ok(Self::from_pixels(partita_deep::images::Pixels::new(shape, bytes)))
    }

    /// Images that are in memory.
    #[cfg(feature = "deep")]
    pub fn from_pixels(pixels: partita_deep::images::Pixels) -> Self {
        let pictures = Some(Pictures::Memory(pixels));
        Self { parts: Vec::new(), ids: None, notes: Vec::new(), pictures }
    }
}

/// Refuse files whose rows have other names.
fn same_names(a: &[String], a_path: &Path, b: &[String], b_path: &Path) -> Result<()> {
    let Some(row) = a.iter().zip(b).position(|(a, b)| a != b) else { return Ok(()) };
    let problem = format!(
        "row {row} is '{}' in {} but '{}' in {} (rows count from 0); put the rows of both in the same order, or remove \
         the column of names from one",
        a[row],
        a_path.display(),
        b[row],
        b_path.display()
    );
    Err(JobError::file(Field::Data, problem))
}
