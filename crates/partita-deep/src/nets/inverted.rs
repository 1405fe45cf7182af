//! MobileNetV2 and EfficientNet-Lite0: inverted residual blocks, for features of images.

use super::layers::{ConvBn, Shape, global_mean};
use burn::module::Module;
use burn::tensor::{Device, Tensor};

/// A block that widens, filters every channel separately, and narrows; it is added to its input if the shapes allow.
#[derive(Module, Debug)]
pub struct Inverted {
    expand: Option<ConvBn>,
    depthwise: ConvBn,
    project: ConvBn,
    short: bool,
}

/// A stack of inverted residual blocks with 1280 features at its end.
#[derive(Module, Debug)]
pub struct InvertedNet {
    stem: ConvBn,
    blocks: Vec<Inverted>,
    last: ConvBn,
}

/// One line of the papers' tables: widening, channels, blocks, kernel, stride of the first block.
pub(super) type Stage = (usize, usize, usize, usize, usize);

pub(super) const MOBILENET_V2: [Stage; 7] = [
    (1, 16, 1, 3, 1),
    (6, 24, 2, 3, 2),
    (6, 32, 3, 3, 2),
    (6, 64, 4, 3, 2),
    (6, 96, 3, 3, 1),
    (6, 160, 3, 3, 2),
    (6, 320, 1, 3, 1),
];

pub(super) const EFFICIENTNET_LITE0: [Stage; 7] = [
    (1, 16, 1, 3, 1),
    (6, 24, 2, 3, 2),
    (6, 40, 2, 5, 2),
    (6, 80, 3, 3, 2),
    (6, 112, 3, 5, 1),
    (6, 192, 4, 5, 2),
    (6, 320, 1, 3, 1),
];

/// Number of features of both networks.
pub(super) const FEATURES: usize = 1280;

impl InvertedNet {
    /// MobileNetV2 (Sandler et al. 2018), as in torchvision.
    pub fn mobilenet_v2(device: &Device) -> Self {
        Self::new(&MOBILENET_V2, |shape| shape.with_norm(device))
    }

    /// EfficientNet-Lite0, with TensorFlow's padding.
    pub fn efficientnet_lite0(device: &Device) -> Self {
        Self::new(&EFFICIENTNET_LITE0, |shape| shape.with_norm_as_tensorflow(device))
    }

    fn new(stages: &[Stage], make: impl Fn(Shape) -> ConvBn) -> Self {
        let (mut blocks, mut from) = (Vec::new(), 32);
        for &(widen, to, count, kernel, stride) in stages {
            for i in 0..count {
                let (hidden, stride) = (from * widen, if i == 0 { stride } else { 1 });
                blocks.push(Inverted {
                    expand: (widen > 1).then(|| make(Shape::new(from, hidden, 1))),
                    depthwise: make(Shape::depthwise(hidden, kernel).stride(stride)),
                    project: make(Shape::new(hidden, to, 1)),
                    short: stride == 1 && from == to,
                });
                from = to;
            }
        }
        Self { stem: make(Shape::new(3, 32, 3).stride(2)), blocks, last: make(Shape::new(from, FEATURES, 1)) }
    }

    /// Means of the last 1280 maps.
    ///
    /// # Shapes
    /// `[n, 3, h, w]` to `[n, 1280]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let x = self.blocks.iter().fold(self.stem.relu6(x), |x, block| block.forward(x));
        global_mean(self.last.relu6(x))
    }
}

impl Inverted {
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let short = self.short.then(|| x.clone());
        let hidden = match &self.expand {
            Some(expand) => expand.relu6(x),
            None => x,
        };
        let out = self.project.forward(self.depthwise.relu6(hidden));
        match short {
            Some(x) => x + out,
            None => out,
        }
    }
}
