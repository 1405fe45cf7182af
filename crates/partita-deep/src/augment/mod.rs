//! Changes to an image that should not change its cluster.
//!
//! The random draws depend only on the seed, the epoch, the row and the view, so any thread may process any row.

mod colour;
mod warp;

use crate::error::{DeepError, Result};
use partita::rng::{Stream, stream};
use partita_embed::images::Image;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use warp::Warp;

/// A blur of more pixels than this leaves nothing to see.
const MOST_BLUR: f32 = 100.0;
/// Half the colour wheel in either direction is all of it.
const MOST_HUE: f32 = 0.5;

/// Which changes to make, and how large. Zero means none.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Augment {
    /// Mirror an image with probability one half.
    pub flip: bool,
    /// Rotate by up to this number of degrees.
    pub rotate: f32,
    /// Keep only a part: at least this share of the height and width; 0 or 1 keeps all.
    pub crop: f32,
    /// Shift by up to this share of the side; scale and shear by up to the same amount.
    pub affine: f32,
    /// Change brightness, contrast and saturation by factors up to 1 ± this.
    pub colour: f32,
    /// Turn all colours by up to this share of the colour wheel.
    pub hue: f32,
    /// Share of the images whose colours and hue are changed; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f32>,
    /// Share of the images that become grey.
    pub grey: f32,
    /// Blur with a standard deviation of up to this number of pixels.
    pub blur: f32,
}

impl FromStr for Augment {
    type Err = DeepError;

    /// ```
    /// use partita_deep::augment::Augment;
    /// let augment: Augment = "flip,rotate:10,affine:0.1".parse()?;
    /// assert!(augment.flip && augment.rotate == 10.0 && augment.affine == 0.1);
    /// assert!("rotate:left".parse::<Augment>().is_err());
    /// # Ok::<(), partita_deep::DeepError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        let mut augment = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let bad = || {
                DeepError::Option(format!(
                    "`{part}` is not a known change of images; write flip, rotate:DEGREES, crop:SHARE, affine:SHARE, colour:SHARE, hue:SHARE, jitter:SHARE, grey:SHARE or blur:PIXELS, with commas between"
                ))
            };
            let (name, amount) = part.split_once(':').unwrap_or((part, "1"));
            let amount: f32 =
                amount.parse().ok().filter(|a: &f32| a.is_finite() && *a >= 0.0).ok_or_else(bad)?;
            let share = || Some(amount).filter(|a| *a <= 1.0).ok_or_else(bad);
            match name {
                "flip" => augment.flip = amount > 0.0,
                "rotate" => augment.rotate = amount,
                // Keeping the whole image is no change.
                "crop" => augment.crop = Some(share()?).filter(|part| *part < 1.0).unwrap_or(0.0),
                // Scaled by 1 ± 1 an image would vanish.
                "affine" => augment.affine = Some(amount).filter(|a| *a < 1.0).ok_or_else(bad)?,
                "colour" => augment.colour = share()?,
                "hue" => augment.hue = Some(amount).filter(|a| *a <= MOST_HUE).ok_or_else(bad)?,
                "jitter" => augment.jitter = Some(share()?),
                "grey" => augment.grey = share()?,
                "blur" => augment.blur = Some(amount).filter(|a| *a <= MOST_BLUR).ok_or_else(bad)?,
                _ => return Err(bad()),
            }
        }
        if augment.jitter.is_some() && augment.colour == 0.0 && augment.hue == 0.0 {
            let problem =
                "jitter is the share of the images whose colours change; give colour or hue as well";
            return Err(DeepError::Option(problem.into()));
        }
        Ok(augment)
    }
}

impl fmt::Display for Augment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = [
            ("rotate", self.rotate),
            ("crop", self.crop),
            ("affine", self.affine),
            ("colour", self.colour),
            ("hue", self.hue),
            ("jitter", self.jitter.unwrap_or(0.0)),
            ("grey", self.grey),
            ("blur", self.blur),
        ];
        let flip = self.flip.then(|| "flip".to_owned());
        let parts = amounts.iter().filter(|(_, a)| *a > 0.0).map(|(name, a)| format!("{name}:{a}"));
        f.write_str(&flip.into_iter().chain(parts).collect::<Vec<_>>().join(","))
    }
}

/// Which image of which run is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the view, counted through all views of all epochs.
    pub view: u64,
    /// Number of the image.
    pub row: u64,
}

impl Augment {
    /// A changed image of the same shape, with values from 0 to 255.
    pub fn apply(&self, image: &Image, draw: Draw) -> Vec<f32> {
        // The index of a stream has 20 bits for the view and 28 for the row.
        let mut rng = stream(draw.seed, Stream::Augment, draw.view << 28 | (draw.row & 0xfff_ffff));
        let mut within = |bound: f32| rng.random_range(-1.0f32..=1.0) * bound;
        let part = if self.crop > 0.0 { 1.0 - (1.0 - self.crop) * within(1.0).abs() } else { 1.0 };
        let warp = Warp {
            turn: within(self.rotate).to_radians(),
            scale: [part / (1.0 + within(self.affine)), part / (1.0 + within(self.affine))],
            shear: within(self.affine),
            shift: [within(self.affine + (1.0 - part) / 2.0), within(self.affine + (1.0 - part) / 2.0)],
            mirror: within(1.0) < 0.0 && self.flip,
        };
        let factors = [1.0 + within(self.colour), 1.0 + within(self.colour), 1.0 + within(self.colour)];
        let (grey, blur) = (within(1.0).abs() < self.grey, within(self.blur).abs());
        // Drawn last, so that views without these changes stay as they were.
        let turn = within(self.hue);
        let changed = self.jitter.is_none_or(|share| within(1.0).abs() < share);
        let shape = image.shape();
        let mut out = warp.apply(image);
        if (self.colour > 0.0 && changed) || grey {
            colour::distort(&mut out, shape, if changed { factors } else { [1.0; 3] }, grey);
        }
        if turn != 0.0 && changed && !grey {
            colour::turn(&mut out, shape, turn);
        }
        if blur > 0.0 {
            colour::blur(&mut out, shape, blur);
        }
        out
    }
}

#[cfg(test)]
mod tests;
