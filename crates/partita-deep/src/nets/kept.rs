//! How much a network stores for an image between its forward and its backward pass.

use super::inverted::{self, Stage};
use super::{ImageShape, Net};

/// Count of numbers that a training step keeps for an image: every layer's output, before and after normalisation.
pub fn kept(net: Net, shape: ImageShape) -> usize {
    let [channels, h, w] = shape;
    let pixels = h * w;
    let layers = match net {
        Net::Linear => 0,
        Net::Mlp => 2 * 3 * 1200,
        // Pooling after each of the first three layers quarters the maps.
        Net::Vgg4 => {
            (0..4).map(|i| (64 << i) * (2 * pixels / (1 << (2 * i)) + pixels / (4 << (2 * i)))).sum()
        }
        Net::Resnet18Cifar => 2 * 64 * pixels + residual(pixels, [2, 2, 2, 2], false),
        Net::Resnet18Stl => {
            let pooled = (h / 2 + 1) * (w / 2 + 1);
            2 * 64 * pixels + 64 * pooled + residual(pooled, [2, 2, 2, 2], false)
        }
        Net::Resnet18 => (2 * 64 / 4 + 64 / 16) * pixels + residual(pixels / 16, [2, 2, 2, 2], false),
        Net::Resnet50 | Net::Resnet50Keras => {
            (2 * 64 / 4 + 64 / 16) * pixels + residual(pixels / 16, [3, 4, 6, 3], true)
        }
        Net::Mobilenetv2 => stacked(pixels, &inverted::MOBILENET_V2),
        Net::EfficientnetLite0 => stacked(pixels, &inverted::EFFICIENTNET_LITE0),
    };
    channels * pixels + layers
}

/// The count for four stages of residual blocks; maps of the first have `pixels` pixels.
fn residual(pixels: usize, depths: [usize; 4], bottleneck: bool) -> usize {
    let stage = |(i, depth): (usize, usize)| {
        let (width, pixels) = (64 << i, pixels.div_ceil(1 << (2 * i)));
        // Convolutions and normalisations, the sum and its max(·, 0); a shortcut to another shape is convolved too.
        let (block, short) = match bottleneck {
            true => (2 * (2 + 4) * width + 2 * 4 * width, 2 * 4 * width),
            false => (2 * 2 * width + 2 * width, if i > 0 { 2 * width } else { 0 }),
        };
        (depth * block + short) * pixels
    };
    depths.into_iter().enumerate().map(stage).sum()
}

/// The count for inverted residual blocks: every convolution, its normalisation and its clipped output are kept.
fn stacked(pixels: usize, stages: &[Stage]) -> usize {
    let (mut pixels, mut from) = (pixels / 4, 32);
    let mut sum = 3 * from * pixels;
    for &(widen, to, count, _, stride) in stages {
        for block in 0..count {
            sum += if widen > 1 { 3 * widen * from * pixels } else { 0 };
            pixels = if block == 0 { pixels.div_ceil(stride * stride) } else { pixels };
            sum += (3 * widen * from + 3 * to) * pixels;
            from = to;
        }
    }
    sum + 3 * inverted::FEATURES * pixels
}
