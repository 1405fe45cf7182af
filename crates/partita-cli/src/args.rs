//! What may be typed: syntax only. Each command turns its arguments into objects.

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use partita::compare::Contender;
use partita::linear::{Dims, EM_ITERATIONS, Init, Loss, Prepare, Refresh};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Independent starts of a fit, if nothing else is said.
pub const RESTARTS: usize = 8;
/// Most starts of a fit.
const MOST_RESTARTS: usize = 10_000;
/// Memory for rows, if nothing else is said: `1G`.
#[cfg(feature = "deep")]
pub const MEMORY: usize = 1 << 30;

/// Cluster by deciding: decisive, fair, max-margin clusters of feature vectors, without labels.
#[derive(Debug, Parser)]
#[command(name = "partita", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Cluster the rows of one or several feature files
    Fit(Box<FitArgs>),
    /// Go on training a model with more rows; clusters keep their numbers
    Update(UpdateArgs),
    /// Assign rows to the clusters of a model
    Predict(PredictArgs),
    /// Compare predicted labels with the truth: ACC, NMI, ARI
    Evaluate(EvaluateArgs),
    /// Say which features sent a row to its cluster
    Explain(ExplainArgs),
    /// Run many clustering methods on the same rows and seeds, and tabulate what they reach
    Compare(CompareArgs),
    /// Find the number of clusters that different parts of the rows agree on
    ChooseK(ChooseArgs),
    /// Draw the paper's figures and tables again and check what it claims
    Reproduce(ReproduceArgs),
    /// Cluster the handwritten digits that come with Partita and draw the result
    Demo(DemoArgs),
    /// Make features of images with a trained network
    #[cfg(feature = "deep")]
    Embed(EmbedArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// How to read the feature files.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// Feature files of the same rows: .npy .npz .parquet .arrow .csv .tsv .safetensors idx(.gz)
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: Vec<PathBuf>,
    /// Array of an .npz or tensor of a .safetensors file
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Feature columns of a table, by name or number from 1 [default: all that hold numbers]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Column of a table that names the rows [default: a first column of text, or one called id, index or row]
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// Memory for rows; larger data is read batch by batch from its file
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size)]
    pub memory: usize,
    /// Threads [default: all cores]
    #[arg(long, short = 't', value_name = "T")]
    pub threads: Option<usize>,
}

impl ReadArgs {
    /// The feature files and what else a command reads.
    pub fn inputs<'a>(&'a self, others: &[Option<&'a Path>]) -> Vec<&'a Path> {
        self.data.iter().map(PathBuf::as_path).chain(others.iter().copied().flatten()).collect()
    }
}

/// The methods of a comparison, a line each.
fn catalogue() -> String {
    let lines = Contender::all().map(|(name, _, what)| format!("  {name:<18} {what}\n"));
    format!("Methods:\n{}  renyi:ALPHA and renyi-labels:ALPHA for any other order", lines.collect::<String>())
}

#[derive(Debug, Args)]
#[command(after_help = catalogue())]
pub struct CompareArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Number of clusters
    #[arg(long, short)]
    pub k: usize,
    /// True labels; without them, measures that need none are reported
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub truth: Option<PathBuf>,
    /// Methods by name, or all
    #[arg(
        long,
        value_name = "A,B,..",
        value_delimiter = ',',
        default_value = "ours,rim,sela,miadm-star,kmeans,soft-kmeans,gmm-diagonal"
    )]
    pub methods: Vec<String>,
    /// Runs of each method, each with a seed of its own
    #[arg(long, default_value_t = 6, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub seeds: usize,
    /// The first seed
    #[arg(long, short, default_value_t = 0, value_name = "S")]
    pub seed: u64,
    /// Independent starts of each run, for methods that choose among them by their own loss
    #[arg(long, short, default_value_t = 8, value_name = "R", value_parser = restarts)]
    pub restarts: usize,
    /// Passes over the rows, for the losses of the linear model [default: about 312 steps]
    #[arg(long)]
    pub epochs: Option<usize>,
    /// How rows are prepared
    #[arg(long, value_enum, default_value_t = PrepareArg::Auto)]
    pub prepare: PrepareArg,
    /// Numbers of a row for every method: full, or how many principal components [default: each method's own]
    #[arg(long, value_parser = dims)]
    pub dims: Option<Dims>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Md)]
    pub format: Format,
    /// Write the result here instead of printing it
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ChooseArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Numbers of clusters to try, both ends included
    #[arg(long, value_name = "A..B", value_parser = range, default_value = "2..20")]
    pub range: RangeInclusive<usize>,
    /// Weights of fairness to try with each
    #[arg(long, value_delimiter = ',', value_name = "L1,L2,..")]
    pub lambda: Vec<f64>,
    /// Weights of the squared norm to try with each
    #[arg(long, value_delimiter = ',', value_name = "G1,G2,..")]
    pub gamma: Vec<f64>,
    /// Clusters may differ in size: estimate their sizes in every fit (about ten times slower)
    #[arg(long)]
    pub unequal: bool,
    /// Random splits of the rows
    #[arg(long, default_value_t = 5)]
    pub splits: usize,
    /// Independent starts of every fit
    #[arg(long, short, default_value_t = 4, value_name = "R", value_parser = restarts)]
    pub restarts: usize,
    /// Seed of all random choices
    #[arg(long, short, default_value_t = 0, value_name = "S")]
    pub seed: u64,
    /// How rows are prepared
    #[arg(long, value_enum, default_value_t = PrepareArg::Auto)]
    pub prepare: PrepareArg,
    /// Draw the curves here
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub picture: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Md)]
    pub format: Format,
    /// Write the result here instead of printing it
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// `2..30`, both ends included.
fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let ends =
        text.split_once("..").map(|(a, b)| (a.trim().parse(), b.trim().trim_start_matches('=').parse()));
    match ends {
        Some((Ok(a), Ok(b))) if 2 <= a && a <= b => Ok(a..=b),
        _ => Err("a range such as 2..30 is needed, from at least 2".to_owned()),
    }
}

