//! Names of rows.

use std::collections::HashMap;

/// The names of all rows, from a column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ids {
    /// The name of each row.
    pub values: Vec<String>,
    /// The column that they are from.
    pub column: String,
    /// Whether the column is called like one of names, or was chosen. Otherwise it is only the first column of text.
    pub certain: bool,
}

impl Ids {
    /// The first name that occurs twice.
    pub fn twice(&self) -> Option<&str> {
        let mut seen = HashMap::with_capacity(self.values.len());
        self.values.iter().find(|id| seen.insert(id.as_str(), ()).is_some()).map(String::as_str)
    }
}
