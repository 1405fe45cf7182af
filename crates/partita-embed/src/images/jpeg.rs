//! Whether a JPEG file is whole. Its decoder fills what is missing with grey and says nothing.

/// Whether the file ends before its end marker. Anything that is no JPEG file is not cut short.
pub(super) fn is_cut(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xd8]) && ends(&bytes[2..]).is_none()
}

/// Walks from marker to marker up to the end marker; nothing if the bytes end first.
fn ends(mut rest: &[u8]) -> Option<()> {
    loop {
        // Between segments there may be stray bytes; between the pixels of a scan `ff 00` is a value, and d0 to d7 are restarts.
        let at = rest.windows(2).position(|pair| pair[0] == 0xff && is_marker(pair[1]))?;
        let (marker, after) = (rest[at + 1], &rest[at + 2..]);
        if marker == 0xd9 {
            return Some(());
        }
        let length = u16::from_be_bytes([*after.first()?, *after.get(1)?]);
        rest = after.get(usize::from(length)..)?;
    }
}

fn is_marker(byte: u8) -> bool {
    !matches!(byte, 0x00 | 0x01 | 0xd0..=0xd7 | 0xff)
}
