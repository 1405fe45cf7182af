//! The linear engine: softmax(W x + b) trained to be decisive and fair.

pub mod align;
pub mod fit;
pub mod init;
pub mod kernel;
mod labelling;
pub mod lbfgs;
pub mod model;
pub mod narrow;
pub mod optimise;
pub mod params;
pub mod polish;
pub mod prepare;
pub mod reduce;
pub mod relocate;
mod run;
pub mod score;
mod sizes;
pub mod source;
pub mod survey;
pub mod train;
pub mod vector;

pub use fit::{Fit, Report, Restart, fit};
pub use model::Model;
pub use optimise::Optimiser;
pub use params::{EM_ITERATIONS, Init, Loss, Params, Prior, Refresh, Solver};
pub use prepare::Prepare;
pub use reduce::Dims;
pub use source::Input;
