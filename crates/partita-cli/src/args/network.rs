//! Arguments of a fit that trains a network on images.

use super::values::device;
use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args, ValueHint};
use partita_deep::augment::Augment;
use partita_deep::nets::Net;
use std::path::PathBuf;

/// Options of a fit of images. An option that another one requires may also come from the specification.
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
    /// Side of an image in pixels [default: unchanged, if all images have the same size]
    #[arg(long, requires = "a network", value_parser = RangedU64ValueParser::<usize>::new().range(1..=2048))]
    pub size: Option<usize>,
    /// Random changes that turn an image into its views: flip,rotate:10,crop:0.8,affine:0.1,colour:0.4,grey:0.2,blur:1
    #[arg(long, requires = "a network", value_name = "A,B,..")]
    pub augment: Option<Augment>,
    /// Weight of self-augmentation: an image and its view should get the same prediction [default: 1 with --augment]
    #[arg(long, requires = "a network", value_name = "WEIGHT")]
    pub pairs: Option<f64>,
    /// Weight of virtual adversarial training [default: 10 without --augment, 0 with it]
    #[arg(long, requires = "a network", value_name = "WEIGHT")]
    pub vat: Option<f64>,
    /// Length of its disturbance, in units of the network's input: pixels from 0 to 1, or normalised for weights from ImageNet [default: 2]
    #[arg(long, requires = "a network")]
    pub vat_length: Option<f64>,
    /// Epochs over which the weights of --pairs and --vat rise from 0 [default: 0]
    #[arg(long, requires = "a network", value_name = "EPOCHS")]
    pub warm_up: Option<usize>,
    /// Epochs over which the forward divergence KL(y‖σ) fades out of the losses strong and weak, from a weight of 1, so that no cluster dies early; 0 for the paper's loss alone [default: half of --epochs with --loss strong and without --known, otherwise 0]
    #[arg(long, requires = "a network", value_name = "EPOCHS")]
    pub forward: Option<usize>,
    /// Invariant information clustering (IIC) with this number of heads, instead of --loss
    #[arg(long, requires = "a network", value_name = "HEADS")]
    pub iic: Option<usize>,
    /// Number of clusters of its over-clustering heads [default: 5 K]
    #[arg(long, requires = "heads", value_name = "CLUSTERS")]
    pub over: Option<usize>,
    /// SCAN, with the epochs of its three stages (contrast, clusters of neighbours, self-labels), such as 100,30,10
    #[arg(long, requires = "views", conflicts_with = "iic", value_name = "A,B,C", value_delimiter = ',')]
    pub scan: Option<Vec<usize>>,
    /// First train the network for this number of epochs, at a rate of 1e-3, to tell images apart by their views (SimCLR)
    #[arg(long, requires = "views", conflicts_with = "scan", value_name = "EPOCHS")]
    pub pretext: Option<usize>,
    /// Initial weights: a PyTorch state dict or .safetensors
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
    /// Skip images that cannot be decoded, and name them
    #[arg(long, requires = "a network")]
    pub skip_bad: bool,
    /// Write the trained weights without the head to this file, under PyTorch's names
    #[arg(long, requires = "a network", value_name = "FILE.safetensors", value_hint = ValueHint::FilePath)]
    pub backbone_out: Option<PathBuf>,
    /// Write a line of JSON for every epoch to this file
    #[arg(long, requires = "a network", value_name = "FILE.jsonl", value_hint = ValueHint::FilePath)]
    pub metrics: Option<PathBuf>,
    /// Device: cpu, wgpu or cuda
    #[arg(long, requires = "a network", default_value = "cpu", value_parser = device)]
    pub device: String,
}
