//! Deep clustering: a network trained on images, with the core's losses and losses that compare views.

mod ahead;
mod checkpoint;
mod forecast;
mod model;
mod params;
mod revive;
mod scan;
mod step;
mod views;

pub use model::DeepModel;
pub use params::{Aim, Params};
pub use scan::{Pretext, Scan, checkpoints, pretext, scan};

use crate::error::{DeepError, Result};
use crate::nets::Classifier;
use crate::optimise::{Optimiser, cosine};
use crate::weights::{self, StateDict};
use ahead::Source;
use burn::module::Module;
use burn::tensor::Device;
use checkpoint::Checkpoint;
use partita::linear::Refresh;
use partita::objective::Workspace;
use partita::report::{Flow, Observer, Progress, StopReason};
use partita::rng::{Stream, stream};
use partita_embed::images::Pixels;
use partita_embed::memory;
use partita_embed::photos::Normalise;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use step::{Judge, Losses};

/// A completed epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The stage of training it belongs to: training, or one of SCAN's (contrast, neighbours, self-labels).
    pub stage: String,
    /// Its number within the stage, from 1.
    pub epoch: usize,
    /// Weighted sum of all losses, as a mean over the batches.
    pub loss: f64,
    /// The clustering loss.
    pub cluster: f64,
    /// The loss of self-augmentation.
    pub pairs: f64,
    /// The loss of virtual adversarial training.
    pub disturb: f64,
    /// Share of the images that the network was sure of, in the third stage of SCAN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sure: Option<f64>,
}

/// What a deep fit is given besides its options.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The images.
    pub pixels: &'a Pixels,
    /// Known labels, −1 where unknown.
    pub known: Option<&'a [i32]>,
    /// Weights to start the backbone from.
    pub start: Option<&'a StateDict>,
    /// A trained network to start from: its backbone, and its heads where they fit.
    pub begin: Option<&'a DeepModel>,
    /// Other images for a pretext, of the same shape; if absent, it is learnt from the images themselves.
    pub pretext: Option<&'a Pixels>,
    /// Neighbours of each image, the same number for all, for an aim that uses them.
    pub neighbours: &'a [u32],
    /// Where the state is saved after every epoch.
    pub checkpoint: Option<&'a Path>,
    /// Continue from the checkpoint, if it exists.
    pub resume: bool,
}

impl<'a> Input<'a> {
    /// Images only.
    pub fn new(pixels: &'a Pixels) -> Self {
        Self {
            pixels,
            known: None,
            start: None,
            begin: None,
            pretext: None,
            neighbours: &[],
            checkpoint: None,
            resume: false,
        }
    }
}

impl Input<'_> {
    /// Refuse labels and neighbours that do not belong to the images.
    fn check(&self, params: &Params) -> Result<()> {
        let refuse = |problem: String| Err(DeepError::Option(problem));
        let n = self.pixels.len();
        if let Some(known) = self.known {
            if known.len() != n {
                return refuse(format!("{} known labels are given for {n} images", known.len()));
            }
            if let Some(label) =
                known.iter().find(|label| usize::try_from(**label).is_ok_and(|label| label >= params.k))
            {
                return refuse(format!(
                    "a known label is {label}; with {} clusters they go from 0 to {}",
                    params.k,
                    params.k - 1
                ));
            }
        }
        let near = self.neighbours;
        if matches!(params.aim, Aim::Neighbours { .. })
            && (near.is_empty() || !near.len().is_multiple_of(n) || near.iter().any(|i| *i as usize >= n))
        {
            return refuse(format!("every one of the {n} images needs as many neighbours among them"));
        }
        Ok(())
    }
}

/// A run of training.
pub struct Trainer<'a> {
    params: &'a Params,
    source: Source<'a>,
    known: Option<&'a [i32]>,
    model: Classifier,
    adam: Optimiser,
    device: Device,
    epochs: Vec<Epoch>,
    head_losses: Vec<f64>,
    /// Mean predictions in the epoch so far.
    shares: Vec<f64>,
    /// Number of images in the epoch so far whose cluster the network was sure of.
    sure: usize,
    workspace: Workspace,
}

