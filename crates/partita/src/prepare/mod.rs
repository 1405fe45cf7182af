//! Preparing features: what is done to every row before training, and how the model takes it back.

mod choice;
mod lift;
mod preparation;
mod prepared;
mod reduce;
mod sparse;
mod survey;
#[cfg(test)]
mod tests;
mod view;

pub use choice::{MANY_FEATURES, Prepare, PrepareNote, PrepareWhy};
pub use lift::{GraphLift, Landmarks, Lift, LiftKind, LiftNote, Lifted, QuadraticLift, RbfLift, modes};
pub use preparation::{Preparation, Reader};
pub(crate) use prepared::lift_kind;
pub use prepared::{MANY_CLUSTERS, Neighbours, Preparations, Prepared, Recipe, Sight};
pub use reduce::{Dims, Reduction, WIDE};
pub use sparse::Projector;
pub use view::{FeatureView, apply_views, centre_block};
