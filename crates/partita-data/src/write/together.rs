//! Files that are complete, and get their names together.

use super::atomic::{directory, named};
use super::leave;
use crate::error::{DataError, Result};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file that is whole and on disk, but does not have its name yet. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct CompleteFile {
    /// The destination as the caller wrote it, for messages.
    pub(super) path: PathBuf,
    /// The destination with links followed.
    pub(super) target: PathBuf,
    /// Name of the file until then, where it needs one.
    pub(super) temporary: Option<TempPath>,
    pub(super) file: File,
}

impl CompleteFile {
    /// Give the file its name.
    pub fn appear(self) -> Result<()> {
        appear_together(vec![self])
    }
}

/// Give several files their names, one straight after the other: all that could fail for a reason of its own, such as a full disk,
/// was done before the first.
///
/// ```
/// use partita_data::{AtomicFile, appear_together};
/// use std::io::Write;
/// let directory = tempfile::tempdir()?;
/// let mut complete = Vec::new();
/// for name in ["labels.txt", "model.txt"] {
///     let mut file = AtomicFile::create(directory.path().join(name))?;
///     file.write_all(b"whole")?;
///     complete.push(file.complete()?);
/// }
/// assert_eq!(std::fs::read_dir(directory.path())?.count(), 0);
/// appear_together(complete)?;
/// assert_eq!(std::fs::read_dir(directory.path())?.count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a file cannot be given its name; those after it keep what they had.
pub fn appear_together(files: Vec<CompleteFile>) -> Result<()> {
    // A program that is asked to end does so before the first name or after the last.
    let mut unfinished = leave::hold();
    let failed = |path: PathBuf| move |source| DataError::Write { path, source };
    let mut ready = Vec::with_capacity(files.len());
    for file in files {
        ready.push((beside(&file).map_err(failed(file.path.clone()))?, file));
    }
    let mut directories: Vec<PathBuf> = Vec::new();
    for (beside, CompleteFile { path, target, temporary, file }) in ready {
        let moved = match temporary.or(beside) {
            Some(name) => {
                unfinished.remove(&*name);
                name.persist(&target).map_err(|e| e.error)
            }
            None => link(&file, &target),
        };
        moved.map_err(failed(path))?;
        directories.push(directory(&target).to_owned());
    }
    directories.dedup();
    for directory in directories {
        // The names themselves reach the disk with the directory. Not every file system can sync one, and the
        // files are already whole, hence the ignored result.
        let _ = File::open(directory).and_then(|d| d.sync_all());
    }
    Ok(())
}

/// A temporary name for a file without one that takes the place of another: a link cannot replace a file, a move can.
fn beside(file: &CompleteFile) -> io::Result<Option<TempPath>> {
    if file.temporary.is_some() || fs::symlink_metadata(&file.target).is_err() {
        return Ok(None);
    }
    let (_, name) = named(directory(&file.target))?;
    fs::remove_file(&name)?;
    link(&file.file, &name)?;
    Ok(Some(name))
}

/// Give a file without a name its first one.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, &handle, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _name: &Path) -> io::Result<()> {
    unreachable!("a file without a name is made on Linux only")
}
