//! Texts as weights of their words: how often a text has a word, damped, times how few texts have it; each row of length one.

use super::vocabulary::Vocabulary;
use crate::encoder::Encoder;
use crate::error::{EmbedError, Result};
use partita::rows::Csr;
use partita_data::Fingerprint;
use partita_data::model_file::{StoredEncoder, Tensors};
use partita_data::safetensors_io::{Tensor, Values};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The kind of a stored encoder.
pub const KIND: &str = "tfidf";
/// Version of how words are found and weighed, raised when the same text would give another row.
const VERSION: u32 = 1;
/// Texts encoded by one thread at a time.
const PIECE: usize = 256;

/// Weights of words: (1 + ln c) · (1 + ln((1 + N) / (1 + N_w))) for a word that is c times in the text and in N_w of the N texts that were learnt from.
/// Rows have length one, but that of a text without known words is zero.
///
/// ```
/// use partita::{report::Silent, rows::Rows};
/// use partita_embed::texts::{Tfidf, Vocabulary};
/// let texts = ["crude oil price", "oil price rose", "wheat crop", "wheat harvest and crop"];
/// let tfidf = Tfidf::new(Vocabulary::of(4, |i| texts[i], &Silent)?);
/// assert_eq!(tfidf.vocabulary().words(), ["crop", "oil", "price", "wheat"]);
/// let rows = tfidf.rows(1, |_| "Price of wheat?")?;
/// let weights: Vec<(usize, f32)> = rows.row(0).collect();
/// assert_eq!(weights.len(), 2);
/// assert!((weights[0].1 - 0.5f32.sqrt()).abs() < 1e-6);
/// # Ok::<(), partita_embed::EmbedError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tfidf {
    vocabulary: Vocabulary,
    idf: Vec<f32>,
}

/// What a model file keeps besides the weights of the words.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    version: u32,
    texts: usize,
    words: Vec<String>,
}

impl Tfidf {
    /// With the words of this vocabulary.
    pub fn new(vocabulary: Vocabulary) -> Self {
        let all = 1.0 + vocabulary.texts() as f64;
        let weight = |count: &u32| (1.0 + (all / (1.0 + f64::from(*count))).ln()) as f32;
        let idf = vocabulary.texts_with().iter().map(weight).collect();
        Self { vocabulary, idf }
    }

    /// The words that it knows.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The rows of `n` texts, which `text` gives by number.
    ///
    /// # Errors
    /// If the matrix cannot be made.
    pub fn rows<S: AsRef<str>>(&self, n: usize, text: impl Fn(usize) -> S + Sync) -> Result<Csr<'static>> {
        let piece = |first: usize| -> Vec<Vec<(u32, f32)>> {
            (first..n.min(first + PIECE)).map(|i| self.row(text(i).as_ref())).collect()
        };
        let pieces: Vec<_> = (0..n).into_par_iter().step_by(PIECE).map(piece).collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in pieces.into_iter().flatten() {
            for (column, value) in row {
                columns.push(column as i32);
                values.push(value);
            }
            starts.push(values.len());
        }
        Ok(Csr::new(starts, columns.into(), values.into(), self.idf.len())?)
    }

    /// What is not zero of the row of a text.
    fn row(&self, text: &str) -> Vec<(u32, f32)> {
        let counts = self.vocabulary.count(text);
        let weight = |(word, count): &(u32, u32)| (1.0 + f64::from(*count).ln()) * f64::from(self.idf[*word as usize]);
        let norm = counts.iter().map(|pair| weight(pair).powi(2)).sum::<f64>().sqrt();
        counts.iter().map(|pair| (pair.0, (weight(pair) / norm) as f32)).collect()
    }

    /// The encoder that a model file keeps.
    ///
    /// # Errors
    /// If its parts do not fit together, or a newer version wrote it.
    pub fn read(stored: &StoredEncoder) -> Result<Self> {
        let refused = |problem: String| EmbedError::Refused(format!("the model's encoder of texts is broken: {problem}; fit the model again"));
        let version = stored.about.get("version").and_then(serde_json::Value::as_u64);
        if version.is_some_and(|version| version > u64::from(VERSION)) {
            let problem = "the model encodes texts in a way that only a newer version of Partita knows: update Partita";
            return Err(EmbedError::Refused(problem.to_owned()));
        }
        let about: About = serde_json::from_value(stored.about.clone()).map_err(|e| refused(e.to_string()))?;
        let idf = match stored.tensors.get("idf") {
            Some(Tensor { shape, values: Values::F32(values) }) if *shape == [about.words.len()] => values.clone(),
            _ => return Err(refused(format!("there is no weight for each of its {} words", about.words.len()))),
        };
        if about.words.is_empty() || !about.words.is_sorted_by(|a, b| a < b) {
            return Err(refused("its words are not in order".to_owned()));
        }
        if idf.iter().any(|weight| !(weight.is_finite() && *weight > 0.0)) {
            return Err(refused("a weight is no positive number".to_owned()));
        }
        let counts = vec![0; about.words.len()];
        Ok(Self { vocabulary: Vocabulary::new(about.words, counts, about.texts), idf })
    }
}

impl Encoder for Tfidf {
    type Item = str;

    fn name(&self) -> &str {
        KIND
    }

    fn features(&self) -> usize {
        self.idf.len()
    }

    fn fingerprint(&self) -> u64 {
        let words = self.vocabulary.words().iter();
        words.fold(Fingerprint::default(), |print, word| print.with_bytes(word.as_bytes()).with_bytes(b"\n")).with_numbers(&self.idf).0
    }

    fn encode(&self, items: &[&str], out: &mut [f32]) -> Result<()> {
        out.fill(0.0);
        for (text, out) in items.iter().zip(out.chunks_exact_mut(self.idf.len())) {
            self.row(text).into_iter().for_each(|(word, weight)| out[word as usize] = weight);
        }
        Ok(())
    }

    fn stored(&self) -> StoredEncoder {
        let about = About { version: VERSION, texts: self.vocabulary.texts(), words: self.vocabulary.words().to_vec() };
        let idf = Tensor { shape: vec![self.idf.len()], values: Values::F32(self.idf.clone()) };
        StoredEncoder {
            kind: KIND.to_owned(),
            about: serde_json::json!(about),
            tensors: Tensors::from([("idf".to_owned(), idf)]),
        }
    }
}
