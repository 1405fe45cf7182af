//! A network that has read much: texts to rows by MiniLM and other networks of the BERT type.

mod config;
mod network;
mod product;
mod tokens;

use crate::cache::{Content, RowCache};
use crate::encoder::Encoder;
use crate::error::{EmbedError, Result};
use crate::texts::weights;
use config::Config;
use network::{Network, Workspace};
use partita::report::{Flow, Observer, Progress};
use partita_data::Features;
use partita_data::model_file::{StoredEncoder, Tensors};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use tokens::Tokens;

/// The kind of a stored encoder.
pub const KIND: &str = "bert";
/// Version of what is done to texts, raised when the same text would give another row.
const VERSION: u32 = 1;
/// Tokens that a thread takes at a time, at least: texts are short, and weights are many.
const TOGETHER: usize = 512;
/// Texts whose tokens are found at a time.
const PIECE: usize = 4096;

/// A network of the BERT type as sentence-transformers uses it: the mean of the last layer over the tokens, at length one.
///
/// Its folder holds `config.json`, `model.safetensors` and `vocab.txt` or `tokenizer.json`. Texts are read up to the tokens that `sentence_bert_config.json` allows.
pub struct Bert {
    name: String,
    network: Network,
    tokens: Tokens,
    most: usize,
    fingerprint: u64,
    folder: PathBuf,
}

/// What a model file keeps: the weights stay where they are.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    version: u32,
    name: String,
    tokens: usize,
    features: usize,
    /// In hexadecimal digits, since JSON has no whole numbers of this size.
    fingerprint: String,
}

impl Bert {
    /// The network in a folder.
    ///
    /// # Errors
    /// If files are missing, or do not fit together.
    pub fn open(name: &str, folder: &Path) -> Result<Self> {
        let config = Config::read(folder)?;
        let tokens = Tokens::read(folder, config.vocabulary, config.lower)?;
        let path = folder.join("model.safetensors");
        let (most, lower) = (config.tokens, config.lower);
        let network = Network::read(&path, config)?;
        let print =
            network.fingerprint().with_bytes(&[u8::from(lower)]).with_bytes(&(most as u64).to_le_bytes());
        Ok(Self {
            name: name.to_owned(),
            network,
            tokens,
            most,
            fingerprint: print.0,
            folder: folder.to_owned(),
        })
    }

    /// The encoder that a model file keeps, with the weights that are found by its name, first at `place`.
    ///
    /// # Errors
    /// If weights are not found, or are others.
    pub fn read(stored: &StoredEncoder, place: Option<&Path>) -> Result<Self> {
        let broken = |problem: String| {
            EmbedError::Refused(format!(
                "the model's encoder of texts is broken: {problem}; fit the model again"
            ))
        };
        let about: About = serde_json::from_value(stored.about.clone()).map_err(|e| broken(e.to_string()))?;
        if about.version > VERSION {
            let problem =
                "the model encodes texts in a way that only a newer version of Partita knows: update Partita";
            return Err(EmbedError::Refused(problem.to_owned()));
        }
        let (folder, _) = weights::needed(&about.name, place)?;
        let found = Self::open(&about.name, &folder)?;
        if format!("{:016x}", found.fingerprint) != about.fingerprint {
            return Err(EmbedError::File {
                path: folder,
                problem: format!(
                    "these are other weights of {} than those that the model was fitted with; give those (`encoder_weights`)",
                    about.name
                ),
            });
        }
        Ok(found)
    }

