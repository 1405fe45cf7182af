//! Rows of mostly zeros, such as counts of words: only what is not zero is kept and worked on.

use super::{Rows, is_usable};
use crate::error::{Error, Result};
use std::borrow::Cow;

/// Rows in compressed form: the columns and values of row `i` stand at `starts[i] .. starts[i + 1]`.
///
/// ```
/// use partita::rows::{Csr, Rows};
/// let rows = Csr::new(vec![0, 2, 2, 3], vec![0, 3, 1].into(), vec![1.0, 2.0, 5.0].into(), 4)?;
/// let mut all = [9.0; 12];
/// rows.read(0, &mut all)?;
/// assert_eq!(all, [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
/// # Ok::<(), partita::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<'a> {
    starts: Vec<usize>,
    columns: Cow<'a, [i32]>,
    values: Cow<'a, [f32]>,
    m: usize,
}

impl<'a> Csr<'a> {
    /// Rows of `m` features.
    ///
    /// # Errors
    /// If the parts do not fit together, or if the columns of a row do not ascend.
    pub fn new(
        starts: Vec<usize>,
        columns: Cow<'a, [i32]>,
        values: Cow<'a, [f32]>,
        m: usize,
    ) -> Result<Self> {
        let bad = |value: String, must| Error::Parameter { name: "the sparse matrix", value, must };
        if columns.len() != values.len() || starts.first() != Some(&0) || starts.last() != Some(&values.len())
        {
            let value = format!("{} columns, {} values", columns.len(), values.len());
            return Err(bad(value, "as many columns as values, and starts from 0 to their number"));
        }
        for (row, ends) in starts.windows(2).enumerate() {
            let columns = columns.get(ends[0]..ends[1]);
            let fine = columns.is_some_and(|c| {
                c.is_sorted_by(|a, b| a < b)
                    && c.first().is_none_or(|first| *first >= 0)
                    && c.last().is_none_or(|last| (*last as usize) < m)
            });
            if !fine {
                return Err(bad(
                    format!("row {row}"),
                    "columns that ascend, each once, below the number of features",
                ));
            }
        }
        Ok(Self { starts, columns, values, m })
    }

    /// Columns and values of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f32)> + Clone + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().map(|c| *c as usize).zip(self.values[range].iter().copied())
    }

    /// The rows at these indices, as a matrix of its own.
    pub fn select(&self, rows: &[usize]) -> Csr<'static> {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            let range = self.starts[i]..self.starts[i + 1];
            columns.extend_from_slice(&self.columns[range.clone()]);
            values.extend_from_slice(&self.values[range]);
            starts.push(values.len());
        }
        Csr { starts, columns: columns.into(), values: values.into(), m: self.m }
    }

    /// The first value that is NaN, infinite or too large, as an error.
    pub fn check_finite(&self) -> Result<()> {
        let Some(at) = self.values.iter().position(|v| !is_usable(*v)) else { return Ok(()) };
        let row = self.starts.partition_point(|start| *start <= at) - 1;
        Err(Error::NotFinite { row, column: self.columns[at] as usize, value: self.values[at] })
    }
}

impl Rows for Csr<'_> {
    fn n(&self) -> usize {
        self.starts.len() - 1
    }
    fn m(&self) -> usize {
        self.m
    }
    fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        out.fill(0.0);
        for (i, out) in out.chunks_exact_mut(self.m.max(1)).enumerate() {
            self.row(start + i).for_each(|(j, v)| out[j] = v);
        }
        Ok(())
    }
    fn sparse(&self) -> Option<&Csr<'_>> {
        Some(self)
    }
}