/// A trained network and how it was trained.
#[derive(Debug)]
pub struct DeepFit {
    /// The network.
    pub model: DeepModel,
    /// The epochs.
    pub epochs: Vec<Epoch>,
    /// Why training stopped.
    pub stop: StopReason,
    /// The checkpoint file, if there is one.
    pub kept: Option<PathBuf>,
}

/// Train a network on images. `each` sees every epoch and the network after it, before the checkpoint is written: if
/// a run is killed in between and resumed, it sees that epoch again.
///
/// On the processor, the same seed gives the same bits, whatever the number of threads, and whether or not the run
/// was interrupted and resumed with the same options. A resumed run may ask for more epochs.
pub fn fit(
    input: &Input<'_>,
    params: &Params,
    device: Device,
    observer: &dyn Observer,
    mut each: impl FnMut(&Epoch, &DeepModel) -> Result<()>,
) -> Result<DeepFit> {
    let mut trainer = Trainer::new(input, params, device)?;
    let checkpoint = input.checkpoint.map(|path| Checkpoint::new(path, &trainer));
    if let Some(checkpoint) = checkpoint.as_ref().filter(|kept| input.resume && kept.path.exists()) {
        checkpoint.read(&mut trainer)?;
    }
    let mut stop = StopReason::Finished;
    while trainer.epochs.len() < params.epochs {
        if trainer.epoch(observer)? == Flow::Stop {
            stop = StopReason::Interrupted;
            break;
        }
        let told = trainer.epochs.last().map_or(Ok(()), |epoch| each(epoch, &trainer.result()));
        if let Some(checkpoint) = &checkpoint {
            checkpoint.write(&trainer)?;
        }
        told?;
    }
    let kept = input.checkpoint.filter(|_| !trainer.epochs.is_empty()).map(Path::to_owned);
    Ok(DeepFit { model: trainer.result(), epochs: trainer.epochs, stop, kept })
}

impl<'a> Trainer<'a> {
    fn new(input: &Input<'a>, params: &'a Params, device: Device) -> Result<Self> {
        params.check(input.pixels.len())?;
        input.check(params)?;
        let on_processor = device == Device::flex();
        let (device, shape) = (device.autodiff(), input.pixels.shape());
        let heads = params.head_sizes(shape);
        let mut model = Classifier::new(params.net, shape, &heads, &device)?;
        // No memory is taken for weights before this point.
        let free = memory::free().filter(|_| on_processor);
        forecast::check(params, input.pixels, weights::walk::count(&model), free)?;
        model = weights::randomise(model, params.seed);
        // Weights of a network get the same normalised input, whether they were trained here or elsewhere.
        let mut normalise = params.normalise.unwrap_or(Normalise::of(params.net));
        if let Some(start) = input.start {
            model.backbone = weights::load(model.backbone, params.net, start)?;
            normalise = params.normalise.or(start.normalise()).unwrap_or(normalise);
        }
        if let Some(begin) = input.begin {
            model = begin.continued(model);
            normalise = params.normalise.unwrap_or(begin.normalise);
        }
        if params.backbone.rate == 0.0 {
            model.backbone = model.backbone.freeze();
        }
        Ok(Self {
            adam: Optimiser { rule: params.rule, ..Optimiser::new(params.backbone, params.heads) },
            head_losses: vec![0.0; heads.len()],
            shares: vec![0.0; params.k],
            sure: 0,
            params,
            source: Source { pixels: input.pixels, neighbours: input.neighbours, params, normalise },
            known: input.known,
            epochs: Vec::new(),
            workspace: Workspace::default(),
            model,
            device,
        })
    }

    /// Batches per epoch; images left over at its end wait for the next one.
    fn batches(&self) -> usize {
        (self.source.pixels.len() / self.params.batch).max(1)
    }

