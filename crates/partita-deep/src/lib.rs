//! Networks, features of images and deep clustering for Partita; the only crate that uses burn.
//!
//! - [`nets`]: the networks, each checked against stored outputs of PyTorch.
//! - [`weights`]: weights of networks from PyTorch and safetensors files, and back.
//! - [`images`]: folders of pictures and the binary files of MNIST, CIFAR and STL-10.
//! - [`embed`]: features of images by a trained network.
//! - [`partial`]: features saved while they are made, to continue after an interruption.
//! - [`augment`]: changes to images that should not change their cluster.
//! - [`losses`]: the core's losses on logits, and losses that compare views.
//! - [`optimise`], [`train`]: Adam, and training with checkpoints.
//! - [`perceptron`]: a small network on rows of numbers.
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
mod normalise;
pub mod optimise;
pub mod partial;
pub mod perceptron;
pub mod train;
pub mod weights;

pub use error::{DeepError, Result};
