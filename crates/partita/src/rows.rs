//! The input of every fit: rows of features that can be read in any order, from memory or from a file.

use crate::error::{Error, Result};
use ndarray::ArrayView2;

/// `n` rows of `m` features, readable by index from any thread.
///
/// Implementations convert to `f32` on the way out and must give the same bits for the same row each time.
pub trait Rows: Sync {
    /// Number of rows.
    fn n(&self) -> usize;
    /// Number of features of a row.
    fn m(&self) -> usize;
    /// Copy rows `start .. start + out.len() / m` into `out`, row after row.
    fn read(&self, start: usize, out: &mut [f32]) -> Result<()>;
    /// Copy the rows at these indices into `out`, row after row.
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        let m = self.m();
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(m)) {
            self.read(row, out)?;
        }
        Ok(())
    }
    /// Called after a pass over many rows: a reader that maps a file may let go of its pages.
    fn release(&self) {}
}

impl Rows for ArrayView2<'_, f32> {
    fn n(&self) -> usize {
        self.nrows()
    }
    fn m(&self) -> usize {
        self.ncols()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        let m = self.ncols();
        for (i, out) in out.chunks_exact_mut(m.max(1)).enumerate() {
            match self.row(start + i).as_slice() {
                Some(row) => out.copy_from_slice(row),
                None => out.iter_mut().zip(self.row(start + i)).for_each(|(o, v)| *o = *v),
            }
        }
        Ok(())
    }
}

/// The first value of a block that is NaN or infinite, as an error that names its row and column.
pub fn check_finite(block: &[f32], m: usize, first_row: usize) -> Result<()> {
    // A fold without early exit vectorises; the position is looked for only when there is one.
    if !block.iter().fold(false, |bad, v| bad | !v.is_finite()) {
        return Ok(());
    }
    match block.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(Error::NotFinite { row: first_row + at / m, column: at % m, value: block[at] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_value_is_named_by_row_and_column() {
        let mut block = vec![1.0f32; 3 * 7];
        assert!(check_finite(&block, 7, 100).is_ok());
        block[2 * 7 + 4] = f32::NEG_INFINITY;
        let error = check_finite(&block, 7, 100).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 102, column: 4, .. }), "{error}");
    }
}
