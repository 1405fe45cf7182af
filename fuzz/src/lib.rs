//! What is fuzzed: a function for every kind of file that a user may give.

pub mod targets;
