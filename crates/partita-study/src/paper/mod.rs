//! The experiments behind the paper's figures and tables. Each is a function from its description to pictures, tables and
//! numbers; what the numbers must be stands in the description.
//!
//! | file | experiments |
//! |---|---|
//! | `minima` | entropy clustering against K-means: the teaser, local and global minima, four γ |
//! | `multiclass` | the same with more clusters, and their margins |
//! | `curves` | Rényi entropies, supervised losses, forward and reverse divergences |
//! | `simplex` | supervised losses of three classes |
//! | `margins` | signed and unsigned margins |
//! | `paths` | towards the widest margin as γ → 0 |
//! | `noise` | reverse and forward cross-entropy with wrong labels |
//! | `updates` | pseudo-labels once a batch and once an epoch |
//! | `solvers` | EM and Newton |
//! | `tables` | the order α |
//! | `semi` | a few known labels |
//! | `features` | all methods on fixed features; `descent` is the paper's algorithm, `undone` our engine without its changes to it |

mod curves;
mod descent;
mod features;
mod margins;
mod minima;
mod multiclass;
mod noise;
mod paths;
mod semi;
mod simplex;
mod solvers;
mod tables;
mod undone;
mod updates;

use crate::chart::Chart;
use crate::error::{Result, StudyError};
use crate::library::Library;
use crate::spec::Spec;
use crate::table::Table;
use partita::report::{Flow, Observer, Progress};
use std::collections::BTreeMap;

/// What an experiment found.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Pictures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Numbers by name.
    pub numbers: BTreeMap<String, f64>,
}

impl Findings {
    fn figure(&mut self, name: &str, columns: usize, charts: Vec<Chart>) {
        self.figures.push(Figure { name: name.to_owned(), columns, charts });
    }

    fn number(&mut self, name: impl Into<String>, value: f64) {
        self.numbers.insert(name.into(), value);
    }
}

/// Charts that belong together.
#[derive(Debug, Clone)]
pub struct Figure {
    /// For its file.
    pub name: String,
    /// Charts in a line.
    pub columns: usize,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// What an experiment may use.
pub struct Context<'a> {
    /// What to do.
    pub spec: &'a Spec,
    /// Data sets that do not come with the project.
    pub library: &'a Library,
    /// Gets its progress, and may stop it.
    pub observer: &'a dyn Observer,
}

impl Context<'_> {
    /// Report the progress of the experiment, from 0 to 1.
    fn progress(&self, done: f64) -> Result<()> {
        match self.observer.progress(Progress { stage: "reproduce", done, loss: None }) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(partita::Error::Interrupted.into()),
        }
    }
}

type Experiment = fn(&Context<'_>) -> Result<Findings>;

const EXPERIMENTS: [(&str, Experiment); 16] = [
    ("teaser", minima::teaser),
    ("minima", minima::minima),
    ("gammas", minima::gammas),
    ("renyi", curves::renyi),
    ("supervised", curves::supervised),
    ("simplex", simplex::run),
    ("margins", margins::run),
    ("multiclass", multiclass::run),
    ("divergences", curves::divergences),
    ("paths", paths::run),
    ("noise", noise::run),
    ("updates", updates::run),
    ("solvers", solvers::run),
    ("orders", tables::orders),
    ("features", features::run),
    ("semi", semi::run),
];

/// Run the experiment of a description.
pub fn run(context: &Context<'_>) -> Result<Findings> {
    let name = &context.spec.experiment;
    match EXPERIMENTS.iter().find(|(known, _)| known == name) {
        Some((_, experiment)) => experiment(context),
        None => Err(StudyError::Spec {
            name: context.spec.title.clone(),
            why: format!("no experiment {name}; there are {}", EXPERIMENTS.map(|e| e.0).join(", ")),
        }),
    }
}

/// Descriptions that come with the project, by name.
pub const CATALOGUE: [(&str, &str); 20] = [
    ("teaser", include_str!("../../reproduce/teaser.toml")),
    ("minima", include_str!("../../reproduce/minima.toml")),
    ("gammas", include_str!("../../reproduce/gammas.toml")),
    ("renyi", include_str!("../../reproduce/renyi.toml")),
    ("supervised", include_str!("../../reproduce/supervised.toml")),
    ("simplex", include_str!("../../reproduce/simplex.toml")),
    ("margins", include_str!("../../reproduce/margins.toml")),
    ("multiclass", include_str!("../../reproduce/multiclass.toml")),
    ("divergences", include_str!("../../reproduce/divergences.toml")),
    ("paths", include_str!("../../reproduce/paths.toml")),
    ("noise", include_str!("../../reproduce/noise.toml")),
    ("updates", include_str!("../../reproduce/updates.toml")),
    ("solvers", include_str!("../../reproduce/solvers.toml")),
    ("orders", include_str!("../../reproduce/orders.toml")),
    ("features-stl10", include_str!("../../reproduce/features-stl10.toml")),
    ("features-cifar10", include_str!("../../reproduce/features-cifar10.toml")),
    ("features-cifar100", include_str!("../../reproduce/features-cifar100.toml")),
    ("features-mnist", include_str!("../../reproduce/features-mnist.toml")),
    ("semi-stl10", include_str!("../../reproduce/semi-stl10.toml")),
    ("semi-cifar10", include_str!("../../reproduce/semi-cifar10.toml")),
];
