//! Sizes in a Parquet file, held against the file before the Parquet crate allocates what they ask for.

use super::thrift::Walker;
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

type Check = Result<(), String>;

/// Deeper nesting than any table of features has; the Parquet crate follows it by recursion, on the stack.
const DEEPEST: usize = 64;

/// Check the footer: its length, its encoding and the nesting of the schema.
pub(super) fn footer(bytes: &[u8]) -> Check {
    let cut_short = || "the footer is cut short".to_owned();
    let body = bytes.strip_suffix(b"PAR1").ok_or_else(cut_short)?;
    let (body, len) = body.split_last_chunk::<4>().ok_or_else(cut_short)?;
    let len = u32::from_le_bytes(*len) as usize;
    let start = body.len().checked_sub(len).ok_or_else(cut_short)?;
    let deepest = schema_depth(Walker { rest: &body[start..] }).ok_or("the footer is broken")?;
    if deepest > DEEPEST {
        return Err(format!("its columns are nested {deepest} deep, more than {DEEPEST}"));
    }
    Ok(())
}

/// Nesting of the schema, once the whole footer has been walked over.
fn schema_depth(mut walker: Walker) -> Option<usize> {
    let (mut last, mut deepest) = (0, 0);
    while let Some(field) = walker.field(last)? {
        last = field.id;
        if field.id != 2 {
            walker.skip(field)?;
            continue;
        }
        // Elements come in depth-first order; each says how many children follow.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..walker.structures(field)? {
            while open.pop_if(|left| *left == 0).is_some() {}
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            let children = number_in(&mut walker, [5])?[0].unwrap_or(0);
            if children > 0 {
                open.push(children);
            }
            deepest = deepest.max(open.len());
        }
    }
    Some(deepest)
}

/// How the columns are packed, if one is packed in a way that is not read here.
pub(super) fn packing(metadata: &ParquetMetaData) -> Check {
    let mut columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    let unread = |column: &&ColumnChunkMetaData| {
        matches!(column.compression(), Compression::BROTLI(_) | Compression::LZO)
    };
    match columns.find(unread).map(ColumnChunkMetaData::compression) {
        Some(Compression::LZO) => Err("data packed by LZO".to_owned()),
        Some(_) => Err("data packed by Brotli".to_owned()),
        None => Ok(()),
    }
}

/// Walk over a structure and keep the numbers of some of its fields.
fn number_in<const N: usize>(walker: &mut Walker, ids: [i64; N]) -> Option<[Option<i64>; N]> {
    let (mut found, mut last) = ([None; N], 0);
    while let Some(field) = walker.field(last)? {
        last = field.id;
        match ids.iter().position(|&id| id == field.id) {
            Some(at) => found[at] = Some(walker.number()?),
            None => walker.skip(field)?,
        }
    }
    Some(found)
}

/// Check that every column lies in the file and that its pages do not claim more than they can hold.
pub(super) fn columns(metadata: &ParquetMetaData, bytes: &[u8]) -> Check {
    for (g, group) in metadata.row_groups().iter().enumerate() {
        for column in group.columns() {
            let named = |problem: &str| format!("column {} of row group {g} {problem}", column.column_path());
            let chunk = chunk(column, bytes).ok_or_else(|| named("lies outside the file"))?;
            pages(chunk, column.compression()).map_err(|problem| named(&problem))?;
        }
    }
    Ok(())
}

/// The bytes of a column in a row group, as the Parquet crate finds them.
fn chunk<'a>(column: &ColumnChunkMetaData, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let start = usize::try_from(column.dictionary_page_offset().unwrap_or(column.data_page_offset())).ok()?;
    let size = usize::try_from(column.compressed_size()).ok()?;
    usize::try_from(column.uncompressed_size()).ok()?;
    bytes.get(start..start.checked_add(size)?)
}

/// Walk over the page headers of a column.
fn pages(chunk: &[u8], compression: Compression) -> Check {
    let mut walker = Walker { rest: chunk };
    while !walker.rest.is_empty() {
        let sizes = number_in(&mut walker, [2, 3]).ok_or("has a broken page header")?;
        let [Some(unpacked), Some(packed)] = sizes else {
            return Err("has a page without a size".into());
        };
        let (Ok(unpacked), Ok(packed)) = (u64::try_from(unpacked), usize::try_from(packed)) else {
            return Err("has a page of negative size".into());
        };
        walker.rest = walker.rest.get(packed..).ok_or("has a page that is cut short")?;
        if unpacked > (packed as u64 + 64).saturating_mul(most_unpacked(compression)) {
            return Err(format!("has a page of {packed} bytes that claims to hold {unpacked}"));
        }
    }
    Ok(())
}

/// The most that a byte can become.
fn most_unpacked(compression: Compression) -> u64 {
    match compression {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 64,
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        Compression::GZIP(_) => 1032,
        _ => 1 << 15,
    }
}
