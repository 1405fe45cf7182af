//! What is subtracted from pixels and what they are divided by before a network sees them.

use super::net::Net;
use crate::error::{EmbedError, Result};
use crate::images::Image;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Turns pixels from 0 to 255 into the numbers that a network expects: (x/255 − mean)/deviation for every channel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalise {
    /// Subtracted from each channel.
    pub mean: [f32; 3],
    /// Each channel is divided by this.
    pub deviation: [f32; 3],
}

impl Normalise {
    /// As torchvision's networks expect it.
    pub const IMAGENET: Self = Self { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
    /// The means and deviations of CIFAR-10's training images, as SCAN has them.
    pub const CIFAR10: Self = Self { mean: [0.4914, 0.4822, 0.4465], deviation: [0.2023, 0.1994, 0.2010] };
    /// Those of CIFAR-100's.
    pub const CIFAR100: Self = Self { mean: [0.5071, 0.4867, 0.4408], deviation: [0.2675, 0.2565, 0.2761] };
    /// Those of MNIST's.
    pub const MNIST: Self = Self { mean: [0.1307; 3], deviation: [0.3081; 3] };
    /// As EfficientNet-Lite expects it: (x − 127)/128.
    pub const LITE: Self = Self { mean: [127.0 / 255.0; 3], deviation: [128.0 / 255.0; 3] };
    /// As Keras' and Caffe's networks expect it: x minus the mean of its channel, not scaled.
    pub const CAFFE: Self =
        Self { mean: [123.68 / 255.0, 116.779 / 255.0, 103.939 / 255.0], deviation: [1.0 / 255.0; 3] };

    /// Values from 0 to 1.
    pub const PLAIN: Self = Self { mean: [0.0; 3], deviation: [1.0; 3] };

    /// What the usual weights of a network expect: large networks have weights from ImageNet, small ones are trained
    /// here.
    pub fn of(net: Net) -> Self {
        match net {
            Net::Linear | Net::Mlp | Net::Vgg4 | Net::Resnet18Cifar | Net::Resnet18Stl => Self::PLAIN,
            Net::Resnet18 | Net::Resnet50 | Net::Mobilenetv2 => Self::IMAGENET,
            Net::Resnet50Keras => Self::CAFFE,
            Net::EfficientnetLite0 => Self::LITE,
        }
    }

    /// Refuse numbers that would not leave the images visible.
    ///
    /// # Errors
    /// If a mean is not finite or a deviation is not above 0.
    pub fn check(&self) -> Result<()> {
        let means = self.mean.iter().all(|mean| mean.is_finite());
        let deviations = self.deviation.iter().all(|deviation| deviation.is_finite() && *deviation > 0.0);
        match means && deviations {
            true => Ok(()),
            false => Err(EmbedError::Refused(format!(
                "images cannot be normalised by {self}; means must be finite, deviations finite and above 0"
            ))),
        }
    }

    /// Append the numbers of an image to `out`, channel after channel.
    pub fn append(&self, image: &Image, out: &mut Vec<f32>) {
        for (c, plane) in image.pixels.chunks_exact(image.height * image.width).enumerate() {
            let (scale, shift) = self.line(c);
            out.extend(plane.iter().map(|&p| f32::from(p) * scale + shift));
        }
    }

    /// The same pixel after pixel, the channels of each side by side.
    pub(crate) fn interleave(&self, image: &Image, out: &mut Vec<f32>) {
        let plane = image.height * image.width;
        let lines = [0, 1, 2].map(|c| self.line(c));
        let [r, g, b] = [0, 1, 2].map(|c| &image.pixels[c * plane..][..plane]);
        for ((r, g), b) in r.iter().zip(g).zip(b) {
            let pixel = [*r, *g, *b].map(f32::from);
            out.extend([0, 1, 2].map(|c| pixel[c] * lines[c].0 + lines[c].1));
        }
    }

    /// The same for values from 0 to 255 that are no longer whole numbers, with `plane` values per channel.
    pub fn of_values(&self, values: &[f32], plane: usize) -> Vec<f32> {
        let planes = values.chunks_exact(plane).enumerate();
        let normalised = planes.flat_map(|(c, values)| {
            let (scale, shift) = self.line(c);
            values.iter().map(move |v| v * scale + shift)
        });
        normalised.collect()
    }

    /// The scale and shift of a channel.
    fn line(&self, c: usize) -> (f32, f32) {
        (1.0 / (255.0 * self.deviation[c]), -self.mean[c] / self.deviation[c])
    }
}

/// Names of the usual ones, as typed.
const NAMES: [(&str, Normalise); 7] = [
    ("plain", Normalise::PLAIN),
    ("imagenet", Normalise::IMAGENET),
    ("cifar10", Normalise::CIFAR10),
    ("cifar100", Normalise::CIFAR100),
    ("mnist", Normalise::MNIST),
    ("lite", Normalise::LITE),
    ("caffe", Normalise::CAFFE),
];

impl FromStr for Normalise {
    type Err = EmbedError;

