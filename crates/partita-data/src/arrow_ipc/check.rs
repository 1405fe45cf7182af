//! Sizes in an Arrow file, held against the file before the Arrow crate allocates what they ask for.

use arrow_ipc::{CompressionType, Message, root_as_footer, root_as_message};

/// Stands before the length of a message since version 0.15.
const MARKER: [u8; 4] = [0xff; 4];

type Check<T = ()> = Result<T, String>;

/// The most that a byte can become: LZ4 repeats at most 255 bytes for each, zstd a block of 128 KiB for four.
const LZ4_RATIO: u64 = 255;
const ZSTD_RATIO: u64 = 1 << 15;

/// Check all messages that the footer of a file points to.
pub(super) fn file(bytes: &[u8]) -> Check {
    let cut_short = || "the footer is cut short".to_owned();
    let body = bytes.strip_suffix(b"ARROW1").ok_or_else(cut_short)?;
    let (body, len) = body.split_last_chunk::<4>().ok_or_else(cut_short)?;
    let len = usize::try_from(i32::from_le_bytes(*len)).ok().filter(|&len| len <= body.len());
    let start = body.len() - len.ok_or_else(cut_short)?;
    let footer = root_as_footer(&body[start..]).map_err(|e| format!("the footer is broken ({e})"))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for (i, block) in blocks.enumerate() {
        let outside = || format!("block {i} lies outside the file");
        let start = usize::try_from(block.offset()).map_err(|_| outside())?;
        let header = usize::try_from(block.metaDataLength()).map_err(|_| outside())?;
        let body = usize::try_from(block.bodyLength()).map_err(|_| outside())?;
        let end = start.checked_add(header).and_then(|e| e.checked_add(body)).ok_or_else(outside)?;
        let block = bytes.get(start..end).ok_or_else(outside)?;
        // The message may claim another length than the footer; the reader goes by the footer.
        let message = block.strip_prefix(&MARKER).unwrap_or(block).get(4..).ok_or_else(outside)?;
        batch(
            &root_as_message(message).map_err(|e| format!("block {i} is broken ({e})"))?,
            &block[header..],
        )?;
    }
    Ok(())
}

/// Check all messages of a stream.
pub(super) fn stream(bytes: &[u8]) -> Check {
    let mut rest = bytes;
    while let Some(len) = message(rest)? {
        rest = &rest[len..];
    }
    Ok(())
}

/// The length of the first message, or nothing at the end of a stream.
fn message(bytes: &[u8]) -> Check<Option<usize>> {
    let cut_short = || "a message is cut short".to_owned();
    let marked = bytes.strip_prefix(&MARKER).unwrap_or(bytes);
    let Some((len, rest)) = marked.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let header = usize::try_from(i32::from_le_bytes(*len)).map_err(|_| cut_short())?;
    if header == 0 {
        return Ok(None);
    }
    let (header, rest) = rest.split_at_checked(header).ok_or_else(cut_short)?;
    let message = root_as_message(header).map_err(|e| format!("a message is broken ({e})"))?;
    let body = usize::try_from(message.bodyLength()).map_err(|_| cut_short())?;
    let (body, rest) = rest.split_at_checked(body).ok_or_else(cut_short)?;
    batch(&message, body)?;
    Ok(Some(bytes.len() - rest.len()))
}

/// Check that compressed buffers do not claim more than they can hold.
fn batch(message: &Message, body: &[u8]) -> Check {
    let dictionary = || message.header_as_dictionary_batch().and_then(|d| d.data());
    let Some(batch) = message.header_as_record_batch().or_else(dictionary) else {
        return Ok(());
    };
    let Some(compression) = batch.compression() else {
        return Ok(());
    };
    let ratio = if compression.codec() == CompressionType::LZ4_FRAME { LZ4_RATIO } else { ZSTD_RATIO };
    for buffer in batch.buffers().into_iter().flatten() {
        let outside = || "a buffer lies outside its message".to_owned();
        let start = usize::try_from(buffer.offset()).map_err(|_| outside())?;
        let len = usize::try_from(buffer.length()).map_err(|_| outside())?;
        let end = start.checked_add(len).ok_or_else(outside)?;
        let bytes = body.get(start..end).ok_or_else(outside)?;
        let claimed = bytes.first_chunk::<8>().map_or(0, |size| i64::from_le_bytes(*size));
        if u64::try_from(claimed).is_ok_and(|claimed| claimed > ratio * len as u64) {
            return Err(format!("{len} compressed bytes claim to hold {claimed}"));
        }
    }
    Ok(())
}
