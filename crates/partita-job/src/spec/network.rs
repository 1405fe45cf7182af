//! A network to train on images. Every build can read and write its specification; only one with the feature `deep` can run it.

use partita_data::Source;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Length of the disturbance of virtual adversarial training, by default.
pub(crate) const VAT_LENGTH: f64 = 2.0;
/// Views that are compared with an image, by default.
pub(crate) const VIEWS: usize = 1;
/// Weight of virtual adversarial training where there are no views.
const VAT: f64 = 10.0;

/// Optimiser of a network that learns to tell images apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PretextOptimiser {
    /// Adam.
    #[default]
    Adam,
    /// Stochastic gradient descent with a momentum of 0.9.
    Sgd,
}

/// A network and how it is trained. `None` means the default for the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSpec {
    /// The network by name: linear, mlp, vgg4, resnet18, resnet18-cifar, resnet18-stl, resnet50, resnet50-keras, mobilenetv2 or
    /// efficientnet-lite0.
    pub net: String,
    /// Side of an image in pixels; unchanged by default, if all images have the same size.
    pub size: Option<usize>,
    /// What is subtracted from pixels and what they are divided by: plain, imagenet, cifar10, cifar100, mnist, lite, caffe, or means and
    /// deviations of the channels such as `0.5,0.4,0.3/0.2,0.2,0.2`; as the weights at the start expect by default.
    pub normalise: Option<String>,
    /// How views of an image differ from it, as in `flip,rotate:10,crop:0.8`; empty for no views.
    pub augment: String,
    /// Weight of self-augmentation: an image and its view should get the same prediction; 1 where there are views.
    pub pairs: Option<f64>,
    /// Views that are compared with an image in every step.
    pub views: usize,
    /// Weight of virtual adversarial training; 10 without views, 0 with them.
    pub vat: Option<f64>,
    /// Length of its disturbance, in units of the network's input.
    pub vat_length: f64,
    /// Epochs over which these weights rise from 0.
    pub warm_up: usize,
    /// Epochs over which KL(y‖σ) fades out of the loss, from a weight of 1; half of them with the `loss` strong and
    /// without `known` labels, otherwise none.
    pub forward: Option<usize>,
    /// Invariant information clustering with this number of heads, instead of the method's loss.
    pub iic: Option<usize>,
    /// Clusters of its over-clustering heads; 5 K.
    pub over: Option<usize>,
    /// SCAN, with the epochs of its three stages, instead of the method's loss. With 0 for the first, `init_weights` take its place; with 0
    /// for the third, the second is the last.
    pub scan: Option<Vec<usize>>,
    /// Epochs in which the network first learns to tell images apart by their views (SimCLR).
    pub pretext: Option<usize>,
    /// Images to learn that from, or the first stage of SCAN; those that are clustered if there are none.
    pub pretext_data: Vec<PathBuf>,
    /// Learning rate meanwhile; 1e-3.
    pub pretext_rate: Option<f64>,
    /// Images of a batch meanwhile; as many as afterwards.
    pub pretext_batch: Option<usize>,
    /// Optimiser meanwhile.
    pub pretext_optimiser: PretextOptimiser,
    /// Lower the rate meanwhile from epoch to epoch along half a cosine.
    pub pretext_cosine: bool,
    /// Whether clusters without images start again, each as one half of a large one; with the `loss` strong by default.
    pub revive: Option<bool>,
    /// Images that are not trained on, only clustered at the end, to report how well their labels agree.
    pub holdout: Vec<PathBuf>,
    /// A file of their true labels, if they do not come with the images.
    pub holdout_truth: Option<PathBuf>,
    /// Weights to start from: a PyTorch state dict or `.safetensors`.
    pub init_weights: Option<PathBuf>,
    /// Train only the linear head.
    pub freeze: bool,
    /// Learning rate of the head; the method's.
    pub head_rate: Option<f64>,
    /// Weight decay.
    pub weight_decay: f64,
    /// Leave out images that cannot be decoded.
    pub skip_bad: bool,
}

impl Default for NetworkSpec {
    fn default() -> Self {
        Self {
            net: "mlp".to_owned(),
            size: None,
            normalise: None,
            augment: String::new(),
            pairs: None,
            views: VIEWS,
            vat: None,
            vat_length: VAT_LENGTH,
            warm_up: 0,
            forward: None,
            iic: None,
            over: None,
            scan: None,
            pretext: None,
            pretext_data: Vec::new(),
            pretext_rate: None,
            pretext_batch: None,
            pretext_optimiser: PretextOptimiser::Adam,
            pretext_cosine: false,
            revive: None,
            holdout: Vec::new(),
            holdout_truth: None,
            init_weights: None,
            freeze: false,
            head_rate: None,
            weight_decay: 0.0,
            skip_bad: false,
        }
    }
}

impl NetworkSpec {
    /// This network, and defaults.
    pub fn new(net: impl Into<String>) -> Self {
        Self { net: net.into(), ..Self::default() }
    }

    /// All files that it names.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let truth = self.holdout_truth.as_deref().map(|typed| Source::parse(typed).path);
        let images = self.pretext_data.iter().chain(&self.holdout).cloned();
        images.chain(self.init_weights.clone()).chain(truth).collect()
    }

    /// Whether there is a pretext, alone or as the first stage of SCAN.
    pub(crate) fn has_pretext(&self) -> bool {
        let first = self.scan.as_ref().is_some_and(|epochs| epochs.first() != Some(&0));
        self.pretext.is_some() || first
    }

    /// Weight of self-augmentation, with its default filled in.
    pub(crate) fn pairs_weight(&self) -> f64 {
        let views = !self.augment.is_empty();
        self.pairs.unwrap_or(if views && self.iic.is_none() { 1.0 } else { 0.0 })
    }

    /// Weight of virtual adversarial training, with its default filled in.
    pub(crate) fn vat_weight(&self) -> f64 {
        let views = !self.augment.is_empty();
        self.vat.unwrap_or(if views || self.iic.is_some() { 0.0 } else { VAT })
    }
}