/// Form of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    Md,
    /// One line for each run
    Csv,
    /// Everything, for programs
    Json,
    /// A page
    Html,
}

#[derive(Debug, Args)]
pub struct FitArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Number of clusters
    #[arg(long, short)]
    pub k: usize,
    /// Write the model here
    #[arg(long, short, value_name = "MODEL.safetensors", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Write each row's cluster here: .csv (with id and confidence) or .npy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub labels_out: Option<PathBuf>,
    /// Write each row's probabilities here (.npy)
    #[arg(long, value_name = "FILE.npy", value_hint = ValueHint::FilePath)]
    pub proba_out: Option<PathBuf>,
    /// Independent starts, trained together; the one with the lowest loss is kept
    #[arg(long, short, default_value_t = RESTARTS, value_name = "R", value_parser = restarts)]
    pub restarts: usize,
    /// Seed of all random choices: the same seed gives the same bits
    #[arg(long, short, default_value_t = 0, value_name = "S")]
    pub seed: u64,
    /// Expected cluster sizes as shares: 0.5,0.3,0.2 or a file, or auto to estimate them [default: equal]
    #[arg(long, value_name = "P1,P2,..|FILE|auto", allow_hyphen_values = true)]
    pub prior: Option<String>,
    /// Labels known for some rows, -1 or empty for the others
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub known: Option<PathBuf>,
    /// Weight of each row
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub weights: Option<PathBuf>,
    /// True labels, only to report ACC, NMI and ARI; they never influence the fit
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub truth: Option<PathBuf>,
    /// Keep the cluster numbers of this model: start from it if it has as many clusters, and match the result to it unless --known names clusters
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub like: Option<PathBuf>,
    /// One JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub sizes: SizeArgs,
    #[command(flatten)]
    pub method: MethodArgs,
    #[cfg(feature = "deep")]
    #[command(flatten)]
    pub deep: DeepArgs,
}

impl FitArgs {
    /// All files that a fit reads, but for the model of `--like`, which the new one may replace.
    pub fn inputs(&self) -> Vec<&Path> {
        let others = [&self.truth, &self.known, &self.weights].map(Option::as_deref);
        let prior = self.prior.as_deref().map(Path::new).filter(|path| path.is_file());
        self.read.inputs(&[&others[..], &[prior]].concat())
    }
}

