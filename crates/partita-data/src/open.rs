//! Opening a file of features: which format it is, and which part of it is wanted.

use crate::disk::{STANDARD_INPUT, open_source};
use crate::error::{DataError, Result};
use crate::features::Features;
use crate::options::OpenOptions;
use crate::{arrow_ipc, csv, idx, npy, npz, parquet, safetensors};
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// A format, recognised by its first bytes or, where those say nothing, by the file's extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Npy,
    Npz,
    Parquet,
    ArrowFile,
    ArrowStream,
    Safetensors,
    Idx,
    IdxGz,
    Text,
    TextGz,
    JsonLines,
    JsonLinesGz,
}

/// Open a file of features, whatever its format.
///
/// Arrays whose rows lie together (`.npy`, stored `.npz`, `.safetensors`, idx) stay in the file; all others are
/// decoded once, into memory or, beyond [`OpenOptions::memory`], into a temporary file.
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Features> {
    let path = path.as_ref();
    let (file, format) = identify(path)?;
    let features = match format {
        Format::Npy => npy::open(path, &file, options),
        Format::Npz => npz::open(path, &file, options),
        Format::Parquet => parquet::open(path, file, options),
        Format::ArrowFile => arrow_ipc::open_file(path, &file, options),
        Format::ArrowStream => arrow_ipc::open_stream(path, &file, options),
        Format::Safetensors => safetensors::open(path, &file, options),
        Format::Idx => idx::open(path, &file),
        Format::IdxGz => idx::open_gz(path, &file, options),
        Format::Text => csv::open(path, &file, false, options),
        Format::TextGz => csv::open(path, &file, true, options),
        Format::JsonLines | Format::JsonLinesGz => Err(DataError::UnknownFormat {
            path: path.to_owned(),
            found: "it holds JSON lines, which are read as texts and not as features".to_owned(),
        }),
    }?;
    Ok(features.with_notes(unused(options, format)))
}

/// Options that mean nothing for a format. They may be meant for another file that is read with the same options, so
/// they are reported and not refused.
fn unused(options: &OpenOptions, format: Format) -> Vec<String> {
    let text = matches!(format, Format::Text | Format::TextGz);
    let table = text || matches!(format, Format::Parquet | Format::ArrowFile | Format::ArrowStream);
    let several = matches!(format, Format::Npz | Format::Safetensors);
    let mut notes = Vec::new();
    let columns = !options.columns.is_empty() || !options.exclude.is_empty() || options.id_column.is_some();
    if !table && columns {
        notes
            .push("it is no table, so the choice of columns is ignored and all features are used".to_owned());
    }
    if !text && options.header.is_some() {
        notes.push("it is no text table, so what is said about a header is ignored".to_owned());
    }
    if let Some(name) = options.array.as_ref().filter(|_| !several) {
        notes.push(format!("it does not hold named arrays, so the name '{name}' is ignored"));
    }
    notes
}

/// Open a file and find out its format.
pub(crate) fn identify(path: &Path) -> Result<(File, Format)> {
    let (file, head) = open_file(path)?;
    let unknown = |found: &str| DataError::UnknownFormat { path: path.to_owned(), found: found.to_owned() };
    if head.is_empty() {
        return Err(unknown("it is empty"));
    }
    let streamed = path == Path::new(STANDARD_INPUT);
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if is_workbook(&head, &extension) {
        return Err(unknown("it is a workbook of a spreadsheet program; save the sheet as CSV there"));
    }
    if let Some(format) = by_magic(&head) {
        return Ok((file, format));
    }
    if head.starts_with(b"FEA1") {
        return Err(unknown("it is Feather version 1; write version 2, which is an Arrow file"));
    }
    if head.starts_with(b"\x1f\x8b") {
        let inside = path.file_stem().map(Path::new).and_then(Path::extension).and_then(|e| e.to_str());
        return match (starts_like_idx(&gz_start(&file)), inside.map(str::to_ascii_lowercase)) {
            (true, _) => Ok((file, Format::IdxGz)),
            (false, Some(inside)) if TEXT.contains(&inside.as_str()) => Ok((file, Format::TextGz)),
            (false, Some(inside)) if JSON_LINES.contains(&inside.as_str()) => Ok((file, Format::JsonLinesGz)),
            _ => Err(unknown(
                "it is gzip of something other than idx, a text table such as .csv.gz or JSON lines; unpack it first",
            )),
        };
    }
    let format = match extension.as_str() {
        text if TEXT.contains(&text) => Format::Text,
        "" if streamed => Format::Text,
        json if JSON_LINES.contains(&json) => Format::JsonLines,
        "safetensors" => Format::Safetensors,
        "arrows" => Format::ArrowStream,
        picture if PICTURES.contains(&picture) => {
            return Err(unknown(
                "it is a picture; compute the features of pictures with `partita embed` first",
            ));
        }
        "" => return Err(unknown("it has no extension and its first bytes are unknown")),
        other => return Err(unknown(&format!("its extension is .{other} and its first bytes are unknown"))),
    };
    Ok((file, format))
}

/// Extensions of pictures, which hold no rows of features.
const PICTURES: [&str; 6] = ["png", "jpg", "jpeg", "bmp", "gif", "webp"];
/// Extensions of text tables.
const TEXT: [&str; 6] = ["csv", "tsv", "tab", "txt", "dat", "psv"];
/// Extensions of files with a JSON object in each line.
const JSON_LINES: [&str; 2] = ["jsonl", "ndjson"];

/// Whether a file is what spreadsheet programs save by default: a zip archive that begins with its list of contents, or an older kind.
fn is_workbook(head: &[u8], extension: &str) -> bool {
    let zip = head.starts_with(b"PK\x03\x04");
    let contents = head.get(30..49) == Some(b"[Content_Types].xml");
    let older = head.starts_with(b"\xd0\xcf\x11\xe0");
    (zip && (contents || ["xlsx", "xlsm", "xlsb", "ods"].contains(&extension))) || older
}

/// The format that the first bytes prove.
fn by_magic(head: &[u8]) -> Option<Format> {
    const MAGIC: [(&[u8], Format); 5] = [
        (b"\x93NUMPY", Format::Npy),
        (b"PK\x03\x04", Format::Npz),
        (b"PAR1", Format::Parquet),
        (b"ARROW1", Format::ArrowFile),
        (b"\xff\xff\xff\xff", Format::ArrowStream),
    ];
    let found = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|m| m.1);
    // A safetensors file is the length of a JSON object, then the object.
    let object = head.get(6..9).is_some_and(|b| b == b"\0\0{");
    found.or(object.then_some(Format::Safetensors)).or(starts_like_idx(head).then_some(Format::Idx))
}

/// Two zero bytes, a type and a number of dimensions.
fn starts_like_idx(head: &[u8]) -> bool {
    matches!(head, [0, 0, 0x08 | 0x09 | 0x0b..=0x0e, 1..=4, ..])
}

/// The first bytes inside a gzip file, as far as they can be read.
fn gz_start(file: &File) -> Vec<u8> {
    let mut start = Vec::new();
    // What cannot be unpacked is no idx; the caller says so.
    let _ = GzDecoder::new(file).take(4).read_to_end(&mut start);
    let mut file = file;
    let _ = file.rewind();
    start
}

/// Open a file or standard input for reading, with its first bytes.
fn open_file(path: &Path) -> Result<(File, Vec<u8>)> {
    let mut file = open_source(path)?;
    let mut head = Vec::new();
    (&mut file).take(64).read_to_end(&mut head).map_err(DataError::io(path, "read"))?;
    file.rewind().map_err(DataError::io(path, "read"))?;
    Ok((file, head))
}
