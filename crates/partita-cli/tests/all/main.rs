//! The integration tests in one program: with a program per file, all dependencies would be linked once per file.

mod checkpoints;
mod choices;
#[cfg(feature = "deep")]
mod images;
mod knowledge;
mod lab;
mod lifts;
mod outliers;
mod refusals;
mod reproduce;
mod results;
mod sameness;
mod sizes;
mod specs;
mod tables;
mod unwritten;
