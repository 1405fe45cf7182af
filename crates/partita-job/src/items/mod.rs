//! The raw items that rows were made of, and what clusters of them have in common, in their own language.

mod tables;
mod texts;

pub use tables::TableItems;
pub use texts::{TextExample, TextItems, TextPortrait};

use crate::error::Result;
use partita::linear::Model;
use partita::rows::Rows;
use partita_embed::tables::TablePortrait;
use serde::Serialize;

/// Raw items, by row.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Items {
    /// Texts.
    Texts(TextItems),
    /// Rows of a table with named columns.
    Table(TableItems),
}

/// What the clusters of items are like.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemPortraits {
    /// Of texts: a portrait for each cluster.
    Texts(Vec<TextPortrait>),
    /// Of a table: what sets each cluster apart.
    Table(Vec<TablePortrait>),
}

impl Items {
    /// What the clusters of a model are like, for its rows with these labels, −1 for outliers.
    pub(crate) fn portraits(
        &self,
        model: &Model,
        rows: &dyn Rows,
        labels: &[i32],
        ids: Option<&[String]>,
    ) -> Result<ItemPortraits> {
        match self {
            Self::Texts(texts) => Ok(ItemPortraits::Texts(texts.portraits(model, rows, labels, ids)?)),
            Self::Table(table) => Ok(ItemPortraits::Table(table.portraits(labels, model.k())?)),
        }
    }
}

impl ItemPortraits {
    /// A name for each cluster, made of what tells it apart; no two are the same.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Texts(portraits) => texts::names(portraits),
            Self::Table(portraits) => tables::names(portraits),
        }
    }
}
