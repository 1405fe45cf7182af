//! Files that are complete, and get their names together.

use super::leave;
#[cfg(unix)]
use super::names::{self, Failure, Move};
use crate::error::{DataError, Result};
use std::fs::File;
#[cfg(unix)]
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
/// was done before the first. Killing the program in between does not stop it: a moment later all files are old, or all are new.
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
/// If a file cannot be given its name. All files are what they were before, unless the error says otherwise.
pub fn appear_together(files: Vec<CompleteFile>) -> Result<()> {
    // A program that is asked to end does so before the first name or after the last.
    let mut unfinished = leave::hold();
    publish(&files)?;
    let mut directories: Vec<PathBuf> = files.iter().map(|file| directory(&file.target).to_owned()).collect();
    directories.dedup();
    for directory in directories {
        // The names themselves reach the disk with the directory. Not every file system can sync one, and the
        // files are already whole, hence the ignored result.
        let _ = File::open(directory).and_then(|d| d.sync_all());
    }
    for name in files.iter().filter_map(|file| file.temporary.as_deref()) {
        unfinished.remove(name);
    }
    Ok(())
}

#[cfg(unix)]
fn publish(files: &[CompleteFile]) -> Result<()> {
    let moves: Vec<Move> = files.iter().map(Move::of).collect::<Result<_>>()?;
    // Alone, a file is old or new whenever the program is killed. For several a helper makes the moves, which goes on to the last even
    // then. Where there can be none they are made here.
    let helped = if moves.len() > 1 { names::by_helper(&moves) } else { None };
    helped.unwrap_or_else(|| names::give(&moves)).map_err(|Failure { at, reason, stay }| {
        let (path, mut source) = (files[at].path.clone(), io::Error::from_raw_os_error(reason));
        if stay > 0 {
            let told = format!("{source}; {stay} other files of this run are new already");
            source = io::Error::new(source.kind(), told);
        }
        DataError::Write { path, source }
    })
}

#[cfg(not(unix))]
fn publish(files: &[CompleteFile]) -> Result<()> {
    for CompleteFile { path, target, temporary, .. } in files {
        if let Some(name) = temporary {
            std::fs::rename(name, target)
                .map_err(|source| DataError::Write { path: path.clone(), source })?;
        }
    }
    Ok(())
}

#[cfg(unix)]
impl Move {
    fn of(file: &CompleteFile) -> Result<Self> {
        use std::os::fd::AsRawFd;
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let beside = || directory(&file.target).join(format!(".partita-{process}-{number}"));
        let name = file.temporary.as_ref().map_or_else(beside, |name| name.to_path_buf());
        let handle = format!("/proc/self/fd/{}", file.file.as_raw_fd());
        let handle = file.temporary.is_none().then(|| text(Path::new(&handle))).transpose()?;
        let taken = std::fs::symlink_metadata(&file.target).is_ok();
        let old = directory(&file.target).join(format!(".partita-old-{process}-{number}"));
        let old = taken.then(|| text(&old)).transpose()?;
        Ok(Self { handle, name: text(&name)?, target: text(&file.target)?, old })
    }
}

/// A path as the system takes it.
#[cfg(unix)]
fn text(path: &Path) -> Result<std::ffi::CString> {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|e| DataError::Write { path: path.to_owned(), source: e.into() })
}

/// The directory of a path; a bare name lies in the current one.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
