//! Networks: features of images, and linear heads on them.

mod inverted;
mod kept;
mod layers;
mod plain;
mod resnet;

pub use inverted::{Inverted, InvertedNet};
pub use layers::ConvBn;
pub use plain::{Dense, Mlp, Vgg4};
pub use resnet::{ResNet, Residual, Stem};

use crate::error::{DeepError, Result};
use burn::module::Module;
use burn::nn::{Identity, Linear};
use burn::tensor::{Device, Tensor};
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
    type Err = DeepError;

    fn from_str(text: &str) -> Result<Self> {
        NAMES.iter().find(|(name, _)| *name == text).map(|(_, net)| *net).ok_or_else(|| {
            let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            DeepError::UnknownNet { name: text.to_owned(), known: known.join(", ") }
        })
    }
}

/// Channels, height and width of the images that a network takes.
pub type ImageShape = [usize; 3];

/// A layout of parameter names: maps our name to the name in a file, if there is one.
pub(crate) type Layout = fn(&str) -> Option<String>;

impl Net {
    /// Build the network for images of that shape, with zero weights.
    pub fn build(self, shape: ImageShape, device: &Device) -> Result<Backbone> {
        self.check(shape)?;
        let [channels, h, w] = shape;
        Ok(match self {
            Self::Linear => Backbone::Pixels(Identity::new()),
            Self::Mlp => Backbone::Mlp(Mlp::new(channels * h * w, &[1200, 1200], device)),
            Self::Vgg4 => Backbone::Vgg4(Vgg4::new(channels, device)),
            Self::Resnet18 => Backbone::ResNet(ResNet::resnet18(Stem::Imagenet, channels, device)),
            Self::Resnet18Cifar => Backbone::ResNet(ResNet::resnet18(Stem::Cifar, channels, device)),
            Self::Resnet18Stl => Backbone::ResNet(ResNet::resnet18(Stem::Stl, channels, device)),
            Self::Resnet50 => Backbone::ResNet(ResNet::resnet50(device)),
            Self::Resnet50Keras => Backbone::ResNet(ResNet::resnet50_keras(device)),
            Self::Mobilenetv2 => Backbone::Inverted(InvertedNet::mobilenet_v2(device)),
            Self::EfficientnetLite0 => Backbone::Inverted(InvertedNet::efficientnet_lite0(device)),
        })
    }

    fn check(self, shape: ImageShape) -> Result<()> {
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
        Err(DeepError::ImageShape { net: self, shape, problem })
    }

    /// Number of features of images of that shape.
    pub fn features(self, [channels, h, w]: ImageShape) -> usize {
        match self {
            Self::Linear => channels * h * w,
            Self::Mlp => 1200,
            Self::Vgg4 => Vgg4::features([h, w]),
            Self::Resnet18 | Self::Resnet18Cifar | Self::Resnet18Stl => 512,
            Self::Resnet50 | Self::Resnet50Keras => 2048,
            Self::Mobilenetv2 | Self::EfficientnetLite0 => inverted::FEATURES,
        }
    }

    /// The network whose weights have the same names and shapes, so that only what is said of a file can tell them apart.
    pub(crate) fn look_alike(self) -> Option<Self> {
        match self {
            Self::Resnet18Cifar => Some(Self::Resnet18Stl),
            Self::Resnet18Stl => Some(Self::Resnet18Cifar),
            _ => None,
        }
    }

    /// The layouts of names that weight files of this network may have.
    pub(crate) fn layouts(self) -> &'static [Layout] {
        match self {
            Self::Linear => &[],
            Self::Mlp => &[plain::mlp],
            Self::Vgg4 => &[plain::vgg4],
            Self::Resnet18
            | Self::Resnet18Cifar
            | Self::Resnet18Stl
            | Self::Resnet50
            | Self::Resnet50Keras => &[resnet::torchvision, resnet::shortcut],
            Self::Mobilenetv2 => &[inverted::torchvision, inverted::flat],
            Self::EfficientnetLite0 => &[inverted::efficientnet],
        }
    }
}

/// A network up to its features.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // A program has only one of it.
pub enum Backbone {
    /// The pixels themselves.
    Pixels(Identity),
    /// A multilayer perceptron.
    Mlp(Mlp),
    /// IIC's network.
    Vgg4(Vgg4),
    /// A residual network.
    ResNet(ResNet),
    /// MobileNetV2 or EfficientNet-Lite0.
    Inverted(InvertedNet),
}

impl Backbone {
    /// # Shapes
    /// `[n, channels, h, w]` to `[n, features]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        match self {
            Self::Pixels(_) => x.flatten(1, 3),
            Self::Mlp(net) => net.forward(x),
            Self::Vgg4(net) => net.forward(x),
            Self::ResNet(net) => net.forward(x),
            Self::Inverted(net) => net.forward(x),
        }
    }
}

/// A network with linear heads on its features; each head gives logits of clusters.
#[derive(Module, Debug)]
pub struct Classifier {
    /// Features.
    pub backbone: Backbone,
    /// One or more heads.
    pub heads: Vec<Linear>,
}

impl Classifier {
    /// `heads` gives the number of clusters of each head.
    pub fn new(net: Net, shape: ImageShape, heads: &[usize], device: &Device) -> Result<Self> {
        let backbone = net.build(shape, device)?;
        let m = net.features(shape);
        Ok(Self { backbone, heads: heads.iter().map(|&k| layers::linear(m, k, device)).collect() })
    }

    /// A perceptron with hidden layers of the given widths on rows of `m` numbers, and one head.
    pub(crate) fn perceptron(m: usize, widths: &[usize], k: usize, device: &Device) -> Self {
        let last = widths.last().copied().unwrap_or(m);
        let backbone = Backbone::Mlp(Mlp::new(m, widths, device));
        Self { backbone, heads: vec![layers::linear(last, k, device)] }
    }

    /// Logits of the first head.
    ///
    /// # Shapes
    /// `[n, channels, h, w]` to `[n, K]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        self.heads[0].forward(self.backbone.forward(x))
    }
}

#[cfg(test)]
mod tests;
