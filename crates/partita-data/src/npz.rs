//! `.npz` archives: stored arrays stay in the file, packed ones are decoded.

use crate::error::{DataError, Result, list};
use crate::features::Features;
use crate::npy::{self, Header};
use crate::options::OpenOptions;
use crate::{mapped, stream};
use std::fs::File;
use std::io::Cursor;
use std::ops::Range;
use std::path::Path;
use zip::{CompressionMethod, ZipArchive};

const FORMAT: &str = "NumPy archive (.npz)";
type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// The array to read.
struct Member {
    index: usize,
    name: String,
    /// Other arrays with rows, if it was the first of several rather than named or alone.
    others: Vec<String>,
    /// Arrays that cannot be read, with the reason, if no name was given.
    broken: Vec<String>,
}

/// Open one array of an archive.
pub(crate) fn open(path: &Path, file: &File, options: &OpenOptions) -> Result<Features> {
    let map = mapped::map(path, file)?;
    let mut archive: Archive = ZipArchive::new(Cursor::new(&map[..]))
        .map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?;
    let member = choose(path, &mut archive, options)?;
    let mut notes = match member.others.as_slice() {
        [] => Vec::new(),
        others => vec![format!("read array '{}'; not {}", member.name, list(others))],
    };
    notes.extend(member.broken.iter().map(|what| format!("{what}; read array '{}' instead", member.name)));
    let features = match stored(path, &mut archive, &member, map.len())? {
        Some(region) => {
            let what = format!("array '{}'", member.name);
            npy::open_region(path, file, &what, map, region, options)?
        }
        None => unpack(path, &mut archive, &member, options)?,
    };
    Ok(features.with_notes(notes))
}

/// The named array, or the first one with rows.
fn choose(path: &Path, archive: &mut Archive, options: &OpenOptions) -> Result<Member> {
    let name = |raw: &[u8]| String::from_utf8_lossy(raw).trim_end_matches(".npy").to_owned();
    let names: Vec<String> = archive.file_names_raw().map(name).collect();
    if let Some(wanted) = &options.array {
        return match names.iter().position(|n| n == wanted.trim_end_matches(".npy")) {
            Some(index) => {
                Ok(Member { index, name: names[index].clone(), others: Vec::new(), broken: Vec::new() })
            }
            None => Err(DataError::NoSuchName {
                path: path.to_owned(),
                kind: "array",
                name: wanted.clone(),
                available: list(&names),
            }),
        };
    }
    let (mut with_rows, mut broken) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate() {
        match shape(path, archive, index) {
            Ok(shape) if (2..=4).contains(&shape.len()) => with_rows.push(index),
            Ok(_) => {}
            Err(problem) => broken.push(format!("array '{name}' cannot be read ({problem})")),
        }
    }
    match with_rows.split_first() {
        Some((&index, others)) => {
            let others = others.iter().map(|&i| names[i].clone()).collect();
            Ok(Member { index, name: names[index].clone(), others, broken })
        }
        None => Err(DataError::Choose {
            path: path.to_owned(),
            problem: match broken.first() {
                Some(first) => format!("no array of two to four dimensions that can be read; {first}"),
                None => "no array of two to four dimensions".into(),
            },
            advice: "save one with rows of features",
            available: list(&names),
        }),
    }
}

/// The shape of an array, or why it cannot be read.
fn shape(path: &Path, archive: &mut Archive, index: usize) -> std::result::Result<Vec<u64>, String> {
    let mut member = archive.by_index(index).map_err(|e| e.to_string())?;
    let header = Header::read(path, &mut member).map_err(|e| match e {
        DataError::Corrupt { problem, .. } => problem,
        DataError::Dtype { dtype, .. } => format!("it holds {dtype}"),
        other => other.to_string(),
    })?;
    Ok(header.shape)
}

/// The bytes of an array that is stored as it is.
fn stored(path: &Path, archive: &mut Archive, member: &Member, len: usize) -> Result<Option<Range<usize>>> {
    let entry =
        archive.by_index(member.index).map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?;
    if entry.compression() != CompressionMethod::Stored || entry.encrypted() {
        return Ok(None);
    }
    let start = entry.data_start().unwrap_or(u64::MAX);
    let end = start.saturating_add(entry.size());
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end && end <= len => Ok(Some(start..end)),
        _ => Err(DataError::Truncated {
            path: path.to_owned(),
            format: FORMAT,
            needed: end,
            found: len as u64,
        }),
    }
}

/// Decode a packed array.
fn unpack(path: &Path, archive: &mut Archive, member: &Member, options: &OpenOptions) -> Result<Features> {
    let mut entry =
        archive.by_index(member.index).map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?;
    let available = entry.size().min(stream::most_unpacked(entry.compressed_size()));
    let header = Header::read(path, &mut entry)?;
    let what = format!("array '{}'", member.name);
    let (n, m) = npy::matrix_shape(path, &what, &header.shape)?;
    let values = header.check_size(path, available)?;
    if values == 0 {
        return Err(DataError::Empty { path: path.to_owned(), rows: n as u64, columns: m as u64 });
    }
    let mut read = |m| stream::read(path, FORMAT, &mut entry, header.encoding, (values, m), options.memory);
    if !header.fortran || n == 1 || m == 1 {
        return read(m);
    }
    npy::check_fortran(path, &what, &header.shape)?;
    let columns = read(n)?.into_storage();
    npy::transpose::rows(path, &columns, n, m, options)
}
