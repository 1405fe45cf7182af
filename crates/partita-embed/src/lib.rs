//! From photos, texts and tables to rows. No framework for networks is used here, and nothing is fetched from anywhere.
//!
//! An [`Encoder`] makes a row of numbers of an item. A model keeps its encoders, so that it takes raw items later.
//!
//! - [`images`]: folders of pictures and the binary files of MNIST, CIFAR and STL-10.
//! - [`photos`]: networks that make rows of pictures.
//! - [`weights`]: weights of networks from PyTorch and safetensors files.

pub mod cache;
mod encoder;
mod error;
pub mod images;
mod kernels;
pub mod memory;
pub mod partial;
pub mod photos;
pub mod tables;
pub mod texts;
pub mod weights;

pub use encoder::Encoder;
pub use error::{EmbedError, Result};
