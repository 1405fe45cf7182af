//! What a specification says about the sizes of clusters.

use crate::error::{JobError, Result};
use crate::field::Field;
use partita_data::read_vector;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Expected sizes of the clusters.
///
/// ```
/// use partita_job::PriorSpec;
/// assert_eq!("0.7,0.2,0.1".parse::<PriorSpec>()?, PriorSpec::Shares(vec![0.7, 0.2, 0.1]));
/// assert_eq!("auto".parse::<PriorSpec>()?, PriorSpec::Auto);
/// assert!("half,half".parse::<PriorSpec>().is_err());
/// # Ok::<(), partita_job::JobError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorSpec {
    /// Estimated sizes where rows show them, otherwise equal ones.
    #[default]
    Usual,
    /// All clusters have the same size.
    Equal,
    /// Nothing is known: they are estimated.
    Auto,
    /// These shares of the rows.
    Shares(Vec<f64>),
    /// The shares in this file.
    File(PathBuf),
}

impl PriorSpec {
    /// The file that it is read from, if it is.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }

    /// The shares that were given, here or in a file.
    pub(crate) fn shares(&self) -> Result<Option<Vec<f64>>> {
        match self {
            Self::Usual | Self::Equal | Self::Auto => Ok(None),
            Self::Shares(shares) => Ok(Some(shares.clone())),
            Self::File(path) => Ok(Some(read_vector(path)?)),
        }
    }
}

impl FromStr for PriorSpec {
    type Err = JobError;

    /// `equal`, `auto`, the name of a file that exists, or shares with commas between.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "equal" => return Ok(Self::Equal),
            "auto" => return Ok(Self::Auto),
            path if Path::new(path).exists() => return Ok(Self::File(path.into())),
            _ => {}
        }
        let number = |cell: &str| {
            cell.trim().parse::<f64>().map_err(|_| JobError::Value {
                field: Field::Prior,
                value: format!("{text}:"),
                problem: format!(
                    "'{cell}' is neither a number nor the name of a file; write shares such as 0.5,0.3,0.2"
                ),
            })
        };
        Ok(Self::Shares(text.split(',').map(number).collect::<Result<_>>()?))
    }
}
