//! What is asked of a reader.

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
    /// Feature columns of a table, by name or by number from 1. Default: all that hold numbers. They are read in
    /// the order of the file.
    pub columns: Vec<String>,
    /// Column of a table that names the rows. Default: a first column of text, or one called id or index.
    pub id_column: Option<String>,
    /// Whether the first line of a text table names the columns. Default: found from the content.
    pub header: Option<bool>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { memory: 1 << 30, array: None, columns: Vec::new(), id_column: None, header: None }
    }
}
