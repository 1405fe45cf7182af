//! What rows were made of: raw items, for portraits and reports.

use partita_data::Frame;
use partita_embed::tables::TablePlan;
use std::sync::Arc;

/// The raw items of the rows of a part, in the same order.
#[derive(Clone)]
#[non_exhaustive]
pub enum Items {
    /// Rows of a table with named columns.
    Table(TableItems),
}

/// A table with named columns.
#[derive(Clone)]
pub struct TableItems {
    /// Its typed columns.
    pub frame: Frame,
    /// What was done to them; none if they are numbers as they are.
    pub plan: Option<Arc<TablePlan>>,
}
