//! Where decoded rows go: memory while they fit, an unlinked temporary file beyond.

use crate::dtype::{Dtype, Encoding};
use crate::error::{DataError, Result};
use crate::features::{Features, Storage};
use crate::mapped::{Mapped, map};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Collects rows of `m` values.
pub(crate) struct Sink {
    path: PathBuf,
    m: usize,
    /// Most values to keep in memory.
    limit: usize,
    memory: Vec<f32>,
    file: Option<BufWriter<File>>,
    written: usize,
}

impl Sink {
    /// Rows of the file at `path`, kept in memory up to `memory` bytes.
    pub(crate) fn new(path: &Path, m: usize, memory: usize) -> Self {
        Self { path: path.to_owned(), m, limit: memory / 4, memory: Vec::new(), file: None, written: 0 }
    }

    /// Add values; they need not be whole rows.
    pub(crate) fn push(&mut self, values: &[f32]) -> Result<()> {
        if self.file.is_none() {
            if self.memory.len() + values.len() <= self.limit {
                self.memory.extend_from_slice(values);
                return Ok(());
            }
            self.spill()?;
        }
        self.write(values)
    }

    /// The collected rows.
    pub(crate) fn finish(mut self) -> Result<Features> {
        let Some(writer) = self.file.take() else {
            let n = self.rows(self.memory.len())?;
            return Features::new(&self.path, Storage::Memory(std::mem::take(&mut self.memory)), n, self.m);
        };
        let file = writer.into_inner().map_err(|e| self.scratch_error(e.into_error()))?;
        let n = self.rows(self.written)?;
        let encoding = Encoding { dtype: Dtype::F32, big_endian: cfg!(target_endian = "big") };
        let mapped = Mapped::new(&self.path, &file, map(&self.path, &file)?, (0, self.written), encoding)?;
        Features::new(&self.path, Storage::Mapped(mapped), n, self.m)
    }

    /// Whole rows in so many values.
    fn rows(&self, values: usize) -> Result<usize> {
        let n = values / self.m.max(1);
        if n * self.m == values {
            return Ok(n);
        }
        Err(DataError::Length { what: "the last row", found: values - n * self.m, expected: self.m })
    }

    /// Move what is in memory to a temporary file.
    fn spill(&mut self) -> Result<()> {
        let file = tempfile::tempfile().map_err(|e| self.scratch_error(e))?;
        self.file = Some(BufWriter::with_capacity(1 << 20, file));
        let memory = std::mem::take(&mut self.memory);
        self.write(&memory)
    }

    fn write(&mut self, values: &[f32]) -> Result<()> {
        // SAFETY: f32 has no padding, and any byte may be read as u8.
        let (_, bytes, _) = unsafe { values.align_to::<u8>() };
        if let Some(file) = &mut self.file {
            file.write_all(bytes).map_err(|e| self.scratch_error(e))?;
        }
        self.written += values.len();
        Ok(())
    }

    fn scratch_error(&self, source: io::Error) -> DataError {
        DataError::Scratch { path: self.path.clone(), directory: std::env::temp_dir(), source }
    }
}

impl Features {
    /// Rows of `m` features that are made block by block; beyond `memory` bytes they go to a temporary file.
    ///
    /// ```
    /// use partita::rows::Rows;
    /// use partita_data::{DataError, Features};
    /// let blocks = [vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0]].map(Ok::<_, DataError>);
    /// let features = Features::from_blocks(2, 1 << 20, blocks.into_iter())?;
    /// assert_eq!((features.n(), features.m()), (3, 2));
    /// # Ok::<(), DataError>(())
    /// ```
    ///
    /// # Errors
    /// The first error of a block, or if the temporary file cannot be written.
    pub fn from_blocks<E: From<DataError>>(
        m: usize,
        memory: usize,
        blocks: impl Iterator<Item = std::result::Result<Vec<f32>, E>>,
    ) -> std::result::Result<Self, E> {
        let mut sink = Sink::new(Path::new("memory"), m, memory);
        for block in blocks {
            sink.push(&block?)?;
        }
        Ok(sink.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::rows::Rows;

    #[test]
    fn rows_are_the_same_in_memory_and_on_disk() {
        let values: Vec<f32> = (0..3000).map(|i| i as f32).collect();
        for memory in [0, 100, 6000, 1 << 20] {
            let mut sink = Sink::new(Path::new("x"), 3, memory);
            values.chunks(70).for_each(|c| sink.push(c).unwrap());
            let features = sink.finish().unwrap();
            assert_eq!(features.n(), 1000);
            assert_eq!(features.is_mapped(), memory < 12_000);
            assert_eq!(features.as_f32_slice(), Some(&values[..]));
        }
    }
}