    /// One pass over the images; the order differs in each epoch.
    fn epoch(&mut self, observer: &dyn Observer) -> Result<Flow> {
        let (number, source) = (self.epochs.len(), self.source);
        let mut order: Vec<usize> = (0..source.pixels.len()).collect();
        order.shuffle(&mut stream(self.params.seed, Stream::Order, number as u64));
        self.adam.share = if self.params.cosine { cosine(number, self.params.epochs) } else { 1.0 };
        let judge = self.judge(&order);
        let (batches, mut sum) = (self.batches(), Losses::default());
        self.head_losses.fill(0.0);
        self.shares.fill(0.0);
        self.sure = 0;
        let mut batch = order.chunks(self.params.batch.min(order.len())).take(batches);
        let mut prepare = || batch.next().map(|rows| source.inputs(rows, number));
        let (mut made, mut next) = (0, prepare());
        while let Some(inputs) = next.take() {
            // The step stays on this thread: burn keeps separate running means for every thread that computes them.
            let losses = rayon::in_place_scope(|scope| {
                scope.spawn(|_| next = prepare());
                self.step(inputs, &judge)
            });
            made += 1;
            if !losses.total().is_finite() {
                return Err(DeepError::Option(format!(
                    "the loss is no longer finite after {} steps; give a smaller learning rate",
                    self.adam.steps
                )));
            }
            sum.cluster += losses.cluster / batches as f64;
            sum.pairs += losses.pairs / batches as f64;
            sum.disturb += losses.disturb / batches as f64;
            let done = (number as f64 + f64::from(made) / batches as f64) / self.params.epochs as f64;
            let progress = Progress { stage: self.params.aim.stage(), done, loss: Some(losses.total()) };
            if observer.progress(progress) == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        // Known labels hold their clusters in place, and there is too little time to learn from a late split.
        if self.known.is_none() && self.params.revives() && 2 * (number + 1) <= self.params.epochs {
            let shares: Vec<f64> = self.shares.iter().map(|sum| sum / batches as f64).collect();
            self.revive(&shares);
        }
        let Losses { cluster, pairs, disturb } = sum;
        let stage = self.params.aim.stage().to_owned();
        let seen = batches * self.params.batch.min(order.len());
        let sure = matches!(self.params.aim, Aim::Confident { .. }).then(|| self.sure as f64 / seen as f64);
        self.epochs.push(Epoch {
            stage,
            epoch: number + 1,
            loss: sum.total(),
            cluster,
            pairs,
            disturb,
            sure,
        });
        Ok(Flow::Continue)
    }

    fn judge(&self, order: &[usize]) -> Judge {
        match self.params.aim {
            Aim::Core { loss, lambda, solver, refresh } => {
                let (labels, prior) = (loss.solver(solver, lambda), self.params.prior());
                match refresh {
                    Refresh::Batch => Judge::Batch(loss.objective(labels, prior, lambda)),
                    Refresh::Epoch => {
                        let objective = loss.self_labelled(labels, prior, lambda);
                        let labels = self.label_all(&objective, order);
                        Judge::Epoch(objective, labels)
                    }
                }
            }
            _ => Judge::Views,
        }
    }

    /// The network as it is now.
    fn result(&self) -> DeepModel {
        // Of IIC's heads with K clusters, take the one with the lowest loss; the truth has no influence.
        let count = if let Aim::Iic { heads, .. } = self.params.aim { heads } else { 1 };
        let main = self.head_losses.iter().enumerate().take(count);
        let head = main.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(head, _)| head);
        DeepModel {
            net: self.model.valid(),
            params: self.params.clone(),
            shape: self.source.pixels.shape(),
            head,
            cluster_names: Vec::new(),
            normalise: self.source.normalise,
            device: self.device.clone().inner(),
        }
    }
}

#[cfg(test)]
mod recipe_tests;
#[cfg(test)]
mod tests;
