//! The different words of a column, numbered as they come.

use std::collections::HashMap;
use std::sync::Arc;

/// More different words than this are no categories that anybody could tell apart, ...
const MOST: usize = 1 << 16;
/// ... nor are words of so many bytes altogether.
const MOST_BYTES: usize = 1 << 24;

/// The levels of a column in the order in which they first occur.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Levels {
    /// The levels.
    pub words: Vec<Arc<str>>,
    /// Whether there were too many to keep, or too long ones: then there are none.
    pub too_many: bool,
}

impl Levels {
    /// These words, which are all different.
    pub fn new<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Self {
        Self { words: words.into_iter().map(|word| Arc::from(word.as_ref())).collect(), too_many: false }
    }
}

/// Words with their numbers. Once there are too many, all are forgotten and every word gets the number 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dictionary {
    numbers: HashMap<Arc<str>, u32>,
    levels: Levels,
    bytes: usize,
}

impl Dictionary {
    /// The number of a word, as a cell of a row holds it. All numbers are whole in single precision.
    pub(crate) fn number(&mut self, word: &str) -> f32 {
        if self.levels.too_many {
            return 0.0;
        }
        if let Some(number) = self.numbers.get(word) {
            return *number as f32;
        }
        self.bytes += word.len();
        let number = self.levels.words.len();
        if number >= MOST || self.bytes > MOST_BYTES {
            *self = Self { levels: Levels { words: Vec::new(), too_many: true }, ..Self::default() };
            return 0.0;
        }
        let word: Arc<str> = Arc::from(word);
        self.levels.words.push(word.clone());
        self.numbers.insert(word, number as u32);
        number as f32
    }

    /// Take over the words of another dictionary: what its numbers become.
    pub(crate) fn take_over(&mut self, other: &Levels) -> Vec<f32> {
        if other.too_many {
            *self = Self { levels: Levels { words: Vec::new(), too_many: true }, ..Self::default() };
        }
        other.words.iter().map(|word| self.number(word)).collect()
    }

    pub(crate) fn levels(self) -> Levels {
        self.levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_as_they_come_whatever_the_pieces() {
        let mut whole = Dictionary::default();
        let numbers: Vec<f32> = ["b", "a", "b", "c"].iter().map(|word| whole.number(word)).collect();
        assert_eq!(numbers, [0.0, 1.0, 0.0, 2.0]);
        let (mut first, mut second) = (Dictionary::default(), Dictionary::default());
        ["b", "a"].iter().for_each(|word| _ = first.number(word));
        ["c", "b"].iter().for_each(|word| _ = second.number(word));
        assert_eq!(first.take_over(&second.levels()), [2.0, 0.0]);
        assert_eq!(first.levels(), whole.levels());
    }

    #[test]
    fn too_many_words_are_forgotten() {
        let mut all = Dictionary::default();
        (0..=MOST).for_each(|i| _ = all.number(&i.to_string()));
        assert_eq!(all.number("new"), 0.0);
        assert!(all.clone().levels().too_many && all.clone().levels().words.is_empty());
        let mut other = Dictionary::default();
        other.number("x");
        other.take_over(&all.levels());
        assert!(other.levels().too_many);
    }
}
