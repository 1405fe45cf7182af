//! ResNet-18 and ResNet-50 with torchvision's names.

use super::layers::{ConvBn, Shape, global_mean, norm_with};
use crate::kernels::{convolve, normalise};
use burn::module::Module;
use burn::nn::BatchNorm;
use burn::nn::PaddingConfig2d;
use burn::nn::conv::Conv2d;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::tensor::{Device, Tensor, activation::relu};

/// The first layers of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stem {
    /// A 7×7 convolution of stride 2 and pooling, for images of about 224 pixels.
    Imagenet,
    /// A 3×3 convolution of stride 1, for images of about 32 pixels.
    Cifar,
    /// The same with 2×2 pooling of maps that have a border of one pixel, for images of about 96 pixels.
    Stl,
}

/// What a residual network is made of; the same names and shapes of tensors can mean different networks.
#[derive(Debug, Clone, Copy)]
struct Plan {
    depths: [usize; 4],
    bottleneck: bool,
    /// Keras' and Caffe's form: a block's stride is at its first convolution, ε = 1e-3, and channels are B, G, R.
    keras: bool,
}

impl Plan {
    fn norm(self, channels: usize, device: &Device) -> BatchNorm {
        norm_with(if self.keras { 1e-3 } else { 1e-5 }, channels, device)
    }
}

/// Two or three convolutions whose output is added to their input.
#[derive(Module, Debug)]
pub struct Residual {
    conv1: Conv2d,
    bn1: BatchNorm,
    conv2: Conv2d,
    bn2: BatchNorm,
    third: Option<ConvBn>,
    downsample: Option<ConvBn>,
}

/// A residual network up to its features.
#[derive(Module, Debug)]
pub struct ResNet {
    conv1: Conv2d,
    bn1: BatchNorm,
    pool: Option<MaxPool2d>,
    reversed: bool,
    layer1: Vec<Residual>,
    layer2: Vec<Residual>,
    layer3: Vec<Residual>,
    layer4: Vec<Residual>,
}

impl ResNet {
    /// ResNet-18: 512 features.
    pub fn resnet18(stem: Stem, channels: usize, device: &Device) -> Self {
        let plan = Plan { depths: [2, 2, 2, 2], bottleneck: false, keras: false };
        Self::new(plan, (stem, channels), device)
    }

    /// ResNet-50 as in torchvision: 2048 features.
    pub fn resnet50(device: &Device) -> Self {
        let plan = Plan { depths: [3, 4, 6, 3], bottleneck: true, keras: false };
        Self::new(plan, (Stem::Imagenet, 3), device)
    }

    /// ResNet-50 as He et al. released it and as Keras has it: 2048 features. Images are R, G, B here too.
    pub fn resnet50_keras(device: &Device) -> Self {
        let plan = Plan { depths: [3, 4, 6, 3], bottleneck: true, keras: true };
        Self::new(plan, (Stem::Imagenet, 3), device)
    }

    fn new(plan: Plan, stem: (Stem, usize), device: &Device) -> Self {
        let mut from = 64;
        let mut stage = |i: usize| -> Vec<Residual> {
            let make = |j| {
                let stride = if i > 0 && j == 0 { 2 } else { 1 };
                let block = Residual::new(plan, from, (64 << i, stride), device);
                from = if plan.bottleneck { 4 * (64 << i) } else { 64 << i };
                block
            };
            (0..plan.depths[i]).map(make).collect()
        };
        let (layer1, layer2, layer3, layer4) = (stage(0), stage(1), stage(2), stage(3));
        let (conv1, pool) = match stem {
            (Stem::Cifar, channels) => (Shape::new(channels, 64, 3), None),
            (Stem::Stl, channels) => (Shape::new(channels, 64, 3), Some(halved(2))),
            (Stem::Imagenet, channels) => (Shape::new(channels, 64, 7).stride(2), Some(halved(3))),
        };
        let (conv1, bn1) = (conv1.conv(device), plan.norm(64, device));
        Self { conv1, bn1, pool, reversed: plan.keras, layer1, layer2, layer3, layer4 }
    }

    /// Means of the last maps.
    ///
    /// # Shapes
    /// `[n, channels, h, w]` to `[n, 512]` or `[n, 2048]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let x = if self.reversed { x.flip([1]) } else { x };
        let mut x = normalise(&self.bn1, convolve(&self.conv1, x), true);
        if let Some(pool) = &self.pool {
            x = pool.forward(x);
        }
        let blocks = [&self.layer1, &self.layer2, &self.layer3, &self.layer4].into_iter().flatten();
        global_mean(blocks.fold(x, |x, block| block.forward(x)))
    }
}

/// Pooling that makes maps half as large, with a border of one pixel.
fn halved(kernel: usize) -> MaxPool2d {
    let pool = MaxPool2dConfig::new([kernel; 2]).with_strides([2, 2]);
    pool.with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1)).init()
}

impl Residual {
    fn new(plan: Plan, from: usize, (width, stride): (usize, usize), device: &Device) -> Self {
        let to = if plan.bottleneck { 4 * width } else { width };
        let (first, second) = match plan {
            Plan { bottleneck: false, .. } => {
                (Shape::new(from, width, 3).stride(stride), Shape::new(width, width, 3))
            }
            Plan { keras: true, .. } => {
                (Shape::new(from, width, 1).stride(stride), Shape::new(width, width, 3))
            }
            _ => (Shape::new(from, width, 1), Shape::new(width, width, 3).stride(stride)),
        };
        let with_norm = |shape: Shape| shape.followed_by(plan.norm(to, device), device);
        Self {
            conv1: first.conv(device),
            bn1: plan.norm(width, device),
            conv2: second.conv(device),
            bn2: plan.norm(width, device),
            third: plan.bottleneck.then(|| with_norm(Shape::new(width, to, 1))),
            downsample: (stride != 1 || from != to)
                .then(|| with_norm(Shape::new(from, to, 1).stride(stride))),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let short = match &self.downsample {
            Some(downsample) => downsample.forward(x.clone()),
            None => x.clone(),
        };
        let mut h = normalise(&self.bn1, convolve(&self.conv1, x), true);
        h = normalise(&self.bn2, convolve(&self.conv2, h), self.third.is_some());
        if let Some(third) = &self.third {
            h = third.forward(h);
        }
        relu(h + short)
    }
}
