//! Encoders of photos: a network, its weights, and the size and normalisation that photos get before it.

use super::net::Net;
use super::normalise::Normalise;
use super::photo_net::PhotoNet;
use crate::encoder::Encoder;
use crate::error::{EmbedError, Result};
use crate::images::Image;
use crate::weights::{Kind, Known, Place, Places, StateDict, known};
use partita_data::Fingerprint;
use partita_data::model_file::StoredEncoder;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// What a model file calls encoders of photos.
pub const PHOTOS: &str = "photos";

/// Smallest and largest side of a photo before the network.
const SIDES: std::ops::RangeInclusive<usize> = 8..=2048;

/// An encoder as users ask for it: a name, and a size of photos if it is not the usual one.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    known: &'static Known,
    net: Net,
    size: usize,
}

impl Asked {
    /// From `NAME` or `NAME@SIZE`.
    ///
    /// # Errors
    /// If no encoder of photos has this name, or the size is none.
    ///
    /// ```
    /// use partita_embed::photos::Asked;
    /// assert_eq!(Asked::parse("resnet50")?.to_string(), "resnet50@224");
    /// assert_eq!(Asked::parse("mobilenetv2@96")?.to_string(), "mobilenetv2@96");
    /// assert!(Asked::parse("resnet49").is_err());
    /// # Ok::<(), partita_embed::EmbedError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let (name, size) = text.split_once('@').map_or((text, None), |(name, size)| (name, Some(size)));
        let of_photos = known(name).filter(|known| known.kind == Kind::Photos);
        let Some((known, net)) = of_photos.and_then(|known| Some((known, name.parse().ok()?))) else {
            let names: Vec<&str> = photo_encoders().map(|known| known.name).collect();
            let problem = format!("`{name}` is no encoder of photos; use {}", names.join(", "));
            return Err(EmbedError::Refused(problem));
        };
        let size = match size {
            None => known.size,
            Some(text) => text.parse().ok().filter(|size| SIDES.contains(size)).ok_or_else(|| {
                let problem = format!(
                    "`{text}` is no size of photos; write {name}@SIZE with {} to {} pixels",
                    SIDES.start(),
                    SIDES.end()
                );
                EmbedError::Refused(problem)
            })?,
        };
        Ok(Self { known, net, size })
    }

    /// The encoder that is used if none is asked for.
    pub fn usual() -> Result<Self> {
        Self::parse("mobilenetv2")
    }

    /// The encoder with the weights in a file that is given, or else in the first place that has some.
    ///
    /// # Errors
    /// If there are no weights, or they are another network's.
    pub fn find(self, given: Option<&Path>, places: &Places) -> Result<PhotoEncoder> {
        let place = match given {
            Some(path) => Place::Given(path.to_owned()),
            None => places.first(self.known)?,
        };
        let file = StateDict::at(self.known.name, &place)?;
        self.with(&file, place)
    }

    fn with(self, file: &StateDict, place: Place) -> Result<PhotoEncoder> {
        let normalise = file.normalise().unwrap_or_else(|| Normalise::of(self.net));
        let about = About {
            name: self.known.name.to_owned(),
            size: self.size,
            normalise: normalise.to_string(),
            features: self.known.features,
            sha256: file.hash().to_owned(),
        };
        Ok(PhotoEncoder {
            network: PhotoNet::new(self.net, file, normalise, self.size)?,
            about,
            place,
            known: self.known,
        })
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.known.name, self.size)
    }
}

/// All encoders of photos that are known.
pub fn photo_encoders() -> impl Iterator<Item = &'static Known> {
    crate::weights::KNOWN.iter().filter(|known| known.kind == Kind::Photos)
}

/// What a model file says about an encoder of photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    name: String,
    size: usize,
    normalise: String,
    features: usize,
    /// Of the file of weights.
    sha256: String,
}

/// An encoder of photos.
#[derive(Debug)]
pub struct PhotoEncoder {
    network: PhotoNet,
    about: About,
    place: Place,
    known: &'static Known,
}

impl PhotoEncoder {
    /// The encoder of a model, with its own weights and no others: from the file that is given, or else from the first place that has them.
    ///
    /// # Errors
    /// If the weights are nowhere, or those that were given are others.
    pub fn of_stored(stored: &StoredEncoder, given: Option<&Path>, places: &Places) -> Result<Self> {
        let broken = |problem: String| {
            EmbedError::Refused(format!("the encoder of the model cannot be used: {problem}"))
        };
        if stored.kind != PHOTOS {
            return Err(broken(format!("it encodes {}, not photos", stored.kind)));
        }
        let about: About = serde_json::from_value(stored.about.clone()).map_err(|e| broken(e.to_string()))?;
        let asked =
            Asked::parse(&format!("{}@{}", about.name, about.size)).map_err(|e| broken(e.to_string()))?;
        let normalise: Normalise = about.normalise.parse()?;
        let known = asked.known;
        let candidates = match given {
            Some(path) => vec![Place::Given(path.to_owned())],
            None => places.all(known),
        };
        let mut others = Vec::new();
        for place in candidates {
            let file = StateDict::at(known.name, &place)?;
            if file.hash() != about.sha256 {
                others.push(format!("{place} has {}", short(file.hash())));
                continue;
            }
            let network = PhotoNet::new(asked.net, &file, normalise, about.size)?;
            if network.features() != about.features {
                return Err(broken(format!(
                    "{} has {} features, not {}",
                    about.name,
                    network.features(),
                    about.features
                )));
            }
            return Ok(Self { network, about, place, known });
        }
        let found = if others.is_empty() { "none are here".to_owned() } else { others.join(", ") };
        Err(EmbedError::Refused(format!(
            "the model takes photos through {} with the weights of SHA-256 {}, but {found}; give these weights with --encoder-weights",
            about.name,
            short(&about.sha256)
        )))
    }

    /// The network.
    pub fn network(&self) -> &PhotoNet {
        &self.network
    }

    /// What a user should know: name, licence, hash and place of the weights.
    pub fn described(&self) -> String {
        let About { name, size, features, sha256, .. } = &self.about;
        let built = self.known.built_in.is_some_and(|_| self.place == Place::BuiltIn);
        // Only of weights that are known is it known what they may be used for.
        let licence = match (built, &self.place) {
            (true, _) => format!("licence {}, from {}", self.known.licence, self.known.origin),
            (false, Place::Cache(_)) => format!("licence {}", self.known.licence),
            _ => format!(
                "licence as their source says; usually: {}, {}",
                self.known.licence, self.known.origin
            ),
        };
        format!(
            "{name}: {features} features of photos at {size}×{size} pixels; weights {} ({licence}; SHA-256 {})",
            self.place,
            short(sha256)
        )
    }
}

/// The beginning of a hash, as people compare them.
fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

impl Encoder for PhotoEncoder {
    type Item = Image;

    fn name(&self) -> &str {
        &self.about.name
    }

    fn features(&self) -> usize {
        self.about.features
    }

    fn fingerprint(&self) -> u64 {
        let About { name, size, normalise, sha256, .. } = &self.about;
        Fingerprint::default().with_bytes(format!("{name} {size} {normalise} {sha256}").as_bytes()).0
    }

    fn encode(&self, items: &[&Image], out: &mut [f32]) -> Result<()> {
        self.network.encode(|i| Ok(Cow::Borrowed(items[i])), |i| format!("image {i}"), out)
    }

    fn stored(&self) -> StoredEncoder {
        let about = serde_json::to_value(&self.about).unwrap_or_default();
        StoredEncoder { kind: PHOTOS.to_owned(), about, tensors: Default::default() }
    }
}
