//! What can be wrong with items and weights.

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
    /// An option or an encoder that cannot be used here.
    #[error("{0}")]
    Refused(String),
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, EmbedError>;
