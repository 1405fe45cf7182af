//! Rows that stay in their file, converted on the way out, and never resident beyond a bound.

use crate::dtype::{Dtype, Encoding};
use crate::error::{DataError, Result};
use memmap2::Mmap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Files up to this size are read through their mapping, which can then make no more than this resident.
///
/// A larger file is read by calls instead: touching one row of a mapping can make a whole huge page resident, so that
/// random reading would fill the memory, or spend its time letting go of pages.
const RESIDENT: usize = 256 << 20;
/// Bytes of one call.
const PIECE: usize = 128 << 10;

/// A region of a file that holds values row after row.
///
/// As with every mapping, another program that cuts the file short while it is being read may end this one.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    /// A large file, read by calls.
    large: Option<(File, PathBuf)>,
    /// First byte of the values.
    offset: usize,
    /// Number of values.
    len: usize,
    encoding: Encoding,
}

/// Map a whole file.
pub(crate) fn map(path: &Path, file: &File) -> Result<Mmap> {
    // SAFETY: the map is read-only and lives behind shared references. A concurrent writer could change or cut
    // the file; values would then change or the process would be stopped by a signal, but every read of this
    // crate goes through bounds computed from the mapping's own length.
    unsafe { Mmap::map(file) }.map_err(DataError::io(path, "map"))
}

/// Let go of the resident pages of a mapped file; they come back when read again.
pub(crate) fn release(map: &Mmap) {
    #[cfg(unix)]
    // SAFETY: the map is a read-only view of a file, so dropped pages are read from the file again with the same
    // content. Failing to release costs memory, not correctness, hence the ignored result.
    let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    #[cfg(not(unix))]
    let _ = map;
}

impl Mapped {
    /// Values of `encoding` that fill `region` of a mapped file. The caller has checked that they exist.
    pub(crate) fn new(
        path: &Path,
        file: &File,
        map: Mmap,
        (offset, len): (usize, usize),
        encoding: Encoding,
    ) -> Result<Self> {
        debug_assert!(offset + len * encoding.size() <= map.len());
        let large = if cfg!(unix) && map.len() > RESIDENT {
            Some((file.try_clone().map_err(DataError::io(path, "open"))?, path.to_owned()))
        } else {
            None
        };
        Ok(Self { map, large, offset, len, encoding })
    }

    /// Bytes of all values.
    fn bytes(&self) -> &[u8] {
        &self.map[self.offset..self.offset + self.len * self.encoding.size()]
    }

    /// Copy values `start .. start + out.len()` into `out`.
    pub(crate) fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        let size = self.encoding.size();
        match &self.large {
            None => self.encoding.to_f32(&self.bytes()[start * size..(start + out.len()) * size], out),
            Some((file, path)) => {
                let at = (self.offset + start * size) as u64;
                self.read_large(file, at, out).map_err(DataError::io(path, "read"))?;
            }
        }
        Ok(())
    }

    /// Copy values from byte `at` of a file on.
    fn read_large(&self, file: &File, at: u64, out: &mut [f32]) -> std::io::Result<()> {
        if self.encoding == NATIVE {
            // SAFETY: an f32 has no padding, and every bit pattern is a valid f32.
            let (_, bytes, _) = unsafe { out.align_to_mut::<u8>() };
            return read_at(file, bytes, at);
        }
        let size = self.encoding.size();
        let mut bytes = vec![0u8; PIECE.min(out.len() * size)];
        for (i, out) in out.chunks_mut(PIECE / size).enumerate() {
            let bytes = &mut bytes[..out.len() * size];
            read_at(file, bytes, at + (i * PIECE) as u64)?;
            self.encoding.to_f32(bytes, out);
        }
        Ok(())
    }

    /// Let go of the resident pages; they stay in the page cache and come back when read again.
    pub(crate) fn release(&self) {
        release(&self.map);
    }

    /// The values without a copy, where they are already `f32` in this machine's layout.
    pub(crate) fn as_f32_slice(&self) -> Option<&[f32]> {
        if self.encoding != NATIVE {
            return None;
        }
        // SAFETY: every bit pattern is a valid f32.
        match unsafe { self.bytes().align_to::<f32>() } {
            ([], values, []) => Some(values),
            _ => None,
        }
    }
}

/// Single precision in this machine's layout.
const NATIVE: Encoding = Encoding { dtype: Dtype::F32, big_endian: cfg!(target_endian = "big") };

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(_file: &File, _bytes: &mut [u8], _at: u64) -> std::io::Result<()> {
    unreachable!("large files are read by calls on Unix only")
}
