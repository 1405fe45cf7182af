//! Arguments of a fit that trains a network on images.

use super::values::{PretextOptimiserArg, device, yes_or_no};
use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args, ValueHint};
use partita_deep::augment::Augment;
use partita_embed::photos::Net;
use partita_embed::photos::Normalise;
use std::path::PathBuf;

/// Options of a fit of images. An option that another one requires may also come from the specification.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Images and networks",
    group(ArgGroup::new("a network").args(["net", "spec"]).multiple(true)),
    group(ArgGroup::new("changes").args(["augment", "spec"]).multiple(true)),
    group(ArgGroup::new("heads").args(["iic", "spec"]).multiple(true))
)]
pub struct NetworkArgs {
    /// Train a network on images (folders, idx, CIFAR or STL-10 files): linear, mlp, vgg4, resnet18, resnet18-cifar, resnet18-stl, resnet50, resnet50-keras, mobilenetv2 or efficientnet-lite0
    #[arg(long, value_name = "NET")]
    pub net: Option<Net>,
    /// Side of an image in pixels [default: unchanged, if all images have the same size]
    #[arg(long, requires = "a network", value_parser = RangedU64ValueParser::<usize>::new().range(1..=2048))]
    pub size: Option<usize>,
    /// What is subtracted from pixels (0 to 1) and what they are divided by: plain, imagenet, cifar10, cifar100, mnist, lite, caffe, or numbers for the channels such as 0.49,0.48,0.45/0.2,0.2,0.2; kept in the model [default: as the initial weights or the network expect]
    #[arg(long, requires = "a network", value_name = "NAME|M,M,M/S,S,S")]
    pub normalise: Option<Normalise>,
    /// Random changes that turn an image into its views: flip,rotate:10,crop:0.8,affine:0.1,colour:0.4,hue:0.1,jitter:0.8 (share of the images whose colours change),grey:0.2,blur:1
    #[arg(long, requires = "a network", value_name = "A,B,..")]
    pub augment: Option<Augment>,
    /// Weight of self-augmentation: an image and its view should get the same prediction [default: 1 with --augment]
    #[arg(long, requires = "a network", value_name = "WEIGHT")]
    pub pairs: Option<f64>,
    /// Number of views that are compared with an image in every step; their divergences add up [default: 1]
    #[arg(long, requires = "a network", value_name = "N")]
    pub views: Option<usize>,
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
    /// SCAN, with the epochs of its three stages (contrast, clusters of neighbours, self-labels), such as 100,30,10; 0 for the first with --init-weights in its place, 0 for the third to end with the second
    #[arg(long, requires = "changes", conflicts_with = "iic", value_name = "A,B,C", value_delimiter = ',')]
    pub scan: Option<Vec<usize>>,
    /// First train the network for this number of epochs to tell images apart by their views (SimCLR)
    #[arg(long, requires = "changes", conflicts_with = "scan", value_name = "EPOCHS")]
    pub pretext: Option<usize>,
    /// Images for --pretext or the first stage of --scan [default: those that are clustered]
    #[arg(long, requires = "a network", value_name = "IMAGES", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub pretext_data: Vec<PathBuf>,
    /// Learning rate meanwhile [default: 1e-3]
    #[arg(long, requires = "a network", value_name = "RATE")]
    pub pretext_rate: Option<f64>,
    /// Images of a batch meanwhile [default: --batch]
    #[arg(long, requires = "a network", value_name = "N")]
    pub pretext_batch: Option<usize>,
    /// Optimiser meanwhile: adam, or sgd with a momentum of 0.9 [default: adam]
    #[arg(long, requires = "a network", value_enum)]
    pub pretext_optimiser: Option<PretextOptimiserArg>,
    /// Lower the rate meanwhile from epoch to epoch along half a cosine
    #[arg(long, requires = "a network")]
    pub pretext_cosine: bool,
    /// Whether clusters without images start again, each as one half of a large one: yes or no [default: yes with --loss strong, no with others]
    #[arg(long, requires = "a network", value_name = "yes|no", value_parser = yes_or_no)]
    pub revive: Option<bool>,
    /// Images that are not trained on, only clustered at the end: how well their labels agree is reported
    #[arg(long, requires = "a network", value_name = "IMAGES", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub holdout: Vec<PathBuf>,
    /// Their true labels, if they do not come with the images
    #[arg(long, requires = "a network", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub holdout_truth: Option<PathBuf>,
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
