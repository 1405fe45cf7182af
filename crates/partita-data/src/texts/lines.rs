//! A text in each line of a file.

use super::{TextOptions, TextTable, Texts};
use crate::error::{DataError, Result};
use crate::table;
use crate::text::Text;
use std::fs::File;
use std::path::Path;

/// Longer lines are no texts that anybody reads: a file of other things would otherwise be one.
pub(super) const LONGEST: usize = 64 << 20;
/// Bytes that show what the lines are.
const HEAD: usize = 64 << 10;
/// Lines looked at, at most.
const SAMPLE: usize = 200;

/// The whole text of a file as UTF-8.
pub(super) fn load(path: &Path, file: &File, packed: bool, memory: usize) -> Result<Text> {
    let text = Text::load(path, file, packed, memory)?.checked(path, memory)?;
    match std::str::from_utf8(&text) {
        Ok(_) => Ok(text),
        Err(_) => text.decoded_as_windows(path, memory),
    }
}

/// The places of all lines, without the ends of lines. Only the end of the last line is no line.
pub(super) fn places(path: &Path, text: &[u8]) -> Result<Vec<(usize, usize)>> {
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut places = Vec::new();
    while at < text.len() {
        let end = text[at..].iter().position(|&b| b == b'\n').map_or(text.len(), |len| at + len);
        if end - at > LONGEST {
            let problem =
                format!("line {} (from byte {at}) is longer than {LONGEST} bytes", places.len() + 1);
            return Err(DataError::corrupt(path, "text", problem));
        }
        let len = text[at..end].strip_suffix(b"\r").map_or(end - at, <[u8]>::len);
        places.push((at, len));
        at = end + 1;
    }
    Ok(places)
}

pub(super) fn read(path: &Path, file: &File, packed: bool, options: &TextOptions) -> Result<TextTable> {
    let text = load(path, file, packed, options.memory)?;
    let places = places(path, &text)?;
    text.release();
    let (bytes, notes) = text.into_parts();
    Ok(TextTable { texts: Texts { bytes, places }, ids: None, column: None, notes })
}

/// Whether a text file holds a text in each line: its first lines are no table of numbers.
pub(crate) fn are_lines(path: &Path, file: &File, packed: bool) -> Result<bool> {
    let text = Text::load(path, file, packed, HEAD)?;
    let head = &text[..text.len().min(HEAD)];
    // Bytes that no text has: the reader of features says what is wrong.
    Ok(!head.contains(&0) && are_sentences(&head[table::skip_preamble(head)..]))
}

/// Whether lines are texts: none of the columns that they could have holds numbers. A first line may name columns.
fn are_sentences(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE).collect();
    let Some(first) = lines.first() else { return false };
    let delimiter = char::from(table::delimiter(first.as_bytes()));
    let cells = |line: &'_ str| -> Vec<bool> {
        let number = |cell: &str| {
            let cell = cell.trim().trim_matches('"');
            table::is_number(cell) || table::is_decimal_comma(cell)
        };
        line.trim().split(delimiter).filter(|cell| delimiter != ' ' || !cell.is_empty()).map(number).collect()
    };
    let rows: Vec<Vec<bool>> =
        lines.iter().skip(usize::from(lines.len() > 1)).map(|line| cells(line)).collect();
    let width = rows.first().map_or(0, Vec::len);
    let alike = rows.iter().filter(|row| row.len() == width).count();
    let numbers = |column: usize| {
        let there = rows.iter().filter(|row| row.get(column) == Some(&true)).count();
        2 * there >= rows.len()
    };
    let table = 10 * alike >= 9 * rows.len() && (0..width).any(numbers);
    !table && rows.iter().flatten().filter(|number| !**number).count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_words_are_texts_and_tables_of_numbers_are_not() {
        for texts in [
            "the cat sat on the mat\nit was 3 o'clock\n\nDogs, cats, and 12 mice.\n",
            "cat\ndog\n",
            "Only one line of text.\n",
            "123 people came\n45 were there, and 7 left\nnobody stayed\n",
        ] {
            assert!(are_sentences(texts.as_bytes()), "{texts}");
        }
        for tables in [
            "1 2 3\n4 5 6\n",
            "a,b\n1,2\n3,4\n",
            "5.1,3.5,setosa\n4.9,3.0,setosa\n",
            "name;size\nx;1,5\ny;2,5\n",
            "1\n2\n3\n",
            "\n",
        ] {
            assert!(!are_sentences(tables.as_bytes()), "{tables}");
        }
    }

    #[test]
    fn lines_end_as_programs_on_any_system_end_them() {
        let text = b"\xef\xbb\xbfone\r\n\r\ntwo\nthree";
        let found: Vec<&[u8]> =
            places(Path::new("t"), text).unwrap().into_iter().map(|(at, len)| &text[at..at + len]).collect();
        assert_eq!(found, [&b"one"[..], b"", b"two", b"three"]);
    }
}
