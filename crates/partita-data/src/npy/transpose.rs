//! Fortran order: the features of a row lie far apart, so rows are put together once instead of at every read.

use crate::error::{DataError, Result};
use crate::features::{Features, Storage};
use crate::options::OpenOptions;
use crate::sink::Sink;
use std::path::Path;

/// Rows put together at a time, in values: a block and one column of it stay in cache.
const BLOCK: usize = 1 << 18;

/// Read `m` columns of `n` values each into rows.
pub(crate) fn rows(
    path: &Path,
    columns: &Storage,
    n: usize,
    m: usize,
    options: &OpenOptions,
) -> Result<Features> {
    if n == 0 || m == 0 {
        return Err(DataError::Empty { path: path.to_owned(), rows: n as u64, columns: m as u64 });
    }
    let mut sink = Sink::new(path, m, options.memory);
    let height = (BLOCK / m).clamp(16, 1 << 14).min(n);
    let mut column = vec![0f32; height];
    let mut block = vec![0f32; height * m];
    for start in (0..n).step_by(height) {
        let count = height.min(n - start);
        for j in 0..m {
            columns.read(j * n + start, &mut column[..count])?;
            for (i, value) in column[..count].iter().enumerate() {
                block[i * m + j] = *value;
            }
        }
        sink.push(&block[..count * m])?;
    }
    sink.finish()
}
