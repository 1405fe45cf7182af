//! A lock on a file that grows or is replaced during a run, so that two runs do not write to it together.

use super::leave;
use crate::error::{DataError, Result};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Open or create a file for reading and writing that no other run uses. The lock ends with the file, also if the program is
/// killed.
///
/// # Errors
/// [`DataError::InUse`] if another run has it; or if it cannot be opened.
pub fn locked(path: &Path) -> Result<File> {
    let failed = |source| DataError::Write { path: path.to_owned(), source };
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let other = "something other than a file stands there";
        return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, other)));
    }
    loop {
        let file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(DataError::InUse { path: path.to_owned() }),
            // Some file systems have no locks; the file is still of use.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
        // The run that had it may have removed it in between; then this is no longer the file of that name.
        if is_still(&file, path) {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(a, b)| same(a, b))
}

#[cfg(not(unix))]
fn is_still(_file: &File, _path: &Path) -> bool {
    true
}

/// The right to replace a file again and again, held as a small file beside it that goes away at the end.
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    _file: File,
}

impl FileLock {
    /// The right to replace the file at `path`.
    ///
    /// # Errors
    /// As [`locked`]; the error names the file itself.
    pub fn beside(path: &Path) -> Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let beside = path.with_file_name(name);
        match locked(&beside) {
            Ok(file) => {
                leave::remove_at_the_end(&beside);
                Ok(Self { path: beside, _file: file })
            }
            Err(DataError::InUse { .. }) => Err(DataError::InUse { path: path.to_owned() }),
            Err(other) => Err(other),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        leave::keep(&self.path);
        // It is still locked here. One that stays behind only takes up a name.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_refused_until_the_first_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.safetensors");
        let first = FileLock::beside(&path).unwrap();
        let refused = FileLock::beside(&path).unwrap_err();
        assert!(matches!(&refused, DataError::InUse { path: named } if *named == path), "{refused}");
        drop(first);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "no lock stays behind");
        FileLock::beside(&path).unwrap();
    }
}
