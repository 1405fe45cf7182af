//! From photos, texts and tables to rows. No framework for networks is used here, and nothing is fetched from anywhere.
//!
//! An [`Encoder`] makes a row of numbers of an item. A model keeps its encoders, so that it takes raw items later.

mod encoder;
mod error;
pub mod tables;

pub use encoder::Encoder;
pub use error::{EmbedError, Result};
