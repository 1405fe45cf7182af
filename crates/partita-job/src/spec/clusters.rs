//! How many clusters a specification asks for: a number, or one that the rows are to show.

use crate::error::{JobError, Result};
use crate::field::Field;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Numbers that are tried if none are given.
const USUAL: RangeInclusive<usize> = 2..=20;

/// The number of clusters K. In a file it is a number, `"auto"`, or a range such as `"2..30"`.
///
/// ```
/// use partita_job::{ClusterCount, FitSpec};
/// assert_eq!("10".parse::<ClusterCount>()?, ClusterCount::Number(10));
/// assert_eq!("2..30".parse::<ClusterCount>()?, ClusterCount::Among { least: 2, most: 30 });
/// let spec = FitSpec::from_json(r#"{ "k": "auto" }"#)?;
/// assert_eq!(spec.k, Some(ClusterCount::Auto));
/// # Ok::<(), partita_job::JobError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum ClusterCount {
    /// This many.
    Number(usize),
    /// The number from 2 to 20 that different parts of the rows agree on.
    Auto,
    /// The same, from another range.
    Among {
        /// Smallest number that is tried.
        least: usize,
        /// Largest.
        most: usize,
    },
}

impl ClusterCount {
    /// The numbers to choose from, if the rows allow at most `most`; nothing where the number is given. A range that was asked for stays as
    /// it is, so that rows that are too few are told.
    pub(crate) fn range(self, most: usize) -> Option<RangeInclusive<usize>> {
        match self {
            Self::Number(_) => None,
            Self::Auto => Some(*USUAL.start()..=most.min(*USUAL.end())),
            Self::Among { least, most } => Some(least..=most),
        }
    }
}

impl From<usize> for ClusterCount {
    fn from(k: usize) -> Self {
        Self::Number(k)
    }
}

impl fmt::Display for ClusterCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(k) => k.fmt(f),
            Self::Auto => "auto".fmt(f),
            Self::Among { least, most } => write!(f, "{least}..{most}"),
        }
    }
}

impl FromStr for ClusterCount {
    type Err = JobError;

    /// A number, `auto`, or a range with both ends included.
    fn from_str(text: &str) -> Result<Self> {
        let whole = |text: &str| text.trim().parse::<usize>().ok();
        let (auto, ends) = (text.trim() == "auto", text.split_once(".."));
        let ends = ends.and_then(|(a, b)| Some((whole(a)?, whole(b.trim_start_matches('='))?)));
        let count = match (whole(text), ends) {
            _ if auto => Some(Self::Auto),
            (Some(k), _) => Some(Self::Number(k)),
            (None, Some((least, most))) if 2 <= least && least < most => Some(Self::Among { least, most }),
            _ => None,
        };
        count.ok_or_else(|| JobError::Value {
            field: Field::K,
            value: text.to_owned(),
            problem: "is no number of clusters; give one such as 10, auto, or a range such as 2..30"
                .to_owned(),
        })
    }
}

/// As it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(usize),
    Word(String),
}

impl From<ClusterCount> for Written {
    fn from(count: ClusterCount) -> Self {
        match count {
            ClusterCount::Number(k) => Self::Number(k),
            other => Self::Word(other.to_string()),
        }
    }
}

impl TryFrom<Written> for ClusterCount {
    type Error = JobError;

    fn try_from(written: Written) -> Result<Self> {
        match written {
            Written::Number(k) => Ok(Self::Number(k)),
            Written::Word(word) => word.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_nonsense_is_refused_with_advice() {
        for text in ["7", "\"auto\"", "\"3..9\""] {
            let count: ClusterCount = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&count).unwrap(), text);
        }
        for text in ["", "some", "-3", "1..4", "5..5", "6..2", "2..", "3.5"] {
            let message = text.parse::<ClusterCount>().unwrap_err().to_string();
            assert!(message.contains("2..30"), "{text}: {message}");
        }
    }
}
