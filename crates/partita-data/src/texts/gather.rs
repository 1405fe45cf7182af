//! Texts out of the record batches of Parquet and Arrow.

use super::build::{Builder, Chosen, choose};
use super::delimited::named;
use super::{TextOptions, TextTable};
use crate::arrays::{each_string, strings};
use crate::column::Column;
use crate::columns::most_values;
use crate::error::{DataError, Result};
use crate::roles::Table;
use arrow_array::{Array, RecordBatch};
use std::path::{Path, PathBuf};

/// The texts so far.
pub(crate) struct Gathered {
    path: PathBuf,
    columns: Vec<Column>,
    chosen: Chosen,
    builder: Builder,
}

impl Gathered {
    /// For a file of `len` bytes with these columns.
    pub(crate) fn new(path: &Path, len: u64, columns: Vec<Column>, options: &TextOptions) -> Result<Self> {
        let chosen = choose(Table { path, columns: &columns, named: true }, options)?;
        let limit = usize::try_from(most_values(len)).unwrap_or(usize::MAX);
        let id = chosen.id.map(|id| &columns[id]);
        let builder = Builder::new(path, options.memory, limit).named(id, options.id_column.is_some());
        Ok(Self { path: path.to_owned(), columns, chosen, builder })
    }

    /// Indices of the columns to read, ascending.
    pub(crate) fn projection(&self) -> Vec<usize> {
        let mut wanted: Vec<usize> = self.chosen.texts.iter().copied().chain(self.chosen.id).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// Add a batch of these columns.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let projection = self.projection();
        let column = |index: usize| batch.column(projection.binary_search(&index).unwrap_or_default());
        match self.chosen.texts[..] {
            [only] => self.add_single(only, column(only))?,
            _ => {
                let texts: Vec<&dyn Array> = self.chosen.texts.iter().map(|&i| column(i).as_ref()).collect();
                self.add_joined(&texts, batch.num_rows())?;
            }
        }
        if let (Some(ids), Some(id)) = (&mut self.builder.ids, self.chosen.id) {
            let found =
                strings(column(id).as_ref()).ok_or_else(|| unreadable(&self.path, &self.columns[id]))?;
            ids.values.extend(found);
        }
        Ok(())
    }

    fn add_single(&mut self, index: usize, array: &dyn Array) -> Result<()> {
        let builder = &mut self.builder;
        match each_string(array, |text| builder.push(std::iter::once(text)))? {
            true => Ok(()),
            false => Err(unreadable(&self.path, &self.columns[index])),
        }
    }

    /// A row at a time, so that no more than the cells of one are held.
    fn add_joined(&mut self, arrays: &[&dyn Array], rows: usize) -> Result<()> {
        for row in 0..rows {
            let mut parts = Vec::with_capacity(arrays.len());
            for (array, &index) in arrays.iter().zip(&self.chosen.texts) {
                let cell = strings(&array.slice(row, 1)).and_then(|mut cells| cells.pop());
                parts.push(cell.ok_or_else(|| unreadable(&self.path, &self.columns[index]))?);
            }
            self.builder.push(parts.iter().map(String::as_str))?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<TextTable> {
        let column = (self.columns.len() > 1).then(|| named(&self.columns, &self.chosen.texts));
        let (texts, ids) = self.builder.finish()?;
        Ok(TextTable { texts, ids, column, notes: Vec::new() })
    }
}

fn unreadable(path: &Path, column: &Column) -> DataError {
    DataError::Column {
        path: path.to_owned(),
        column: column.name.clone(),
        problem: "holds no text; name another column with the option text".to_owned(),
    }
}
