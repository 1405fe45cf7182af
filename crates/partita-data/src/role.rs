//! What a column of a table is said to be, where its cells alone would not decide it as its owner wants.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a column is taken for.
///
/// ```
/// use partita_data::Role;
/// assert_eq!("category".parse(), Ok(Role::Category));
/// assert!("colour".parse::<Role>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Numbers; cells that are none count as missing.
    Number,
    /// One of several levels, even if they are written as numbers.
    Category,
    /// Dates or times; cells that are none count as missing.
    Date,
    /// Free text, which is no feature.
    Text,
    /// Names of the rows.
    Id,
    /// Nothing: it is left out.
    Skip,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Number, Self::Category, Self::Date, Self::Text, Self::Id, Self::Skip];

    fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Category => "category",
            Self::Date => "date",
            Self::Text => "text",
            Self::Id => "id",
            Self::Skip => "skip",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("'{text}' is nothing that a column can be taken for; write one of {names}")
        })
    }
}
