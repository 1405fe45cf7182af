//! What the networks are made of: convolutions by name, in the order in which they are computed.

use super::net::Net;
use crate::kernels::{Border, Window};

/// A convolution with its batch normalisation and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layer {
    /// Names of the convolution and of the normalisation, without `.weight` and the like.
    pub names: [String; 2],
    /// Channels before and after it.
    pub channels: [usize; 2],
    /// Whether every channel is filtered on its own.
    pub depthwise: bool,
    /// Where its kernel lies.
    pub window: Window,
    /// Between which numbers its results are clipped, after what is past the block has been added.
    pub bounds: [f32; 2],
}

/// What is added to the end of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Past {
    /// Nothing.
    Nothing,
    /// The input of the block.
    Input,
    /// The input after a convolution of its own.
    Through(Layer),
}

/// Convolutions one after another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub layers: Vec<Layer>,
    pub past: Past,
}

/// A network up to its features, which are the means of its last maps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub stem: Layer,
    /// Where the largest number is taken after the stem.
    pub pool: Option<Window>,
    pub blocks: Vec<Block>,
    pub last: Option<Layer>,
    /// Added to the variance of every normalisation.
    pub epsilon: f32,
    /// Whether the first convolution has the channels B, G, R.
    pub reversed: bool,
}

const FREE: [f32; 2] = [f32::NEG_INFINITY, f32::INFINITY];
const RELU: [f32; 2] = [0.0, f32::INFINITY];
const RELU6: [f32; 2] = [0.0, 6.0];

impl Plan {
    /// The plan of a network for images of three channels; nothing for those that only learn from images here.
    pub fn of(net: Net) -> Option<Self> {
        let residual =
            |depths, bottleneck, keras, stem, pool| Some(resnet(depths, bottleneck, keras, (stem, pool)));
        match net {
            Net::Linear | Net::Mlp | Net::Vgg4 => None,
            Net::Resnet18 => residual([2, 2, 2, 2], false, false, (7, 2), Some(3)),
            Net::Resnet18Cifar => residual([2, 2, 2, 2], false, false, (3, 1), None),
            Net::Resnet18Stl => residual([2, 2, 2, 2], false, false, (3, 1), Some(2)),
            Net::Resnet50 => residual([3, 4, 6, 3], true, false, (7, 2), Some(3)),
            Net::Resnet50Keras => residual([3, 4, 6, 3], true, true, (7, 2), Some(3)),
            Net::Mobilenetv2 => Some(inverted(&MOBILENET_V2, Border::Half, 1e-5)),
            Net::EfficientnetLite0 => Some(inverted(&EFFICIENTNET_LITE0, Border::Same, 1e-3)),
        }
    }

    /// All layers.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        let inside = self.blocks.iter().flat_map(|block| {
            let past = match &block.past {
                Past::Through(layer) => Some(layer),
                _ => None,
            };
            block.layers.iter().chain(past)
        });
        std::iter::once(&self.stem).chain(inside).chain(&self.last)
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        let block = self.blocks.last().and_then(|block| block.layers.last());
        self.last.as_ref().or(block).unwrap_or(&self.stem).channels[1]
    }
}

/// A dense layer without clipping, with its normalisation beside it (`conv` and `bn`).
fn layer(name: &str, channels: [usize; 2], kernel: usize, border: Border) -> Layer {
    let names = [format!("{name}.conv"), format!("{name}.bn")];
    Layer { names, channels, depthwise: false, window: Window { kernel, step: 1, border }, bounds: FREE }
}

impl Layer {
    fn stepping(mut self, step: usize) -> Self {
        self.window.step = step;
        self
    }

    fn within(self, bounds: [f32; 2]) -> Self {
        Self { bounds, ..self }
    }

    fn numbered(self, at: &str, number: usize) -> Self {
        Self { names: [format!("{at}conv{number}"), format!("{at}bn{number}")], ..self }
    }
}

/// One line of the papers' tables: widening, channels, blocks, kernel, stride of the first block.
type Stage = (usize, usize, usize, usize, usize);

