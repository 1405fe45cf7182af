//! Parquet: a column of lists, or many columns of numbers, decoded batch by batch.

mod check;
mod thrift;

use crate::cells::{self, Cells, Choose};
use crate::column::Column;
use crate::columns::{self, Collector};
use crate::error::{DataError, Result};
use crate::features::Features;
use crate::guard::guarded;
use crate::options::OpenOptions;
use crate::roles::Table;
use crate::texts::{Gathered, TextOptions, TextTable};
use crate::{arrays, mapped};
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
        let columns = described(path, &file)?;
        let builder = checked(path, file)?;
        let mut collector = Collector::new(path, len, columns, options)?;
        for batch in read(path, builder, collector.projection())? {
            collector.add(&batch.map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?)?;
        }
        collector.finish()
    })
}

/// The columns with their first values, where those may name something.
fn described(path: &Path, file: &File) -> Result<Vec<Column>> {
    let again = file.try_clone().map_err(DataError::io(path, "read"))?;
    let builder = checked(path, again)?;
    let mut columns = columns::describe(builder.schema());
    let telling = columns::telling(&columns);
    if telling.is_empty() {
        return Ok(columns);
    }
    let first = read(path, builder.with_limit(columns::SAMPLE), telling.clone())?.next();
    // What cannot be read here is reported where the rows are.
    if let Some(Ok(batch)) = first {
        columns::sample(&mut columns, &telling, &batch);
    }
    Ok(columns)
}

/// The cells of a column as text, with the names of the rows: the column that is asked for, or the one that `choose` takes.
pub(crate) fn read_cells(path: &Path, file: File, choose: Choose<'_>) -> Result<Cells> {
    let len = file.metadata().map_err(DataError::io(path, "read"))?.len();
    guarded(path, FORMAT, || {
        let columns = described(path, &file)?;
        let picked = cells::pick(Table { path, columns: &columns, named: true }, choose)?;
        let builder = checked(path, file)?;
        let mut wanted: Vec<usize> = picked.id.into_iter().chain([picked.column]).collect();
        wanted.sort_unstable();
        let mut found = Cells::new(&columns, &picked, true);
        for batch in read(path, builder, wanted.clone())? {
            let batch = batch.map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?;
            let text = |column: usize| {
                let at = wanted.iter().position(|w| *w == column).unwrap_or_default();
                arrays::label_cells(batch.column(at).as_ref())
                    .ok_or_else(|| DataError::corrupt(path, FORMAT, "a column cannot be read as text"))
            };
            found.cells.extend(text(picked.column)?);
            if let (Some(id), Some(ids)) = (picked.id, &mut found.ids) {
                ids.values.extend(text(id)?);
            }
            if found.cells.len() as u64 > columns::most_values(len) {
                return Err(DataError::corrupt(path, FORMAT, "it has more rows than its size justifies"));
            }
        }
        Ok(found)
    })
}

/// The texts of the columns that are asked for, with the names of the rows.
pub(crate) fn read_texts(path: &Path, file: File, options: &TextOptions) -> Result<TextTable> {
    let len = file.metadata().map_err(DataError::io(path, "read"))?.len();
    guarded(path, FORMAT, || {
        let columns = described(path, &file)?;
        let mut gathered = Gathered::new(path, len, columns, options)?;
        for batch in read(path, checked(path, file)?, gathered.projection())? {
            gathered.add(&batch.map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?)?;
        }
        gathered.finish()
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
