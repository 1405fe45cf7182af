//! A column of a table, as its first cells show it.

use crate::dates::{self, Order};
use crate::role::Role;

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
    /// Dates or times.
    Date(Order),
    /// Anything else.
    Other,
}

impl Kind {
    pub(crate) fn is_feature(self) -> bool {
        matches!(self, Self::Number | Self::Boolean)
    }

    /// Whether it may be a feature of a mixed table.
    pub(crate) fn is_typed(self) -> bool {
        matches!(self, Self::Number | Self::Boolean | Self::Text | Self::Date(_))
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
    /// What it was said to be.
    pub(crate) role: Option<Role>,
}

impl Column {
    /// A column of which no cells are known.
    pub(crate) fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, whole: false, sample: Vec::new(), role: None }
    }

    /// The same as it was said to be, which its kind follows.
    pub(crate) fn taken_for(&mut self, role: Role) {
        self.role = Some(role);
        self.kind = match role {
            Role::Number => Kind::Number,
            Role::Category => Kind::Text,
            Role::Date => Kind::Date(dates::order(&self.sample).map_or(Order::Year, |(order, _)| order)),
            Role::Text | Role::Id | Role::Skip => self.kind,
        };
    }

    /// Whether cells that its kind does not allow count as missing.
    pub(crate) fn is_lenient(&self) -> bool {
        matches!(self.role, Some(Role::Number | Role::Date))
    }
}
