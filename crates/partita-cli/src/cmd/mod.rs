//! One file for each command.

pub mod choose_k;
pub mod compare;
#[cfg(feature = "deep")]
pub mod deep;
pub mod demo;
#[cfg(feature = "deep")]
pub mod embed;
pub mod evaluate;
pub mod explain;
pub mod fit;
pub mod idle;
pub mod outputs;
pub mod predict;
pub mod reproduce;
pub mod update;
