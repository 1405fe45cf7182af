//! Networks: features of images, and linear heads on them.

mod inverted;
mod kept;
mod layers;
mod plain;
mod resnet;

pub use inverted::{Inverted, InvertedNet};
pub use kept::kept;
pub use layers::ConvBn;
pub use plain::{Dense, Mlp, Vgg4};
pub use resnet::{ResNet, Residual, Stem};

use crate::error::Result;
use burn::module::Module;
use burn::nn::{Identity, Linear};
use burn::tensor::{Device, Tensor};
pub use partita_embed::photos::{ImageShape, Net};

/// Build a network for images of that shape, with zero weights.
pub fn build(net: Net, shape: ImageShape, device: &Device) -> Result<Backbone> {
    net.check(shape)?;
    let [channels, h, w] = shape;
    Ok(match net {
        Net::Linear => Backbone::Pixels(Identity::new()),
        Net::Mlp => Backbone::Mlp(Mlp::new(channels * h * w, &[1200, 1200], device)),
        Net::Vgg4 => Backbone::Vgg4(Vgg4::new(channels, device)),
        Net::Resnet18 => Backbone::ResNet(ResNet::resnet18(Stem::Imagenet, channels, device)),
        Net::Resnet18Cifar => Backbone::ResNet(ResNet::resnet18(Stem::Cifar, channels, device)),
        Net::Resnet18Stl => Backbone::ResNet(ResNet::resnet18(Stem::Stl, channels, device)),
        Net::Resnet50 => Backbone::ResNet(ResNet::resnet50(device)),
        Net::Resnet50Keras => Backbone::ResNet(ResNet::resnet50_keras(device)),
        Net::Mobilenetv2 => Backbone::Inverted(InvertedNet::mobilenet_v2(device)),
        Net::EfficientnetLite0 => Backbone::Inverted(InvertedNet::efficientnet_lite0(device)),
    })
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
        let backbone = build(net, shape, device)?;
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
