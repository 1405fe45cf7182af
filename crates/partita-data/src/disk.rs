//! Where bytes are read from: files on disk, and standard input as a file. Whatever could keep a reader waiting for ever is refused
//! before it is opened.

use crate::error::{DataError, Result};
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read, Seek};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The name under which standard input is read.
pub const STANDARD_INPUT: &str = "-";

/// Open a file on disk. A pipe or a device is refused without opening it, which could wait for ever.
///
/// # Errors
/// If it does not exist, is something else than a file, or may not be read.
pub fn open_regular(path: &Path) -> Result<File> {
    let kind = fs::metadata(path).map_err(DataError::io(path, "open"))?.file_type();
    if !kind.is_file() {
        let problem = format!("it is {}, not a file", name_of(kind));
        return Err(DataError::io(path, "open")(io::Error::new(
            ErrorKind::InvalidInput,
            problem + advice(kind),
        )));
    }
    File::open(path).map_err(DataError::io(path, "open"))
}

/// All of standard input, once it has been read.
static STREAMED: Mutex<Option<File>> = Mutex::new(None);

/// The same, or for `-` all of standard input, in a temporary file without a name because readers go back and forth. It may be opened
/// more than once, as other files may.
pub(crate) fn open_source(path: &Path) -> Result<File> {
    if path != Path::new(STANDARD_INPUT) {
        return open_regular(path);
    }
    let kept = |source| DataError::Scratch { path: path.to_owned(), directory: std::env::temp_dir(), source };
    let mut streamed = STREAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = match streamed.take() {
        Some(first) => first,
        None => copied(&mut io::stdin().lock()).map_err(kept)?,
    };
    let first = streamed.insert(first);
    first.rewind().map_err(kept)?;
    copied(first).map_err(kept)
}

/// All that is read, in a file of its own, at its beginning: a second handle of the same file would share its place.
fn copied(from: &mut impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(from, &mut file)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(unix)]
fn name_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn name_of(kind: FileType) -> &'static str {
    if kind.is_dir() { "a directory" } else { "a device" }
}

fn advice(kind: FileType) -> &'static str {
    match name_of(kind) {
        "a directory" => "; name a file in it",
        "a pipe" => "; save what comes through it as a file, or pass a table on standard input and name it -",
        _ => "; name a file on disk",
    }
}
