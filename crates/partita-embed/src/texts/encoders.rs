//! The encoders of texts by name: which are taken where nobody says it, and how they are made again from a model file.

use super::bert::{self, Bert};
use super::tfidf::{self, Tfidf};
use super::weights::{found, needed};
use crate::cache::RowCache;
use crate::encoder::Encoder;
use crate::error::{EmbedError, Result};
use partita::report::Observer;
use partita_data::Features;
use partita_data::model_file::StoredEncoder;
use std::path::Path;
use std::sync::Arc;

/// The network that is taken where its weights are found.
const MINILM: &str = "minilm";
/// The names of all encoders of texts.
pub const ENCODERS: [&str; 2] = [tfidf::KIND, MINILM];

/// Which encoders are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// By name; the usual ones if there are none.
    pub names: &'a [String],
    /// Where weights are, before the usual places are searched.
    pub weights: Option<&'a Path>,
}

/// An encoder of texts.
pub enum TextEncoder {
    /// Weights of words.
    Tfidf(Arc<Tfidf>),
    /// A network.
    Bert(Box<Bert>),
}

/// Rows that an encoder made.
pub struct TextRows {
    /// The rows.
    pub rows: Features,
    /// Those of texts without a known word, which are zero.
    pub unknown: Vec<usize>,
}

/// The encoders that are wanted for `n` texts, which `text` gives by number, and what a user should know about them.
///
/// # Errors
/// If a name is unknown, the texts have no words in common, weights are not found, or the observer stops the work.
pub fn learnt<S: AsRef<str>>(
    wanted: &Wanted<'_>,
    n: usize,
    text: impl Fn(usize) -> S + Sync,
    observer: &dyn Observer,
) -> Result<(Vec<TextEncoder>, Vec<String>)> {
    let (mut encoders, mut notes) = (Vec::new(), Vec::new());
    let usual = if wanted.names.is_empty() { usual(wanted.weights, &mut notes)? } else { Vec::new() };
    let names = if wanted.names.is_empty() { &usual[..] } else { wanted.names };
    if wanted.weights.is_some() && !names.iter().any(|name| name == MINILM) {
        let problem = format!(
            "`encoder_weights` has no meaning without the `encoder` {MINILM}; leave it out, or name that encoder"
        );
        return Err(EmbedError::Refused(problem));
    }
    for name in names {
        encoders.push(match name.as_str() {
            tfidf::KIND => TextEncoder::Tfidf(Arc::new(Tfidf::learn(n, &text, observer)?)),
            MINILM => {
                let (folder, known) = needed(name, wanted.weights)?;
                let network = Bert::open(name, &folder)?;
                let (folder, print) = (folder.display(), network.fingerprint());
                notes.push(format!("{name} ({}), fingerprint {print:016x}, from {folder}", known.licence));
                TextEncoder::Bert(Box::new(network))
            }
            other => {
                let problem = format!(
                    "there is no encoder of texts called '{other}'; there are {}",
                    ENCODERS.join(" and ")
                );
                return Err(EmbedError::Refused(problem));
            }
        });
    }
    Ok((encoders, notes))
}

/// What is taken where nobody says it: words, and the network where its weights are.
fn usual(weights: Option<&Path>, notes: &mut Vec<String>) -> Result<Vec<String>> {
    let mut names = vec![tfidf::KIND.to_owned()];
    if found(MINILM, weights)?.is_some() {
        names.push(MINILM.to_owned());
        notes.push(format!(
            "the weights of {MINILM} are there, so that texts are encoded by {} side by side; the encoder {} takes words alone",
            names.join(" and "),
            tfidf::KIND
        ));
    }
    Ok(names)
}

impl TextEncoder {
    /// The encoder that a model file keeps. Weights that are not in it are looked for, first where `weights` says.
    ///
    /// # Errors
    /// If its parts do not fit together, or weights are not found.
    pub fn read(stored: &StoredEncoder, weights: Option<&Path>) -> Result<Self> {
        match stored.kind.as_str() {
            tfidf::KIND => Ok(Self::Tfidf(Arc::new(Tfidf::read(stored)?))),
            bert::KIND => Ok(Self::Bert(Box::new(Bert::read(stored, weights)?))),
            other => {
                let problem = format!(
                    "the model encodes its items by '{other}', which encodes no texts or is known only to a newer version of Partita"
                );
                Err(EmbedError::Refused(problem))
            }
        }
    }

    /// The rows of `n` texts; beyond `memory` bytes they go to a temporary file. Rows of a network are kept in a file of the folder `cache`, if there is one, and
    /// taken from there.
    ///
    /// # Errors
    /// If they cannot be made, or the observer stops the work.
    pub fn rows<S: AsRef<str>>(
        &self,
        n: usize,
        text: impl Fn(usize) -> S + Sync,
        (memory, cache): (usize, Option<&Path>),
        observer: &dyn Observer,
    ) -> Result<TextRows> {
        match self {
            Self::Tfidf(tfidf) => {
                let mut unknown = Vec::new();
                let rows = tfidf.features_of(n, text, memory, &mut unknown, observer)?;
                Ok(TextRows { rows, unknown })
            }
            Self::Bert(network) => {
                let open = |folder| {
                    RowCache::open(folder, network.name(), network.fingerprint(), network.features())
                };
                let mut cache = cache.map(open).transpose()?;
                let rows = network.rows(n, text, memory, cache.as_mut(), observer)?;
                Ok(TextRows { rows, unknown: Vec::new() })
            }
        }
    }

    /// The encoder by words, if it is one.
    pub fn tfidf(&self) -> Option<&Arc<Tfidf>> {
        match self {
            Self::Tfidf(tfidf) => Some(tfidf),
            Self::Bert(_) => None,
        }
    }

    /// What a model file keeps.
    pub fn stored(&self) -> StoredEncoder {
        match self {
            Self::Tfidf(tfidf) => tfidf.stored(),
            Self::Bert(network) => network.stored(),
        }
    }
}