/// Options of a fit of images.
#[cfg(feature = "deep")]
#[derive(Debug, Args)]
#[command(next_help_heading = "Images and networks")]
pub struct DeepArgs {
    /// Train a network on images (folders, idx, CIFAR or STL-10 files): linear, mlp, vgg4, resnet18, resnet18-cifar, resnet50, mobilenetv2 or efficientnet-lite0
    #[arg(long, value_name = "NET")]
    pub net: Option<partita_deep::nets::Net>,
    /// Pixels of a side [default: as they are, if all are alike]
    #[arg(long, requires = "net", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=2048))]
    pub size: Option<usize>,
    /// How views of an image differ from it: flip,rotate:10,crop:0.8,affine:0.1,colour:0.4,grey:0.2,blur:1
    #[arg(long, requires = "net", value_name = "A,B,..", default_value = "")]
    pub augment: partita_deep::augment::Augment,
    /// Weight of self-augmentation: an image and its view should be alike [default: 1 with --augment]
    #[arg(long, requires = "net", value_name = "WEIGHT")]
    pub pairs: Option<f64>,
    /// Weight of virtual adversarial training [default: 10 without --augment, 0 with it]
    #[arg(long, requires = "net", value_name = "WEIGHT")]
    pub vat: Option<f64>,
    /// Length of its disturbance, in units of the network's input: pixels from 0 to 1, or normalised for weights from ImageNet
    #[arg(long, requires = "net", default_value_t = 2.0)]
    pub vat_length: f64,
    /// Epochs over which these weights rise from 0
    #[arg(long, requires = "net", default_value_t = 0, value_name = "EPOCHS")]
    pub warm_up: usize,
    /// Invariant information clustering with so many heads, instead of a loss with --loss
    #[arg(long, requires = "net", value_name = "HEADS")]
    pub iic: Option<usize>,
    /// Clusters of its over-clustering heads [default: 5 K]
    #[arg(long, requires = "iic", value_name = "CLUSTERS")]
    pub over: Option<usize>,
    /// SCAN, with the epochs of contrast, of clusters of neighbours, and of self-labels: 100,30,10
    #[arg(long, requires = "augment", conflicts_with = "iic", value_name = "A,B,C", value_delimiter = ',')]
    pub scan: Option<Vec<usize>>,
    /// First teach the network for so many epochs, at a rate of 1e-3, to tell images apart by their views (SimCLR)
    #[arg(long, requires = "augment", conflicts_with = "scan", value_name = "EPOCHS")]
    pub pretext: Option<usize>,
    /// Weights to start from: a PyTorch state dict or .safetensors
    #[arg(long, requires = "net", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub init_weights: Option<PathBuf>,
    /// Train only the linear head
    #[arg(long, requires = "net")]
    pub freeze: bool,
    /// Learning rate of the head [default: --learning-rate]
    #[arg(long, requires = "net")]
    pub head_rate: Option<f64>,
    /// Weight decay
    #[arg(long, requires = "net", default_value_t = 0.0)]
    pub weight_decay: f64,
    /// Leave out images that cannot be decoded, naming each
    #[arg(long, requires = "net")]
    pub skip_bad: bool,
    /// Keep the state after every epoch here
    #[arg(long, requires = "net", value_name = "FILE.safetensors", value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint, if it is there; with the same options the result is that of an uninterrupted run
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Write the trained weights before the head here, under PyTorch's names
    #[arg(long, requires = "net", value_name = "FILE.safetensors", value_hint = ValueHint::FilePath)]
    pub backbone_out: Option<PathBuf>,
    /// A line of JSON for every epoch
    #[arg(long, requires = "net", value_name = "FILE.jsonl", value_hint = ValueHint::FilePath)]
    pub metrics: Option<PathBuf>,
    /// cpu, wgpu or cuda
    #[arg(long, requires = "net", default_value = "cpu")]
    pub device: partita_deep::device::Processor,
}

