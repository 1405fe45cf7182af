//! Arrays that come out of a decompressor: decoded piece by piece, never more than the header declared.

use crate::dtype::Encoding;
use crate::error::{DataError, Result};
use crate::features::Features;
use crate::sink::Sink;
use std::io::Read;
use std::path::Path;

/// Deflate cannot shrink data further, so that a larger claim is false and nothing is allocated for it.
const DEFLATE_RATIO: u64 = 1032;
/// Values decoded at a time.
const PIECE: usize = 1 << 16;

/// The most bytes that `packed` bytes of deflate can become.
pub(crate) fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(DEFLATE_RATIO)
}

/// Read `values` values, which make rows of `m`.
pub(crate) fn read(
    path: &Path,
    format: &'static str,
    reader: &mut impl Read,
    encoding: Encoding,
    (values, m): (usize, usize),
    memory: usize,
) -> Result<Features> {
    let mut sink = Sink::new(path, m, memory);
    let piece = PIECE.min(values);
    let (mut bytes, mut out) = (vec![0u8; piece * encoding.size()], vec![0f32; piece]);
    for start in (0..values).step_by(PIECE) {
        let count = piece.min(values - start);
        let bytes = &mut bytes[..count * encoding.size()];
        reader.read_exact(bytes).map_err(|e| {
            DataError::corrupt(path, format, format!("value {start} or later is missing ({e})"))
        })?;
        encoding.to_f32(bytes, &mut out[..count]);
        sink.push(&out[..count])?;
    }
    sink.finish()
}
