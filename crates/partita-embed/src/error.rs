//! What can be wrong with items and weights.

use crate::images::ImageShape;
use crate::photos::Net;
use std::path::PathBuf;

/// Why items cannot become rows. Messages say what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A file that cannot be read or written as data.
    #[error(transparent)]
    Data(#[from] partita_data::DataError),
    /// The engine refused rows, or the work was stopped.
    #[error(transparent)]
    Core(#[from] partita::Error),
    /// A file that does not hold what is needed.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// No network has this name.
    #[error("there is no network `{name}`; the networks are {known}")]
    UnknownNet {
        /// What was typed.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The network does not take such images.
    #[error("{net} cannot take images of {} channels and {}×{} pixels: {problem}", shape[0], shape[1], shape[2])]
    ImageShape {
        /// The network.
        net: Net,
        /// Channels, height, width.
        shape: ImageShape,
        /// Why not.
        problem: &'static str,
    },
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
    /// A file that holds no weights, or is damaged.
    #[error("{} cannot be read as weights: {problem}; give a PyTorch state dict (.pt, .pth) or .safetensors", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Weights that do not belong to the network.
    #[error("{} does not hold the weights of {net}: {problem}", path.display())]
    OtherNet {
        /// The file.
        path: PathBuf,
        /// The network.
        net: Net,
        /// Missing, unexpected and misshapen tensors.
        problem: String,
    },
    /// An image that cannot be used.
    #[error(
        "image {name} cannot be used: {problem}; repair or remove it, or skip such images with --skip-bad"
    )]
    Image {
        /// Its file or number.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// An image of the wrong shape.
    #[error("image {name} has {} channels and {}×{} pixels, but {advice}", found[0], found[1], found[2])]
    OtherShape {
        /// Its file or number.
        name: String,
        /// Its channels, height and width.
        found: ImageShape,
        /// What is needed, and what to do.
        advice: String,
    },
    /// A source of images that cannot be used.
    #[error("{} gives no images: {problem}", path.display())]
    Images {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong, and what would be accepted.
        problem: String,
    },
    /// An option or an encoder that cannot be used here.
    #[error("{0}")]
    Refused(String),
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, EmbedError>;

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
