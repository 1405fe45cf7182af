//! One file for each command.

pub mod choose_k;
pub mod compare;
pub mod demo;
pub mod evaluate;
pub mod explain;
pub mod fit;
pub mod outputs;
pub mod predict;
pub mod reproduce;
pub mod update;
