//! Which rows count as outliers.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Largest share of the rows that may be asked for: half of them are no sparser than their cluster.
const MOST: f64 = 0.5;
/// What is accepted.
const MUST: &str = "auto, or a share of the rows above 0 and at most 0.5";

/// Which rows count as outliers: those beyond a fence that their distribution gives, or a share of the rows. As JSON it is `"auto"` or a number.
///
/// ```
/// use partita::outliers::OutlierRule;
/// assert_eq!("auto".parse::<OutlierRule>()?, OutlierRule::Auto);
/// assert_eq!("0.05".parse::<OutlierRule>()?, OutlierRule::Share(0.05));
/// assert!("0".parse::<OutlierRule>().is_err());
/// # Ok::<(), partita::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub enum OutlierRule {
    /// Rows beyond a fence: at most one or two in a hundred of a Gaussian cluster.
    Auto,
    /// This share of the rows, those with the highest scores.
    Share(f64),
}

impl OutlierRule {
    /// Refuse a share that is none.
    ///
    /// # Errors
    /// If it is not above 0 and at most 0.5.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Share(share) if !(share > 0.0 && share <= MOST) => Err(bad(&share.to_string())),
            _ => Ok(()),
        }
    }
}

fn bad(value: &str) -> Error {
    Error::Parameter { name: "outliers", value: value.to_owned(), must: MUST }
}

impl fmt::Display for OutlierRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Share(share) => share.fmt(f),
        }
    }
}

impl FromStr for OutlierRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let rule = match text {
            "auto" => Self::Auto,
            _ => Self::Share(text.parse().map_err(|_| bad(text))?),
        };
        rule.check().map(|()| rule)
    }
}

/// A rule as it is written.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Share(f64),
    Name(String),
}

impl From<OutlierRule> for Written {
    fn from(rule: OutlierRule) -> Self {
        match rule {
            OutlierRule::Auto => Self::Name("auto".to_owned()),
            OutlierRule::Share(share) => Self::Share(share),
        }
    }
}

impl TryFrom<Written> for OutlierRule {
    type Error = Error;

    // Whether a number is a share is checked with the other options.
    fn try_from(written: Written) -> Result<Self> {
        match written {
            Written::Share(share) => Ok(Self::Share(share)),
            Written::Name(name) if name == "auto" => Ok(Self::Auto),
            Written::Name(name) => Err(bad(&name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for rule in [OutlierRule::Auto, OutlierRule::Share(0.05), OutlierRule::Share(0.5)] {
            assert_eq!(rule.to_string().parse::<OutlierRule>().unwrap(), rule);
        }
        for text in ["", "0", "-0.1", "0.51", "1.5", "NaN", "inf", "maybe", "Auto"] {
            let message = text.parse::<OutlierRule>().unwrap_err().to_string();
            assert!(
                message.contains(&format!("outliers = {text}")) && message.contains("auto, or a share"),
                "{message}"
            );
        }
    }
}
