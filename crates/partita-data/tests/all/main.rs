//! The integration tests in one program: a program for each file would be linked, with all that it uses, as many times.

mod choose;
mod fuzz;
mod golden;
mod hostile;
mod labels;
mod residency;
mod text;
mod write;
