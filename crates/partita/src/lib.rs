//! Discriminative entropy clustering.

pub mod balance;
pub mod choose;
pub mod compare;
pub mod entropy;
pub mod error;
pub mod linear;
pub mod margin;
pub mod metrics;
pub mod objective;
pub mod pseudo;
pub mod report;
pub mod rivals;
pub mod rng;
pub mod rows;
pub mod simplex;
pub mod sparse;

pub use error::{Error, Result};
