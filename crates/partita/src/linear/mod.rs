//! The linear engine: softmax(W x + b) trained to be decisive and fair.

mod align;
#[doc(hidden)]
pub mod em;
mod fit;
mod fitted;
mod fitting;
mod head;
mod init;
mod input;
mod labelling;
mod layout;
mod loss;
mod model;
mod order;
mod params;
mod plan;
mod polish;
mod relocate;
mod report;
mod score;
mod sizes;
mod source;
mod stack;
mod state;
mod suits;
mod supervision;
mod trainer;
mod trial;

pub use crate::numeric::optimise::Optimiser;
pub use crate::prepare::{Dims, LiftKind, Neighbours, Prepare};
pub use fit::{PREPARING, fit, fit_prepared};
pub use fitted::Fit;
pub use fitting::{FitState, Fitting};
pub use head::Head;
pub use input::Input;
#[doc(hidden)]
pub use labelling::Labelling;
pub use layout::Layout;
pub use loss::{EM_ITERATIONS, Loss, Solver};
pub use model::{Contribution, Explanation, Model, Predictions};
pub use params::{Checked, Init, Params, Prior, Refresh};
pub use plan::Plan;
pub use report::{Report, Restart};
pub use score::{Ailment, DEAD};
#[doc(hidden)]
pub use source::RowBatch;
pub use source::Source;
#[doc(hidden)]
pub use stack::{Buffers, Stack};
pub use stack::{GROUP, Gradient};
pub use state::{Stage, TrainState};
pub use trainer::Trainer;
