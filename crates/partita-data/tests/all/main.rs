//! The integration tests in one program: with a program per file, all dependencies would be linked once per file.

mod alike;
mod choose;
mod fuzz;
mod golden;
mod hostile;
mod labels;
mod residency;
mod text;
mod write;
