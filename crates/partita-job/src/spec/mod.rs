//! What a fit is asked to do: one serialisable, versioned struct that every front end fills.

mod clusters;
mod engine;
mod file;
mod idle;
mod method;
mod network;
mod prior;

pub use clusters::ClusterCount;
pub(crate) use idle::refuse_for_images;
pub use method::{MethodSpec, OptimiserKind};
pub use network::{NetworkSpec, PretextOptimiser};
pub use prior::PriorSpec;

use crate::error::{JobError, Result};
use crate::field::Field;
use crate::resources::Resources;
use crate::sizes::SizeSpec;
use partita::outliers::OutlierRule;
use partita_data::{Role, Source};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Version of the layout of a specification, raised when an older reader would misread it.
pub const VERSION: u32 = 1;
/// Independent starts of a fit, by default.
pub const RESTARTS: usize = 8;
/// Most starts of a fit. All are in memory together, so a typing error could fill it.
pub const MOST_RESTARTS: usize = 10_000;

/// Why there are no outliers beside sizes.
const BESIDE_SIZES: &str =
    "beside `balance`, `min_size` or `max_size`, which give every row to a cluster; leave one of them out";

/// Everything that decides the result of a fit. Every field has a default, so that `{}` is a specification; only the number of
/// clusters must be given before it can run.
///
/// What does not change the result stands in [`Resources`].
///
/// ```
/// use partita_job::FitSpec;
/// let spec = FitSpec::from_json(r#"{ "k": 10, "seed": 3, "method": { "loss": "mi" } }"#)?;
/// assert_eq!((spec.clusters()?, spec.seed, spec.restarts), (10, 3, 8));
/// assert_eq!(FitSpec::from_json(&spec.to_json())?, spec);
/// # Ok::<(), partita_job::JobError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitSpec {
    /// Version of this layout.
    pub version: u32,
    /// Where the rows are.
    pub data: DataSpec,
    /// Number of clusters K, or that it is to be chosen.
    pub k: Option<ClusterCount>,
    /// Seed of all random choices: the same seed gives the same bits.
    pub seed: u64,
    /// Independent starts, trained together; the one with the lowest loss is kept.
    pub restarts: usize,
    /// Expected sizes of the clusters.
    pub prior: PriorSpec,
    /// Sizes that are guaranteed.
    pub sizes: SizeSpec,
    /// Which rows belong to no cluster: `"auto"`, or a share of the rows; without it every row belongs to one.
    pub outliers: Option<OutlierRule>,
    /// A file of labels that are known for some rows, −1 or empty for the others; `FILE:COLUMN` is a column of a table, here and below.
    pub known: Option<PathBuf>,
    /// A file with the weight of each row.
    pub weights: Option<PathBuf>,
    /// A file of true labels, only to report how well they agree; they never influence the fit.
    pub truth: Option<PathBuf>,
    /// A model whose cluster numbers are kept: the fit starts from it if it has the same number of clusters, and the result is matched to it
    /// unless known labels name the clusters.
    pub like: Option<PathBuf>,
    /// Whether clusters of raw items get names made of what tells them apart, where known labels do not name them.
    pub name_clusters: bool,
    /// Options of the method.
    pub method: MethodSpec,
    /// A network to train on images, instead of a linear model of rows.
    pub network: Option<NetworkSpec>,
}

impl Default for FitSpec {
    fn default() -> Self {
        Self {
            version: VERSION,
            data: DataSpec::default(),
            k: None,
            seed: 0,
            restarts: RESTARTS,
            prior: PriorSpec::default(),
            sizes: SizeSpec::default(),
            outliers: None,
            known: None,
            weights: None,
            truth: None,
            like: None,
            name_clusters: false,
            method: MethodSpec::default(),
            network: None,
        }
    }
}

/// Files of the same rows, and which part of them is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataSpec {
    /// Feature files of the same rows, side by side; or images, one after another.
    pub paths: Vec<PathBuf>,
    /// Array of an `.npz` or tensor of a `.safetensors` file.
    pub array: Option<String>,
    /// Feature columns of a table, by name or number from 1; all that hold numbers if there are none.
    pub columns: Vec<String>,
    /// Column of a table that names the rows.
    pub id_column: Option<String>,
    /// Columns of a table that are no features, by name or number from 1.
    pub exclude: Vec<String>,
    /// Whether the first line of a text table names the columns; found from the content if it is not said.
    pub header: Option<bool>,
    /// The same for the files of labels and weights beside them.
    pub label_header: Option<bool>,
    /// What is done about missing values: `"error"`, `"drop-rows"` or `"median"`. Usually the plan of a table with names takes care of them, and in
    /// arrays they are refused; where a model fills them, it goes on to.
    pub missing: Option<Missing>,
    /// What columns of a table are taken for, by name or number from 1, where their cells alone would decide otherwise.
    #[serde(rename = "as", skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, Role>,
    /// Column of a table, or field of JSON lines, that holds the texts to cluster; several with commas between are joined.
    pub text: Option<String>,
    /// What makes rows of raw items, by name; several stand side by side. For photos `mobilenetv2`, which is the usual one, `efficientnet-lite0`,
    /// `resnet18`, `resnet50` or `resnet50-keras`, where `NAME@SIZE` resizes photos to that many pixels; for texts `tfidf` and `minilm`.
    pub encoder: Vec<String>,
    /// Where the weights of encoders are, before the usual places are searched.
    pub encoder_weights: Option<PathBuf>,
    /// Whether photos that cannot be decoded are left out, of all results too.
    pub skip_bad: bool,
}

