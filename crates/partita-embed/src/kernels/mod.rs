//! What networks for inference are made of: products and convolutions on one thread, with maps in one order from layer to layer.
//!
//! Work is split over threads by images, so the bits depend on neither their number nor on which images come together.

mod convolve;
mod each;
mod maps;
mod place;
mod pool;
#[cfg(test)]
mod tests;
mod vector;

pub(crate) use convolve::Convolution;
pub(crate) use each::Depthwise;
pub(crate) use maps::{Maps, Shelf};
pub(crate) use place::{Border, Window};
pub(crate) use pool::{largest, means};
