//! Features: rows in memory or in a mapped file, behind the one trait that every fit reads.

use crate::error::{DataError, Result};
use crate::ids::Ids;
use crate::levels::Levels;
use crate::mapped::Mapped;
use crate::role::Role;
use crate::schema::Columns;
use partita::rows::Rows;
use std::path::Path;
use std::sync::Arc;

/// Where the values are.
#[derive(Debug)]
pub(crate) enum Storage {
    /// Row after row in memory.
    Memory(Vec<f32>),
    /// Row after row in a file.
    Mapped(Mapped),
}

impl Storage {
    /// Copy values from the `first` on, which are known to exist.
    pub(crate) fn read(&self, first: usize, out: &mut [f32]) -> Result<()> {
        match self {
            Self::Memory(values) => out.copy_from_slice(&values[first..first + out.len()]),
            Self::Mapped(mapped) => mapped.read(first, out)?,
        }
        Ok(())
    }
}

/// `n` rows of `m` features, opened from a file or made in memory.
#[derive(Debug)]
pub struct Features {
    storage: Storage,
    n: usize,
    m: usize,
    ids: Option<Ids>,
    columns: Option<Columns>,
    named: bool,
    notes: Vec<String>,
    /// The levels of each column that is a category.
    levels: Vec<Option<Arc<Levels>>>,
    /// What each column was said to be.
    roles: Vec<Option<Role>>,
}

impl Features {
    /// Rows of `m` features that are already in memory, row after row.
    ///
    /// ```
    /// use partita::rows::Rows;
    /// let features = partita_data::Features::from_vec(vec![1.0, 2.0, 3.0, 4.0], 2)?;
    /// assert_eq!((features.n(), features.m()), (2, 2));
    /// # Ok::<(), partita_data::DataError>(())
    /// ```
    pub fn from_vec(values: Vec<f32>, m: usize) -> Result<Self> {
        let n = values.len() / m.max(1);
        if n * m != values.len() {
            return Err(DataError::Length { what: "the last row", found: values.len() - n * m, expected: m });
        }
        Self::new(Path::new("memory"), Storage::Memory(values), n, m)
    }

    /// Rows in some storage that holds exactly `n * m` values.
    pub(crate) fn new(path: &Path, storage: Storage, n: usize, m: usize) -> Result<Self> {
        if n == 0 || m == 0 {
            return Err(DataError::Empty { path: path.to_owned(), rows: n as u64, columns: m as u64 });
        }
        Ok(Self {
            storage,
            n,
            m,
            ids: None,
            columns: None,
            named: false,
            notes: Vec::new(),
            levels: Vec::new(),
            roles: Vec::new(),
        })
    }

    /// The rows' storage, for a reader that puts them in another order.
    pub(crate) fn into_storage(self) -> Storage {
        self.storage
    }

    pub(crate) fn with_ids(mut self, ids: Option<Ids>) -> Self {
        self.ids = ids;
        self
    }

    pub(crate) fn with_columns(mut self, columns: Option<Columns>, named: bool) -> Self {
        (self.columns, self.named) = (columns, named);
        self
    }

    pub(crate) fn with_types(mut self, levels: Vec<Option<Levels>>, roles: Vec<Option<Role>>) -> Self {
        self.levels = levels.into_iter().map(|levels| levels.map(Arc::new)).collect();
        self.roles = roles;
        self
    }

    pub(crate) fn levels(&self) -> &[Option<Arc<Levels>>] {
        &self.levels
    }

    pub(crate) fn roles(&self) -> &[Option<Role>] {
        &self.roles
    }

    pub(crate) fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Names of the rows, if the file has them.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_ref().map(|ids| &*ids.values)
    }

    /// Names of the rows, if the file has them, for a caller that keeps them apart from the rows.
    pub fn take_ids(&mut self) -> Option<Ids> {
        self.ids.take()
    }

    /// Names of the features, if the file has them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.columns.as_ref().filter(|_| self.named).map(|columns| &*columns.names)
    }

    /// The columns of a table, which are numbers from 1 where it does not name them; none for arrays and lists.
    pub fn columns(&self) -> Option<&Columns> {
        self.columns.as_ref()
    }

    /// What a user should know about how the file was read, such as columns left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// All values without a copy, row after row, where they are stored as `f32`.
    ///
    /// Reading a large file this way makes it resident: call [`Rows::release`] after a pass.
    pub fn as_f32_slice(&self) -> Option<&[f32]> {
        match &self.storage {
            Storage::Memory(values) => Some(values),
            Storage::Mapped(mapped) => mapped.as_f32_slice(),
        }
    }

    /// Whether the rows are read from a file rather than from memory.
    pub fn is_mapped(&self) -> bool {
        matches!(self.storage, Storage::Mapped(_))
    }

    fn check_range(&self, start: usize, count: usize) -> Result<()> {
        match start.checked_add(count) {
            Some(end) if end <= self.n => Ok(()),
            _ => Err(DataError::RowRange { start, count, n: self.n }),
        }
    }

    fn check_buffer(&self, found: usize, expected: usize) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(DataError::Length { what: "the buffer for rows", found, expected })
    }
}

impl Rows for Features {
    fn n(&self) -> usize {
        self.n
    }

    fn m(&self) -> usize {
        self.m
    }

    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        let count = out.len() / self.m;
        self.check_buffer(out.len(), count * self.m)?;
        self.check_range(start, count)?;
        Ok(self.storage.read(start * self.m, out)?)
    }

    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        self.check_buffer(out.len(), rows.len().saturating_mul(self.m))?;
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(self.m)) {
            self.check_range(row, 1)?;
            self.storage.read(row * self.m, out)?;
        }
        Ok(())
    }

    fn release(&self) {
        if let Storage::Mapped(mapped) = &self.storage {
            mapped.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_the_end_and_broken_buffers_are_errors() {
        let features = Features::from_vec(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3).unwrap();
        let mut row = [0f32; 3];
        assert!(features.read(1, &mut row).is_ok());
        assert_eq!(row, [4.0, 5.0, 6.0]);
        assert!(features.read(2, &mut row).is_err());
        assert!(features.read(usize::MAX, &mut row).is_err());
        assert!(features.read(0, &mut [0f32; 4]).is_err());
        assert!(features.gather(&[0, 2], &mut [0f32; 6]).is_err());
        assert!(features.gather(&[1, 0], &mut [0f32; 3]).is_err());
    }

    #[test]
    fn a_vector_must_hold_whole_rows() {
        assert!(Features::from_vec(vec![1.0; 5], 2).is_err());
        assert!(matches!(Features::from_vec(vec![], 2), Err(DataError::Empty { .. })));
        assert!(matches!(Features::from_vec(vec![], 0), Err(DataError::Empty { .. })));
    }
}
