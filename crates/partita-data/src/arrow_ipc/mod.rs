//! Arrow IPC, as files (also called Feather version 2) and as streams.

mod check;

use crate::columns::{self, Collector};
use crate::error::{DataError, Result};
use crate::features::Features;
use crate::guard::guarded;
use crate::mapped;
use crate::options::OpenOptions;
use crate::texts::{Gathered, TextOptions, TextTable};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use std::fs::File;
use std::io::Cursor;
use std::path::Path;

const FORMAT: &str = "Arrow";

/// Open an Arrow file.
pub(crate) fn open_file(path: &Path, file: &File, options: &OpenOptions) -> Result<Features> {
    guarded(path, FORMAT, || {
        let map = mapped::map(path, file)?;
        check::file(&map).map_err(|problem| DataError::corrupt(path, FORMAT, problem))?;
        let reader = FileReader::try_new(Cursor::new(&map[..]), None).map_err(|e| corrupt(path, e))?;
        let schema = reader.schema();
        collect(path, map.len(), &schema, reader, options)
    })
}

/// Open an Arrow stream.
pub(crate) fn open_stream(path: &Path, file: &File, options: &OpenOptions) -> Result<Features> {
    guarded(path, FORMAT, || {
        let map = mapped::map(path, file)?;
        check::stream(&map).map_err(|problem| DataError::corrupt(path, FORMAT, problem))?;
        let reader = StreamReader::try_new(Cursor::new(&map[..]), None).map_err(|e| corrupt(path, e))?;
        let schema = reader.schema();
        collect(path, map.len(), &schema, reader, options)
    })
}

fn collect(
    path: &Path,
    len: usize,
    schema: &Schema,
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    options: &OpenOptions,
) -> Result<Features> {
    let (mut columns, mut batches) = (columns::describe(schema), batches.peekable());
    let telling = columns::telling(&columns);
    if let Some(Ok(first)) = batches.peek() {
        let first = first.slice(0, first.num_rows().min(columns::SAMPLE));
        columns::sample(&mut columns, &telling, &first.project(&telling).map_err(|e| corrupt(path, e))?);
    }
    let mut collector = Collector::new(path, len as u64, columns, options)?;
    let projection = collector.projection();
    for batch in batches {
        let batch = batch.and_then(|b| b.project(&projection)).map_err(|e| corrupt(path, e))?;
        collector.add(&batch)?;
    }
    collector.finish()
}

/// The texts of the columns that are asked for, with the names of the rows, from a file or from a stream.
pub(crate) fn read_texts(
    path: &Path,
    file: &File,
    seekable: bool,
    options: &TextOptions,
) -> Result<TextTable> {
    guarded(path, FORMAT, || {
        let map = mapped::map(path, file)?;
        let checked = if seekable { check::file(&map) } else { check::stream(&map) };
        checked.map_err(|problem| DataError::corrupt(path, FORMAT, problem))?;
        let source = Cursor::new(&map[..]);
        if seekable {
            let reader = FileReader::try_new(source, None).map_err(|e| corrupt(path, e))?;
            gather(path, map.len(), &reader.schema(), reader, options)
        } else {
            let reader = StreamReader::try_new(source, None).map_err(|e| corrupt(path, e))?;
            gather(path, map.len(), &reader.schema(), reader, options)
        }
    })
}

fn gather(
    path: &Path,
    len: usize,
    schema: &Schema,
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    options: &TextOptions,
) -> Result<TextTable> {
    let mut gathered = Gathered::new(path, len as u64, columns::describe(schema), options)?;
    let projection = gathered.projection();
    for batch in batches {
        gathered.add(&batch.and_then(|b| b.project(&projection)).map_err(|e| corrupt(path, e))?)?;
    }
    gathered.finish()
}

fn corrupt(path: &Path, error: ArrowError) -> DataError {
    DataError::corrupt(path, FORMAT, error.to_string())
}
