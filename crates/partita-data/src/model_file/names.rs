//! The names that a model knows: of its columns and of its clusters.

use crate::classes::called;
use crate::error::Result;
use crate::schema::Columns;
use crate::versions::Origin;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The names of a model's columns and clusters, as far as they have any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// The columns of each file of features; none for a file without names. Empty for a model whose columns are not known.
    pub columns: Vec<Option<Columns>>,
    /// The names of the first clusters, from known labels that were words. Others are called by their number.
    pub clusters: Vec<String>,
}

impl Names {
    /// What a cluster is called.
    pub fn cluster(&self, cluster: usize) -> String {
        called(&self.clusters, cluster)
    }

    /// The entries of a model file. What has no names has none, so that such files are as they always were.
    ///
    /// # Errors
    /// If a name cannot be written as JSON.
    pub fn entries(&self) -> serde_json::Result<Vec<(&'static str, String)>> {
        let mut entries = Vec::new();
        if self.columns.iter().any(Option::is_some) {
            entries.push(("columns", serde_json::to_string(&self.columns)?));
        }
        if !self.clusters.is_empty() {
            entries.push(("clusters", serde_json::to_string(&self.clusters)?));
        }
        Ok(entries)
    }

    /// The names in the entries of a file of a model with `k` clusters.
    ///
    /// # Errors
    /// If they are not names, or more clusters have one than there are.
    pub fn read(metadata: &BTreeMap<String, String>, k: usize, origin: &Origin<'_>) -> Result<Self> {
        let names = Self {
            columns: entry(metadata, "columns", origin)?,
            clusters: entry(metadata, "clusters", origin)?,
        };
        if names.clusters.len() > k {
            return Err(origin.corrupt(format!("it names {} clusters but has {k}", names.clusters.len())));
        }
        Ok(names)
    }
}

fn entry<T: DeserializeOwned + Default>(
    metadata: &BTreeMap<String, String>,
    key: &str,
    origin: &Origin<'_>,
) -> Result<T> {
    let Some(text) = metadata.get(key) else { return Ok(T::default()) };
    serde_json::from_str(text).map_err(|e| origin.unknown(format!("other {key} ({e})")))
}
