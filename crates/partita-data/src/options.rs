//! What is asked of a reader.

use crate::role::Role;
use crate::schema::{Columns, Why};

/// Which part of a file to read, and how much memory to use.
///
/// ```
/// let options = partita_data::OpenOptions { id_column: Some("name".into()), ..Default::default() };
/// assert_eq!(options.memory, 1 << 30);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenOptions {
    /// Bytes of decoded rows to keep in memory; more go to a temporary file. Default: 1 GiB.
    pub memory: usize,
    /// Array of an `.npz` or tensor of a `.safetensors` file. Default: the first array, or the only tensor, with rows.
    pub array: Option<String>,
    /// Feature columns of a table, by name or by number from 1. Default: all that hold numbers or booleans and do not name
    /// things. They are read in the order of the file.
    pub columns: Vec<String>,
    /// Columns of a table that are no features, by name or by number from 1; those that it does not have are ignored.
    pub exclude: Vec<String>,
    /// Columns that are used for something else, by name or by number from 1. They are never features.
    pub taken: Vec<(String, Why)>,
    /// Column of a table that names the rows. Default: a first column of text that is different in every row, or one called id
    /// or the like.
    pub id_column: Option<String>,
    /// Whether the first line of a text table names the columns. Default: found from the content.
    pub header: Option<bool>,
    /// The columns of a model. A table with names gives exactly these, in this order.
    pub like: Option<Columns>,
    /// Whether columns of words and dates of a table with names are read too, for a [`Frame`](crate::Frame).
    pub mixed: bool,
    /// What columns are taken for, by name or by number from 1.
    pub roles: Vec<(String, Role)>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            array: None,
            columns: Vec::new(),
            exclude: Vec::new(),
            taken: Vec::new(),
            id_column: None,
            header: None,
            like: None,
            mixed: false,
            roles: Vec::new(),
        }
    }
}
