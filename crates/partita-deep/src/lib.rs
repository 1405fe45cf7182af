//! Networks, features of images and deep clustering for Partita; the only crate that uses burn.
//!
//! - [`nets`]: the networks, each checked against stored outputs of PyTorch.
//! - [`weights`]: weights of networks from PyTorch and safetensors files, and back.
//! - [`augment`]: changes to images that should not change their cluster.
//! - [`losses`]: the core's losses on logits, and losses that compare views.
//! - [`optimise`], [`train`]: Adam, and training with checkpoints.
//! - [`perceptron`]: a small network on rows of numbers.
//! - [`device`]: where tensors are computed.

pub mod augment;
pub mod device;
mod error;
mod kernels;
pub mod losses;
pub mod nets;
pub mod optimise;
pub mod perceptron;
pub mod train;
pub mod weights;

pub use error::{DeepError, Result};
