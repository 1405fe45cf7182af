//! Texts to cluster: the lines of a file, a column of a table, a field of JSON lines.

mod build;
mod delimited;
mod gather;
mod json;
mod lines;
mod object;

pub(crate) use gather::Gathered;
pub(crate) use json::cells as json_cells;
pub(crate) use lines::are_lines;

use crate::error::Result;
use crate::ids::Ids;
use crate::text::Bytes;
use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

/// Names that the column or field of the texts usually has, the most usual first.
const USUAL: [&str; 14] = [
    "text",
    "texts",
    "body",
    "content",
    "document",
    "sentence",
    "message",
    "abstract",
    "description",
    "review",
    "comment",
    "question",
    "summary",
    "title",
];

/// Texts in memory or in a file, by number.
///
/// ```
/// let texts = partita_data::Texts::from_strings(["Crude oil rose.", " "]);
/// assert_eq!((texts.len(), &*texts.get(0), texts.is_blank(1)), (2, "Crude oil rose.", true));
/// ```
#[derive(Debug)]
pub struct Texts {
    bytes: Bytes,
    /// First byte and length of each.
    places: Vec<(usize, usize)>,
}

impl Texts {
    /// Texts that are in memory.
    pub fn from_strings<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        for text in texts {
            let text = text.as_ref().as_bytes();
            places.push((bytes.len(), text.len()));
            bytes.extend_from_slice(text);
        }
        Self { bytes: Bytes::Memory(bytes), places }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The text of this number, which must be below [`Self::len`]. A file that another program has changed meanwhile may give replacement characters.
    pub fn get(&self, index: usize) -> Cow<'_, str> {
        let (start, len) = self.places[index];
        String::from_utf8_lossy(&self.bytes[start..start + len])
    }

    /// Whether a text is nothing but space.
    pub fn is_blank(&self, index: usize) -> bool {
        self.get(index).trim().is_empty()
    }
}

/// Which texts to read, and how much memory to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// The column of a table or the field of JSON lines, by name or, of tables, by number from 1; several with commas between are joined. Default: one
    /// with a usual name such as `text`, or the only one that holds text.
    pub column: Option<String>,
    /// Column or field that names the rows. Default: one that is called id or the like.
    pub id_column: Option<String>,
    /// Whether the first line of a text table names the columns. Default: found from the content.
    pub header: Option<bool>,
    /// Bytes of decoded text to keep in memory; more go to a temporary file.
    pub memory: usize,
}

/// The texts of a file.
#[derive(Debug)]
pub struct TextTable {
    /// The texts, blank ones included.
    pub texts: Texts,
    /// Names of the rows, if the file has them.
    pub ids: Option<Ids>,
    /// The column or field that the texts are from, if the file has several.
    pub column: Option<String>,
    /// What a user should know about how the file was read.
    pub notes: Vec<String>,
}

/// Whether a text file is a table by its name, which gzip may have lengthened.
fn has_columns(path: &Path) -> bool {
    let extension =
        |path: &Path| path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let packed = extension(path) == "gz";
    let inside = if packed { path.file_stem().map(Path::new).map(extension) } else { Some(extension(path)) };
    inside.is_some_and(|found| ["csv", "tsv", "tab", "psv"].contains(&found.as_str()))
}

/// The texts of a file of JSON lines, which gzip may have packed.
pub(crate) fn read_json(path: &Path, file: &File, packed: bool, options: &TextOptions) -> Result<TextTable> {
    json::read(path, file, packed, options)
}

/// The texts of a text file, which gzip may have packed: a column of a table, or a text in each line.
pub(crate) fn read_plain(path: &Path, file: &File, packed: bool, options: &TextOptions) -> Result<TextTable> {
    match options.column.is_some() || has_columns(path) {
        true => delimited::read(path, file, packed, options),
        false => lines::read(path, file, packed, options),
    }
}