/// Options that the defaults serve well.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// strong, weak, mi, renyi:ALPHA, renyi-labels:ALPHA, sela, miadm, miadm-root, miadm-exact or hinge
    #[arg(long, default_value_t = Loss::Strong)]
    pub loss: Loss,
    /// How rows are prepared
    #[arg(long, value_enum, default_value_t = PrepareArg::Auto)]
    pub prepare: PrepareArg,
    /// Numbers of a row to train on: auto (at most 128 principal components), full, or how many
    #[arg(long, value_parser = dims, default_value = "auto")]
    pub dims: Dims,
    /// Where training starts
    #[arg(long, value_enum, default_value_t = InitArg::Auto)]
    pub init: InitArg,
    /// Weight of fairness [default: 100; 10 for renyi-labels; 1 for mi, renyi and miadm]; for sela the power of the predictions [20]; hinge has none
    #[arg(long, allow_negative_numbers = true)]
    pub lambda: Option<f64>,
    /// Weight of the squared norm, in units of mean squared row norm 1
    #[arg(long, allow_negative_numbers = true)]
    pub gamma: Option<f64>,
    /// Passes over the data [default: about 312 steps, 120 for more than 16 clusters; with --net 30]
    #[arg(long)]
    pub epochs: Option<usize>,
    /// Rows of a batch [default: 256, or 10 a cluster; with --net 250, or 10 a cluster]
    #[arg(long)]
    pub batch: Option<usize>,
    /// EM iterations for the pseudo-labels of a batch
    #[arg(long, default_value_t = EM_ITERATIONS, value_name = "T")]
    pub em_iterations: usize,
    /// Solve for optimal pseudo-labels instead of a few EM iterations
    #[arg(long)]
    pub exact_labels: bool,
    /// How often pseudo-labels are found anew
    #[arg(long, value_enum, default_value_t = RefreshArg::Batch)]
    pub refresh: RefreshArg,
    /// How the weights follow the gradient
    #[arg(long, value_enum, default_value_t = OptimiserArg::Sgd)]
    pub optimiser: OptimiserArg,
    /// Momentum of sgd
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub momentum: f64,
    /// Learning rate, in units of mean squared row norm 1; with --net that of Adam [1e-3]
    #[arg(long, allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// L-BFGS iterations on all rows after training
    #[arg(long, default_value_t = 0, value_name = "ITERATIONS")]
    pub polish: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PrepareArg {
    /// centre for few features; sphere or floor for many
    Auto,
    /// As they are
    None,
    /// Subtract the mean
    Centre,
    /// Subtract the mean, divide by the standard deviation
    Standardise,
    /// Divide rows by their norm, subtract the mean
    L2,
    /// Subtract the mean, divide rows by their norm, subtract the mean again
    Sphere,
    /// Subtract each feature's smallest value, divide rows by their norm, subtract the mean
    Floor,
}

