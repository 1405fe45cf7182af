//! The images of a data set: files that are decoded when they are needed, or pixels in memory.

use super::{Dataset, Note, usable_images};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::resources::Resources;
use crate::spec::{FitSpec, NetworkSpec};
use partita_embed::images::{ImageShape, Images, Pixels};
use partita_embed::photos::Net;
use partita_embed::weights::StateDict;
use std::borrow::Cow;
use std::path::PathBuf;

/// The images of a data set.
pub(crate) enum Pictures {
    /// Files, and the numbers of the images in use.
    Files {
        /// All images.
        images: Images,
        /// Those in use.
        used: Vec<usize>,
    },
    /// Images of one shape, all in use.
    Memory(Pixels),
}

impl Pictures {
    /// Open files and folders; with `skip_bad` images that cannot be decoded are left out.
    pub fn open(paths: &[PathBuf], skip_bad: bool) -> Result<(Self, Vec<Note>)> {
        let (images, used, notes) = usable_images(paths, skip_bad)?;
        Ok((Self::Files { images, used }, notes))
    }

    /// Number of images in use.
    pub fn len(&self) -> usize {
        match self {
            Self::Files { used, .. } => used.len(),
            Self::Memory(pixels) => pixels.len(),
        }
    }

    /// Number of images, including those that are left out.
    pub fn all(&self) -> usize {
        match self {
            Self::Files { images, .. } => images.len(),
            Self::Memory(pixels) => pixels.len(),
        }
    }

    /// Names of the images in use.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Files { images, used } => used.iter().map(|&row| images.name(row)).collect(),
            Self::Memory(pixels) => (0..pixels.len()).map(|row| row.to_string()).collect(),
        }
    }

    /// The values of the images in use, out of those of all.
    pub fn of_used<T: Copy>(&self, values: &[T]) -> Vec<T> {
        match self {
            Self::Files { used, .. } => used.iter().map(|&row| values[row]).collect(),
            Self::Memory(_) => values.to_vec(),
        }
    }

    /// Labels that came with the images.
    pub fn labels(&self, k: usize) -> Option<Vec<i64>> {
        match self {
            Self::Files { images, .. } => Some(self.of_used(&images.labels(k)?)),
            Self::Memory(_) => None,
        }
    }

    /// Pixels to train on; with `size` each image is first made a square of that side.
    pub fn pixels(&self, size: Option<usize>) -> Result<Cow<'_, Pixels>> {
        match (self, size) {
            (Self::Files { images, used }, size) => Ok(Cow::Owned(Pixels::load(images, used, size)?)),
            (Self::Memory(pixels), None) => Ok(Cow::Borrowed(pixels)),
            (Self::Memory(_), Some(_)) => {
                let why = "for images in memory, which have one size already; leave it out";
                Err(JobError::Idle { field: Field::Size, why })
            }
        }
    }

    /// Pixels for a network that takes images of this shape.
    pub fn pixels_for(&self, shape: ImageShape) -> Result<Cow<'_, Pixels>> {
        match self {
            Self::Files { images, used } => Ok(Cow::Owned(Pixels::load_for(shape, images, used)?)),
            Self::Memory(pixels) if pixels.shape() == shape => Ok(Cow::Borrowed(pixels)),
            Self::Memory(pixels) => {
                let shown = |[c, h, w]: ImageShape| format!("{c} channels and {h}×{w} pixels");
                let (found, needed) = (shown(pixels.shape()), shown(shape));
                let problem =
                    format!("the images have {found}, but the network takes {needed}; make them so");
                Err(JobError::refused(Field::Data, problem))
            }
        }
    }
}

impl Dataset<'static> {
    /// These images with all that a specification names beside them: images for a pretext, images that are not trained on, and weights,
    /// of which there may be something to know.
    ///
    /// # Errors
    /// If images cannot be used, or have no labels to compare with where they need them.
    pub fn beside(mut self, spec: &FitSpec, resources: &Resources) -> Result<Self> {
        let Some(network) = &spec.network else { return Ok(self) };
        self.notes.extend(doubt(network)?);
        let open = |paths: &[PathBuf]| match paths {
            [] => Ok(None),
            paths => Self::open_images(paths, network.skip_bad, resources).map(Some),
        };
        if let Some(found) = open(&network.pretext_data)? {
            self.notes.extend(found.notes);
            self.pretext = found.pictures;
        }
        if let Some(mut found) = open(&network.holdout)? {
            let truth = match &network.holdout_truth {
                Some(typed) => {
                    let (labels, said) = found.labels(typed, Field::HoldoutTruth)?;
                    found.notes.extend(said);
                    Some(labels.values)
                }
                None => found.own_labels(spec.clusters()?),
            };
            let truth = truth.filter(|truth| truth.iter().any(|label| *label >= 0)).ok_or_else(|| {
                let problem = "these images have no labels to compare with; give them with `holdout_truth`";
                JobError::refused(Field::Holdout, problem)
            })?;
            self.notes.extend(found.notes);
            self.holdout = found.pictures.map(|pictures| (pictures, truth));
        }
        Ok(self)
    }
}

/// What to know about the weights that a network starts from.
fn doubt(network: &NetworkSpec) -> Result<Option<Note>> {
    let Some(path) = &network.init_weights else { return Ok(None) };
    // A network that does not exist is refused with the options.
    let Ok(net) = network.net.parse::<Net>() else { return Ok(None) };
    let text = StateDict::open(path)?.doubt(net);
    Ok(text.map(|text| Note::Read { path: path.clone(), text }))
}
