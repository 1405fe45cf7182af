//! Networks without shortcuts: the multilayer perceptron and IIC's VGG4.

use super::layers::{ConvBn, Shape, linear, norm};
use burn::module::Module;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, Linear};
use burn::tensor::{Device, Tensor, activation::relu};

/// A fully connected layer, batch normalisation and max(·, 0).
#[derive(Module, Debug)]
pub struct Dense {
    linear: Linear,
    bn: BatchNorm,
}

/// Fully connected layers on the pixels.
#[derive(Module, Debug)]
pub struct Mlp {
    layers: Vec<Dense>,
}

impl Mlp {
    /// Layers of the given widths on `m` pixels.
    pub fn new(m: usize, widths: &[usize], device: &Device) -> Self {
        let from = std::iter::once(&m).chain(widths);
        let layer = |(&from, &to)| Dense { linear: linear(from, to, device), bn: norm(to, device) };
        Self { layers: from.zip(widths).map(layer).collect() }
    }

    /// # Shapes
    /// `[n, channels, h, w]` to `[n, width]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        self.layers.iter().fold(x.flatten(1, 3), |x, layer| relu(layer.bn.forward(layer.linear.forward(x))))
    }
}

/// The network of IIC (Ji et al. 2019): 5×5 convolutions of 64, 128, 256 and 512 channels, with pooling after the
/// first three.
#[derive(Module, Debug)]
pub struct Vgg4 {
    layers: Vec<ConvBn>,
    pool: MaxPool2d,
}

const WIDTHS: [usize; 4] = [64, 128, 256, 512];

impl Vgg4 {
    /// The network for images of `channels` channels.
    pub fn new(channels: usize, device: &Device) -> Self {
        let from = std::iter::once(channels).chain(WIDTHS);
        let layers = from.zip(WIDTHS).map(|(from, to)| Shape::new(from, to, 5).with_norm(device)).collect();
        Self { layers, pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init() }
    }

    /// Number of features of an image of that size.
    pub fn features([h, w]: [usize; 2]) -> usize {
        WIDTHS[3] * (h / 8) * (w / 8)
    }

    /// # Shapes
    /// `[n, channels, h, w]` to `[n, 512·(h/8)·(w/8)]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        let maps = self.layers.iter().enumerate().fold(x, |x, (i, layer)| {
            let x = layer.relu(x);
            if i < last { self.pool.forward(x) } else { x }
        });
        maps.flatten(1, 3)
    }
}
