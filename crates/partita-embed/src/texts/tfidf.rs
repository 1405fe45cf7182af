//! Texts as weights of their words: how often a text has a word, damped, times how few texts have it. Of many words, rows are the main directions of these
//! weights, which brings together texts that say the same in other words; each row has length one.

use super::directions::Directions;
use super::vocabulary::Vocabulary;
use crate::encoder::Encoder;
use crate::error::{EmbedError, Result};
use partita::numeric::vector::inverse_norm;
use partita::report::{Flow, Observer, Part, Progress};
use partita::rows::Csr;
use partita_data::model_file::{StoredEncoder, Tensors};
use partita_data::safetensors_io::{Tensor, Values};
use partita_data::{Features, Fingerprint};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The kind of a stored encoder.
pub const KIND: &str = "tfidf";
/// Version of how words are found and weighed, raised when the same text would give another row.
const VERSION: u32 = 1;
/// Texts encoded by one thread at a time.
const PIECE: usize = 256;
/// Texts encoded before the observer is asked again.
const WAVE: usize = 64 * PIECE;
/// Texts that show the main directions: more hardly turn them.
const SAMPLE: usize = 20_000;
/// Share of the work of learning that counting words is.
const COUNTING: f64 = 0.5;

/// Weights of words: (1 + ln c) · (1 + ln((1 + N) / (1 + N_w))) for a word that is c times in the text and in N_w of the N texts that were learnt from, at length
/// one. Of more than 128 words, their 128 main directions, again at length one. The row of a text without known words is zero.
///
/// ```
/// use partita::{report::Silent, rows::Rows};
/// use partita_embed::texts::{Tfidf, Vocabulary};
/// let texts = ["crude oil price", "oil price rose", "wheat crop", "wheat harvest and crop"];
/// let tfidf = Tfidf::new(Vocabulary::of(4, |i| texts[i], &Silent)?);
/// assert_eq!(tfidf.vocabulary().words(), ["crop", "oil", "price", "wheat"]);
/// let weights: Vec<(u32, f32)> = tfidf.weights("Price of wheat?");
/// assert_eq!(weights.len(), 2);
/// assert!((weights[0].1 - 0.5f32.sqrt()).abs() < 1e-6);
/// # Ok::<(), partita_embed::EmbedError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tfidf {
    vocabulary: Vocabulary,
    idf: Vec<f32>,
    directions: Option<Directions>,
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
        Self { vocabulary, idf, directions: None }
    }

    /// Learn the words of `n` texts, which `text` gives by number, and their main directions, those from evenly spaced texts.
    ///
    /// # Errors
    /// If the texts have no words in common that tell them apart, or the observer stops the work.
    pub fn learn<S: AsRef<str>>(
        n: usize,
        text: impl Fn(usize) -> S + Sync,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let words = Self::new(Vocabulary::of(n, &text, &Part::new(observer, 0.0, COUNTING))?);
        let some = n.min(SAMPLE);
        let rows = words.matrix(some, |i| text((i as u128 * n as u128 / some as u128) as usize))?;
        let directions = Directions::of(&rows, &Part::new(observer, COUNTING, 1.0).named("directions"))?;
        Ok(Self { directions, ..words })
    }

    /// The words that it knows.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The weights of the words of `n` texts, which `text` gives by number, as a matrix of mostly zeros.
    ///
    /// # Errors
    /// If the matrix cannot be made.
    pub fn matrix<S: AsRef<str>>(&self, n: usize, text: impl Fn(usize) -> S + Sync) -> Result<Csr<'static>> {
        let piece = |first: usize| -> Vec<Vec<(u32, f32)>> {
            (first..n.min(first + PIECE)).map(|i| self.weights(text(i).as_ref())).collect()
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

    /// The weights of the words of a text that it knows, by the numbers of the words.
    pub fn weights(&self, text: &str) -> Vec<(u32, f32)> {
        let counts = self.vocabulary.count(text);
        let weight =
            |(word, count): &(u32, u32)| (1.0 + f64::from(*count).ln()) * f64::from(self.idf[*word as usize]);
        let norm = counts.iter().map(|pair| weight(pair).powi(2)).sum::<f64>().sqrt();
        counts.iter().map(|pair| (pair.0, (weight(pair) / norm) as f32)).collect()
    }

    /// The row of a text into `out`; whether it has a word that is known.
    fn fill(&self, text: &str, out: &mut [f32]) -> bool {
        let weights = self.weights(text);
        out.fill(0.0);
        let Some(directions) = &self.directions else {
            weights.iter().for_each(|(word, weight)| out[*word as usize] = *weight);
            return !weights.is_empty();
        };
        for (word, weight) in &weights {
            out.iter_mut().zip(directions.of_word(*word)).for_each(|(out, x)| *out += weight * x);
        }
        let factor = inverse_norm(out);
        out.iter_mut().for_each(|x| *x *= factor);
        factor > 0.0
    }

    /// What each known word of a text adds to its row.
    pub fn shares(&self, text: &str) -> Vec<(u32, Vec<f32>)> {
        let weights = self.weights(text);
        let Some(directions) = &self.directions else {
            let alone = |(word, weight): (u32, f32)| {
                let mut row = vec![0.0; self.idf.len()];
                row[word as usize] = weight;
                (word, row)
            };
            return weights.into_iter().map(alone).collect();
        };
        let mut row = vec![0.0; directions.d()];
        let mut parts = Vec::with_capacity(weights.len());
        for (word, weight) in weights {
            let part: Vec<f32> = directions.of_word(word).iter().map(|x| weight * x).collect();
            row.iter_mut().zip(&part).for_each(|(row, x)| *row += x);
            parts.push((word, part));
        }
        let factor = inverse_norm(&row);
        parts.iter_mut().flat_map(|(_, part)| part).for_each(|x| *x *= factor);
        parts
    }

    /// The rows of `n` texts; beyond `memory` bytes they go to a temporary file. The numbers of those without known words go into `unknown`.
    ///
    /// # Errors
    /// If the file cannot be written, or the observer stops the work.
    pub fn features_of<S: AsRef<str>>(
        &self,
        n: usize,
        text: impl Fn(usize) -> S + Sync,
        memory: usize,
        unknown: &mut Vec<usize>,
        observer: &dyn Observer,
    ) -> Result<Features> {
        let m = self.features();
        let block = |first: usize| -> Result<Vec<f32>> {
            let mut out = vec![0.0; WAVE.min(n - first) * m];
            let piece = |(piece, out): (usize, &mut [f32])| -> Vec<usize> {
                let first = first + piece * PIECE;
                let rows = out.chunks_exact_mut(m).enumerate();
                rows.filter_map(|(i, out)| (!self.fill(text(first + i).as_ref(), out)).then_some(first + i))
                    .collect()
            };
            let strange: Vec<Vec<usize>> = out.par_chunks_mut(PIECE * m).enumerate().map(piece).collect();
            unknown.extend(strange.into_iter().flatten());
            let done =
                Progress { stage: "encoding", done: (first + out.len() / m) as f64 / n as f64, loss: None };
            match observer.progress(done) {
                Flow::Continue => Ok(out),
                Flow::Stop => Err(partita::Error::Interrupted.into()),
            }
        };
        Features::from_blocks(m, memory, (0..n).step_by(WAVE).map(block))
    }

    /// The encoder that a model file keeps.
    ///
    /// # Errors
    /// If its parts do not fit together, or a newer version wrote it.
    pub fn read(stored: &StoredEncoder) -> Result<Self> {
        let refused = |problem: String| {
            EmbedError::Refused(format!(
                "the model's encoder of texts is broken: {problem}; fit the model again"
            ))
        };
        let version = stored.about.get("version").and_then(serde_json::Value::as_u64);
        if version.is_some_and(|version| version > u64::from(VERSION)) {
            let problem =
                "the model encodes texts in a way that only a newer version of Partita knows: update Partita";
            return Err(EmbedError::Refused(problem.to_owned()));
        }
        let about: About =
            serde_json::from_value(stored.about.clone()).map_err(|e| refused(e.to_string()))?;
        let idf = match stored.tensors.get("idf") {
            Some(Tensor { shape, values: Values::F32(values) }) if *shape == [about.words.len()] => {
                values.clone()
            }
            _ => {
                return Err(refused(format!(
                    "there is no weight for each of its {} words",
                    about.words.len()
                )));
            }
        };
        if about.words.is_empty() || !about.words.is_sorted_by(|a, b| a < b) {
            return Err(refused("its words are not in order".to_owned()));
        }
        if idf.iter().any(|weight| !(weight.is_finite() && *weight > 0.0)) {
            return Err(refused("a weight is no positive number".to_owned()));
        }
        let directions = match stored.tensors.get("directions") {
            Some(Tensor { shape, values: Values::F32(values) }) => {
                Some(Directions::read(values.clone(), shape, about.words.len())?)
            }
            Some(_) => return Err(refused("its directions are no numbers of single precision".to_owned())),
            None => None,
        };
        let counts = vec![0; about.words.len()];
        Ok(Self { vocabulary: Vocabulary::new(about.words, counts, about.texts), idf, directions })
    }
}

