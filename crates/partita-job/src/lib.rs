//! The rules of a fit, once: a specification and a data set in, a record out. The command, the Python package and every other
//! door fill the same specification and show the same record.
//!
//! - [`FitSpec`]: what decides the result; [`Resources`]: what does not.
//! - [`Dataset`], [`Given`]: the rows, and what is known beside them.
//! - [`run`], [`continue_model`]: a fit, and going on with one; [`Record`]: what came of it.
//! - [`AnyModel`], [`predict`]: which kind of model a file holds, and what it says of rows.
//! - [`Outputs`], [`export`]: results as files.
//! - [`portrait`], [`map`], [`palette`], [`onnx`]: what a cluster is like, rows on a plane, the colours, models for other programs.
//! - [`contenders`], [`CandidateSpec`]: what is compared, and what is tried to find the number of clusters.
//! - [`JobError`]: what is wrong, and with which [`Field`]; every door spells fields in its own way.

mod dataset;
mod error;
pub mod export;
mod field;
mod given;
#[cfg(feature = "deep")]
mod images;
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

pub use dataset::{AllRows, Dataset, Note, Part, SharedRows};
pub use error::{JobError, Kept, Result};
pub use export::{Outputs, write_predictions};
pub use field::{Field, spelled};
pub use given::{Given, labels_of};
#[cfg(feature = "deep")]
pub use images::usable_images;
pub use methods::{CandidateSpec, USUAL_METHODS, contenders};
pub use model::AnyModel;
#[cfg(feature = "deep")]
pub use partita_deep::DeepError;
pub use predict::{Block, predict, predict_each};
#[cfg(feature = "deep")]
pub use record::NetworkDetails;
pub use record::{Details, LinearDetails, Record};
pub use resources::{MEMORY, Resources};
pub use run::{continue_fit, continue_model, run};
pub use sizes::{Balance, Balanced, SizeSpec};
pub use spec::{
    DataSpec, FitSpec, MOST_RESTARTS, MethodSpec, NetworkSpec, OptimiserKind, PriorSpec, RESTARTS, VERSION,
};
