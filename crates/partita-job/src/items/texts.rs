//! Texts, and what clusters of them are like: the words that tell them apart, and their most typical texts.

use crate::error::Result;
use crate::portrait::{PortraitOptions, portraits};
use partita::linear::Model;
use partita::report::Silent;
use partita::rows::{Rows, Subset};
use partita_data::Texts;
use partita_embed::texts::{ClusterWord, Tfidf, Vocabulary, distinguishing};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// Words of a portrait.
const WORDS: usize = 10;
/// Typical texts of a portrait.
const TYPICAL: usize = 3;
/// Characters of a typical text that are shown.
const SHOWN: usize = 200;
/// Words of a name, at most, where two would name two clusters alike.
const OF_NAME: [usize; 2] = [2, 3];

/// The texts that rows were made of.
#[derive(Debug, Clone)]
pub struct TextItems {
    texts: Arc<Texts>,
    /// The text of each row.
    used: Arc<Vec<usize>>,
    /// What encodes them, if their words do.
    tfidf: Option<Arc<Tfidf>>,
}

/// What a cluster of texts is like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextPortrait {
    /// Number of the cluster.
    pub cluster: usize,
    /// Texts in it, outliers not counted.
    pub size: usize,
    /// The words that tell it apart, the best first.
    pub words: Vec<ClusterWord>,
    /// Its most typical texts.
    pub typical: Vec<TextExample>,
}

/// A text that shows a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextExample {
    /// Number of the row in its file, counted from 0.
    pub row: usize,
    /// Name of the row, if it has one.
    pub id: Option<String>,
    /// The beginning of the text, on one line.
    pub text: String,
    /// Probability of the cluster.
    pub probability: f64,
}

impl TextItems {
    pub(crate) fn new(texts: Arc<Texts>, used: Arc<Vec<usize>>) -> Self {
        Self { texts, used, tfidf: None }
    }

    pub(crate) fn encoded_by(self, tfidf: Option<Arc<Tfidf>>) -> Self {
        Self { tfidf, ..self }
    }

    /// What makes their rows, if their words do.
    pub(crate) fn tfidf(&self) -> Option<&Tfidf> {
        self.tfidf.as_deref()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// The text of a row, which must be below [`Self::len`].
    pub fn get(&self, row: usize) -> Cow<'_, str> {
        self.texts.get(self.used[row])
    }

    /// The number of a row in its file, counted from 0.
    pub fn number(&self, row: usize) -> usize {
        self.used[row]
    }

    pub(super) fn portraits(
        &self,
        model: &Model,
        rows: &dyn Rows,
        labels: &[i32],
        ids: Option<&[String]>,
    ) -> Result<Vec<TextPortrait>> {
        let own;
        let vocabulary = match &self.tfidf {
            Some(tfidf) => Some(tfidf.vocabulary()),
            // Texts without words in common have been encoded in another way, and have a portrait without words.
            None => {
                own = Vocabulary::of(self.len(), |row| self.get(row), &Silent).ok();
                own.as_ref()
            }
        };
        let k = model.k();
        let mut words = vocabulary
            .map(|vocabulary| distinguishing(vocabulary, |row| self.get(row), labels, k, WORDS))
            .unwrap_or_default();
        words.resize(k, Vec::new());
        // An outlier has no cluster that it could be typical of.
        let inside: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] >= 0).collect();
        let of_inside: Vec<u32> = inside.iter().map(|&row| labels[row] as u32).collect();
        let options = PortraitOptions { examples: TYPICAL, features: 0, ..PortraitOptions::default() };
        let found = match inside.len() == labels.len() {
            true => portraits(model, rows, &of_inside, &options)?,
            false => portraits(model, &Subset::new(rows, inside.clone()), &of_inside, &options)?,
        };
        let example = |row: usize, probability: f64| TextExample {
            row: self.number(row),
            id: ids.map(|ids| ids[row].clone()),
            text: beginning(&self.get(row)),
            probability,
        };
        let portrait = |(portrait, words): (crate::portrait::Portrait, Vec<ClusterWord>)| TextPortrait {
            cluster: portrait.cluster,
            size: portrait.size,
            words,
            typical: portrait
                .typical
                .iter()
                .map(|found| example(inside[found.row], found.probability))
                .collect(),
        };
        Ok(found.into_iter().zip(words).map(portrait).collect())
    }
}

/// The beginning of a text on one line.
fn beginning(text: &str) -> String {
    let mut shown = String::new();
    for word in text.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
        if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
            shown.truncate(end);
            shown.push('…');
            break;
        }
    }
    shown
}

/// A name for each cluster of its best two words; of three where two are taken, and with its number where those are too or where there are none.
pub(super) fn names(portraits: &[TextPortrait]) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |portrait: &TextPortrait| {
        let joined = |count: usize| {
            let words: Vec<&str> = portrait.words.iter().take(count).map(|word| &*word.word).collect();
            words.join("/")
        };
        let found = OF_NAME.into_iter().map(joined).find(|name| !name.is_empty() && !taken.contains(name));
        let name =
            found.unwrap_or_else(|| format!("{} {}", joined(OF_NAME[0]), portrait.cluster).trim().to_owned());
        taken.insert(name.clone());
        name
    };
    portraits.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn portrait(cluster: usize, words: &[&str]) -> TextPortrait {
        let word = |word: &&str| ClusterWord { word: (*word).to_owned(), share: 0.5, elsewhere: 0.0 };
        TextPortrait { cluster, size: 1, words: words.iter().map(word).collect(), typical: Vec::new() }
    }

    #[test]
    fn no_two_clusters_have_one_name() {
        let all = [
            portrait(0, &["oil", "crude", "opec"]),
            portrait(1, &["oil", "crude", "barrel"]),
            portrait(2, &[]),
            portrait(3, &["oil", "crude", "barrel"]),
        ];
        assert_eq!(names(&all), ["oil/crude", "oil/crude/barrel", "2", "oil/crude 3"]);
    }

    #[test]
    fn beginnings_stand_on_one_line_and_end_between_characters() {
        assert_eq!(beginning(" a\n\n b\tc "), "a b c");
        assert_eq!(beginning(&"é".repeat(900)).chars().count(), SHOWN + 1);
    }
}
