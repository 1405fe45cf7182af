//! Arguments of a fit. Nothing has a default here: an option that is not given comes from `--spec` or from the defaults of a
//! specification.

#[cfg(feature = "deep")]
use super::NetworkArgs;
use super::ReadOptions;
use super::values::{
    BalanceArg, InitArg, LiftArg, OptimiserArg, PrepareArg, RefreshArg, clusters, dims, neighbours, outliers,
    positive, restarts, yes_or_no,
};
use clap::{Args, ValueHint};
use partita::linear::{Dims, Loss, Neighbours};
use partita::outliers::OutlierRule;
use partita_job::{ClusterCount, SizeSpec};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = super::examples::FIT)]
pub struct FitArgs {
    /// Feature files of the same rows (.npy .npz .parquet .arrow .csv .tsv .safetensors idx(.gz)); texts (.txt .jsonl, or a table with --text); or photos: folders and pictures
    #[arg(required_unless_present = "spec", value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub read: ReadOptions,
    /// Number of clusters; auto chooses it from 2 to 20, a range such as 2..30 from that, as choose-k does
    #[arg(long, short, value_name = "K|auto|A..B", required_unless_present = "spec", value_parser = clusters)]
    pub k: Option<ClusterCount>,
    /// Read the options that are not given here from this specification
    #[arg(long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    pub spec: Option<PathBuf>,
    /// Write the specification of this fit to this file; --spec repeats the fit from it, to the same bits
    #[arg(long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    pub save_spec: Option<PathBuf>,
    /// Write the model to this file
    #[arg(long, short, value_name = "MODEL.safetensors", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Write each row's cluster to this file: .csv (with id, confidence and, with --outliers, its score; with --known words, their names) or .npy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub labels_out: Option<PathBuf>,
    /// Write each row's probabilities to this file (.npy)
    #[arg(long, value_name = "FILE.npy", value_hint = ValueHint::FilePath)]
    pub proba_out: Option<PathBuf>,
    /// Independent starts, trained together; the one with the lowest loss is kept [default: 8]
    #[arg(long, short, value_name = "R", value_parser = restarts)]
    pub restarts: Option<usize>,
    /// Seed of all random choices: the same seed gives the same bits [default: 0]
    #[arg(long, short, value_name = "S")]
    pub seed: Option<u64>,
    /// Expected cluster sizes: shares such as 0.5,0.3,0.2, a file of shares, equal, or auto to estimate them [default: auto where rows show sizes clearly, otherwise equal]
    #[arg(long, value_name = "P1,P2,..|FILE|equal|auto", allow_hyphen_values = true)]
    pub prior: Option<String>,
    /// Leave rows that belong to no cluster out of all, with label -1: a share of the rows, or auto for those in unusually sparse places
    #[arg(long, value_name = "SHARE|auto", value_parser = outliers, allow_hyphen_values = true)]
    pub outliers: Option<OutlierRule>,
    /// Known labels of some rows, numbers or words; -1 or empty for the others. Words name the clusters
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath)]
    pub known: Option<PathBuf>,
    /// Weight of the mean cross-entropy of the rows of --known, added to the loss; 1 is the paper's. At 0 such a row counts as much as any other. Where few rows are known, take --optimiser adam, whose steps do not grow with it [default: 0; with --net always 1]
    #[arg(long, value_name = "W", allow_negative_numbers = true)]
    pub known_weight: Option<f64>,
    /// Weight of each row
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath)]
    pub weights: Option<PathBuf>,
    /// True labels, only to report ACC, NMI and ARI; they never influence the fit. Rows are matched by id where both files have one
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath)]
    pub truth: Option<PathBuf>,
    /// Whether the first lines of these files name their columns: yes or no [default: found from the content]
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    pub label_header: Option<bool>,
    /// Keep the cluster numbers of this model: start from it if the number of clusters is the same, and match the result to it unless --known names the clusters
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub like: Option<PathBuf>,
    /// Name the clusters of texts by the words that tell them apart, unless --known names them
    #[arg(long)]
    pub name_clusters: bool,
    /// Save the state of training to this file from time to time; with --net after every epoch
    #[arg(long, value_name = "FILE.safetensors", value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint if it exists; with the same options the result is that of an uninterrupted run
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Print one JSON object on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub sizes: SizeArgs,
    #[command(flatten)]
    pub method: MethodArgs,
    #[cfg(feature = "deep")]
    #[command(flatten)]
    pub network: NetworkArgs,
}