/// MobileNetV2 (Sandler et al. 2018), as in torchvision.
const MOBILENET_V2: [Stage; 7] = [
    (1, 16, 1, 3, 1),
    (6, 24, 2, 3, 2),
    (6, 32, 3, 3, 2),
    (6, 64, 4, 3, 2),
    (6, 96, 3, 3, 1),
    (6, 160, 3, 3, 2),
    (6, 320, 1, 3, 1),
];

const EFFICIENTNET_LITE0: [Stage; 7] = [
    (1, 16, 1, 3, 1),
    (6, 24, 2, 3, 2),
    (6, 40, 2, 5, 2),
    (6, 80, 3, 3, 2),
    (6, 112, 3, 5, 1),
    (6, 192, 4, 5, 2),
    (6, 320, 1, 3, 1),
];

/// Blocks that widen, filter every channel on its own, and narrow.
fn inverted(stages: &[Stage], border: Border, epsilon: f32) -> Plan {
    let make = |name: &str, channels, kernel| layer(name, channels, kernel, border);
    let (mut blocks, mut from) = (Vec::new(), 32);
    for &(widen, to, count, kernel, stride) in stages {
        for i in 0..count {
            let (hidden, step) = (from * widen, if i == 0 { stride } else { 1 });
            let at = format!("blocks.{}", blocks.len());
            let expand = make(&format!("{at}.expand"), [from, hidden], 1).within(RELU6);
            let each =
                make(&format!("{at}.depthwise"), [hidden, hidden], kernel).stepping(step).within(RELU6);
            let project = make(&format!("{at}.project"), [hidden, to], 1);
            let layers = (widen > 1).then_some(expand).into_iter();
            let layers = layers.chain([Layer { depthwise: true, ..each }, project]).collect();
            let past = if step == 1 && from == to { Past::Input } else { Past::Nothing };
            blocks.push(Block { layers, past });
            from = to;
        }
    }
    let stem = make("stem", [3, 32], 3).stepping(2).within(RELU6);
    let last = Some(make("last", [from, 1280], 1).within(RELU6));
    Plan { stem, pool: None, blocks, last, epsilon, reversed: false }
}

/// Blocks whose output is added to their input. In Keras' and Caffe's form a block's stride is at its first convolution, ε = 1e-3, and channels are
/// B, G, R.
fn resnet(
    depths: [usize; 4],
    bottleneck: bool,
    keras: bool,
    ((kernel, step), pool): ((usize, usize), Option<usize>),
) -> Plan {
    let make = |channels, kernel| layer("", channels, kernel, Border::Half);
    let (mut blocks, mut from) = (Vec::new(), 64);
    for (i, depth) in depths.into_iter().enumerate() {
        let (width, to) = (64 << i, if bottleneck { 256 << i } else { 64 << i });
        for j in 0..depth {
            let at = format!("layer{}.{j}.", i + 1);
            let step = if i > 0 && j == 0 { 2 } else { 1 };
            let [first, second] = if keras || !bottleneck { [step, 1] } else { [1, step] };
            let one = make([from, width], if bottleneck { 1 } else { 3 }).stepping(first);
            let mut layers =
                vec![one.numbered(&at, 1), make([width, width], 3).stepping(second).numbered(&at, 2)];
            layers.extend(bottleneck.then(|| layer(&format!("{at}third"), [width, to], 1, Border::Half)));
            let layers = layers.into_iter().map(|layer| layer.within(RELU)).collect();
            let through = || layer(&format!("{at}downsample"), [from, to], 1, Border::Half).stepping(step);
            let past = if step != 1 || from != to { Past::Through(through()) } else { Past::Input };
            blocks.push(Block { layers, past });
            from = to;
        }
    }
    let stem = make([3, 64], kernel).stepping(step).within(RELU).numbered("", 1);
    let pool = pool.map(|kernel| Window { kernel, step: 2, border: Border::Half });
    Plan { stem, pool, blocks, last: None, epsilon: if keras { 1e-3 } else { 1e-5 }, reversed: keras }
}
