//! Texts to rows: their words counted ([`Tfidf`]), or by a small network that has read much ([`Bert`]); and the words that tell clusters of texts apart.

mod bert;
mod directions;
mod distinguish;
mod encoders;
mod tfidf;
mod vocabulary;
mod weights;
mod words;

pub use bert::{Bert, KIND as BERT};
pub use distinguish::{ClusterWord, distinguishing};
pub use encoders::{ENCODERS, TextEncoder, TextRows, Wanted, learnt};
pub use tfidf::{KIND as TFIDF, Tfidf};
pub use vocabulary::Vocabulary;
pub use words::words;
