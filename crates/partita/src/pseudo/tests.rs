//! Claims about the solvers together.
