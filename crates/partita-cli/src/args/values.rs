//! Values of arguments: names for options of the engines, and parsers.

use clap::ValueEnum;
use partita::linear::{Dims, Init, LiftKind, Neighbours, Prepare, Refresh};
use partita::outliers::OutlierRule;
use partita_data::Role;
use partita_job::{Balance, ClusterCount, MOST_RESTARTS, Missing, OptimiserKind};
use std::ops::RangeInclusive;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PrepareArg {
    /// centre for few features (fewer than 32), standardise if their units differ; sphere or floor for many
    Auto,
    /// No preparation
    None,
    /// Subtract the mean
    Centre,
    /// Subtract the mean, divide by the standard deviation
    Standardise,
    /// Subtract the mean, divide by the standard deviation without the outermost 1 % at both ends
    Robust,
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
            PrepareArg::Robust => Self::Robust,
            PrepareArg::L2 => Self::L2,
            PrepareArg::Sphere => Self::Sphere,
            PrepareArg::Floor => Self::Floor,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LiftArg {
    /// For few features (fewer than 32) graph if it finds clusters, otherwise quadratic; for many none
    Auto,
    /// None: planes part the clusters
    None,
    /// Which Gaussian of a mixture a row comes from: clusters of any width, slant and size
    Quadratic,
    /// How near a row is to each of a few landmarks, as a kernel machine sees it
    Rbf,
    /// Where a row lies in the graph of nearest neighbours: clusters of any shape
    Graph,
}

impl From<LiftArg> for LiftKind {
    fn from(arg: LiftArg) -> Self {
        match arg {
            LiftArg::Auto => Self::Auto,
            LiftArg::None => Self::None,
            LiftArg::Quadratic => Self::Quadratic,
            LiftArg::Rbf => Self::Rbf,
            LiftArg::Graph => Self::Graph,
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
    /// Once per epoch
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

impl From<OptimiserArg> for OptimiserKind {
    fn from(arg: OptimiserArg) -> Self {
        match arg {
            OptimiserArg::Sgd => Self::Sgd,
            OptimiserArg::Adam => Self::Adam,
            OptimiserArg::Lbfgs => Self::Lbfgs,
        }
    }
}

#[cfg(feature = "deep")]
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PretextOptimiserArg {
    /// Adam
    Adam,
    /// Stochastic gradient descent with a momentum of 0.9
    Sgd,
}

#[cfg(feature = "deep")]
impl From<PretextOptimiserArg> for partita_job::PretextOptimiser {
    fn from(arg: PretextOptimiserArg) -> Self {
        match arg {
            PretextOptimiserArg::Adam => Self::Adam,
            PretextOptimiserArg::Sgd => Self::Sgd,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BalanceArg {
    /// Within one row of the prior's sizes
    Exact,
}

impl From<BalanceArg> for Balance {
    fn from(arg: BalanceArg) -> Self {
        match arg {
            BalanceArg::Exact => Self::Exact,
        }
    }
}

/// A size of a cluster.
pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("a number above 0 is needed: rows, or a share below 1".to_owned()),
    }
}

/// `2..30`, both ends included.
pub fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let ends =
        text.split_once("..").map(|(a, b)| (a.trim().parse(), b.trim().trim_start_matches('=').parse()));
    match ends {
        Some((Ok(a), Ok(b))) if 2 <= a && a <= b => Ok(a..=b),
        _ => Err("a range such as 2..30 is needed, from at least 2".to_owned()),
    }
}

/// A number of clusters, auto, or a range.
pub fn clusters(text: &str) -> Result<ClusterCount, String> {
    text.parse().map_err(|_| "write a number, auto, or a range such as 2..30".to_owned())
}

/// auto or a number.
pub fn neighbours(text: &str) -> Result<Neighbours, String> {
    match text {
        "auto" => Ok(Neighbours::Auto),
        _ => text.parse().map(Neighbours::Exactly).map_err(|_| "write auto or a number".to_owned()),
    }
}

/// auto, full or a number.
pub fn dims(text: &str) -> Result<Dims, String> {
    match text {
        "auto" => Ok(Dims::Auto),
        "full" => Ok(Dims::Full),
        _ => text.parse().map(Dims::Exactly).map_err(|_| "write auto, full or a number".to_owned()),
    }
}

/// auto, or a share of the rows.
pub fn outliers(text: &str) -> Result<OutlierRule, String> {
    text.parse().map_err(|_| "write auto, or a share of the rows above 0 and at most 0.5".to_owned())
}

/// A number of starts. All are in memory together, so a typing error could fill it.
pub fn restarts(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(starts) if starts <= MOST_RESTARTS => Ok(starts),
        Err(_) if !text.bytes().all(|b| b.is_ascii_digit()) => Err("a whole number is needed".to_owned()),
        _ => Err(format!("at most {MOST_RESTARTS} starts are trained together; 8 to 64 are usual")),
    }
}

/// A number of bytes such as 500M or 2G.
pub fn size(text: &str) -> Result<usize, String> {
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

/// The name of a processor for networks.
#[cfg(feature = "deep")]
pub fn device(text: &str) -> Result<String, partita_deep::DeepError> {
    text.parse::<partita_deep::device::Processor>().map(|_| text.to_owned())
}

/// What to do about missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// Refuse them, with their places
    Error,
    /// Leave out rows that have some, of all results too
    DropRows,
    /// Fill in the median of the column; the model remembers it for predict
    Median,
}

impl From<MissingArg> for Missing {
    fn from(missing: MissingArg) -> Self {
        match missing {
            MissingArg::Error => Self::Error,
            MissingArg::DropRows => Self::DropRows,
            MissingArg::Median => Self::Median,
        }
    }
}

/// A column and what it is taken for; names of columns may hold equals signs.
pub fn role(text: &str) -> Result<(String, Role), String> {
    let (name, role) = text.rsplit_once('=').ok_or("write COLUMN=KIND, such as city=category")?;
    Ok((name.to_owned(), role.parse()?))
}

/// Yes or no.
pub fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("write yes or no".to_owned()),
    }
}
