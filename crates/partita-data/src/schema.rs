//! The columns of a table: the features in their order, and what was left out and why. A model keeps them, so that another
//! table is matched by name.

use crate::error::{DataError, Result, list};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Names at most this many slips apart are probably meant to be the same.
const SLIPS: usize = 2;

/// The columns of a table with names.
///
/// ```
/// use partita_data::Columns;
/// let columns = Columns::named(["a", "b"]);
/// assert_eq!(columns.find("t.csv".as_ref(), &["b", "other", "a"])?, [2, 0]);
/// assert!(columns.find("t.csv".as_ref(), &["a", "c"]).is_err());
/// # Ok::<(), partita_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// Names of the features, in the order in which they are read.
    pub names: Vec<String>,
    /// What each of them holds.
    #[serde(default)]
    pub kinds: Vec<ColumnKind>,
    /// The other columns, unless features were chosen by name.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// What a feature column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// True and false, read as 1 and 0.
    Boolean,
    /// Words, each of which is a level.
    Category,
    /// Dates or times.
    Date,
}

impl ColumnKind {
    /// Cells that it takes in a row of a [`Frame`](crate::Frame): a moment is its day and the second of the day.
    pub fn width(self) -> usize {
        if self == Self::Date { 2 } else { 1 }
    }

    /// Whether its cells are features as they are.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::Boolean)
    }
}

/// A column that is no feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: Why,
}

/// Why a column is no feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It names or numbers the rows.
    Id,
    /// Its numbers name something, such as a place or a document, and measure nothing.
    Code,
    /// It holds the true labels.
    Truth,
    /// It holds known labels.
    Known,
    /// It holds the weights of the rows.
    Weights,
    /// It was excluded by name.
    Excluded,
    /// It holds text, or something else that is no number.
    Text,
    /// All of its values are the same.
    Constant,
    /// It has no value at all.
    Empty,
    /// Its words are different in most rows: names, or free text.
    Unique,
    /// None of its words is frequent enough to tell many rows apart.
    Rare,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id => "names the rows",
            Self::Code => "is a code and no measurement",
            Self::Truth => "holds the true labels",
            Self::Known => "holds the known labels",
            Self::Weights => "holds the weights",
            Self::Excluded => "is excluded",
            Self::Text => "holds no numbers",
            Self::Constant => "has one value",
            Self::Empty => "has no value at all",
            Self::Unique => "is different in most rows: names or free text",
            Self::Rare => "has no frequent value",
        })
    }
}

impl Columns {
    /// Columns of numbers with these names.
    pub fn named<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Self { kinds: vec![ColumnKind::Number; names.len()], names, left_out: Vec::new() }
    }

    /// Whether some of them hold words or dates.
    pub fn is_mixed(&self) -> bool {
        self.kinds.iter().any(|kind| !kind.is_number())
    }

    /// Where these columns are among those of a table, in their own order. Of several with the same name, the first stands
    /// for the first.
    ///
    /// # Errors
    /// If some are not there; the message names them and what may have been meant.
    pub fn find<S: AsRef<str>>(&self, path: &Path, available: &[S]) -> Result<Vec<usize>> {
        let mut found: Vec<usize> = Vec::with_capacity(self.names.len());
        let mut missing = Vec::new();
        let mut places = std::collections::HashMap::<&str, std::collections::VecDeque<usize>>::new();
        for (i, name) in available.iter().enumerate() {
            places.entry(name.as_ref()).or_default().push_back(i);
        }
        for name in &self.names {
            match places.get_mut(name.as_str()).and_then(std::collections::VecDeque::pop_front) {
                Some(at) => found.push(at),
                None => missing.push(name.as_str()),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let left: Vec<&str> = available
            .iter()
            .enumerate()
            .filter(|(i, _)| !found.contains(i))
            .map(|(_, n)| n.as_ref())
            .collect();
        Err(DataError::OtherColumns {
            path: path.to_owned(),
            missing: list(&missing),
            meant: meant(&missing, &left),
            available: list(available),
        })
    }
}

/// Which columns may have been meant by those that are missing.
fn meant(missing: &[&str], available: &[&str]) -> String {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let near = |name: &str| {
        let apart = |other: &&&str| strsim::damerau_levenshtein(&plain(name), &plain(other));
        let limit = SLIPS.min(plain(name).chars().count() / 2);
        available
            .iter()
            .min_by_key(apart)
            .filter(|other| apart(other) <= limit)
            .map(|other| (*other).to_owned())
    };
    let pairs: Vec<String> =
        missing.iter().filter_map(|name| Some(format!("'{}' for '{name}'", near(name)?))).take(3).collect();
    if pairs.is_empty() { String::new() } else { format!(" (perhaps {})", pairs.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_in_the_order_of_the_model() {
        let columns = Columns::named(["a", "b", "a"]);
        assert_eq!(columns.find(Path::new("t"), &["a", "x", "a", "b"]).unwrap(), [0, 3, 2]);
    }

    #[test]
    fn missing_columns_are_named_with_what_may_have_been_meant() {
        let columns = Columns::named(["income", "age", "b"]);
        let error = columns.find(Path::new("t.csv"), &["Income ", "ago", "z"]).unwrap_err().to_string();
        assert!(error.contains("t.csv lacks 'income', 'age', 'b'"), "{error}");
        assert!(error.contains("'Income ' for 'income', 'ago' for 'age'"), "{error}");
        assert!(!error.contains("for 'b'"), "{error}");
    }

    #[test]
    fn a_short_name_with_half_of_its_letters_changed_is_not_meant() {
        let error = Columns::named(["age"]).find(Path::new("t"), &["name"]).unwrap_err().to_string();
        assert!(!error.contains("perhaps"), "{error}");
    }
}
