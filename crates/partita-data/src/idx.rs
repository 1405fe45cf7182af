//! idx files, the format of MNIST: a big-endian header, then the values; often packed by gzip.

use crate::classes::{self, Labels};
use crate::dtype::{Dtype, Encoding};
use crate::error::{DataError, Result};
use crate::features::{Features, Storage};
use crate::mapped::{Mapped, map};
use crate::npy::matrix_shape;
use crate::options::OpenOptions;
use crate::stream;
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const FORMAT: &str = "idx";
const WHAT: &str = "the array";

/// What stands before the values.
struct Header {
    encoding: Encoding,
    shape: Vec<u64>,
    /// Number of values.
    values: usize,
    /// Bytes before the first value.
    len: usize,
}

impl Header {
    /// Read the header of an array that has at most `available` bytes in all.
    fn read(path: &Path, reader: &mut impl Read, available: u64) -> Result<Self> {
        let mut fill = |bytes: &mut [u8]| {
            let problem = |e| DataError::corrupt(path, FORMAT, format!("the header cannot be read ({e})"));
            reader.read_exact(bytes).map_err(problem)
        };
        let mut start = [0u8; 4];
        fill(&mut start)?;
        let dtype = dtype(start[2]).ok_or_else(|| {
            DataError::corrupt(path, FORMAT, format!("byte 2 is {:#04x}, no known type", start[2]))
        })?;
        let mut shape = Vec::new();
        for _ in 0..start[3] {
            let mut extent = [0u8; 4];
            fill(&mut extent)?;
            shape.push(u64::from(u32::from_be_bytes(extent)));
        }
        let (encoding, len) = (Encoding { dtype, big_endian: true }, 4 + 4 * shape.len());
        let values = shape.iter().try_fold(1u64, |v, &d| v.checked_mul(d)).unwrap_or(u64::MAX);
        let needed = values.saturating_mul(encoding.size() as u64).saturating_add(len as u64);
        match usize::try_from(values) {
            Ok(values) if needed <= available => Ok(Self { encoding, shape, values, len }),
            _ => {
                Err(DataError::Truncated { path: path.to_owned(), format: FORMAT, needed, found: available })
            }
        }
    }
}

fn dtype(code: u8) -> Option<Dtype> {
    match code {
        0x08 => Some(Dtype::U8),
        0x09 => Some(Dtype::I8),
        0x0b => Some(Dtype::I16),
        0x0c => Some(Dtype::I32),
        0x0d => Some(Dtype::F32),
        0x0e => Some(Dtype::F64),
        _ => None,
    }
}

/// Open images left in the file.
pub(crate) fn open(path: &Path, file: &File) -> Result<Features> {
    let map = map(path, file)?;
    let header = Header::read(path, &mut &map[..], map.len() as u64)?;
    let (n, m) = matrix_shape(path, WHAT, &header.shape)?;
    let mapped = Mapped::new(path, file, map, (header.len, header.values), header.encoding)?;
    Features::new(path, Storage::Mapped(mapped), n, m)
}

/// Open images packed by gzip.
pub(crate) fn open_gz(path: &Path, file: &File, options: &OpenOptions) -> Result<Features> {
    let (header, mut reader) = unpack(path, file)?;
    let (n, m) = matrix_shape(path, WHAT, &header.shape)?;
    if n == 0 || m == 0 {
        return Err(DataError::Empty { path: path.to_owned(), rows: n as u64, columns: m as u64 });
    }
    stream::read(path, FORMAT, &mut reader, header.encoding, (header.values, m), options.memory)
}

/// The header and what follows it, with the declared size held against the packed one.
fn unpack<'a>(path: &Path, file: &'a File) -> Result<(Header, GzDecoder<BufReader<&'a File>>)> {
    let packed = file.metadata().map_err(DataError::io(path, "read"))?.len();
    let mut reader = GzDecoder::new(BufReader::with_capacity(1 << 16, file));
    let header = Header::read(path, &mut reader, stream::most_unpacked(packed))?;
    Ok((header, reader))
}

/// Read labels, packed or not.
pub(crate) fn read_labels(path: &Path, file: &File, packed: bool) -> Result<Labels> {
    let map = map(path, file)?;
    let (header, bytes) = if packed {
        let (header, mut reader) = unpack(path, file)?;
        let mut bytes = Vec::new();
        let len = (header.values * header.encoding.size()) as u64;
        let problem = |e| DataError::corrupt(path, FORMAT, format!("the labels cannot be unpacked ({e})"));
        (&mut reader).take(len).read_to_end(&mut bytes).map_err(problem)?;
        if (bytes.len() as u64) < len {
            let found = bytes.len() as u64;
            return Err(DataError::Truncated { path: path.to_owned(), format: FORMAT, needed: len, found });
        }
        (header, bytes)
    } else {
        let header = Header::read(path, &mut &map[..], map.len() as u64)?;
        let bytes = map[header.len..header.len + header.values * header.encoding.size()].to_vec();
        (header, bytes)
    };
    classes::from_array(path, header.encoding, &header.shape, &bytes)
}
