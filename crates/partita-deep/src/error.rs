//! What can be wrong with images, weights and options of the deep engine, and what the user can do about it.

use partita_data::DataError;
use partita_embed::EmbedError;
use thiserror::Error;

/// A problem of the deep engine.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeepError {
    /// More memory would be needed than there is.
    #[error("{what} needs about {} of memory, and {} are free; {advice}", gigabytes(*need), gigabytes(*free))]
    Memory {
        /// What needs it.
        what: &'static str,
        /// Bytes that are needed.
        need: u64,
        /// Bytes that are free.
        free: u64,
        /// What to do.
        advice: String,
    },
    /// The requested processor is not available.
    #[error("{0}")]
    Device(String),
    /// An option that makes no sense.
    #[error("{0}")]
    Option(String),
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A problem of images or weights.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A problem of the core.
    #[error(transparent)]
    Core(#[from] partita::Error),
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, DeepError>;

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
