//! The encoders of texts by name: which are taken where nobody says it, and how they are made again from a model file.

use super::bert::{self, Bert};
use super::tfidf::{self, Tfidf};
use super::vocabulary::Vocabulary;
use super::weights::Place;
use crate::encoder::Encoder;
use crate::error::{EmbedError, Result};
use partita::report::Observer;
use partita::rows::Csr;
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
    Tfidf(Box<Tfidf>, Arc<Vocabulary>),
    /// A network.
    Bert(Box<Bert>),
}

/// Rows that an encoder made.
pub enum Encoded {
    /// Of mostly zeros.
    Sparse(Csr<'static>),
    /// Of numbers that are hardly ever zero.
    Dense(Features),
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
    let usual = [tfidf::KIND.to_owned()];
    let names = if wanted.names.is_empty() { &usual[..] } else { wanted.names };
    if wanted.weights.is_some() && !names.iter().any(|name| name == MINILM) {
        let problem = format!("`encoder_weights` has no meaning without the `encoder` {MINILM}; leave it out, or name that encoder");
        return Err(EmbedError::Refused(problem));
    }
    let (mut encoders, mut notes) = (Vec::with_capacity(names.len()), Vec::new());
    for name in names {
        encoders.push(match name.as_str() {
            tfidf::KIND => TextEncoder::of_words(Tfidf::new(Vocabulary::of(n, &text, observer)?)),
            MINILM => {
                let place = Place::needed(name, wanted.weights)?;
                let network = Bert::open(name, &place.folder)?;
                let (called, folder) = (&place.called, place.folder.display());
                notes.push(format!("encoded by {called} from {folder}, fingerprint {:016x}", network.fingerprint()));
                TextEncoder::Bert(Box::new(network))
            }
            other => {
                let problem = format!("there is no encoder of texts called '{other}'; there are {}", ENCODERS.join(" and "));
                return Err(EmbedError::Refused(problem));
            }
        });
    }
    Ok((encoders, notes))
}

impl TextEncoder {
    fn of_words(tfidf: Tfidf) -> Self {
        let vocabulary = Arc::new(tfidf.vocabulary().clone());
        Self::Tfidf(Box::new(tfidf), vocabulary)
    }

    /// The encoder that a model file keeps. Weights that are not in it are looked for, first where `weights` says.
    ///
    /// # Errors
    /// If its parts do not fit together, or weights are not found.
    pub fn read(stored: &StoredEncoder, weights: Option<&Path>) -> Result<Self> {
        match stored.kind.as_str() {
            tfidf::KIND => Ok(Self::of_words(Tfidf::read(stored)?)),
            bert::KIND => Ok(Self::Bert(Box::new(Bert::read(stored, weights)?))),
            other => {
                let problem = format!("the model encodes its items by '{other}', which encodes no texts or is known only to a newer version of Partita");
                Err(EmbedError::Refused(problem))
            }
        }
    }

    /// The rows of `n` texts.
    ///
    /// # Errors
    /// If they cannot be made, or the observer stops the work.
    pub fn rows<S: AsRef<str>>(&self, n: usize, text: impl Fn(usize) -> S + Sync, observer: &dyn Observer) -> Result<Encoded> {
        match self {
            Self::Tfidf(tfidf, _) => Ok(Encoded::Sparse(tfidf.rows(n, text)?)),
            Self::Bert(network) => Ok(Encoded::Dense(network.rows(n, text, observer)?)),
        }
    }

    /// The words that the features stand for, if they stand for words.
    pub fn words(&self) -> Option<&[String]> {
        self.vocabulary().map(|vocabulary| vocabulary.words())
    }

    /// The words that it knows, if it knows words.
    pub fn vocabulary(&self) -> Option<&Arc<Vocabulary>> {
        match self {
            Self::Tfidf(_, vocabulary) => Some(vocabulary),
            Self::Bert(_) => None,
        }
    }

    /// What a model file keeps.
    pub fn stored(&self) -> StoredEncoder {
        match self {
            Self::Tfidf(tfidf, _) => tfidf.stored(),
            Self::Bert(network) => network.stored(),
        }
    }
}
