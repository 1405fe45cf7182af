//! The input of every fit: rows of features that can be read in any order, from memory or from a file.

mod sparse;

pub use sparse::Csr;

use crate::error::{Error, Result};
use crate::numeric::vector;
use ndarray::{Array2, ArrayView2};

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
    /// Whether this feature counts as much as it should already, so that [`Prepare::Auto`](crate::prepare::Prepare::Auto) leaves its scale alone.
    fn is_weighed(&self, feature: usize) -> bool {
        let _ = feature;
        false
    }
    /// How many columns of a table the features stand for: fewer than there are features where a column became several.
    fn table_columns(&self) -> usize {
        self.m()
    }
    /// The rows in compressed form, if they are mostly zeros and a fit should work on the rest alone.
    fn sparse(&self) -> Option<&Csr<'_>> {
        None
    }
}

/// What rows are equal by: the same numbers. Adding 0 turns -0 into 0, which is the same number.
pub(crate) fn bits(row: &[f32]) -> Vec<u32> {
    row.iter().map(|v| (v + 0.0).to_bits()).collect()
}

/// Numbers that rows may be made of; those of double precision are rounded as they are read.
trait Number: Copy + Sync {
    fn single(self) -> f32;
    fn copy(row: &[Self], out: &mut [f32]);
}

impl Number for f32 {
    fn single(self) -> f32 {
        self
    }
    fn copy(row: &[Self], out: &mut [f32]) {
        out.copy_from_slice(row);
    }
}

impl Number for f64 {
    fn single(self) -> f32 {
        self as f32
    }
    fn copy(row: &[Self], out: &mut [f32]) {
        out.iter_mut().zip(row).for_each(|(o, v)| *o = *v as f32);
    }
}

fn read_array<T: Number>(array: &ArrayView2<'_, T>, start: usize, out: &mut [f32]) {
    for (i, out) in out.chunks_exact_mut(array.ncols().max(1)).enumerate() {
        let row = array.row(start + i);
        match row.as_slice() {
            Some(row) => T::copy(row, out),
            None => out.iter_mut().zip(row).for_each(|(o, v)| *o = v.single()),
        }
    }
}

macro_rules! rows_of_arrays {
    ($($array:ty),*) => {$(
        impl Rows for $array {
            fn n(&self) -> usize {
                self.nrows()
            }
            fn m(&self) -> usize {
                self.ncols()
            }
            fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
                read_array(&self.view(), start, out);
                Ok(())
            }
        }
    )*};
}

rows_of_arrays!(Array2<f32>, Array2<f64>, ArrayView2<'_, f32>, ArrayView2<'_, f64>);

/// Several feature files of the same rows, side by side.
pub struct SideBySide<'a> {
    parts: Vec<&'a dyn Rows>,
}

impl<'a> SideBySide<'a> {
    /// Stand the files side by side; all must have the same number of rows.
    pub fn new(parts: Vec<&'a dyn Rows>) -> Result<Self> {
        let expected = parts.first().map_or(0, |p| p.n());
        match parts.iter().find(|p| p.n() != expected) {
            Some(odd) => Err(Error::Length { what: "one of the feature files", found: odd.n(), expected }),
            None => Ok(Self { parts }),
        }
    }

    /// Features of each file.
    pub fn widths(&self) -> Vec<usize> {
        self.parts.iter().map(|p| p.m()).collect()
    }

    /// Let `read` fill a buffer from each file, and lay the buffers side by side in `out`.
    fn interleave(&self, out: &mut [f32], read: impl Fn(&dyn Rows, &mut [f32]) -> Result<()>) -> Result<()> {
        if let [only] = self.parts[..] {
            return read(only, out);
        }
        let m = self.m().max(1);
        let mut at = 0;
        let mut buffer = Vec::new();
        for part in &self.parts {
            let width = part.m();
            buffer.resize(out.len() / m * width, 0.0);
            read(*part, &mut buffer)?;
            for (out, row) in out.chunks_exact_mut(m).zip(buffer.chunks_exact(width)) {
                out[at..at + width].copy_from_slice(row);
            }
            at += width;
        }
        Ok(())
    }
}

impl Rows for SideBySide<'_> {
    fn n(&self) -> usize {
        self.parts.first().map_or(0, |p| p.n())
    }
    fn m(&self) -> usize {
        self.parts.iter().map(|p| p.m()).sum()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        self.interleave(out, |part, out| part.read(start, out))
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        self.interleave(out, |part, out| part.gather(rows, out))
    }
    fn table_columns(&self) -> usize {
        self.parts.iter().map(|p| p.table_columns()).sum()
    }
    fn is_weighed(&self, mut feature: usize) -> bool {
        for part in &self.parts {
            if feature < part.m() {
                return part.is_weighed(feature);
            }
            feature -= part.m();
        }
        false
    }
    fn release(&self) {
        self.parts.iter().for_each(|p| p.release());
    }
}

/// Some of the rows.
pub struct Subset<'a> {
    rows: &'a dyn Rows,
    chosen: Vec<usize>,
    sparse: Option<Csr<'static>>,
}

