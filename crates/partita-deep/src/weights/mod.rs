//! Weights of networks: those of a file given to a network, random ones, and writing them.

pub(crate) mod walk;

pub use partita_embed::weights::StateDict;

use crate::error::Result;
use crate::nets::{Backbone, Net};
use partita::rng::{Stream, stream};
use partita_data::CompleteFile;
use partita_data::safetensors_io::{Tensor, TensorFile, Values};
use partita_embed::photos::{self, Normalise};
use partita_embed::weights::Layout;
use rand::RngExt;
use std::collections::BTreeMap;
use std::path::Path;

/// Give a network the weights of a file, or say which tensors are missing, unexpected or of the wrong shape.
///
/// Names may be torchvision's, with any prefix (`module.`, `backbone.`). The file may also hold layers after the
/// features, which a network for features does not have, and tensors without that prefix.
pub fn load(backbone: Backbone, net: Net, file: &StateDict) -> Result<Backbone> {
    let names = photos::names(net, &shapes_of(&backbone), file)?;
    let mut failed = None;
    let filled = walk::fill(backbone, &mut |name, _| {
        file.read_finite(&names.name(name)?).map_err(|e| failed = Some(e)).ok()
    });
    failed.map_or(Ok(filled), |e| Err(e.into()))
}

fn shapes_of(backbone: &Backbone) -> BTreeMap<String, Vec<usize>> {
    let mut shapes = BTreeMap::new();
    walk::each(backbone, &mut |name, shape, _| {
        shapes.insert(name.to_owned(), shape.to_vec());
    });
    shapes
}

/// The parameters of a module under their own names, as tensors of a file.
pub(crate) fn tensors<M: burn::module::Module>(module: &M) -> BTreeMap<String, Tensor> {
    let mut out = BTreeMap::new();
    walk::each(module, &mut |name, shape, values| {
        out.insert(name.to_owned(), Tensor { shape: shape.to_vec(), values: Values::F32(values) });
    });
    out
}

/// Write the weights of a network as `.safetensors`, with torchvision's names where it has them. The file says which network
/// they are from and how its images are normalised.
pub fn save(backbone: &Backbone, net: Net, path: impl AsRef<Path>) -> Result<()> {
    Ok(complete(backbone, net, Normalise::of(net), path)?.appear()?)
}

/// The same file before it has its name.
pub fn complete(
    backbone: &Backbone,
    net: Net,
    normalise: Normalise,
    path: impl AsRef<Path>,
) -> Result<CompleteFile> {
    let same: Layout = |name| Some(name.to_owned());
    let layout = net.layouts().first().copied().unwrap_or(same);
    let named = tensors(backbone).into_iter().map(|(name, tensor)| (layout(&name).unwrap_or(name), tensor));
    let texts = [("net", net.to_string()), ("normalise", normalise.to_string())];
    let metadata = texts.into_iter().map(|(key, text)| (key.to_owned(), text)).collect();
    Ok(TensorFile { tensors: named.collect(), metadata }.complete(path)?)
}

/// Random weights as in PyTorch: uniform in ±1/√fan-in, biases included; normalisation starts as the identity.
/// The same seed gives the same bits.
pub fn randomise<M: burn::module::Module>(module: M, seed: u64) -> M {
    let (mut index, mut fan_in) = (0, 1);
    walk::fill(module, &mut |name, shape| {
        index += 1;
        let count = shape.iter().product();
        let weights = shape.len() > 1;
        let of_linear = name.starts_with("heads.") || name.contains(".linear.");
        if !weights && !of_linear {
            return None;
        }
        if weights {
            fan_in = shape[1..].iter().product::<usize>();
        }
        let bound = 1.0 / (fan_in as f32).sqrt();
        let mut rng = stream(seed, Stream::Init, index);
        Some((0..count).map(|_| rng.random_range(-bound..bound)).collect())
    })
}

#[cfg(test)]
mod tests;
