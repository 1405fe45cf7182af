//! Networks, features of images and deep clustering for Partita; the only crate that names burn.
//!
//! - [`nets`]: the networks, each tied to PyTorch by stored outputs.
//! - [`weights`]: PyTorch and safetensors files to networks and back.
//! - [`images`]: folders of pictures and the binary files of MNIST, CIFAR and STL-10.
//! - [`embed`]: features of images by a trained network.
//! - [`partial`]: features kept while they are made, to go on after an interruption.
//! - [`augment`]: changes of images that should not change their cluster.
//! - [`losses`]: the core's losses on logits, and what compares views.
//! - [`optimise`], [`train`]: Adam, and training with checkpoints.
//! - [`device`]: where tensors are computed.

pub mod augment;
pub mod device;
pub mod embed;
mod error;
pub mod images;
mod kernels;
pub mod losses;
mod memory;
pub mod nets;
pub mod optimise;
pub mod partial;
pub mod train;
pub mod weights;

pub use error::{DeepError, Result};
