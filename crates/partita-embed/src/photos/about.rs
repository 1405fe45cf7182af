//! What a file says of the network that its weights are from, beside their names and shapes.

use super::net::{ImageShape, Net};
use super::normalise::Normalise;
use crate::weights::StateDict;
use std::collections::BTreeMap;

/// What a file says of the network that its weights are from; only files that were written here say something.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct About {
    pub net: Option<Net>,
    pub normalise: Option<Normalise>,
}

/// As a model has it: the shape of its images, its head, and the means and deviations of the channels.
type Written = (ImageShape, usize, ([f32; 3], [f32; 3]));

impl About {
    /// From the texts of a file of weights, or of a model.
    pub fn of(texts: &BTreeMap<String, String>) -> Self {
        let text = |key: &str| texts.get(key).map(String::as_str).unwrap_or_default();
        let params: serde_json::Value = serde_json::from_str(text("params")).unwrap_or_default();
        let trained = params["net"].as_str().and_then(|net| net.parse().ok());
        let seen: Option<Written> = serde_json::from_str(text("about")).ok();
        let seen = seen.map(|(_, _, (mean, deviation))| Normalise { mean, deviation });
        Self { net: text("net").parse().ok().or(trained), normalise: text("normalise").parse().ok().or(seen) }
    }
}

impl StateDict {
    /// How the images were normalised that the weights were trained on, if the file says it.
    pub fn normalise(&self) -> Option<Normalise> {
        About::of(self.texts()).normalise
    }

    /// What a user should know before these weights become those of `net`: the file does not say which of two networks it is
    /// from whose weights look the same.
    pub fn doubt(&self, net: Net) -> Option<String> {
        let other = net.look_alike().filter(|_| About::of(self.texts()).net.is_none())?;
        Some(format!(
            "it does not say whether its weights are those of {net} or of {other}; they are used as {net}'s"
        ))
    }
}
