//! Tables with named columns: their cells, and what sets clusters apart by them.

use crate::error::Result;
use partita_data::Frame;
use partita_embed::tables::{TablePlan, TablePortrait, What, portraits};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A table with named columns.
#[derive(Clone)]
pub struct TableItems {
    /// Its typed columns.
    pub frame: Frame,
    /// What was done to them; none if they are numbers as they are.
    pub plan: Option<Arc<TablePlan>>,
}

impl fmt::Debug for TableItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableItems")
            .field("columns", &self.frame.columns())
            .field("plan", &self.plan)
            .finish()
    }
}

impl TableItems {
    /// Clusters with these labels, below `k` or −1 for outliers, in the language of the columns that are used.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn portraits(&self, labels: &[i32], k: usize) -> Result<Vec<TablePortrait>> {
        let used = |name: &str| match &self.plan {
            Some(plan) => plan.columns.iter().any(|column| column.name == name),
            None => true,
        };
        Ok(portraits(&self.frame, &used, labels, k)?)
    }
}

/// A name for each cluster of what sets it apart most; no two are the same.
pub(super) fn names(portraits: &[TablePortrait]) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let name = |portrait: &TablePortrait| {
        let words: Vec<String> = portrait.differences.iter().take(2).map(word).collect();
        let name = if words.is_empty() { "others".to_owned() } else { words.join(", ") };
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name} ({count})") }
    };
    portraits.iter().map(name).collect()
}

fn word(difference: &partita_embed::tables::Difference) -> String {
    match &difference.what {
        What::Median { .. } => {
            // The words before the numbers.
            difference.said.split(" (").next().unwrap_or(&difference.column).to_owned()
        }
        What::Share { level, inside, outside } => {
            let what = level.as_ref().map_or_else(|| format!("{} missing", difference.column), Clone::clone);
            if inside > outside { what } else { format!("not {what}") }
        }
    }
}
