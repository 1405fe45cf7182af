//! Text as programs write it: UTF-8 is left where it is; what gzip packed, UTF-16, Windows-1252 and lines that end in a lone
//! carriage return are written anew, in memory or, if they are large, in a temporary file.

use crate::error::{DataError, Result};
use crate::mapped;
use encoding_rs::{CoderResult, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use flate2::read::GzDecoder;
use memmap2::Mmap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::ops::Deref;
use std::path::Path;

/// Bytes that show how lines end.
const HEAD: usize = 64 << 10;
/// Bytes converted at a time.
const CHUNK: usize = 1 << 16;
const FORMAT: &str = "text table";

/// The text of a file, with what a user should know about how it was read.
pub(crate) struct Text {
    bytes: Bytes,
    pub(crate) notes: Vec<String>,
}

/// Where text is.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(Mmap),
    Memory(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Text {
    /// The text of a file, which gzip may have packed. Up to `memory` bytes of converted text stay in memory.
    pub(crate) fn load(path: &Path, file: &File, packed: bool, memory: usize) -> Result<Self> {
        let mut text = if packed {
            let unpacked = rewrite(path, GzDecoder::new(file), memory, |piece, out| out.write_all(piece));
            Self { bytes: unpacked?, notes: Vec::new() }
        } else {
            Self { bytes: Bytes::Mapped(mapped::map(path, file)?), notes: Vec::new() }
        };
        for (mark, encoding) in [(b"\xff\xfe", UTF_16LE), (b"\xfe\xff", UTF_16BE)] {
            if text.starts_with(mark) {
                text = text.decoded(path, encoding, memory)?;
            }
        }
        let head = &text[..text.len().min(HEAD)];
        if head.contains(&b'\r') && !head.contains(&b'\n') {
            let bytes = rewrite(path, &*text, memory, |piece, out| {
                let ends = |&b: &u8| if b == b'\r' { b'\n' } else { b };
                out.write_all(&piece.iter().map(ends).collect::<Vec<u8>>())
            })?;
            text = Self { bytes, notes: text.notes };
        }
        Ok(text)
    }

    /// Text that is not UTF-8 in its first bytes, as Windows-1252.
    pub(crate) fn checked(self, path: &Path, memory: usize) -> Result<Self> {
        let head = &self[..self.len().min(HEAD)];
        if head.contains(&0) {
            let problem = "it has bytes that no text has; if it is UTF-16 without a mark, save it as UTF-8";
            return Err(DataError::corrupt(path, FORMAT, problem));
        }
        match std::str::from_utf8(head) {
            // A letter that is cut in two at the end is no fault.
            Err(e) if e.error_len().is_some() => self.decoded_as_windows(path, memory),
            _ => Ok(self),
        }
    }

    /// Text that is not UTF-8, as Windows-1252, which is what programs on Windows write. Bytes that no text has are refused.
    pub(crate) fn decoded_as_windows(self, path: &Path, memory: usize) -> Result<Self> {
        let control = |b: &u8| *b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c);
        if let Some(at) = self.iter().position(control) {
            let problem = format!("byte {at} belongs to no text; save the table as CSV in UTF-8");
            return Err(DataError::corrupt(path, FORMAT, problem));
        }
        self.decoded(path, WINDOWS_1252, memory)
    }

    fn decoded(self, path: &Path, encoding: &'static Encoding, memory: usize) -> Result<Self> {
        let mut decoder = encoding.new_decoder_with_bom_removal();
        let mut buffer = vec![0; 4 * CHUNK];
        let bytes = rewrite(path, &*self, memory, |mut piece, out| {
            // An empty piece is the last.
            let last = piece.is_empty();
            loop {
                let (result, read, written, _) = decoder.decode_to_utf8(piece, &mut buffer, last);
                out.write_all(&buffer[..written])?;
                piece = &piece[read..];
                if result == CoderResult::InputEmpty {
                    return Ok(());
                }
            }
        })?;
        let name = if encoding == WINDOWS_1252 { "Windows-1252, not being UTF-8" } else { "UTF-16" };
        let mut notes = self.notes;
        notes.push(format!("its text is read as {name}"));
        Ok(Self { bytes, notes })
    }

    /// Give the pages that were read back to the system.
    pub(crate) fn release(&self) {
        self.bytes.release();
    }

    /// The bytes, and the notes.
    pub(crate) fn into_parts(self) -> (Bytes, Vec<String>) {
        (self.bytes, self.notes)
    }
}

impl Bytes {
    /// Give the pages that were read back to the system.
    pub(crate) fn release(&self) {
        if let Self::Mapped(map) = self {
            mapped::release(map);
        }
    }
}

/// All that `write` makes of the pieces of a text; the last piece is empty.
fn rewrite(
    path: &Path,
    mut from: impl Read,
    memory: usize,
    mut write: impl FnMut(&[u8], &mut dyn Write) -> io::Result<()>,
) -> Result<Bytes> {
    let mut out = Spill::new(memory);
    let scratch =
        |source| DataError::Scratch { path: path.to_owned(), directory: std::env::temp_dir(), source };
    let mut piece = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut piece) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => {
                read.map_err(|e| DataError::corrupt(path, FORMAT, format!("it cannot be unpacked ({e})")))?
            }
        };
        write(&piece[..read], &mut out).map_err(scratch)?;
        if read == 0 {
            break;
        }
    }
    out.finish(path)
}

/// Bytes in memory up to a limit, beyond it in a temporary file.
pub(crate) struct Spill {
    memory: Vec<u8>,
    limit: usize,
    file: Option<BufWriter<File>>,
}

impl Spill {
    /// Nothing yet; `limit` bytes may stay in memory.
    pub(crate) fn new(limit: usize) -> Self {
        Self { memory: Vec::new(), limit, file: None }
    }

    /// All bytes, which are those of the file at `path`.
    pub(crate) fn finish(self, path: &Path) -> Result<Bytes> {
        let scratch =
            |source| DataError::Scratch { path: path.to_owned(), directory: std::env::temp_dir(), source };
        match self.file {
            Some(file) => {
                let file = file.into_inner().map_err(|e| scratch(e.into_error()))?;
                Ok(Bytes::Mapped(mapped::map(path, &file)?))
            }
            None => Ok(Bytes::Memory(self.memory)),
        }
    }
}

impl Write for Spill {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() {
            if self.memory.len() + bytes.len() <= self.limit {
                self.memory.extend_from_slice(bytes);
                return Ok(bytes.len());
            }
            let mut file = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
            file.write_all(&std::mem::take(&mut self.memory))?;
            self.file = Some(file);
        }
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}
