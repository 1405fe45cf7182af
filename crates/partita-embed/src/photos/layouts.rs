//! What other programs call the parameters of our networks.

/// Name in torchvision's layout of MobileNetV2.
pub(super) fn torchvision(name: &str) -> Option<String> {
    by_position(name, |block, part, leaf| match part {
        "expand" => format!("features.{}.conv.0.{leaf}", block + 1),
        "depthwise" => format!("features.{}.conv.{}.{leaf}", block + 1, usize::from(block > 0)),
        // The last convolution and its normalisation are not wrapped: they follow each other in the block itself.
        _ => {
            let (at, rest) = split_index(leaf);
            format!("features.{}.conv.{}.{rest}", block + 1, 1 + usize::from(block > 0) + at)
        }
    })
}

/// Name in the older, flat layout of MobileNetV2.
pub(super) fn flat(name: &str) -> Option<String> {
    by_position(name, |block, part, leaf| {
        let (at, rest) = split_index(leaf);
        let before = match part {
            "expand" => 0,
            "depthwise" => 3 * usize::from(block > 0),
            _ => 3 + 3 * usize::from(block > 0),
        };
        format!("features.{}.conv.{}.{rest}", block + 1, before + at)
    })
}

/// Name stem, blocks and last layer by their positions; `inside` names the parts of a block.
fn by_position(name: &str, inside: impl Fn(usize, &str, &str) -> String) -> Option<String> {
    let name = name.replace(".conv.", ".0.").replace(".bn.", ".1.");
    if let Some(leaf) = name.strip_prefix("stem.") {
        return Some(format!("features.0.{leaf}"));
    }
    if let Some(leaf) = name.strip_prefix("last.") {
        return Some(format!("features.18.{leaf}"));
    }
    let (block, rest) = name.strip_prefix("blocks.")?.split_once('.')?;
    let (part, leaf) = rest.split_once('.')?;
    Some(inside(block.parse().ok()?, part, leaf))
}

/// `0.weight` as (0, `weight`).
fn split_index(leaf: &str) -> (usize, &str) {
    leaf.split_once('.').map_or((0, leaf), |(at, rest)| (at.parse().unwrap_or(0), rest))
}

/// Name in the layout of the PyTorch port of EfficientNet-Lite.
pub(super) fn efficientnet(name: &str) -> Option<String> {
    let (place, leaf) = name.rsplit_once('.')?;
    let name = match place {
        "stem.conv" => "_conv_stem".to_owned(),
        "stem.bn" => "_bn0".to_owned(),
        "last.conv" => "_conv_head".to_owned(),
        "last.bn" => "_bn1".to_owned(),
        _ => {
            let (block, part) = place.strip_prefix("blocks.")?.split_once('.')?;
            let part = match part {
                "expand.conv" => "_expand_conv",
                "expand.bn" => "_bn0",
                "depthwise.conv" => "_depthwise_conv",
                "depthwise.bn" => "_bn1",
                "project.conv" => "_project_conv",
                _ => "_bn2",
            };
            format!("_blocks.{block}.{part}")
        }
    };
    Some(format!("{name}.{leaf}"))
}

/// Name of a residual network in torchvision's layout.
pub(super) fn residual(name: &str) -> Option<String> {
    let name = name.replace("third.conv", "conv3").replace("third.bn", "bn3");
    Some(name.replace("downsample.conv", "downsample.0").replace("downsample.bn", "downsample.1"))
}

/// Name in the layout of networks for CIFAR, such as SCAN's, where the connection past a block is called `shortcut`.
pub(super) fn shortcut(name: &str) -> Option<String> {
    residual(name).map(|name| name.replace("downsample", "shortcut"))
}

/// Name in a `torch.nn.Sequential` of the same layers: `period` modules for every layer.
fn sequential(name: &str, period: usize, first: &str) -> Option<String> {
    let (layer, rest) = name.strip_prefix("layers.")?.split_once('.')?;
    let (part, leaf) = rest.split_once('.')?;
    let at = period * layer.parse::<usize>().ok()? + usize::from(part != first);
    Some(format!("features.{at}.{leaf}"))
}

/// Name in a `torch.nn.Sequential` of linear layer, normalisation and activation.
pub(super) fn mlp(name: &str) -> Option<String> {
    sequential(name, 3, "linear")
}

/// Name in a `torch.nn.Sequential` of convolution, normalisation, activation and pooling.
pub(super) fn vgg4(name: &str) -> Option<String> {
    sequential(name, 4, "conv")
}
