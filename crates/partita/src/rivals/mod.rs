//! Other clustering methods, in the same shape as the linear engine.

pub mod kmeans;
