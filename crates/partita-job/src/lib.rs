//! The rules of a fit, in one place: a specification and a data set in, a record out. Every front end, such as the command or
//! the Python package, fills the same specification and shows the same record.
//!
//! - [`FitSpec`]: what decides the result; [`Resources`]: what does not.
//! - [`Dataset`], [`Given`]: the rows, and what is known about them.
//! - [`run`], [`continue_model`]: a fit, and training a model further; [`Record`]: its result, with a [`ChoiceNote`] where K was chosen.
//! - [`AnyModel`], [`predict`]: which kind of model a file holds, and its predictions for rows.
//! - [`items`]: the raw items that rows were made of, and what clusters of them have in common.
//! - [`Outputs`], [`export`]: results as files.
//! - [`portrait`], [`map`], [`palette`], [`onnx`]: descriptions of clusters, rows on a plane, the colours, models for other programs.
//! - [`contenders`], [`CandidateSpec`]: what is compared, and what is tried to find the number of clusters.
//! - [`JobError`]: what is wrong, and with which [`Field`]; every front end spells fields in its own way.

mod block;
mod checkpoint;
mod choosing;
mod dataset;
mod error;
mod explain;
pub mod export;
mod features;
mod field;
mod given;
pub mod items;
mod join;
pub mod map;
mod methods;
mod model;
#[cfg(feature = "deep")]
mod network;
pub mod onnx;
pub mod palette;
pub mod portrait;
mod predict;
mod record;
mod resources;
mod run;
mod sizes;
mod spec;
mod training;

pub use block::Block;
pub use choosing::{ChoiceNote, TriedNumber, usual_range};
pub use dataset::{AllRows, DataPart, Dataset, Kind, MissingNote, Note, Photos, SharedRows, usable_images};
pub use error::{JobError, Kept, Result};
pub use explain::{Reason, Why, explain};
pub use export::{Outputs, write_predictions};
pub use features::FeatureFiles;
pub use field::{Field, spelled};
pub use given::Given;
pub use join::labels_to_compare;
pub use methods::{CandidateSpec, USUAL_METHODS, contenders};
pub use model::AnyModel;
#[cfg(feature = "deep")]
pub use partita_deep::DeepError;
pub use partita_embed::tables::{PlanNote, TablePortrait};
pub use predict::{predict, predict_each};
pub use record::{Details, LinearDetails, Record};
#[cfg(feature = "deep")]
pub use record::{HeldOut, NetworkDetails};
pub use resources::{MEMORY, Resources};
pub use run::{continue_fit, continue_model, portraits_of_items, run};
pub use sizes::{Balance, Balanced, SizeSpec};
pub use spec::{
    ClusterCount, DataSpec, FitSpec, MOST_RESTARTS, MethodSpec, Missing, NetworkSpec, OptimiserKind,
    PretextOptimiser, PriorSpec, RESTARTS, VERSION,
};