impl From<PrepareArg> for Prepare {
    fn from(arg: PrepareArg) -> Self {
        match arg {
            PrepareArg::Auto => Self::Auto,
            PrepareArg::None => Self::None,
            PrepareArg::Centre => Self::Centre,
            PrepareArg::Standardise => Self::Standardise,
            PrepareArg::L2 => Self::L2,
            PrepareArg::Sphere => Self::Sphere,
            PrepareArg::Floor => Self::Floor,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum InitArg {
    /// Random for few clusters, K-means centres for many
    Auto,
    /// Random weights
    Random,
    /// Rows spread out by k-means++
    PlusPlus,
    /// Centres of a short K-means run
    Kmeans,
}

impl From<InitArg> for Init {
    fn from(arg: InitArg) -> Self {
        match arg {
            InitArg::Auto => Self::Auto,
            InitArg::Random => Self::Random,
            InitArg::PlusPlus => Self::PlusPlus,
            InitArg::Kmeans => Self::KMeans,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RefreshArg {
    /// In every batch
    Batch,
    /// Once an epoch
    Epoch,
}

impl From<RefreshArg> for Refresh {
    fn from(arg: RefreshArg) -> Self {
        match arg {
            RefreshArg::Batch => Self::Batch,
            RefreshArg::Epoch => Self::Epoch,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OptimiserArg {
    /// Stochastic gradient descent
    Sgd,
    /// Adam
    Adam,
    /// Full-batch L-BFGS, for small data
    Lbfgs,
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// A model written by `partita fit`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Write here: .csv or .npy, probabilities .npy [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Probabilities of all clusters instead of the cluster of each row
    #[arg(long)]
    pub proba: bool,
    /// Leave out images that cannot be decoded, naming each
    #[cfg(feature = "deep")]
    #[arg(long)]
    pub skip_bad: bool,
    #[command(flatten)]
    pub sizes: SizeArgs,
}

#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// A model written by `partita fit`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Write the model here [default: over the old one]
    #[arg(long, short, value_name = "MODEL.safetensors", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Write each row's cluster here: .csv (with id and confidence) or .npy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub labels_out: Option<PathBuf>,
    /// Passes over the rows
    #[arg(long, default_value_t = 1)]
    pub epochs: usize,
    /// True labels, only to report ACC, NMI and ARI
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub truth: Option<PathBuf>,
    /// One JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
}

/// Sizes that the labels must have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sizes that are guaranteed")]
pub struct SizeArgs {
    /// Give clusters exactly the sizes of the prior: the likeliest labels that have them
    #[arg(long, value_enum, conflicts_with_all = ["min_size", "max_size"])]
    pub balance: Option<Balance>,
    /// Fewest rows of a cluster, or their share if below 1
    #[arg(long, value_name = "N", value_parser = positive)]
    pub min_size: Option<f64>,
    /// Most rows of a cluster, or their share if below 1
    #[arg(long, value_name = "N", value_parser = positive)]
    pub max_size: Option<f64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Balance {
    /// Within one row of the prior's sizes
    Exact,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("a number above 0 is needed: rows, or a share below 1".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// True labels
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub truth: PathBuf,
    /// Predicted labels
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pred: PathBuf,
    /// One JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A model written by `partita fit`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// The row, from 0
    #[arg(long, short)]
    pub row: usize,
    /// How many features to list
    #[arg(long, default_value_t = 10)]
    pub top: usize,
    /// One JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where to draw the result
    #[arg(long, short, default_value = "partita-demo.png", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Seed of all random choices
    #[arg(long, short, default_value_t = 0)]
    pub seed: u64,
}

/// Options of `partita embed`.
#[cfg(feature = "deep")]
#[derive(Debug, Args)]
pub struct EmbedArgs {
    /// Folders of pictures, or files of MNIST (idx), CIFAR-10, CIFAR-100 or STL-10 (.bin)
    #[arg(required = true, value_name = "IMAGES", value_hint = ValueHint::AnyPath)]
    pub images: Vec<PathBuf>,
    /// mobilenetv2, efficientnet-lite0, resnet18, resnet18-cifar or resnet50
    #[arg(long, value_name = "NET", default_value = "mobilenetv2")]
    pub backbone: partita_deep::nets::Net,
    /// Its weights: a PyTorch state dict (.pt, .pth) or .safetensors, with the names of torchvision, or of EfficientNet-Lite's PyTorch port
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub weights: PathBuf,
    /// Where the features go; rows already made are kept beside it until it is complete
    #[arg(long, short, value_name = "FILE.npy", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Pixels of a side: the shorter side is resized to it and the middle square taken
    #[arg(long, default_value_t = 128, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(8..=2048))]
    pub size: usize,
    /// Leave out images that cannot be decoded, naming each
    #[arg(long)]
    pub skip_bad: bool,
    /// cpu, wgpu or cuda
    #[arg(long, default_value = "cpu")]
    pub device: partita_deep::device::Processor,
    /// Threads [default: all cores]
    #[arg(long, short = 't', value_name = "T")]
    pub threads: Option<usize>,
}

/// auto, full or a number.
fn dims(text: &str) -> Result<Dims, String> {
    match text {
        "auto" => Ok(Dims::Auto),
        "full" => Ok(Dims::Full),
        _ => text.parse().map(Dims::Exactly).map_err(|_| "write auto, full or a number".to_owned()),
    }
}

/// A number of starts. All are in memory together, so that a slip of the finger would fill it.
fn restarts(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(starts) if starts <= MOST_RESTARTS => Ok(starts),
        Err(_) if !text.bytes().all(|b| b.is_ascii_digit()) => Err("a whole number is needed".to_owned()),
        _ => Err(format!("at most {MOST_RESTARTS} starts are trained together; 8 to 64 are usual")),
    }
}

/// A number of bytes such as 500M or 2G.
fn size(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor: usize = match unit.to_ascii_uppercase().trim_end_matches('B') {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err("write a number of bytes such as 500M or 2G".to_owned()),
    };
    let number: usize =
        digits.parse().map_err(|_| "write a number of bytes such as 500M or 2G".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}

/// Options of `partita reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// all, names (teaser minima gammas renyi supervised simplex margins multiclass divergences paths noise updates
    /// solvers orders features), or .toml files like those in reproduce/
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Directory for the report (index.html, README.md) and its pictures (.svg)
    #[arg(short, long, value_name = "DIR", default_value = "reproduced")]
    pub out: PathBuf,
    /// Directory of data sets that do not come with Partita; what needs a missing one is reported as not run
    #[arg(long, value_name = "DIR", env = "PARTITA_DATA")]
    pub data: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(short, long, value_name = "T")]
    pub threads: Option<usize>,
}
