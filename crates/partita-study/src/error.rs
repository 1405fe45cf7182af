//! What can keep a study from being run.

use partita_data::DataError;
use std::path::PathBuf;

/// Why a study could not be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The description is wrong.
    #[error("{name}: {why}")]
    Spec {
        /// Which.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// It needs data that are not there. The others can go on.
    #[error("{} is not in the data directory; {hint}", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// How to get it.
        hint: &'static str,
    },
    /// It needs a part that this program was built without. The others can go on.
    #[error("it trains a network, and this program was built without them; build it with `--features deep`")]
    WithoutNetworks,
    /// A network could not be trained.
    #[cfg(feature = "deep")]
    #[error(transparent)]
    Deep(partita_deep::DeepError),
    /// A fit failed, or was interrupted.
    #[error(transparent)]
    Core(#[from] partita::Error),
    /// A file could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
}

#[cfg(feature = "deep")]
impl From<partita_deep::DeepError> for StudyError {
    fn from(error: partita_deep::DeepError) -> Self {
        match error {
            // An interruption is the same, wherever it happens.
            partita_deep::DeepError::Core(error) => Self::Core(error),
            other => Self::Deep(other),
        }
    }
}

/// A study, or why it could not be run.
pub type Result<T> = std::result::Result<T, StudyError>;
