//! Rows that stay in their file: mapped, converted on the way out, and never resident beyond a bound.

use crate::dtype::{Dtype, Encoding};
use crate::error::{DataError, Result};
use memmap2::Mmap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Resident bytes of a mapping after which its pages are let go.
const RESIDENT: u64 = 256 << 20;
/// The kernel maps this much around a page fault, so a single row can make as much resident.
const WINDOW: u64 = 64 << 10;
/// Values converted between two looks at the counter, so that one huge read stays bounded too.
const PIECE: usize = 4 << 20;

/// A region of a mapped file that holds values row after row.
///
/// As with every mapping, another program that cuts the file short while it is being read ends this one.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    /// First byte of the values.
    offset: usize,
    /// Number of values.
    len: usize,
    encoding: Encoding,
    /// Upper bound of the bytes made resident since the last release.
    touched: AtomicU64,
    /// The last window touched, so that small sequential reads are not counted many times.
    last: AtomicU64,
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
    /// `len` values of `encoding` from byte `offset` of a mapped file. The caller has checked that they exist.
    pub(crate) fn new(map: Mmap, offset: usize, len: usize, encoding: Encoding) -> Self {
        debug_assert!(offset + len * encoding.size() <= map.len());
        Self { map, offset, len, encoding, touched: AtomicU64::new(0), last: AtomicU64::new(u64::MAX) }
    }

    /// Bytes of all values.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map[self.offset..self.offset + self.len * self.encoding.size()]
    }

    /// Copy values `start .. start + out.len()` into `out`.
    pub(crate) fn read(&self, start: usize, out: &mut [f32]) {
        let size = self.encoding.size();
        for (i, out) in out.chunks_mut(PIECE).enumerate() {
            let first = (start + i * PIECE) * size;
            let bytes = &self.bytes()[first..first + out.len() * size];
            self.encoding.to_f32(bytes, out);
            self.touch(self.offset + first, bytes.len());
        }
    }

    /// Let go of the resident pages; they stay in the page cache and come back when read again.
    pub(crate) fn release(&self) {
        self.touched.store(0, Relaxed);
        release(&self.map);
    }

    /// The values without a copy, where they are already `f32` in this machine's layout.
    pub(crate) fn as_f32_slice(&self) -> Option<&[f32]> {
        if self.encoding != (Encoding { dtype: Dtype::F32, big_endian: cfg!(target_endian = "big") }) {
            return None;
        }
        // SAFETY: every bit pattern is a valid f32.
        match unsafe { self.bytes().align_to::<f32>() } {
            ([], values, []) => Some(values),
            _ => None,
        }
    }

    /// Count what a read may have made resident, and release when it is too much.
    fn touch(&self, start: usize, bytes: usize) {
        if self.map.len() as u64 <= RESIDENT || bytes == 0 {
            return;
        }
        let (first, last) = (start as u64 / WINDOW, (start + bytes - 1) as u64 / WINDOW);
        let windows = last - first + u64::from(self.last.swap(last, Relaxed) != first);
        if self.touched.fetch_add(windows * WINDOW, Relaxed) + windows * WINDOW > RESIDENT {
            self.release();
        }
    }
}
