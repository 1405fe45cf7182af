//! SCAN (Van Gansbeke et al. 2020): features by contrast, neighbours among them, clusters of neighbours, and labels the
//! network is sure of.

use super::{Aim, DeepFit, DeepModel, Epoch, Input, Params, fit};
use crate::error::{DeepError, Result};
use burn::tensor::Device;
use partita::report::{Observer, StopReason};
use partita::rivals::{Table, neighbours::nearest};
use std::path::{Path, PathBuf};

/// Options of SCAN; the defaults are the authors' for small images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scan {
    /// Epochs of the three stages.
    pub epochs: [usize; 3],
    /// Numbers that views are compared by in the first.
    pub width: usize,
    /// What their likenesses are divided by.
    pub temperature: f64,
    /// Nearest neighbours among which an image's partner is drawn in the second.
    pub neighbours: usize,
    /// Weight of the entropy of the mean prediction there.
    pub entropy: f64,
    /// Probability from which the network is sure, in the third.
    pub threshold: f64,
}

impl Scan {
    /// The authors' numbers with these epochs.
    pub fn new(epochs: [usize; 3]) -> Self {
        Self { epochs, width: 128, temperature: 0.1, neighbours: 20, entropy: 5.0, threshold: 0.99 }
    }
}

/// All three stages; `params` gives all but the aim and the number of epochs. A checkpoint becomes one file for each stage.
pub fn scan(
    input: &Input<'_>,
    params: &Params,
    scan: &Scan,
    device: &Device,
    observer: &dyn Observer,
    mut each: impl FnMut(&Epoch, &DeepModel) -> Result<()>,
) -> Result<DeepFit> {
    let Scan { epochs, width, temperature, neighbours, entropy, threshold } = *scan;
    if epochs.contains(&0) || neighbours == 0 {
        return Err(DeepError::Option(
            "each stage of SCAN needs at least one epoch and one neighbour".into(),
        ));
    }
    let aims =
        [Aim::Contrast { width, temperature }, Aim::Neighbours { entropy }, Aim::Confident { threshold }];
    let mut begin: Option<DeepModel> = None;
    let mut near = Vec::new();
    let mut all = Vec::new();
    for (stage, (aim, epochs)) in aims.into_iter().zip(epochs).enumerate() {
        let checkpoint = input.checkpoint.map(|path| of_stage(path, stage));
        let params = Params { aim, epochs, disturb: 0.0, pairs: 0.0, ..params.clone() };
        let input =
            Input { begin: begin.as_ref(), neighbours: &near, checkpoint: checkpoint.as_deref(), ..*input };
        // Views of the first stage have no clusters to tell of.
        let found = fit(&input, &params, device.clone(), observer, |epoch, model| match stage {
            0 => Ok(()),
            _ => each(epoch, model),
        })?;
        all.extend(found.epochs);
        if stage == 2 || found.stop == StopReason::Interrupted {
            return Ok(DeepFit { model: found.model, epochs: all, stop: found.stop });
        }
        if stage == 0 {
            let (features, m) = found.model.features(input.pixels, observer)?;
            let count = neighbours.min(input.pixels.len() - 1);
            let table = Table { x: &features, m };
            near = nearest(table, count, |_| true).unwrap_or_default();
        }
        begin = Some(found.model);
    }
    unreachable!("the third stage returns")
}

fn of_stage(path: &Path, stage: usize) -> PathBuf {
    let name = ["contrast", "neighbours", "labels"][stage];
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.{name}.safetensors"))
}
