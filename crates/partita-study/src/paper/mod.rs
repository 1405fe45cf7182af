//! The experiments behind the paper's figures and tables. Each is a function from its description to pictures, tables and
//! numbers; what the numbers must be stands in the description.
//!
//! | file | experiments |
//! |---|---|
//! | `minima` | entropy clustering against K-means: the teaser, local and global minima, four γ |
//! | `multiclass` | the same with more clusters, and their margins |
//! | `generative` | mixtures of Gaussians on the toys; K-means on isotropic Gaussians |
//! | `formulations` | self-labelling losses: the same clusters, the same margins |
//! | `curves` | Rényi entropies, supervised losses, forward and reverse divergences |
//! | `simplex` | supervised losses of three classes |
//! | `margins` | signed and unsigned margins |
//! | `paths` | towards the widest of all fair labelings as γ → 0 |
//! | `hinge` | max-margin clustering by the hinge loss |
//! | `identities` | how fast entropies fall; what batches and EM do to the loss |
//! | `noise` | reverse and forward cross-entropy with wrong labels |
//! | `networks` | the same with a network; networks without regularisation |
//! | `updates` | pseudo-labels once a batch and once an epoch |
//! | `solvers`, `steps` | EM and Newton to the same error; steps of EM in a training |
//! | `tables` | the order α |
//! | `semi` | a few known labels |
//! | `features` | all methods on fixed features; `descent` is the paper's algorithm, `undone` our engine without its changes to it |
//! | `recorded` | tables of networks, from results on record |

mod curves;
mod descent;
mod features;
mod formulations;
mod generative;
mod hinge;
mod identities;
mod margins;
mod minima;
mod multiclass;
mod networks;
mod noise;
mod paths;
mod recorded;
mod semi;
mod simplex;
mod solvers;
mod steps;
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
    /// For what was not run now: how many cells have a result on record, and how many there are.
    pub recorded: Option<(usize, usize)>,
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

const EXPERIMENTS: &[(&str, Experiment)] = &[
    ("teaser", minima::teaser),
    ("regular", networks::regular),
    ("minima", minima::minima),
    ("gammas", minima::gammas),
    ("mixtures", generative::mixtures),
    ("isotropic", generative::isotropic),
    ("formulations", formulations::toys),
    ("renyi", curves::renyi),
    ("supervised", curves::supervised),
    ("simplex", simplex::run),
    ("margins", margins::run),
    ("multiclass", multiclass::run),
    ("paths", paths::run),
    ("conjecture", formulations::widest),
    ("hinge", hinge::run),
    ("decay", identities::decay),
    ("divergences", curves::divergences),
    ("noise", noise::run),
    ("noise-net", networks::noise),
    ("updates", updates::run),
    ("bound", identities::bound),
    ("solvers", solvers::run),
    ("steps", steps::run),
    ("orders", tables::orders),
    ("features", features::run),
    ("semi", semi::run),
    ("recorded", recorded::run),
];

/// Run the experiment of a description.
pub fn run(context: &Context<'_>) -> Result<Findings> {
    let name = &context.spec.experiment;
    match EXPERIMENTS.iter().find(|(known, _)| known == name) {
        Some((_, experiment)) => experiment(context),
        None => Err(StudyError::Spec {
            name: context.spec.title.clone(),
            why: format!(
                "no experiment {name}; there are {}",
                EXPERIMENTS.iter().map(|e| e.0).collect::<Vec<_>>().join(", ")
            ),
        }),
    }
}

/// Descriptions that come with the project, by name: the figures, the claims of the text, the tables.
pub const CATALOGUE: &[(&str, &str)] = &[
    ("teaser", include_str!("../../reproduce/teaser.toml")),
    ("regular", include_str!("../../reproduce/regular.toml")),
    ("minima", include_str!("../../reproduce/minima.toml")),
    ("gammas", include_str!("../../reproduce/gammas.toml")),
    ("renyi", include_str!("../../reproduce/renyi.toml")),
    ("margins", include_str!("../../reproduce/margins.toml")),
    ("supervised", include_str!("../../reproduce/supervised.toml")),
    ("multiclass", include_str!("../../reproduce/multiclass.toml")),
    ("simplex", include_str!("../../reproduce/simplex.toml")),
    ("divergences", include_str!("../../reproduce/divergences.toml")),
    ("noise", include_str!("../../reproduce/noise.toml")),
    ("noise-net", include_str!("../../reproduce/noise-net.toml")),
    ("updates", include_str!("../../reproduce/updates.toml")),
    ("mixtures", include_str!("../../reproduce/mixtures.toml")),
    ("isotropic", include_str!("../../reproduce/isotropic.toml")),
    ("formulations", include_str!("../../reproduce/formulations.toml")),
    ("paths", include_str!("../../reproduce/paths.toml")),
    ("conjecture", include_str!("../../reproduce/conjecture.toml")),
    ("hinge", include_str!("../../reproduce/hinge.toml")),
    ("decay", include_str!("../../reproduce/decay.toml")),
    ("bound", include_str!("../../reproduce/bound.toml")),
    ("steps", include_str!("../../reproduce/steps.toml")),
    ("solvers", include_str!("../../reproduce/solvers.toml")),
    ("orders", include_str!("../../reproduce/orders.toml")),
    ("features-stl10", include_str!("../../reproduce/features-stl10.toml")),
    ("features-cifar10", include_str!("../../reproduce/features-cifar10.toml")),
    ("features-cifar100", include_str!("../../reproduce/features-cifar100.toml")),
    ("features-mnist", include_str!("../../reproduce/features-mnist.toml")),
    ("table4", include_str!("../../reproduce/table4.toml")),
    ("table5", include_str!("../../reproduce/table5.toml")),
    ("table6", include_str!("../../reproduce/table6.toml")),
    ("semi-stl10", include_str!("../../reproduce/semi-stl10.toml")),
    ("semi-cifar10", include_str!("../../reproduce/semi-cifar10.toml")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What a place in the paper names: "Theorems 1, 2 and 3" are three.
    fn places(paper: &str) -> Vec<String> {
        let mut kind = String::new();
        let mut found = Vec::new();
        for word in paper.split([' ', ',']).filter(|word| !word.is_empty()) {
            match word.parse::<u32>() {
                Ok(number) if !kind.is_empty() => found.push(format!("{kind} {number}")),
                _ if word == "and" => {}
                _ => kind = word.trim_end_matches('s').replace("Propertie", "Property"),
            }
        }
        found
    }

    #[test]
    fn every_figure_table_and_theorem_of_the_paper_has_an_entry() {
        let specs: Vec<Spec> =
            CATALOGUE.iter().map(|(name, text)| Spec::parse(name, text).expect("well-formed")).collect();
        let covered: BTreeSet<String> = specs.iter().flat_map(|spec| places(&spec.paper)).collect();
        let kinds = [("Figure", 12), ("Table", 6), ("Theorem", 4), ("Property", 2)];
        for (kind, count) in kinds {
            for number in 1..=count {
                assert!(covered.contains(&format!("{kind} {number}")), "{kind} {number} has no entry");
            }
        }
        for spec in &specs {
            assert!(EXPERIMENTS.iter().any(|(name, _)| *name == spec.experiment), "{}", spec.experiment);
        }
    }
}
