//! Photos: the networks that make rows of them, and how pixels become what a network takes.

mod about;
mod encoder;
mod forms;
mod layouts;
mod net;
mod network;
mod normalise;
mod photo_net;
mod plan;

pub use encoder::{Asked, PHOTOS, PhotoEncoder, photo_encoders};
pub use net::{ImageShape, Net};
pub use normalise::Normalise;
pub use photo_net::PhotoNet;

use crate::error::{EmbedError, Result};
use crate::weights::{Match, StateDict};
use about::About;
use partita_data::Fingerprint;
use std::collections::BTreeMap;

/// The names of a network's tensors in a file, which needs to have these; or what is missing, unexpected or of the wrong shape.
///
/// # Errors
/// If the file holds the weights of another network.
pub fn names(net: Net, needed: &BTreeMap<String, Vec<usize>>, file: &StateDict) -> Result<Match> {
    let other = |problem| EmbedError::OtherNet { path: file.path().to_owned(), net, problem };
    if let Some(theirs) = About::of(file.texts()).net.filter(|theirs| *theirs != net) {
        return Err(other(format!("they are those of {theirs}")));
    }
    let found = Match::of(needed, net.layouts(), file).map_err(other)?;
    match forms::mismatch(net, file, found.prefix())? {
        Some(problem) => Err(other(problem)),
        None => Ok(found),
    }
}

/// A number that identifies what made some features: it changes with the content of the weights and with `options`.
pub fn fingerprint(weights: &StateDict, options: &str) -> u64 {
    Fingerprint::default().with_bytes(options.as_bytes()).with_bytes(weights.hash().as_bytes()).0
}

#[cfg(test)]
mod tests;
