//! Opening what the arguments name.

use crate::args::ReadArgs;
use anyhow::{Context, Result, bail};
use partita::rows::{Rows, SideBySide};
use partita_data::{Features, Labels, OpenOptions, open, read_labels};
use std::path::Path;

/// The opened feature files.
pub struct Opened {
    files: Vec<Features>,
}

impl Opened {
    /// Open all feature files.
    pub fn new(args: &ReadArgs) -> Result<Self> {
        let options = OpenOptions {
            memory: args.memory,
            array: args.array.clone(),
            columns: args.columns.clone(),
            id_column: args.id_column.clone(),
            ..OpenOptions::default()
        };
        let files: Vec<Features> =
            args.data.iter().map(|path| open(path, &options)).collect::<Result<_, _>>()?;
        for (file, path) in files.iter().zip(&args.data) {
            for note in file.notes() {
                eprintln!("note: {}: {note}", path.display());
            }
        }
        Ok(Self { files })
    }

    /// All features of each row, side by side.
    pub fn rows(&self) -> Result<SideBySide<'_>> {
        Ok(SideBySide::new(self.files.iter().map(|f| f as &dyn Rows).collect())?)
    }

    /// Names of the rows, if a file has them.
    pub fn ids(&self) -> Option<&[String]> {
        self.files.iter().find_map(|f| f.ids())
    }

    /// Name of a feature, or its number.
    pub fn feature(&self, mut index: usize) -> String {
        for file in &self.files {
            if index < file.m() {
                return file.feature_names().map_or_else(|| index.to_string(), |names| names[index].clone());
            }
            index -= file.m();
        }
        index.to_string()
    }
}

/// Labels of exactly `n` rows.
pub fn labels_of(path: &Path, n: usize) -> Result<Labels> {
    let labels = read_labels(path)?;
    if labels.values.len() != n {
        bail!("{} has {} labels but the data has {n} rows", path.display(), labels.values.len());
    }
    Ok(labels)
}

/// Run `work` on this many threads.
pub fn on_threads<R: Send>(threads: Option<usize>, work: impl FnOnce() -> R + Send) -> Result<R> {
    if threads == Some(0) {
        bail!("--threads 0 cannot work; give at least 1");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    Ok(pool.context("cannot start the threads")?.install(work))
}