/// Options whose defaults are usually good.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// Loss: strong, weak, mi, renyi:ALPHA, renyi-labels:ALPHA, sela, miadm-depict, miadm-dec, miadm-exact or hinge [default: strong]
    #[arg(long)]
    pub loss: Option<Loss>,
    /// How rows are prepared before training [default: auto]
    #[arg(long, value_enum)]
    pub prepare: Option<PrepareArg>,
    /// A feature map before the softmax, for clusters that no planes part [default: auto]
    #[arg(long, value_enum)]
    pub lift: Option<LiftArg>,
    /// Neighbours that teach each row: auto (15 for more than 16 clusters of many features and rows, otherwise none) or a number [default: auto]
    #[arg(long, value_name = "N|auto", value_parser = neighbours)]
    pub neighbours: Option<Neighbours>,
    /// Dimensions to train on: auto (at most 128 principal components), full, or a number [default: auto]
    #[arg(long, value_parser = dims)]
    pub dims: Option<Dims>,
    /// Where training starts [default: auto]
    #[arg(long, value_enum)]
    pub init: Option<InitArg>,
    /// Weight of fairness [default: 100; 10 for renyi-labels; 1 for mi, renyi and miadm]; for sela, the power of the predictions [default: 20]; not used by hinge
    #[arg(long, allow_negative_numbers = true)]
    pub lambda: Option<f64>,
    /// Weight of the squared norm, in units of mean squared row norm 1
    #[arg(long, allow_negative_numbers = true)]
    pub gamma: Option<f64>,
    /// Passes over the data [default: about 312 steps, 120 for more than 16 clusters; with --net 30]
    #[arg(long)]
    pub epochs: Option<usize>,
    /// Rows in a batch [default: 256, or 10 per cluster if that is more; with --net 250 instead of 256]
    #[arg(long)]
    pub batch: Option<usize>,
    /// EM iterations for the pseudo-labels of each batch [default: 5]
    #[arg(long, value_name = "T")]
    pub em_iterations: Option<usize>,
    /// Compute optimal pseudo-labels instead of running a few EM iterations
    #[arg(long)]
    pub exact_labels: bool,
    /// How often pseudo-labels are computed again [default: batch]
    #[arg(long, value_enum)]
    pub refresh: Option<RefreshArg>,
    /// Optimiser of the weights [default: sgd]
    #[arg(long, value_enum)]
    pub optimiser: Option<OptimiserArg>,
    /// Momentum of sgd [default: 0]
    #[arg(long, allow_negative_numbers = true)]
    pub momentum: Option<f64>,
    /// Learning rate, in units of mean squared row norm 1; with --net, the rate of Adam [default: 1e-3]
    #[arg(long, allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// L-BFGS iterations on all rows after training [default: 0]
    #[arg(long, value_name = "ITERATIONS")]
    pub polish: Option<usize>,
}

/// Sizes that the labels must have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Guaranteed cluster sizes")]
pub struct SizeArgs {
    /// Give clusters exactly the sizes of the prior, with the most likely labels of such sizes
    #[arg(long, value_enum, conflicts_with_all = ["min_size", "max_size"])]
    pub balance: Option<BalanceArg>,
    /// Smallest size of a cluster: a number of rows, or a share of them if below 1
    #[arg(long, value_name = "N", value_parser = positive)]
    pub min_size: Option<f64>,
    /// Largest size of a cluster: a number of rows, or a share of them if below 1
    #[arg(long, value_name = "N", value_parser = positive)]
    pub max_size: Option<f64>,
}

impl SizeArgs {
    /// The sizes as a specification.
    pub fn spec(&self) -> SizeSpec {
        let balance = self.balance.map(Into::into);
        SizeSpec { balance, min_size: self.min_size, max_size: self.max_size }
    }
}
