//! A network to train on images. Every build can read and write its specification; only one with the feature `deep` can run it.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Length of the disturbance of virtual adversarial training, by default.
pub(crate) const VAT_LENGTH: f64 = 2.0;
/// Its weight where there are no views.
const VAT: f64 = 10.0;

/// A network and how it is trained. `None` means the default for the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSpec {
    /// The network by name: linear, mlp, vgg4, resnet18, resnet18-cifar, resnet50, mobilenetv2 or efficientnet-lite0.
    pub net: String,
    /// Side of an image in pixels; unchanged by default, if all images have the same size.
    pub size: Option<usize>,
    /// How views of an image differ from it, as in `flip,rotate:10,crop:0.8`; empty for no views.
    pub augment: String,
    /// Weight of self-augmentation: an image and its view should get the same prediction; 1 where there are views.
    pub pairs: Option<f64>,
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
    /// SCAN, with the epochs of its three stages, instead of the method's loss.
    pub scan: Option<Vec<usize>>,
    /// Epochs in which the network first learns to tell images apart by their views (SimCLR).
    pub pretext: Option<usize>,
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
            augment: String::new(),
            pairs: None,
            vat: None,
            vat_length: VAT_LENGTH,
            warm_up: 0,
            forward: None,
            iic: None,
            over: None,
            scan: None,
            pretext: None,
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
