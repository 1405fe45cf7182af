//! The linear engine.

pub mod kernel;
pub mod prepare;
pub mod vector;
