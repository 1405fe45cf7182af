//! The words of a text, whatever its language: runs of letters, digits and marks in lower case and, where a script has no spaces between words, pairs of
//! neighbouring characters.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What a character does to the word that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A part of a word between spaces.
    Spaced,
    /// A part of a text whose words have no spaces between them.
    Dense,
    /// Belongs to the character before it.
    Mark,
    /// Ends a word.
    End,
}

fn class(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() || c == '_' { Class::Spaced } else { Class::End };
    }
    match u32::from(c) {
        // Zero-width joiners stand inside words.
        0x200c | 0x200d => Class::Mark,
        // Kana and Han; Thai, Lao, Myanmar and Khmer letters.
        0x3041..=0x30ff
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xf900..=0xfaff
        | 0x20000..=0x323af
            if c.is_alphanumeric() =>
        {
            Class::Dense
        }
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff
            if c.is_alphanumeric() && !is_combining_mark(c) =>
        {
            Class::Dense
        }
        _ if is_combining_mark(c) => Class::Mark,
        _ if c.is_alphanumeric() => Class::Spaced,
        _ => Class::End,
    }
}

/// Show every word of a text to `each`, in order.
///
/// A word has at least two characters, one of them a letter: single letters and plain numbers say too little about what a text is about.
///
/// ```
/// let mut found = Vec::new();
/// partita_embed::texts::words("Oil: 12.5 $/bbl, 石油価格 B-2b", |word| found.push(word.to_owned()));
/// assert_eq!(found, ["oil", "bbl", "石油", "油価", "価格", "2b"]);
/// ```
pub fn words(text: &str, mut each: impl FnMut(&str)) {
    let (mut run, mut kind, mut scratch) = (None, Class::End, Scratch::default());
    for (at, c) in text.char_indices() {
        let found = match class(c) {
            // A mark without a character before it ends nothing and begins nothing.
            Class::Mark => continue,
            found => found,
        };
        if found != kind {
            if let Some(start) = run.take() {
                scratch.emit(&text[start..at], kind, &mut each);
            }
            kind = found;
        }
        if kind != Class::End && run.is_none() {
            run = Some(at);
        }
    }
    if let Some(start) = run {
        scratch.emit(&text[start..], kind, &mut each);
    }
}

/// Room for a word that has to be changed.
#[derive(Default)]
struct Scratch {
    word: String,
    places: Vec<usize>,
}

impl Scratch {
    fn emit(&mut self, run: &str, kind: Class, each: &mut impl FnMut(&str)) {
        self.word.clear();
        if run.is_ascii() {
            self.word.push_str(run);
            self.word.make_ascii_lowercase();
        } else {
            // Letters with accents are one character in some texts and two in others.
            self.word.extend(run.to_lowercase().nfc());
        }
        match kind {
            Class::Dense => self.pairs(each),
            _ if self.is_telling() => each(&self.word),
            _ => {}
        }
    }

    fn is_telling(&self) -> bool {
        self.word.chars().nth(1).is_some() && self.word.chars().any(char::is_alphabetic)
    }

    /// Neighbouring characters with their marks, two by two; a single one stands for itself.
    fn pairs(&mut self, each: &mut impl FnMut(&str)) {
        self.places.clear();
        self.places
            .extend(self.word.char_indices().filter(|(_, c)| class(*c) != Class::Mark).map(|(at, _)| at));
        self.places.push(self.word.len());
        match self.places.len() {
            0 | 1 => {}
            2 => each(&self.word),
            _ => self.places.windows(3).for_each(|three| each(&self.word[three[0]..three[2]])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(text, |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn words_are_in_lower_case_without_signs_and_numbers() {
        assert_eq!(
            all("The U.S.'s GNP rose 3.5 pct in 1986-87; snake_case x"),
            ["the", "gnp", "rose", "pct", "in", "snake_case"]
        );
        assert_eq!(all(" \n\t,;"), [""; 0]);
        assert_eq!(all("ÉTÉ Straße ΣΊΣΥΦΟΣ Ёлка"), ["été", "straße", "σίσυφος", "ёлка"]);
    }

    #[test]
    fn accents_are_one_character_however_they_are_written() {
        assert_eq!(all("cafe\u{301} café"), ["café", "café"]);
    }

    #[test]
    fn marks_belong_to_their_letters() {
        assert_eq!(all("हिन्दी में"), ["हिन्दी", "में"]);
        assert_eq!(all("שָׁלוֹם").len(), 1);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(all("日本語"), ["日本", "本語"]);
        assert_eq!(all("猫 is a cat"), ["猫", "is", "cat"]);
        assert_eq!(all("ราคา"), ["รา", "าค", "คา"]);
        assert_eq!(all("한국어 문장"), ["한국어", "문장"]);
    }
}
