//! Collecting texts from the cells of a table: which columns they are, and where they are kept.

use super::{TextOptions, Texts, USUAL};
use crate::column::{Column, Kind};
use crate::error::{DataError, Result, list};
use crate::ids::Ids;
use crate::naming::{Naming, is_certain, naming};
use crate::roles::Table;
use crate::text::Spill;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The columns to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Those of the text, in the order in which they are joined.
    pub(crate) texts: Vec<usize>,
    pub(crate) id: Option<usize>,
}

/// The columns that the options ask for.
pub(crate) fn choose(table: Table<'_>, options: &TextOptions) -> Result<Chosen> {
    let texts = match &options.column {
        Some(typed) => named(table, typed)?,
        None => vec![usual(table)?],
    };
    let names_rows = |i: &usize| naming(*i, &table.columns[*i]) == Some(Naming::Rows);
    let id = match &options.id_column {
        Some(name) => Some(table.find(name)?),
        None => (0..table.columns.len()).find(names_rows),
    };
    Ok(Chosen { id: id.filter(|id| !texts.contains(id)), texts })
}

/// The column of this name or, if there is none, the columns whose names stand between its commas.
fn named(table: Table<'_>, typed: &str) -> Result<Vec<usize>> {
    match table.find(typed) {
        Err(_) if typed.contains(',') => typed.split(',').map(|name| table.find(name.trim())).collect(),
        found => Ok(vec![found?]),
    }
}

fn usual(table: Table<'_>) -> Result<usize> {
    let text = |i: &usize| table.columns[*i].kind == Kind::Text && naming(*i, &table.columns[*i]).is_none();
    let called = |name: &&str| {
        table.columns.iter().position(|c| c.kind == Kind::Text && c.name.eq_ignore_ascii_case(name))
    };
    let mut all = (0..table.columns.len()).filter(text);
    let only = match (all.next(), all.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    USUAL.iter().find_map(called).or(only).ok_or_else(|| unclear(table.path, table.columns))
}

fn unclear(path: &Path, columns: &[Column]) -> DataError {
    DataError::Choose {
        path: path.to_owned(),
        problem: "no column that is clearly the one of the texts".into(),
        advice: "name it with the option text",
        available: list(&columns.iter().map(|c| &c.name).collect::<Vec<_>>()),
    }
}

/// Texts so far, in memory up to a limit, beyond it in a temporary file.
pub(crate) struct Builder {
    path: PathBuf,
    spill: Spill,
    places: Vec<(usize, usize)>,
    at: usize,
    /// Most bytes to accept.
    limit: usize,
    pub(crate) ids: Option<Ids>,
}

impl Builder {
    /// For the texts of a file; `limit` is what its size justifies.
    pub(crate) fn new(path: &Path, memory: usize, limit: usize) -> Self {
        Self { path: path.to_owned(), spill: Spill::new(memory), places: Vec::new(), at: 0, limit, ids: None }
    }

    /// The same with names of rows, from this column.
    pub(crate) fn named(mut self, column: Option<&Column>, asked: bool) -> Self {
        self.ids = column.map(|column| Ids {
            values: Vec::new(),
            column: column.name.clone(),
            certain: asked || is_certain(&column.name),
        });
        self
    }

    /// Add a text, whose parts stand on lines of their own.
    pub(crate) fn push<'p>(&mut self, parts: impl Iterator<Item = &'p str>) -> Result<()> {
        let start = self.at;
        for part in parts.filter(|part| !part.trim().is_empty()) {
            if self.at > start {
                self.write(b"\n")?;
            }
            self.write(part.as_bytes())?;
        }
        self.places.push((start, self.at - start));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len();
        if self.at > self.limit {
            let problem = format!(
                "it unpacks to more than {} bytes of text, which its size does not justify",
                self.limit
            );
            return Err(DataError::corrupt(&self.path, "table", problem));
        }
        let path = &self.path;
        let scratch =
            |source| DataError::Scratch { path: path.clone(), directory: std::env::temp_dir(), source };
        self.spill.write_all(bytes).map_err(scratch)
    }

    /// All texts.
    pub(crate) fn finish(self) -> Result<(Texts, Option<Ids>)> {
        let bytes = self.spill.finish(&self.path)?;
        Ok((Texts { bytes, places: self.places }, self.ids))
    }
}