impl Encoder for Tfidf {
    type Item = str;

    fn name(&self) -> &str {
        KIND
    }

    fn features(&self) -> usize {
        self.directions.as_ref().map_or(self.idf.len(), Directions::d)
    }

    fn fingerprint(&self) -> u64 {
        let words = self.vocabulary.words().iter();
        let print = words
            .fold(Fingerprint::default(), |print, word| print.with_bytes(word.as_bytes()).with_bytes(b"\n"));
        print.with_numbers(&self.idf).with_numbers(self.directions.as_ref().map_or(&[], Directions::table)).0
    }

    fn encode(&self, items: &[&str], out: &mut [f32]) -> Result<()> {
        for (text, out) in items.iter().zip(out.chunks_exact_mut(self.features())) {
            self.fill(text, out);
        }
        Ok(())
    }

    fn stored(&self) -> StoredEncoder {
        let about = About {
            version: VERSION,
            texts: self.vocabulary.texts(),
            words: self.vocabulary.words().to_vec(),
        };
        let idf = Tensor { shape: vec![self.idf.len()], values: Values::F32(self.idf.clone()) };
        let mut tensors = Tensors::from([("idf".to_owned(), idf)]);
        if let Some(directions) = &self.directions {
            let table = Tensor {
                shape: vec![self.idf.len(), directions.d()],
                values: Values::F32(directions.table().to_vec()),
            };
            tensors.insert("directions".to_owned(), table);
        }
        StoredEncoder { kind: KIND.to_owned(), about: serde_json::json!(about), tensors }
    }
}
