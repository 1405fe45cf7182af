//! SCAN (Van Gansbeke et al. 2020): features by contrast, neighbours in terms of these features, clusters of
//! neighbours, and labels that the network is sure of. The first stage is also a start for any other aim.

use super::{Aim, DeepFit, DeepModel, Epoch, Input, Params, Trainer, fit};
use crate::error::{DeepError, Result};
use crate::optimise::{Pace, Rule};
use burn::tensor::Device;
use partita::neighbours::nearest;
use partita::report::{Flow, Observer, Progress, StopReason};
use partita::rivals::Table;
use std::path::{Path, PathBuf};

/// How a network first learns to tell images apart by their views.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pretext {
    /// Passes over the images.
    pub epochs: usize,
    /// Learning rate of the whole network.
    pub rate: f64,
    /// Images per batch; as many as afterwards if absent.
    pub batch: Option<usize>,
    /// How a gradient becomes a step.
    pub rule: Rule,
    /// Lower the rate from epoch to epoch along half a cosine.
    pub cosine: bool,
}

impl Pretext {
    /// Adam at a rate of 1e-3, for this number of epochs.
    pub fn new(epochs: usize) -> Self {
        Self { epochs, rate: RATE, batch: None, rule: Rule::Adam, cosine: false }
    }
}

/// Options of SCAN; the defaults are the authors' for small images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scan {
    /// The first stage; with 0 epochs, the weights that the network starts from take its place.
    pub pretext: Pretext,
    /// Epochs of the second and third stage; with 0 epochs of the third, the second is the last.
    pub epochs: [usize; 2],
    /// Second stage: number of nearest neighbours from which an image's partner is drawn.
    pub neighbours: usize,
    /// Second stage: weight of the entropy of the mean prediction.
    pub entropy: f64,
    /// Third stage: probability from which the network counts as sure.
    pub threshold: f64,
}

impl Scan {
    /// The authors' options, with these epochs; the first stage by Adam.
    pub fn new([first, second, third]: [usize; 3]) -> Self {
        Self {
            pretext: Pretext::new(first),
            epochs: [second, third],
            neighbours: 20,
            entropy: 5.0,
            threshold: 0.99,
        }
    }
}

/// The dimensions in which views are compared, and the divisor of their similarities.
const CONTRAST: Aim = Aim::Contrast { width: 128, temperature: 0.1 };
/// Names of the stages in the names of their checkpoints.
const STAGES: [&str; 3] = ["contrast", "neighbours", "labels"];
/// Learning rate of the first stage, by default.
const RATE: f64 = 1e-3;

/// Train a network to tell images apart by their views (SimCLR), as a start for another aim. A checkpoint gets
/// `contrast` in its name. The network that `each` sees compares views; it has no clusters yet.
///
/// The rates in `params`, and a frozen backbone, are for the aim that follows. They are not used here, as the network
/// has learnt nothing yet that slow rates or freezing would protect.
pub fn pretext(
    input: &Input<'_>,
    params: &Params,
    options: &Pretext,
    device: &Device,
    observer: &dyn Observer,
    each: impl FnMut(&Epoch, &DeepModel) -> Result<()>,
) -> Result<DeepFit> {
    // Report mistakes in the aim that follows now, not only after this stage.
    Trainer::new(input, params, device.clone())?;
    let Pretext { epochs, rate, batch, rule, cosine } = *options;
    let pace = |of: Pace| Pace { rate, ..of };
    let params = Params {
        backbone: pace(params.backbone),
        heads: pace(params.heads),
        batch: batch.unwrap_or(params.batch),
        rule,
        cosine,
        ..params.clone()
    };
    let input = match input.pretext {
        Some(pixels) => Input { pixels, known: None, ..*input },
        None => *input,
    };
    stage(&input, &params, (CONTRAST, STAGES[0]), epochs, device, observer, each)
}

/// All three stages; `params` gives everything except the aims and the numbers of epochs. Each stage has its own
/// checkpoint file.
pub fn scan(
    input: &Input<'_>,
    params: &Params,
    options: &Scan,
    device: &Device,
    observer: &dyn Observer,
    mut each: impl FnMut(&Epoch, &DeepModel) -> Result<()>,
) -> Result<DeepFit> {
    let Scan { epochs: [second, third], neighbours, entropy, threshold, .. } = *options;
    if second == 0 || neighbours == 0 {
        let problem = "the second stage of SCAN needs at least one epoch and one neighbour";
        return Err(DeepError::Option(problem.into()));
    }
    // Each stage sets its own aim, and none of them uses these two weights.
    let params = &Params { aim: Aim::Confident { threshold }, pairs: 0.0, disturb: 0.0, ..params.clone() };
    let features = match options.pretext.epochs {
        0 => given(input, params, device)?,
        _ => pretext(input, params, &options.pretext, device, observer, &mut each)?,
    };
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
    if clusters.stop == StopReason::Interrupted || third == 0 {
        let kept = clusters.kept.or(features.kept);
        return Ok(DeepFit { epochs: [features.epochs, clusters.epochs].concat(), kept, ..clusters });
    }
    let input = Input { begin: Some(&clusters.model), ..input };
    let aim = (Aim::Confident { threshold }, STAGES[2]);
    let labels = stage(&input, params, aim, third, device, observer, &mut each)?;
    let kept = labels.kept.or(clusters.kept);
    Ok(DeepFit { epochs: [features.epochs, clusters.epochs, labels.epochs].concat(), kept, ..labels })
}

/// The network as it is given, in the place of the first stage.
fn given(input: &Input<'_>, params: &Params, device: &Device) -> Result<DeepFit> {
    if input.start.is_none() && input.begin.is_none() {
        let problem =
            "without epochs of its first stage, SCAN needs weights to start from; give --init-weights";
        return Err(DeepError::Option(problem.into()));
    }
    let params = Params { aim: CONTRAST, ..params.clone() };
    let model = Trainer::new(input, &params, device.clone())?.result();
    Ok(DeepFit { model, epochs: Vec::new(), stop: StopReason::Finished, kept: None })
}

/// The nearest neighbours of every image in the features of a network.
fn mined(model: &DeepModel, input: &Input<'_>, count: usize, observer: &dyn Observer) -> Result<Vec<u32>> {
    let (rows, m) = model.features(input.pixels, observer)?;
    let seen = |done: f64| {
        observer.progress(Progress { stage: "searching neighbours", done, loss: None }) == Flow::Continue
    };
    let count = count.min(input.pixels.len() - 1);
    Ok(nearest(Table { x: &rows, m }, count, seen).ok_or(partita::Error::Interrupted)?)
}

/// The checkpoint files of the three stages, named after `path`.
pub fn checkpoints(path: &Path) -> [PathBuf; 3] {
    STAGES.map(|name| of_stage(path, name))
}

/// One stage, with its own checkpoint.
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
