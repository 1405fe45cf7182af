//! The integration tests in one program: a program for each file would be linked, with all that it uses, as many times.

mod checkpoints;
mod choices;
#[cfg(feature = "deep")]
mod images;
mod knowledge;
mod lab;
mod refusals;
mod reproduce;
mod results;
mod sameness;
mod sizes;
mod specs;
mod unwritten;
