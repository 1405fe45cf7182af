//! Texts as tokens of BERT: cleaned, split at spaces and signs, and words cut into the longest pieces that the vocabulary has.

use super::config::text;
use crate::error::{EmbedError, Result};
use std::collections::HashMap;
use std::path::Path;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Longer words are unknown.
const LONGEST: usize = 100;

/// A vocabulary of pieces of words.
pub(super) struct Tokens {
    /// Pieces that begin a word.
    first: HashMap<String, u32>,
    /// Pieces that go on with one, without the signs before them.
    next: HashMap<String, u32>,
    begin: u32,
    end: u32,
    unknown: u32,
    /// Bytes of the longest piece.
    longest: usize,
    lower: bool,
}

impl Tokens {
    /// The vocabulary in a folder: `vocab.txt`, or the one inside `tokenizer.json`.
    pub fn read(folder: &Path, size: usize, lower: bool) -> Result<Self> {
        let path = folder.join("vocab.txt");
        let pieces: Vec<(String, u32)> = match text(&path)? {
            Some(lines) => {
                (0..).zip(lines.lines()).map(|(number, piece)| (piece.to_owned(), number)).collect()
            }
            None => of_json(&folder.join("tokenizer.json"))?,
        };
        Self::new(pieces, size, lower).map_err(|problem| EmbedError::File { path, problem })
    }

    /// From pieces with their numbers, which must be below `size`.
    fn new(pieces: Vec<(String, u32)>, size: usize, lower: bool) -> std::result::Result<Self, String> {
        if let Some((piece, number)) = pieces.iter().find(|(_, number)| *number as usize >= size) {
            return Err(format!("piece {number} ('{piece}') is beyond the {size} that the network knows"));
        }
        let longest = pieces.iter().map(|(piece, _)| piece.len()).max().unwrap_or(0);
        let (next, first): (Vec<_>, Vec<_>) =
            pieces.into_iter().partition(|(piece, _)| piece.starts_with("##"));
        let first: HashMap<String, u32> = first.into_iter().collect();
        let next = next.into_iter().map(|(piece, number)| (piece[2..].to_owned(), number)).collect();
        let special =
            |name: &str| first.get(name).copied().ok_or_else(|| format!("the vocabulary has no {name}"));
        let (begin, end, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        Ok(Self { first, next, begin, end, unknown, longest, lower })
    }

    /// The tokens of a text, at most so many with those of its beginning and its end.
    pub fn of(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = vec![self.begin];
        let room = most - 1;
        let mut word = String::new();
        for c in self.cleaned(text) {
            let alone = is_sign(c);
            if (alone || c == ' ') && !word.is_empty() {
                self.cut(&word, &mut tokens);
                word.clear();
            }
            if tokens.len() >= room {
                break;
            }
            if alone {
                self.cut(c.encode_utf8(&mut [0; 4]), &mut tokens);
            } else if c != ' ' {
                word.push(c);
            }
        }
        if !word.is_empty() && tokens.len() < room {
            self.cut(&word, &mut tokens);
        }
        tokens.truncate(room);
        tokens.push(self.end);
        tokens
    }

    /// The characters of a text without those that mean nothing, any space as one, signs of Han between spaces and, where capital letters are small ones, small
    /// letters without accents.
    fn cleaned<'t>(&self, text: &'t str) -> Box<dyn Iterator<Item = char> + 't> {
        let spaced = text.chars().filter_map(clean).flat_map(|c| {
            let space = is_han(c).then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        if !self.lower {
            return Box::new(spaced);
        }
        let plain = spaced.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark);
        Box::new(plain.flat_map(char::to_lowercase))
    }

    /// The pieces of a word: the longest that begins it, then the longest that goes on, and so forth.
    fn cut(&self, word: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        if word.chars().nth(LONGEST).is_some() {
            return tokens.push(self.unknown);
        }
        let mut at = 0;
        while at < word.len() {
            let pieces = if at == 0 { &self.first } else { &self.next };
            let rest = &word[at..];
            let mut end = rest.len().min(self.longest);
            let found = loop {
                while !rest.is_char_boundary(end) {
                    end -= 1;
                }
                match pieces.get(&rest[..end]) {
                    Some(&number) => break Some((number, end)),
                    None if end == 0 => break None,
                    None => end -= 1,
                }
            };
            match found.filter(|(_, len)| *len > 0) {
                Some((number, len)) => {
                    tokens.push(number);
                    at += len;
                }
                None => {
                    tokens.truncate(before);
                    return tokens.push(self.unknown);
                }
            }
        }
    }
}

/// The pieces inside a `tokenizer.json`.
fn of_json(path: &Path) -> Result<Vec<(String, u32)>> {
    let refused = |problem: &str| EmbedError::File { path: path.to_owned(), problem: problem.to_owned() };
    let text = text(path)?.ok_or_else(|| {
        refused("neither it nor a vocab.txt is there; give the whole folder of the network")
    })?;
    let all: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| refused(&format!("it is no such JSON file: {e}")))?;
    let pieces = all.pointer("/model/vocab").and_then(serde_json::Value::as_object);
    let number = |value: &serde_json::Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let pieces = pieces.map(|pieces| {
        pieces.iter().map(|(piece, value)| Some((piece.clone(), number(value)?))).collect::<Option<_>>()
    });
    pieces.flatten().ok_or_else(|| refused("it has no vocabulary of pieces of words"))
}

/// A character as it is, as a space, or not at all.
fn clean(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | '\u{fffd}' => None,
        c if c.is_whitespace() => Some(' '),
        c if c.general_category_group() == GeneralCategoryGroup::Other => None,
        c => Some(c),
    }
}

/// Whether a character is a word of its own.
fn is_sign(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_han(c: char) -> bool {
    matches!(u32::from(c),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f | 0x2b740..=0x2b81f
        | 0x2b820..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_into_the_longest_pieces() {
        let pieces = ["[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "##a", "##ble", ",", "cafe", "石"];
        let pieces = (0..).zip(pieces).map(|(number, piece)| (piece.to_owned(), number)).collect();
        let tokens = Tokens::new(pieces, 11, true).unwrap();
        assert_eq!(tokens.of("Unaffable, x", 99), [1, 3, 4, 5, 8, 0, 2]);
        assert_eq!(tokens.of("caf\u{e9}石石", 99), [1, 9, 10, 10, 2]);
        assert_eq!(tokens.of("unaffable unaffable", 4), [1, 3, 4, 2]);
        assert_eq!(tokens.of("", 4), [1, 2]);
        assert_eq!(tokens.of(&"a".repeat(101), 9), [1, 0, 2]);
        assert!(Tokens::new(vec![("[CLS]".into(), 4)], 4, true).is_err());
    }
}