    /// Where its weights are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The tokens of a text, as the network reads it.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokens.of(text, self.most)
    }

    /// The rows of `n` texts; beyond `memory` bytes they go to a temporary file. Rows that a `cache` has are not made again.
    ///
    /// # Errors
    /// If a file cannot be written, or the observer stops the work.
    pub fn rows<S: AsRef<str>>(
        &self,
        n: usize,
        text: impl Fn(usize) -> S + Sync,
        memory: usize,
        mut cache: Option<&mut RowCache>,
        observer: &dyn Observer,
    ) -> Result<Features> {
        let m = self.features();
        let block = |first: usize| -> Result<Vec<f32>> {
            let count = PIECE.min(n - first);
            let mut out = vec![0.0; count * m];
            let tokens: Vec<Vec<u32>> = (first..first + count)
                .into_par_iter()
                .map(|row| self.tokens.of(text(row).as_ref(), self.most))
                .collect();
            self.fill(&tokens, &mut out, cache.as_deref_mut(), &mut |done| {
                let done = (first as f64 + done * count as f64) / n as f64;
                observer.progress(Progress { stage: "encoding", done, loss: None })
            })?;
            Ok(out)
        };
        Features::from_blocks(m, memory, (0..n).step_by(PIECE).map(block))
    }

    /// The rows of some texts, given as tokens. They are made in the order of their lengths, so that threads have equal work; that does not change a bit of
    /// them.
    fn fill(
        &self,
        tokens: &[Vec<u32>],
        out: &mut [f32],
        mut cache: Option<&mut RowCache>,
        seen: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<()> {
        let m = self.features();
        let contents: Vec<Content> = if cache.is_some() {
            tokens.par_iter().map(|tokens| content(tokens)).collect()
        } else {
            Vec::new()
        };
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        if let Some(cache) = &mut cache {
            order.retain(|&row| !cache.read(&contents[row], &mut out[row * m..(row + 1) * m]));
        }
        order.sort_by_key(|&row| std::cmp::Reverse(tokens[row].len()));
        let (mut done, all) = (0, order.iter().map(|&row| tokens[row].len()).sum::<usize>().max(1));
        for wave in grouped(&order, tokens).chunks(rayon::current_num_threads()) {
            let made: Vec<Vec<f32>> = wave
                .par_iter()
                .map_init(Workspace::default, |room, group| {
                    let texts: Vec<&[u32]> = group.iter().map(|&row| &tokens[row][..]).collect();
                    let mut rows = vec![0.0; group.len() * m];
                    self.network.forward(&texts, room, &mut rows);
                    rows
                })
                .collect();
            for (group, rows) in wave.iter().zip(made) {
                for (&row, values) in group.iter().zip(rows.chunks_exact(m)) {
                    out[row * m..(row + 1) * m].copy_from_slice(values);
                    done += tokens[row].len();
                }
                if let Some(cache) = &mut cache {
                    let contents: Vec<Content> = group.iter().map(|&row| contents[row]).collect();
                    cache.push(&contents, &rows)?;
                }
            }
            if seen(done as f64 / all as f64) == Flow::Stop {
                return Err(partita::Error::Interrupted.into());
            }
        }
        Ok(())
    }
}

/// What tells a text apart from others, as the network reads it.
fn content(tokens: &[u32]) -> Content {
    let bytes: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
    let hash = Sha256::digest(&bytes);
    let mut content = Content::default();
    content.iter_mut().zip(hash).for_each(|(content, byte)| *content = byte);
    content
}

/// Texts in groups of enough tokens, in this order.
fn grouped(order: &[usize], tokens: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for &row in order {
        match groups.last_mut().filter(|_| room > 0) {
            Some(group) => group.push(row),
            None => {
                groups.push(vec![row]);
                room = TOGETHER;
            }
        }
        room = room.saturating_sub(tokens[row].len());
    }
    groups
}

impl Encoder for Bert {
    type Item = str;

    fn name(&self) -> &str {
        &self.name
    }

    fn features(&self) -> usize {
        self.network.features()
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn encode(&self, items: &[&str], out: &mut [f32]) -> Result<()> {
        let tokens: Vec<Vec<u32>> = items.iter().map(|text| self.tokens(text)).collect();
        self.fill(&tokens, out, None, &mut |_| Flow::Continue)
    }

    fn stored(&self) -> StoredEncoder {
        let about = About {
            version: VERSION,
            name: self.name.clone(),
            tokens: self.most,
            features: self.features(),
            fingerprint: format!("{:016x}", self.fingerprint),
        };
        StoredEncoder { kind: KIND.to_owned(), about: serde_json::json!(about), tensors: Tensors::new() }
    }
}
