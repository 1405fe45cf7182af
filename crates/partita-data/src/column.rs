//! A column of a table, as its first cells show it.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One number a row.
    Number,
    /// True or false.
    Boolean,
    /// Several numbers a row.
    List,
    /// Text.
    Text,
    /// Anything else.
    Other,
}

impl Kind {
    pub(crate) fn is_feature(self) -> bool {
        matches!(self, Self::Number | Self::Boolean)
    }
}

/// A column of a table. Columns without a header are called by their number, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether its numbers are whole.
    pub(crate) whole: bool,
    /// Its first cells, without those that are missing, if it may name something.
    pub(crate) sample: Vec<String>,
}
