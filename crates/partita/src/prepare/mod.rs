//! Preparing features: what is done to every row before training, and how the model takes it back.

mod lift;
mod preparation;
mod prepared;
mod reduce;
mod sparse;
mod survey;
#[cfg(test)]
mod tests;
mod view;

pub use lift::{GraphLift, Landmarks, Lift, LiftKind, LiftNote, Lifted};
pub use preparation::{Preparation, Prepare};
pub use prepared::{Preparations, Prepared, Recipe, Sight};
pub use reduce::{Dims, Reduction, WIDE};
pub use sparse::Projector;
pub use view::{FeatureView, apply_views, centre_block};
