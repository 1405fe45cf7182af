//! The networks by name: what images they take and what their weights are called.

use super::layouts;
use crate::error::{EmbedError, Result};
pub use crate::images::ImageShape;
use crate::weights::Layout;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The kind of network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Net {
    /// The pixels themselves.
    Linear,
    /// Two fully connected layers of 1200 with batch normalisation, as in IMSAT.
    Mlp,
    /// Four 5×5 convolutions, as in IIC.
    Vgg4,
    /// ResNet-18 for images of about 224 pixels.
    Resnet18,
    /// ResNet-18 for images of about 32 pixels.
    Resnet18Cifar,
    /// ResNet-18 for images of about 96 pixels, as SCAN has it for STL-10.
    Resnet18Stl,
    /// ResNet-50 as in torchvision.
    Resnet50,
    /// ResNet-50 as in Keras and Caffe: strides, ε, order of channels and scale of pixels differ.
    Resnet50Keras,
    /// MobileNetV2.
    Mobilenetv2,
    /// EfficientNet-Lite0.
    EfficientnetLite0,
}

/// Names of the networks, as typed.
const NAMES: [(&str, Net); 10] = [
    ("linear", Net::Linear),
    ("mlp", Net::Mlp),
    ("vgg4", Net::Vgg4),
    ("resnet18", Net::Resnet18),
    ("resnet18-cifar", Net::Resnet18Cifar),
    ("resnet18-stl", Net::Resnet18Stl),
    ("resnet50", Net::Resnet50),
    ("resnet50-keras", Net::Resnet50Keras),
    ("mobilenetv2", Net::Mobilenetv2),
    ("efficientnet-lite0", Net::EfficientnetLite0),
];

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(_, net)| net == self).map_or("", |(name, _)| name))
    }
}

impl FromStr for Net {
    type Err = EmbedError;

    fn from_str(text: &str) -> Result<Self> {
        NAMES.iter().find(|(name, _)| *name == text).map(|(_, net)| *net).ok_or_else(|| {
            let known: Vec<&str> = Self::names().collect();
            EmbedError::UnknownNet { name: text.to_owned(), known: known.join(", ") }
        })
    }
}

impl Net {
    /// The names of all networks.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Refuse images that the network cannot take.
    ///
    /// # Errors
    /// If they have another number of channels than it takes, or are too small.
    pub fn check(self, shape: ImageShape) -> Result<()> {
        let coloured = matches!(
            self,
            Self::Resnet50 | Self::Resnet50Keras | Self::Mobilenetv2 | Self::EfficientnetLite0
        );
        let least = match self {
            Self::Linear | Self::Mlp => 1,
            Self::Vgg4 => 8,
            _ => 4,
        };
        let problem = match shape {
            [channels, ..] if coloured && channels != 3 => "it takes three channels",
            [_, h, w] if h < least || w < least => "they are too small for it",
            _ => return Ok(()),
        };
        Err(EmbedError::ImageShape { net: self, shape, problem })
    }

    /// Number of features of images of that shape.
    pub fn features(self, [channels, h, w]: ImageShape) -> usize {
        match self {
            Self::Linear => channels * h * w,
            Self::Mlp => 1200,
            Self::Vgg4 => 512 * (h / 8) * (w / 8),
            Self::Resnet18 | Self::Resnet18Cifar | Self::Resnet18Stl => 512,
            Self::Resnet50 | Self::Resnet50Keras => 2048,
            Self::Mobilenetv2 | Self::EfficientnetLite0 => 1280,
        }
    }

    /// The network whose weights have the same names and shapes, so that only what is said of a file can tell them apart.
    pub fn look_alike(self) -> Option<Self> {
        match self {
            Self::Resnet18Cifar => Some(Self::Resnet18Stl),
            Self::Resnet18Stl => Some(Self::Resnet18Cifar),
            _ => None,
        }
    }

    /// The layouts of names that weight files of this network may have.
    pub fn layouts(self) -> &'static [Layout] {
        match self {
            Self::Linear => &[],
            Self::Mlp => &[layouts::mlp],
            Self::Vgg4 => &[layouts::vgg4],
            Self::Resnet18
            | Self::Resnet18Cifar
            | Self::Resnet18Stl
            | Self::Resnet50
            | Self::Resnet50Keras => &[layouts::residual, layouts::shortcut],
            Self::Mobilenetv2 => &[layouts::torchvision, layouts::flat],
            Self::EfficientnetLite0 => &[layouts::efficientnet],
        }
    }
}