impl<'a> Subset<'a> {
    /// The rows at these indices, in this order.
    pub fn new(rows: &'a dyn Rows, chosen: Vec<usize>) -> Self {
        let sparse = rows.sparse().map(|all| all.select(&chosen));
        Self { rows, chosen, sparse }
    }
}

impl Rows for Subset<'_> {
    fn n(&self) -> usize {
        self.chosen.len()
    }
    fn m(&self) -> usize {
        self.rows.m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        let count = out.len() / self.m().max(1);
        self.rows.gather(&self.chosen[start..start + count], out)
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        let chosen: Vec<usize> = rows.iter().map(|&row| self.chosen[row]).collect();
        self.rows.gather(&chosen, out)
    }
    fn is_weighed(&self, feature: usize) -> bool {
        self.rows.is_weighed(feature)
    }
    fn table_columns(&self) -> usize {
        self.rows.table_columns()
    }
    fn release(&self) {
        self.rows.release();
    }
    fn sparse(&self) -> Option<&Csr<'_>> {
        self.sparse.as_ref()
    }
}

/// Check that rows have as many features as a model expects.
pub fn check_width(rows: &dyn Rows, expected: usize) -> Result<()> {
    let found = rows.m();
    if found == expected { Ok(()) } else { Err(Error::Width { expected, found }) }
}

/// The largest feature: twice the difference of two such is still a number.
const LARGEST: f32 = f32::MAX / 4.0;

/// Whether a feature can be computed with: neither NaN nor infinite, nor so large that differences overflow.
#[inline(always)]
pub(crate) fn is_usable(value: f32) -> bool {
    value.abs() <= LARGEST
}

/// The first value of a block that is NaN, infinite or too large, as an error that names its row and column.
pub fn check_finite(block: &[f32], m: usize, first_row: usize) -> Result<()> {
    // A fold without early exit vectorises; the position is looked for only when there is one.
    if !vector::dispatch(
        #[inline(always)]
        || block.iter().fold(false, |bad, v| bad | !is_usable(*v)),
    ) {
        return Ok(());
    }
    match block.iter().position(|v| !is_usable(*v)) {
        Some(at) => Err(Error::NotFinite { row: first_row + at / m, column: at % m, value: block[at] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_side_by_side_read_as_one() {
        let a = ndarray::arr2(&[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let b = ndarray::arr2(&[[7.0f32], [8.0], [9.0]]);
        let (a, b) = (a.view(), b.view());
        let both = SideBySide::new(vec![&a, &b]).unwrap();
        let mut out = vec![0.0; 6];
        both.read(1, &mut out).unwrap();
        assert_eq!(out, [3.0, 4.0, 8.0, 5.0, 6.0, 9.0]);
        both.gather(&[2, 0], &mut out).unwrap();
        assert_eq!(out, [5.0, 6.0, 9.0, 1.0, 2.0, 7.0]);
        let short = ndarray::arr2(&[[1.0f32]]);
        let short = short.view();
        assert!(SideBySide::new(vec![&a, &short]).is_err());
    }

    #[test]
    fn arrays_of_both_precisions_and_any_strides_read_alike() {
        let single = ndarray::arr2(&[[1.5f32, 2.0, 0.25], [3.0, -4.0, 5.0]]);
        let double = single.mapv(f64::from);
        let read = |rows: &dyn Rows| {
            let mut out = vec![0.0; rows.n() * rows.m()];
            rows.read(0, &mut out).unwrap();
            out
        };
        assert_eq!(read(&single), [1.5, 2.0, 0.25, 3.0, -4.0, 5.0]);
        assert_eq!(read(&double), read(&single));
        assert_eq!(read(&double.t()), read(&single.t()));
        assert_eq!(read(&single.t()), [1.5, 3.0, 2.0, -4.0, 0.25, 5.0]);
    }

    #[test]
    fn a_subset_reads_its_rows_in_its_order() {
        let all = ndarray::arr2(&[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let all = all.view();
        let some = Subset::new(&all, vec![2, 0]);
        let mut out = vec![0.0; 4];
        some.read(0, &mut out).unwrap();
        assert_eq!(out, [5.0, 6.0, 1.0, 2.0]);
        some.gather(&[1, 1], &mut out).unwrap();
        assert_eq!(out, [1.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn the_first_bad_value_is_named_by_row_and_column() {
        let mut block = vec![1.0f32; 3 * 7];
        assert!(check_finite(&block, 7, 100).is_ok());
        block[2 * 7 + 4] = f32::NEG_INFINITY;
        let error = check_finite(&block, 7, 100).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 102, column: 4, .. }), "{error}");
    }

    #[test]
    fn the_reason_that_is_given_is_true() {
        for (value, reason) in [
            (f32::NAN, "column 0 is NaN; remove or fill"),
            (
                1e39f64 as f32,
                "column 0 is inf: infinite, or beyond 3.4e38, the largest number in single precision",
            ),
            (-3.4e38, "column 0 is -3.4e38, so large that differences overflow"),
        ] {
            let told = check_finite(&[value], 1, 0).unwrap_err().to_string();
            assert!(told.contains(reason), "{told}");
        }
        assert!(check_finite(&[8e37, -8e37], 1, 0).is_ok());
    }
}
