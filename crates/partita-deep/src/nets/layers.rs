//! What the networks share: a convolution with its normalisation, and the end of a feature extractor.

use crate::kernels::{convolve, normalise};
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Initializer, Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::{Device, Tensor};

/// A convolution without bias, then batch normalisation.
#[derive(Module, Debug)]
pub struct ConvBn {
    conv: Conv2d,
    bn: BatchNorm,
}

/// Shape of a convolution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub channels: [usize; 2],
    pub kernel: usize,
    pub stride: usize,
    pub groups: usize,
}

impl Shape {
    /// A dense convolution of stride 1.
    pub fn new(from: usize, to: usize, kernel: usize) -> Self {
        Self { channels: [from, to], kernel, stride: 1, groups: 1 }
    }

    pub fn stride(self, stride: usize) -> Self {
        Self { stride, ..self }
    }

    /// A convolution of every channel separately.
    pub fn depthwise(channels: usize, kernel: usize) -> Self {
        Self { groups: channels, ..Self::new(channels, channels, kernel) }
    }

    /// A convolution without bias, padded by half its kernel. Weights are zero until they are filled.
    pub fn conv(self, device: &Device) -> Conv2d {
        let half = self.kernel / 2;
        self.padded(PaddingConfig2d::Explicit(half, half, half, half), device)
    }

    fn padded(self, padding: PaddingConfig2d, device: &Device) -> Conv2d {
        Conv2dConfig::new(self.channels, [self.kernel; 2])
            .with_stride([self.stride; 2])
            .with_groups(self.groups)
            .with_padding(padding)
            .with_bias(false)
            .with_initializer(Initializer::Zeros)
            .init(device)
    }

    /// The convolution with batch normalisation, padded by half its kernel.
    pub fn with_norm(self, device: &Device) -> ConvBn {
        self.followed_by(norm(self.channels[1], device), device)
    }

    /// The same with a normalisation of its own.
    pub fn followed_by(self, bn: BatchNorm, device: &Device) -> ConvBn {
        ConvBn { conv: self.conv(device), bn }
    }

    /// With TensorFlow's padding ("same": an odd pixel goes after the image) and normalisation (ε = 1e-3).
    pub fn with_norm_as_tensorflow(self, device: &Device) -> ConvBn {
        let bn = norm_with(1e-3, self.channels[1], device);
        ConvBn { conv: self.padded(PaddingConfig2d::Same, device), bn }
    }
}

/// Batch normalisation with PyTorch's ε and momentum. The running variance is that of the batches; PyTorch's is the
/// unbiased estimate, n/(n − 1) times as large.
pub(super) fn norm(channels: usize, device: &Device) -> BatchNorm {
    norm_with(1e-5, channels, device)
}

/// The same with another ε.
pub(super) fn norm_with(epsilon: f64, channels: usize, device: &Device) -> BatchNorm {
    BatchNormConfig::new(channels).with_epsilon(epsilon).init(device)
}

/// A fully connected layer. Weights are zero until they are filled.
pub(super) fn linear(from: usize, to: usize, device: &Device) -> Linear {
    LinearConfig::new(from, to).with_initializer(Initializer::Zeros).init(device)
}

impl ConvBn {
    /// The convolution, then the normalisation.
    ///
    /// # Shapes
    /// `[n, channels, h, w]` to `[n, channels', h', w']`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        normalise(&self.bn, convolve(&self.conv, x), false)
    }

    /// Both, then min(max(·, 0), 6).
    pub fn relu6(&self, x: Tensor<4>) -> Tensor<4> {
        self.forward(x).clamp(0.0, 6.0)
    }

    /// Both, then max(·, 0).
    pub fn relu(&self, x: Tensor<4>) -> Tensor<4> {
        normalise(&self.bn, convolve(&self.conv, x), true)
    }
}

/// The mean of every channel.
///
/// # Shapes
/// `[n, channels, h, w]` to `[n, channels]`.
pub(super) fn global_mean(x: Tensor<4>) -> Tensor<2> {
    let [n, channels, h, w] = x.dims();
    x.reshape([n, channels, h * w]).mean_dim(2).reshape([n, channels])
}
