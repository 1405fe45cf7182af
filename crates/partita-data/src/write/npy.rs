//! Writing `.npy` arrays that NumPy can map.

use super::{AtomicFile, CompleteFile};
use crate::error::{DataError, Result};
use std::path::Path;

/// Bytes of every header written here: NumPy asks for a multiple of 64, and two numbers always fit.
const HEADER: usize = 128;

/// Writes a matrix of `f32` block by block, so that it need not be in memory.
///
/// ```
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("a.npy");
/// let mut writer = partita_data::NpyWriter::create(&path, 2)?;
/// writer.push(&[1.0, 2.0, 3.0, 4.0])?;
/// writer.push(&[5.0, 6.0])?;
/// writer.finish()?;
/// assert_eq!(std::fs::metadata(&path)?.len(), 128 + 6 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NpyWriter {
    file: AtomicFile,
    m: usize,
    values: usize,
}

impl NpyWriter {
    /// Begin a matrix of `m` columns; the rows are counted as they come.
    pub fn create(path: impl AsRef<Path>, m: usize) -> Result<Self> {
        let mut file = AtomicFile::create(path)?;
        file.put(&header("<f4", "(0, 0)"))?;
        Ok(Self { file, m, values: 0 })
    }

    /// Add rows, row after row.
    pub fn push(&mut self, rows: &[f32]) -> Result<()> {
        self.values += rows.len();
        put_values(&mut self.file, rows, |v| v.to_le_bytes())
    }

    /// Write the number of rows and give the file its name.
    pub fn finish(self) -> Result<()> {
        self.complete()?.appear()
    }

    /// Write the number of rows; the file does not have its name yet.
    pub fn complete(mut self) -> Result<CompleteFile> {
        let n = self.values / self.m.max(1);
        if n * self.m != self.values {
            let found = self.values - n * self.m;
            return Err(DataError::Length { what: "the last row", found, expected: self.m });
        }
        self.file.put_first(&header("<f4", &format!("({n}, {})", self.m)))?;
        self.file.complete()
    }
}

/// Write a matrix of `m` columns, row after row.
pub fn write_npy_f32_2d(path: impl AsRef<Path>, rows: &[f32], m: usize) -> Result<()> {
    let mut writer = NpyWriter::create(path, m)?;
    writer.push(rows)?;
    writer.finish()
}

/// Write a vector of integers, such as one label for every row.
pub fn write_npy_i32(path: impl AsRef<Path>, values: &[i32]) -> Result<()> {
    npy_i32(path, values)?.appear()
}

/// The same file before it has its name.
pub fn npy_i32(path: impl AsRef<Path>, values: &[i32]) -> Result<CompleteFile> {
    let mut file = AtomicFile::create(path)?;
    file.put(&header("<i4", &format!("({},)", values.len())))?;
    put_values(&mut file, values, |v| v.to_le_bytes())?;
    file.complete()
}

/// Write values in little-endian order through a bounded buffer.
fn put_values<T: Copy>(file: &mut AtomicFile, values: &[T], bytes: impl Fn(T) -> [u8; 4]) -> Result<()> {
    let mut buffer = Vec::with_capacity(values.len().min(1 << 14) * 4);
    for block in values.chunks(1 << 14) {
        buffer.clear();
        buffer.extend(block.iter().flat_map(|&v| bytes(v)));
        file.put(&buffer)?;
    }
    Ok(())
}

fn header(descr: &str, shape: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((HEADER - 10) as u16).to_le_bytes());
    bytes.extend(format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").bytes());
    bytes.resize(HEADER - 1, b' ');
    bytes.push(b'\n');
    bytes
}