/// What is done about values that are missing or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// They are refused.
    #[default]
    Error,
    /// Rows that have some are left out, of all results too.
    DropRows,
    /// They are filled with the median of their column, which the model remembers.
    Median,
}

impl DataSpec {
    /// All of these files.
    pub fn new<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self { paths: paths.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

impl FitSpec {
    /// `k` clusters, and defaults.
    pub fn new(k: usize) -> Self {
        Self { k: Some(ClusterCount::Number(k)), ..Self::default() }
    }

    /// The number of clusters.
    ///
    /// # Errors
    /// If it was not given, or is to be chosen.
    pub fn clusters(&self) -> Result<usize> {
        match self.k {
            Some(ClusterCount::Number(k)) => Ok(k),
            Some(open) => Err(JobError::Value {
                field: Field::K,
                value: open.to_string(),
                problem: "cannot be chosen here; give a number".to_owned(),
            }),
            None => Err(JobError::Missing { field: Field::K }),
        }
    }

    /// Whether the number of clusters is to be chosen.
    pub fn chooses_k(&self) -> bool {
        matches!(self.k, Some(ClusterCount::Auto | ClusterCount::Among { .. }))
    }

    /// The same fit with this number of clusters.
    pub(crate) fn with_k(&self, k: usize) -> Self {
        Self { k: Some(ClusterCount::Number(k)), ..self.clone() }
    }

    /// All files that a fit reads, but for the model of `like`, which the new one may replace.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let beside = self.beside().into_iter().map(|(_, typed)| Source::parse(typed).path);
        let prior = self.prior.file().map(Path::to_owned);
        let of_network = self.network.iter().flat_map(NetworkSpec::inputs);
        self.data.paths.iter().cloned().chain(beside).chain(prior).chain(of_network).collect()
    }

    /// What is read beside the rows, as it is typed, with the field.
    pub(crate) fn beside(&self) -> Vec<(Field, &Path)> {
        let all = [(Field::Truth, &self.truth), (Field::Known, &self.known), (Field::Weights, &self.weights)];
        all.into_iter().filter_map(|(field, typed)| Some((field, typed.as_deref()?))).collect()
    }

    /// Refuse what cannot work whatever the data: no number of clusters, fields that would be ignored beside others.
    ///
    /// # Errors
    /// The first such field.
    pub fn check(&self, resources: &Resources) -> Result<()> {
        if self.version > VERSION {
            let problem = format!(
                "the specification has version {}, but this program only knows versions up to {VERSION}; use a newer program",
                self.version
            );
            return Err(JobError::refused(None, problem));
        }
        if self.chooses_k() {
            idle::refuse_for_choice(self)?;
        } else {
            self.clusters()?;
        }
        if self.restarts > MOST_RESTARTS {
            let problem = format!("is too many; at most {MOST_RESTARTS} starts are trained together");
            return Err(JobError::Value {
                field: Field::Restarts,
                value: self.restarts.to_string(),
                problem,
            });
        }
        self.sizes.check()?;
        self.check_outliers()?;
        idle::refuse_header(self)?;
        match &self.network {
            Some(network) => idle::refuse_for_network(self, network, resources),
            None => idle::refuse_for_linear(self, resources),
        }
    }

    /// Refuse a share of outliers that is none, and outliers beside sizes that count all rows.
    fn check_outliers(&self) -> Result<()> {
        let Some(rule) = self.outliers else { return Ok(()) };
        if rule.check().is_err() {
            let problem =
                "is no share of outliers; write auto, or a share of the rows above 0 and at most 0.5";
            let (field, value) = (Field::Outliers, rule.to_string());
            return Err(JobError::Value { field, value, problem: problem.to_owned() });
        }
        match self.sizes.any() {
            true => Err(JobError::Idle { field: Field::Outliers, why: BESIDE_SIZES }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
