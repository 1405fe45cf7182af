//! SCAN (Van Gansbeke et al. 2020): features by contrast, neighbours among them, clusters of neighbours, and labels the
//! network is sure of. The first of these is a start for any other aim too.

use super::{Aim, DeepFit, DeepModel, Epoch, Input, Params, Trainer, fit};
use crate::error::{DeepError, Result};
use crate::optimise::Pace;
use burn::tensor::Device;
use partita::report::{Flow, Observer, Progress, StopReason};
use partita::rivals::{Table, neighbours::nearest};
use std::path::{Path, PathBuf};

/// Options of SCAN; the defaults are the authors' for small images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scan {
    /// Epochs of the three stages.
    pub epochs: [usize; 3],
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
        Self { epochs, neighbours: 20, entropy: 5.0, threshold: 0.99 }
    }
}

/// What likenesses of views are divided by, and the numbers they are compared by.
const CONTRAST: Aim = Aim::Contrast { width: 128, temperature: 0.1 };
/// What the checkpoints of the stages are called after.
const STAGES: [&str; 3] = ["contrast", "neighbours", "labels"];
/// Rate at which views are learnt.
const RATE: f64 = 1e-3;

/// A network that was taught to tell images apart by their views (SimCLR), to start another aim from. A checkpoint gets
/// `contrast` in its name. The network that `each` sees compares views; it has no clusters yet.
///
/// Rates in `params`, and a frozen backbone, are those of the aim that follows: nothing is left to learn slowly or to be
/// kept before this.
pub fn pretext(
    input: &Input<'_>,
    params: &Params,
    epochs: usize,
    device: &Device,
    observer: &dyn Observer,
    each: impl FnMut(&Epoch, &DeepModel) -> Result<()>,
) -> Result<DeepFit> {
    // A mistake in what follows is better known now than when this is over.
    Trainer::new(input, params, device.clone())?;
    let pace = |of: Pace| Pace { rate: RATE, ..of };
    let params = Params { backbone: pace(params.backbone), heads: pace(params.heads), ..params.clone() };
    stage(input, &params, (CONTRAST, STAGES[0]), epochs, device, observer, each)
}

/// All three stages; `params` gives all but the aims and the numbers of epochs. A checkpoint becomes one file for each.
pub fn scan(
    input: &Input<'_>,
    params: &Params,
    options: &Scan,
    device: &Device,
    observer: &dyn Observer,
    mut each: impl FnMut(&Epoch, &DeepModel) -> Result<()>,
) -> Result<DeepFit> {
    let Scan { epochs: [first, second, third], neighbours, entropy, threshold } = *options;
    if [first, second, third].contains(&0) || neighbours == 0 {
        return Err(DeepError::Option(
            "each stage of SCAN needs at least one epoch and one neighbour".into(),
        ));
    }
    // Each stage has an aim of its own and none of these weights.
    let params = &Params { aim: Aim::Confident { threshold }, pairs: 0.0, disturb: 0.0, ..params.clone() };
    let features = pretext(input, params, first, device, observer, &mut each)?;
    if features.stop == StopReason::Interrupted {
        return Ok(features);
    }
    let near = match mined(&features.model, input, neighbours, observer) {
        Err(DeepError::Core(partita::Error::Interrupted)) => {
            return Ok(DeepFit { stop: StopReason::Interrupted, ..features });
        }
        near => near?,
    };

    let input = Input { begin: Some(&features.model), neighbours: &near, ..*input };
    let aim = (Aim::Neighbours { entropy }, STAGES[1]);
    let clusters = stage(&input, params, aim, second, device, observer, &mut each)?;
    if clusters.stop == StopReason::Interrupted {
        let kept = clusters.kept.or(features.kept);
        return Ok(DeepFit { epochs: [features.epochs, clusters.epochs].concat(), kept, ..clusters });
    }
    let input = Input { begin: Some(&clusters.model), ..input };
    let aim = (Aim::Confident { threshold }, STAGES[2]);
    let labels = stage(&input, params, aim, third, device, observer, &mut each)?;
    let kept = labels.kept.or(clusters.kept);
    Ok(DeepFit { epochs: [features.epochs, clusters.epochs, labels.epochs].concat(), kept, ..labels })
}

/// The nearest neighbours of every image by the features of a network.
fn mined(model: &DeepModel, input: &Input<'_>, count: usize, observer: &dyn Observer) -> Result<Vec<u32>> {
    let (rows, m) = model.features(input.pixels, observer)?;
    let seen = |done: f64| {
        observer.progress(Progress { stage: "searching neighbours", done, loss: None }) == Flow::Continue
    };
    let count = count.min(input.pixels.len() - 1);
    Ok(nearest(Table { x: &rows, m }, count, seen).ok_or(partita::Error::Interrupted)?)
}

/// The checkpoints that the stages of SCAN make of one.
pub fn checkpoints(path: &Path) -> [PathBuf; 3] {
    STAGES.map(|name| of_stage(path, name))
}

/// One stage, with a checkpoint of its own.
fn stage(
    input: &Input<'_>,
    params: &Params,
    (aim, name): (Aim, &str),
    epochs: usize,
    device: &Device,
    observer: &dyn Observer,
    each: impl FnMut(&Epoch, &DeepModel) -> Result<()>,
) -> Result<DeepFit> {
    let checkpoint = input.checkpoint.map(|path| of_stage(path, name));
    let params = Params { aim, epochs, disturb: 0.0, pairs: 0.0, ..params.clone() };
    fit(&Input { checkpoint: checkpoint.as_deref(), ..*input }, &params, device.clone(), observer, each)
}

fn of_stage(path: &Path, name: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.{name}.safetensors"))
}
