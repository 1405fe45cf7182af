//! Arguments of the commands that compare methods and choose the number of clusters.

use super::ReadArgs;
use super::examples::COMPARE;
use super::values::{LiftArg, PrepareArg, dims, range, restarts, yes_or_no};
use clap::{Args, ValueEnum, ValueHint};
use partita::compare::Contender;
use partita::linear::Dims;
use partita_job::USUAL_METHODS;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// The methods of a comparison, one per line.
fn catalogue() -> String {
    let lines = Contender::all().map(|(name, _, what)| format!("  {name:<18} {what}\n"));
    let lines: String = lines.collect();
    format!("{COMPARE}\n\nMethods:\n{lines}  renyi:ALPHA and renyi-labels:ALPHA for any other order")
}

#[derive(Debug, Args)]
#[command(after_help = catalogue())]
pub struct CompareArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Number of clusters
    #[arg(long, short)]
    pub k: usize,
    /// True labels; without them, the result has only measures that need none
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath)]
    pub truth: Option<PathBuf>,
    /// Whether the first line of that file names its columns: yes or no [default: found from the content]
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no, requires = "truth")]
    pub label_header: Option<bool>,
    /// Methods by name, or all
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_values = USUAL_METHODS)]
    pub methods: Vec<String>,
    /// Runs of each method, each with its own seed
    #[arg(long, default_value_t = 6, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub seeds: usize,
    /// Seed of the first run
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
    /// Dimensions to train on, for every method: full, or a number of principal components [default: each method's own]
    #[arg(long, value_parser = dims)]
    pub dims: Option<Dims>,
    /// Format of the result [default: what the name of --output says, otherwise md]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write the result to this file instead of printing it: .md, .csv, .json or .html; - is standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = super::examples::CHOOSE)]
pub struct ChooseArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Numbers of clusters to try, both ends included [default: from 2 to 20, or as many as the rows allow]
    #[arg(long, value_name = "A..B", value_parser = range)]
    pub range: Option<RangeInclusive<usize>>,
    /// Weights of fairness to try with each number of clusters
    #[arg(long, value_delimiter = ',', value_name = "L1,L2,..")]
    pub lambda: Vec<f64>,
    /// Weights of the squared norm to try with each number of clusters
    #[arg(long, value_delimiter = ',', value_name = "G1,G2,..")]
    pub gamma: Vec<f64>,
    /// Clusters may differ in size: estimate their sizes also where rows are too few to show them (about ten times slower)
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
    /// A feature map before the softmax, as in fit
    #[arg(long, value_enum, default_value_t = LiftArg::Auto)]
    pub lift: LiftArg,
    /// Draw the curves to this file: .svg or .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub picture: Option<PathBuf>,
    /// Format of the result [default: what the name of --output says, otherwise md]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write the result to this file instead of printing it: .md, .csv, .json or .html; - is standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    Md,
    /// CSV, one line for each run
    Csv,
    /// JSON with everything, for programs
    Json,
    /// An HTML page
    Html,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Md => "md",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Html => "html",
        })
    }
}
