//! What an input is: features, a table, texts or photos. Every front end asks here.

use crate::error::{JobError, Result};
use crate::field::Field;
use crate::spec::DataSpec;
use partita_data::{STANDARD_INPUT, holds_lines};
use partita_embed::images::is_picture;
use partita_embed::texts::ENCODERS;
use std::path::Path;

/// Extensions of files with a JSON object in each line.
const JSON_LINES: [&str; 2] = ["jsonl", "ndjson"];
/// Extensions of tables, which usually name their columns.
const TABLES: [&str; 9] = ["csv", "tsv", "tab", "psv", "parquet", "pq", "arrow", "arrows", "feather"];

/// What an input holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rows of numbers.
    Features,
    /// A table, usually with named columns.
    Table,
    /// Texts.
    Texts,
    /// Photos: folders and pictures, or files of images for which an encoder is named.
    Photos,
}

impl Kind {
    /// What a path holds. A folder holds pictures; JSON lines, lines that are no numbers, and tables of which a column of texts is asked for are texts;
    /// other files are tables if their names say so.
    ///
    /// ```
    /// use partita_job::{DataSpec, Kind};
    /// let plain = DataSpec::default();
    /// assert_eq!(Kind::of("shop.csv".as_ref(), &plain)?, Kind::Table);
    /// assert_eq!(Kind::of("x.npy".as_ref(), &plain)?, Kind::Features);
    /// assert_eq!(Kind::of("posts.jsonl.gz".as_ref(), &plain)?, Kind::Texts);
    /// let reviews = DataSpec { text: Some("review".into()), ..DataSpec::default() };
    /// assert_eq!(Kind::of("shop.csv".as_ref(), &reviews)?, Kind::Texts);
    /// # Ok::<(), partita_job::JobError>(())
    /// ```
    ///
    /// # Errors
    /// If the first lines of a file cannot be read.
    pub fn of(path: &Path, spec: &DataSpec) -> Result<Self> {
        if is_photo(path) {
            return Ok(Self::Photos);
        }
        let extension = extension(path);
        let asked = spec.text.is_some() || spec.encoder.iter().any(|name| ENCODERS.contains(&name.as_str()));
        if asked || JSON_LINES.contains(&extension.as_str()) {
            return Ok(Self::Texts);
        }
        // Whoever names columns has a table.
        let columns = !spec.columns.is_empty() || !spec.exclude.is_empty() || spec.missing.is_some();
        if Self::may_be_lines(path) && !columns && holds_lines(path)? {
            return Ok(Self::Texts);
        }
        // Encoders are of texts or of photos; images of MNIST and the like are in files whose names do not say it.
        if !spec.encoder.is_empty() {
            return Ok(Self::Photos);
        }
        Ok(if TABLES.contains(&extension.as_str()) { Self::Table } else { Self::Features })
    }

    /// Whether each line of a file may be a text: files with columns and JSON have other names.
    pub(super) fn may_be_lines(path: &Path) -> bool {
        extension(path) == "txt" || path == Path::new(STANDARD_INPUT)
    }

    /// What all paths of a specification hold: texts stand alone, the others may stand side by side.
    ///
    /// # Errors
    /// As [`Self::of`], or if there are texts beside something else.
    pub fn of_all(spec: &DataSpec) -> Result<Self> {
        let kinds: Vec<Self> = spec.paths.iter().map(|path| Self::of(path, spec)).collect::<Result<_>>()?;
        let texts = kinds.iter().position(|kind| *kind == Self::Texts);
        if let (Some(at), true) = (texts, kinds.len() > 1) {
            let problem = format!(
                "{} holds texts, which cannot stand beside other files; cluster it alone, or join the files first",
                spec.paths[at].display()
            );
            return Err(JobError::refused(Field::Data, problem));
        }
        let photos = kinds.iter().position(|kind| *kind == Self::Photos);
        let others = kinds.iter().position(|kind| *kind != Self::Photos);
        if let (Some(photo), Some(other)) = (photos, others) {
            let problem = format!(
                "{} holds photos, but {} is no photo; give only photos, or name an encoder (`encoder`) if it holds images of MNIST, CIFAR or STL-10",
                spec.paths[photo].display(),
                spec.paths[other].display()
            );
            return Err(JobError::refused(Field::Data, problem));
        }
        Ok(kinds.first().copied().unwrap_or(Self::Features))
    }
}

/// Whether a path is a folder or a picture, whose name says so.
fn is_photo(path: &Path) -> bool {
    path.is_dir() || is_picture(path)
}

/// The extension of a file, without that of gzip.
fn extension(path: &Path) -> String {
    let of = |path: &Path| path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match of(path) {
        packed if packed == "gz" => path.file_stem().map(|stem| of(Path::new(stem))).unwrap_or_default(),
        plain => plain,
    }
}
