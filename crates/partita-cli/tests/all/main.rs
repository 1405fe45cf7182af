//! The integration tests in one program: with a program per file, all dependencies would be linked once per file.

mod cells;
mod checkpoints;
mod choices;
mod forms;
#[cfg(feature = "deep")]
mod images;
#[cfg(unix)]
mod killed;
mod knowledge;
mod lab;
mod lifts;
mod mixed;
mod newcomer;
mod outliers;
#[cfg(feature = "deep")]
mod recipes;
mod refusals;
mod reproduce;
mod results;
mod sameness;
mod shop;
#[cfg(unix)]
mod signals;
mod sizes;
mod specs;
#[cfg(unix)]
mod streams;
mod tables;
mod texts;
mod unwritten;
