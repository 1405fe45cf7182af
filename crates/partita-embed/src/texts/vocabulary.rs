//! The words that texts have in common: counted in all of them, without those that are too rare or too frequent to tell texts apart.

use super::words::words;
use crate::error::{EmbedError, Result};
use partita::report::{Flow, Observer, Progress};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Texts counted by one thread at a time.
const PIECE: usize = 256;
/// Different words to hold while counting; beyond that, those seen in one text are forgotten.
const HELD: usize = 4 << 20;
/// Words of a vocabulary, at most; of more, the most frequent.
const MOST: usize = 30_000;
/// Texts that a word must be in: one that is in a single text makes no two alike.
const FEWEST: usize = 2;
/// Longer runs of letters are no words but data, such as encoded pictures.
const LONGEST: usize = 64;

/// Words, each with its number and how many texts it is in.
#[derive(Debug, Clone, PartialEq)]
pub struct Vocabulary {
    words: Vec<String>,
    numbers: HashMap<String, u32>,
    /// In how many texts each is.
    texts_with: Vec<u32>,
    /// How many texts there were.
    texts: usize,
}

impl Vocabulary {
    /// The words of `n` texts that are in at least two of them and in at most half, in alphabetical order. `text` gives them by number.
    ///
    /// A word that most texts have tells few of them apart; this is what lists of stop words are for, in any language. Of more than 30,000 words, the most
    /// frequent are kept.
    ///
    /// # Errors
    /// If no word is left, or the observer stops the work.
    pub fn of<'t, S: AsRef<str> + 't>(
        n: usize,
        text: impl Fn(usize) -> S + Sync,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let counts = counted(n, &text, observer)?;
        let most = (n / 2).max(FEWEST);
        let any = !counts.is_empty();
        let shared = counts.values().any(|&count| count as usize >= FEWEST);
        let mut kept: Vec<(String, u32)> =
            counts.into_iter().filter(|(_, count)| (FEWEST..=most).contains(&(*count as usize))).collect();
        kept.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kept.truncate(MOST);
        kept.sort_unstable();
        if kept.is_empty() {
            return Err(EmbedError::Refused(nothing_left(any, shared)));
        }
        let (words, texts_with) = kept.into_iter().unzip();
        Ok(Self::new(words, texts_with, n))
    }

    /// Words in alphabetical order, each once.
    pub(super) fn new(words: Vec<String>, texts_with: Vec<u32>, texts: usize) -> Self {
        let numbers = words.iter().enumerate().map(|(number, word)| (word.clone(), number as u32)).collect();
        Self { words, numbers, texts_with, texts }
    }

    /// The words by number.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// In how many texts each word is.
    pub fn texts_with(&self) -> &[u32] {
        &self.texts_with
    }

    /// How many texts were counted.
    pub fn texts(&self) -> usize {
        self.texts
    }

    /// The known words of a text with how often it has them, in the order of their numbers.
    pub fn count(&self, text: &str) -> Vec<(u32, u32)> {
        let mut found: Vec<u32> = Vec::new();
        words(text, |word| found.extend(self.numbers.get(word)));
        found.sort_unstable();
        let mut counts: Vec<(u32, u32)> = Vec::with_capacity(found.len());
        for number in found {
            match counts.last_mut().filter(|(last, _)| *last == number) {
                Some((_, count)) => *count += 1,
                None => counts.push((number, 1)),
            }
        }
        counts
    }
}

/// Why no word is left.
fn nothing_left(any: bool, shared: bool) -> String {
    match (any, shared) {
        (false, _) => "the texts have no words: nothing in them is made of at least two letters or digits",
        (true, false) => "no two texts have a word in common, so that none are alike; give longer texts, or more of them",
        (true, true) => "every word that two texts have in common is in more than half of them, so that words tell no texts apart",
    }
    .to_owned()
}

/// In how many texts each word is. Pieces are counted by all threads and added in order, so that the result depends on no number of threads even where
/// rare words have to be forgotten.
fn counted<S: AsRef<str>>(
    n: usize,
    text: &(impl Fn(usize) -> S + Sync),
    observer: &dyn Observer,
) -> Result<HashMap<String, u32>> {
    let mut all: HashMap<String, u32> = HashMap::new();
    let mut held = HELD;
    let wave = PIECE * 2 * rayon::current_num_threads();
    for start in (0..n).step_by(wave) {
        let pieces: Vec<HashMap<String, u32>> = (start..n.min(start + wave))
            .into_par_iter()
            .step_by(PIECE)
            .map(|first| piece(first..n.min(first + PIECE), text))
            .collect();
        for piece in pieces {
            for (word, count) in piece {
                *all.entry(word).or_default() += count;
            }
            if all.len() > held {
                all.retain(|_, count| *count > 1);
                held = HELD.max(2 * all.len());
            }
        }
        let done =
            Progress { stage: "counting words", done: n.min(start + wave) as f64 / n as f64, loss: None };
        if observer.progress(done) == Flow::Stop {
            return Err(partita::Error::Interrupted.into());
        }
    }
    Ok(all)
}

/// The same for some texts.
fn piece<S: AsRef<str>>(
    rows: std::ops::Range<usize>,
    text: &(impl Fn(usize) -> S + Sync),
) -> HashMap<String, u32> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    let mut seen: HashSet<String> = HashSet::new();
    for row in rows {
        seen.clear();
        words(text(row).as_ref(), |word| {
            if word.len() > LONGEST || seen.contains(word) {
                return;
            }
            seen.insert(word.to_owned());
            match counts.get_mut(word) {
                Some(count) => *count += 1,
                None => _ = counts.insert(word.to_owned(), 1),
            }
        });
    }
    counts
}
