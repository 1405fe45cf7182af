//! A file that appears under its name only when it is complete.

use super::leave;
use super::together::{CompleteFile, directory};
use crate::error::{DataError, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A new file in the directory of its destination, moved there by [`AtomicFile::finish`].
///
/// Dropping it unfinished leaves nothing behind, and what stood at the destination stays. On Linux the unfinished
/// file has no name at all, so that not even killing the program leaves a part of it on disk.
///
/// ```
/// use std::io::Write;
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("out.txt");
/// let mut file = partita_data::AtomicFile::create(&path)?;
/// file.write_all(b"whole")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    /// The destination as the caller wrote it, for messages.
    path: PathBuf,
    /// The destination with links followed.
    target: PathBuf,
    /// Name of the unfinished file, where it needs one.
    temporary: Option<TempPath>,
    writer: BufWriter<File>,
}

impl AtomicFile {
    /// Begin a file that will stand at `path`, replacing a regular file already there.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::begin(path).map_err(|source| DataError::Write { path: path.to_owned(), source })
    }

    fn begin(path: &Path) -> io::Result<Self> {
        let target = destination(path)?;
        let (file, temporary) = match unnamed(directory(&target)) {
            Some(file) => (file, None),
            None => {
                let (file, name) = named(directory(&target))?;
                leave::remove_at_the_end(&name);
                (file, Some(name))
            }
        };
        let writer = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { path: path.to_owned(), target, temporary, writer })
    }

    /// Write the rest to disk and give the file its name.
    pub fn finish(self) -> Result<()> {
        self.complete()?.appear()
    }

    /// Write the rest to disk. The file has no name yet, so that several files can appear together.
    pub fn complete(self) -> Result<CompleteFile> {
        let path = self.path.clone();
        self.written().map_err(|source| DataError::Write { path, source })
    }

    fn written(self) -> io::Result<CompleteFile> {
        let file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        keep_permissions(&file, &self.target)?;
        file.sync_all()?;
        Ok(CompleteFile { path: self.path, target: self.target, temporary: self.temporary, file })
    }

    /// Write bytes, with the destination named in the error.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|source| DataError::Write { path: self.path.clone(), source })
    }

    /// Write over the beginning, for a header whose content is known only at the end.
    pub(crate) fn put_first(&mut self, bytes: &[u8]) -> Result<()> {
        let write = |writer: &mut BufWriter<File>| -> io::Result<()> {
            writer.seek(SeekFrom::Start(0))?;
            writer.write_all(bytes)?;
            writer.seek(SeekFrom::End(0)).map(drop)
        };
        write(&mut self.writer).map_err(|source| DataError::Write { path: self.path.clone(), source })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Where the file will really stand. A device or a directory is refused: a rename would replace it.
fn destination(path: &Path) -> io::Result<PathBuf> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if path.file_name().is_none() || bytes.last().is_some_and(|&b| std::path::is_separator(char::from(b))) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "that names a directory; name a file in it"));
    }
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(e) if e.kind() == io::ErrorKind::NotFound => pointed_to(path),
        Err(e) => return Err(e),
    };
    if !directory(&target).is_dir() {
        let missing =
            format!("the directory {} does not exist; create it first", directory(&target).display());
        return Err(io::Error::new(io::ErrorKind::NotFound, missing));
    }
    match fs::metadata(&target) {
        Ok(found) if !found.is_file() => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "something other than a file stands there"))
        }
        _ => Ok(target),
    }
}

/// Where a link leads whose end does not exist yet; any other path as it is. The system follows no more links than this.
fn pointed_to(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(next) => at = directory(&at).join(next),
            Err(_) => break,
        }
    }
    at
}

/// Give a file the permissions and, where that is allowed, the owner of the one whose place it takes.
#[cfg(unix)]
fn keep_permissions(file: &File, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let Ok(old) = fs::metadata(target) else { return Ok(()) };
    let new = file.metadata()?;
    if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
        // Only some users may give files away; the result matters more than its owner.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_permissions(_file: &File, _target: &Path) -> io::Result<()> {
    Ok(())
}

/// A temporary file with a name, readable by whoever the user's umask allows.
fn named(directory: &Path) -> io::Result<(File, TempPath)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".partita-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(builder.tempfile_in(directory)?.into_parts())
}

/// A file without a name, where the file system can make one.
#[cfg(target_os = "linux")]
fn unnamed(directory: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_directory: &Path) -> Option<File> {
    None
}
