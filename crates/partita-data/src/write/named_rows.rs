//! Rows with their names and classes: a table of names beside an array, or one Parquet table with everything.

use super::{AtomicFile, CompleteFile, csv_cell};
use crate::error::{DataError, Result};
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are encoded together.
const GROUP: usize = 1024;

/// The names of rows, and the class of each if classes are known.
#[derive(Debug, Clone, Copy)]
pub struct RowNames<'a> {
    /// Names.
    pub ids: &'a [String],
    /// Classes.
    pub classes: Option<&'a [String]>,
}

/// A CSV table with a line for each row, in order: `id` and, if classes are known, `label`.
pub fn names_csv(path: impl AsRef<Path>, names: RowNames<'_>) -> Result<CompleteFile> {
    let mut file = AtomicFile::create(path)?;
    let mut text = String::from(if names.classes.is_some() { "id,label\n" } else { "id\n" });
    for (row, id) in names.ids.iter().enumerate() {
        text += &csv_cell(id);
        if let Some(class) = names.classes.and_then(|classes| classes.get(row)) {
            text.push(',');
            text += &csv_cell(class);
        }
        text.push('\n');
    }
    file.put(text.as_bytes())?;
    file.complete()
}

/// Writes a Parquet table of named rows, some rows at a time: `id`, `label` if classes are known, then `f0`, `f1` and so on.
pub struct ParquetRows<'a> {
    path: PathBuf,
    names: RowNames<'a>,
    m: usize,
    writer: ArrowWriter<AtomicFile>,
    schema: Arc<Schema>,
    /// Values that are not encoded yet.
    waiting: Vec<f32>,
    /// Rows that are.
    done: usize,
}

impl<'a> ParquetRows<'a> {
    /// Begin a table of rows of `m` features.
    pub fn create(path: impl AsRef<Path>, names: RowNames<'a>, m: usize) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let named = std::iter::once(text("id")).chain(names.classes.map(|_| text("label")));
        let features = (0..m).map(|j| Field::new(format!("f{j}"), DataType::Float32, false));
        let schema = Arc::new(Schema::new(named.chain(features).collect::<Vec<_>>()));
        let options = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = AtomicFile::create(&path)?;
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(options)).map_err(failed(&path))?;
        Ok(Self { path, names, m, writer, schema, waiting: Vec::new(), done: 0 })
    }

    /// Add whole rows.
    pub fn push(&mut self, rows: &[f32]) -> Result<()> {
        self.waiting.extend_from_slice(rows);
        if self.waiting.len() >= GROUP * self.m { self.encode() } else { Ok(()) }
    }

    /// Write what is left; the file does not have its name yet.
    pub fn complete(mut self) -> Result<CompleteFile> {
        self.encode()?;
        let expected = self.names.ids.len();
        if self.done != expected {
            return Err(DataError::Length { what: "the table", found: self.done, expected });
        }
        self.writer.into_inner().map_err(failed(&self.path))?.complete()
    }

    fn encode(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let n = rows.len() / self.m.max(1);
        let range = self.done..self.done + n;
        let text = |all: &[String]| Arc::new(StringArray::from_iter_values(&all[range.clone()])) as ArrayRef;
        let column = |j: usize| {
            let values = rows.iter().skip(j).step_by(self.m).copied();
            Arc::new(Float32Array::from_iter_values(values)) as ArrayRef
        };
        let named = std::iter::once(text(self.names.ids)).chain(self.names.classes.map(text));
        let columns = named.chain((0..self.m).map(column)).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|e| failed(&self.path)(ParquetError::from(e)))?;
        self.writer.write(&batch).map_err(failed(&self.path))?;
        self.done += n;
        Ok(())
    }
}

fn failed(path: &Path) -> impl Fn(ParquetError) -> DataError {
    move |error| DataError::Write { path: path.to_owned(), source: io::Error::other(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenOptions, open, read_labels};

    #[test]
    fn rows_come_back_with_their_names_and_classes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.parquet");
        let n = GROUP + 3;
        let ids: Vec<String> = (0..n).map(|i| format!("photo {i}, left")).collect();
        let classes: Vec<String> = (0..n).map(|i| ["ant", "bee"][i % 2].to_owned()).collect();
        let names = RowNames { ids: &ids, classes: Some(&classes) };
        let mut table = ParquetRows::create(&path, names, 2).unwrap();
        let values: Vec<f32> = (0..2 * n).map(|v| v as f32).collect();
        values.chunks(10).for_each(|rows| table.push(rows).unwrap());
        table.complete().unwrap().appear().unwrap();
        let mut rows = open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(rows.as_f32_slice(), Some(&values[..]), "the classes are no features");
        assert_eq!(rows.take_ids().map(|found| found.values), Some(ids.clone()));
        assert_eq!(read_labels(&path).unwrap().values[..4], [0, 1, 0, 1]);

        let beside = directory.path().join("x.names.csv");
        names_csv(&beside, names).unwrap().appear().unwrap();
        let text = std::fs::read_to_string(&beside).unwrap();
        assert!(text.starts_with("id,label\n\"photo 0, left\",ant\n"), "{text}");
        assert_eq!(text.lines().count(), n + 1);
    }
}