    /// A name, or the means and the deviations of the channels; one number is meant for all channels.
    ///
    /// ```
    /// use partita_embed::photos::Normalise;
    /// assert_eq!("imagenet".parse::<Normalise>()?, Normalise::IMAGENET);
    /// let by_numbers: Normalise = "0.5,0.4,0.3/0.2".parse()?;
    /// assert_eq!((by_numbers.mean, by_numbers.deviation), ([0.5, 0.4, 0.3], [0.2; 3]));
    /// assert!("0.5".parse::<Normalise>().is_err());
    /// # Ok::<(), partita_embed::EmbedError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        if let Some((_, known)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*known);
        }
        let bad = || {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            EmbedError::Refused(format!(
                "`{text}` does not say how to normalise images; write {}, or MEAN,MEAN,MEAN/DEVIATION,DEVIATION,DEVIATION for pixels from 0 to 1",
                names.join(", ")
            ))
        };
        let channels = |text: &str| -> Option<[f32; 3]> {
            let numbers: Option<Vec<f32>> =
                text.split(',').map(|number| number.trim().parse().ok()).collect();
            match numbers?[..] {
                [all] => Some([all; 3]),
                [a, b, c] => Some([a, b, c]),
                _ => None,
            }
        };
        let (mean, deviation) = text.split_once('/').ok_or_else(bad)?;
        let (mean, deviation) = channels(mean).zip(channels(deviation)).ok_or_else(bad)?;
        let made = Self { mean, deviation };
        made.check().map(|()| made)
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMES.iter().find(|(_, known)| known == self) {
            return f.write_str(name);
        }
        let listed = |numbers: [f32; 3]| numbers.map(|number| number.to_string()).join(",");
        write!(f, "{}/{}", listed(self.mean), listed(self.deviation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in
            ["plain", "imagenet", "cifar10", "cifar100", "mnist", "lite", "caffe", "0.1,0.2,0.3/1,2,0.25"]
        {
            assert_eq!(text.parse::<Normalise>().unwrap().to_string(), text);
        }
        for wrong in ["", "imagenet1k", "0.5", "0.5/", "0.1,0.2/1", "0.5/0", "nan/1", "0.5/-1", "0/inf"] {
            assert!(wrong.parse::<Normalise>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn pixels_get_the_mean_of_zero_and_the_deviation_of_one_that_were_asked_for() {
        let normalise: Normalise = "0.2,0,0.6/0.2,1,0.1".parse().unwrap();
        let mut out = Vec::new();
        normalise.append(&Image { channels: 3, height: 1, width: 1, pixels: vec![51, 255, 153] }, &mut out);
        assert!(out.iter().zip([0.0, 1.0, 0.0]).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6), "{out:?}");
        assert_eq!(normalise.of_values(&[51.0, 255.0, 153.0], 1), out);
    }
}
