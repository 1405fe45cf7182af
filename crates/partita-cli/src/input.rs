//! Opening what the arguments name.

use crate::args::ReadArgs;
use anyhow::{Context, Result, bail};
use partita::rows::{Rows, SideBySide};
use partita_data::{Features, Labels, OpenOptions, open, read_labels};
use std::path::{Path, PathBuf};

/// The opened feature files, which hold the same rows.
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
        // Text is parsed by all threads that there are, so that it is read where the number asked for holds.
        let files: Vec<Features> = on_threads(args.threads, || {
            args.data.iter().map(|path| open(path, &options)).collect::<Result<_, _>>()
        })??;
        for (file, path) in files.iter().zip(&args.data) {
            for note in file.notes() {
                eprintln!("note: {}: {note}", path.display());
            }
        }
        same_rows(&files, &args.data)?;
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

/// Refuse files whose rows are not the same: other numbers of rows, or other names.
fn same_rows(files: &[Features], paths: &[PathBuf]) -> Result<()> {
    let files: Vec<(&Features, &PathBuf)> = files.iter().zip(paths).collect();
    for (file, path) in &files {
        let (first, first_path) = files[0];
        if file.n() != first.n() {
            let (a, b) = (first_path.display(), path.display());
            bail!("{a} has {} rows but {b} has {}; give files of the same rows", first.n(), file.n());
        }
    }
    let named: Vec<_> = files.iter().filter_map(|(file, path)| Some((file.ids()?, path.display()))).collect();
    for ((a, a_path), (b, b_path)) in named.iter().zip(named.iter().skip(1)) {
        if let Some(row) = a.iter().zip(*b).position(|(a, b)| a != b) {
            bail!(
                "row {row} is '{}' in {a_path} but '{}' in {b_path} (rows count from 0); put the rows of both in the \
                 same order, or remove the column of names from one",
                a[row],
                b[row]
            );
        }
    }
    Ok(())
}

/// Labels of exactly `n` rows.
pub fn labels_of(path: &Path, n: usize) -> Result<Labels> {
    let labels = read_labels(path)?;
    if labels.values.len() != n {
        bail!(
            "{} has {} labels but the data has {n} rows (a blank line is the unknown label of a row)",
            path.display(),
            labels.values.len()
        );
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
