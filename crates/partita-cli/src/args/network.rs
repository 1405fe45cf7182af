//! What may be typed for a fit of images by a network.

use super::values::device;
use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args, ValueHint};
use partita_deep::augment::Augment;
use partita_deep::nets::Net;
use std::path::PathBuf;

/// Options of a fit of images. What an option needs beside it may also stand in the specification.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Images and networks",
    group(ArgGroup::new("a network").args(["net", "spec"]).multiple(true)),
    group(ArgGroup::new("views").args(["augment", "spec"]).multiple(true)),
    group(ArgGroup::new("heads").args(["iic", "spec"]).multiple(true))
)]
pub struct NetworkArgs {
    /// Train a network on images (folders, idx, CIFAR or STL-10 files): linear, mlp, vgg4, resnet18, resnet18-cifar, resnet50, mobilenetv2 or efficientnet-lite0
    #[arg(long, value_name = "NET")]
    pub net: Option<Net>,
    /// Pixels of a side [default: as they are, if all are alike]
    #[arg(long, requires = "a network", value_parser = RangedU64ValueParser::<usize>::new().range(1..=2048))]
    pub size: Option<usize>,
    /// How views of an image differ from it: flip,rotate:10,crop:0.8,affine:0.1,colour:0.4,grey:0.2,blur:1
    #[arg(long, requires = "a network", value_name = "A,B,..")]
    pub augment: Option<Augment>,
    /// Weight of self-augmentation: an image and its view should be alike [default: 1 with --augment]
    #[arg(long, requires = "a network", value_name = "WEIGHT")]
    pub pairs: Option<f64>,
    /// Weight of virtual adversarial training [default: 10 without --augment, 0 with it]
    #[arg(long, requires = "a network", value_name = "WEIGHT")]
    pub vat: Option<f64>,
    /// Length of its disturbance, in units of the network's input: pixels from 0 to 1, or normalised for weights from ImageNet [default: 2]
    #[arg(long, requires = "a network")]
    pub vat_length: Option<f64>,
    /// Epochs over which these weights rise from 0 [default: 0]
    #[arg(long, requires = "a network", value_name = "EPOCHS")]
    pub warm_up: Option<usize>,
    /// Invariant information clustering with so many heads, instead of a loss with --loss
    #[arg(long, requires = "a network", value_name = "HEADS")]
    pub iic: Option<usize>,
    /// Clusters of its over-clustering heads [default: 5 K]
    #[arg(long, requires = "heads", value_name = "CLUSTERS")]
    pub over: Option<usize>,
    /// SCAN, with the epochs of contrast, of clusters of neighbours, and of self-labels: 100,30,10
    #[arg(long, requires = "views", conflicts_with = "iic", value_name = "A,B,C", value_delimiter = ',')]
    pub scan: Option<Vec<usize>>,
    /// First teach the network for so many epochs, at a rate of 1e-3, to tell images apart by their views (SimCLR)
    #[arg(long, requires = "views", conflicts_with = "scan", value_name = "EPOCHS")]
    pub pretext: Option<usize>,
    /// Weights to start from: a PyTorch state dict or .safetensors
    #[arg(long, requires = "a network", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub init_weights: Option<PathBuf>,
    /// Train only the linear head
    #[arg(long, requires = "a network")]
    pub freeze: bool,
    /// Learning rate of the head [default: --learning-rate]
    #[arg(long, requires = "a network")]
    pub head_rate: Option<f64>,
    /// Weight decay [default: 0]
    #[arg(long, requires = "a network")]
    pub weight_decay: Option<f64>,
    /// Leave out images that cannot be decoded, naming each
    #[arg(long, requires = "a network")]
    pub skip_bad: bool,
    /// Write the trained weights before the head here, under PyTorch's names
    #[arg(long, requires = "a network", value_name = "FILE.safetensors", value_hint = ValueHint::FilePath)]
    pub backbone_out: Option<PathBuf>,
    /// A line of JSON for every epoch
    #[arg(long, requires = "a network", value_name = "FILE.jsonl", value_hint = ValueHint::FilePath)]
    pub metrics: Option<PathBuf>,
    /// cpu, wgpu or cuda
    #[arg(long, requires = "a network", default_value = "cpu", value_parser = device)]
    pub device: String,
}
