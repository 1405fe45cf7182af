//! Parquet: a column of lists, or many columns of numbers, decoded batch by batch.

mod check;
mod thrift;

use crate::classes::{self, Labels};
use crate::columns::{self, Collector};
use crate::error::{DataError, Result, list};
use crate::features::Features;
use crate::guard::guarded;
use crate::options::OpenOptions;
use crate::roles::Kind;
use crate::{arrays, mapped};
use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use std::fs::File;
use std::path::Path;

const FORMAT: &str = "Parquet";

type Builder = ParquetRecordBatchReaderBuilder<File>;

/// Open a Parquet file of features.
pub(crate) fn open(path: &Path, file: File, options: &OpenOptions) -> Result<Features> {
    let len = file.metadata().map_err(DataError::io(path, "read"))?.len();
    guarded(path, FORMAT, || {
        let builder = checked(path, file)?;
        let mut collector = Collector::new(path, len, builder.schema(), options)?;
        for batch in read(path, builder, collector.projection())? {
            collector.add(&batch.map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?)?;
        }
        collector.finish()
    })
}

/// Read labels: the column called label, class, cluster, target or y, otherwise the last of numbers or text.
pub(crate) fn read_labels(path: &Path, file: File) -> Result<Labels> {
    let len = file.metadata().map_err(DataError::io(path, "read"))?.len();
    guarded(path, FORMAT, || {
        let builder = checked(path, file)?;
        let column = label_column(path, builder.schema())?;
        let mut cells = Vec::new();
        for batch in read(path, builder, vec![column])? {
            let batch = batch.map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?;
            let text = arrays::label_cells(batch.column(0).as_ref());
            cells.extend(text.ok_or_else(|| DataError::corrupt(path, FORMAT, "the labels cannot be read"))?);
            if cells.len() as u64 > columns::most_values(len) {
                return Err(DataError::corrupt(path, FORMAT, "it has more labels than its size justifies"));
            }
        }
        classes::from_cells(path, &cells)
    })
}

/// The column called like labels, otherwise the last of numbers or text.
fn label_column(path: &Path, schema: &Schema) -> Result<usize> {
    let found = columns::describe(schema);
    let names: Vec<&str> = found.iter().map(|c| c.name.as_str()).collect();
    let usable = |i: &usize| matches!(found[*i].kind, Kind::Number | Kind::Text);
    let named = classes::label_column(&names).filter(usable);
    named.or_else(|| (0..found.len()).rev().find(usable)).ok_or_else(|| DataError::Choose {
        path: path.to_owned(),
        problem: "no column of numbers or text".into(),
        advice: "give a file with a column of labels",
        available: list(&names),
    })
}

/// Read the footer and hold every place and size against the file, before anything is allocated for them.
fn checked(path: &Path, file: File) -> Result<Builder> {
    let map = mapped::map(path, &file)?;
    let corrupt = |problem| DataError::corrupt(path, FORMAT, problem);
    check::footer(&map).map_err(corrupt)?;
    let builder = Builder::try_new(file).map_err(|e| explain(path, e))?;
    check::packing(builder.metadata()).map_err(|packing| unread(path, packing))?;
    check::columns(builder.metadata(), &map).map_err(corrupt)?;
    Ok(builder)
}

/// A reader of some columns whose batches hold a bounded number of values.
fn read(path: &Path, builder: Builder, chosen: Vec<usize>) -> Result<ParquetRecordBatchReader> {
    let rows = columns::rows_at_a_time(chosen.len());
    let mask = ProjectionMask::roots(builder.parquet_schema(), chosen);
    builder.with_batch_size(rows).with_projection(mask).build().map_err(|e| explain(path, e))
}

/// A codec that is not built in is no fault of the file.
fn explain(path: &Path, error: ParquetError) -> DataError {
    match error {
        ParquetError::NYI(what) => unread(path, what),
        other => DataError::corrupt(path, FORMAT, other.to_string()),
    }
}

fn unread(path: &Path, dtype: String) -> DataError {
    let advice = "that is not read here; write it with zstd, snappy, lz4 or gzip compression";
    DataError::Dtype { path: path.to_owned(), what: "the table".into(), dtype, advice }
}
