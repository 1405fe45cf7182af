//! Weights of networks: read from PyTorch and safetensors files, matched to a network's parameters, and written.

mod about;
mod cursor;
mod pickle;
mod pixels;
mod torch;
pub(crate) mod walk;

use crate::error::{DeepError, Result};
use crate::nets::{Backbone, Layout, Net};
use crate::normalise::Normalise;
use about::About;
use memmap2::Mmap;
use partita::rng::{Stream, stream};
use partita_data::safetensors_io::{Tensor, TensorFile, Values};
use partita_data::{CompleteFile, DataError, Fingerprint, open_regular};
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The named tensors of a file.
pub struct StateDict {
    path: PathBuf,
    content: Content,
    shapes: BTreeMap<String, Vec<usize>>,
    about: About,
}

enum Content {
    Torch(Box<torch::TorchFile>),
    Safetensors(Box<TensorFile>),
}

impl std::fmt::Debug for StateDict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateDict")
            .field("path", &self.path)
            .field("shapes", &self.shapes)
            .finish_non_exhaustive()
    }
}

impl StateDict {
    /// Open a PyTorch (`.pt`, `.pth`) or `.safetensors` file; its name does not matter.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let io = |source| DataError::Io { path: path.to_owned(), action: "open", source };
        let file = open_regular(path)?;
        // SAFETY: if another program shortens the file while it is mapped, this program ends, as everywhere in Partita.
        let bytes = unsafe { Mmap::map(&file) }.map_err(io)?;
        let problem = |problem| DeepError::Weights { path: path.to_owned(), problem };
        let content = match torch::is_torch(&bytes) {
            true => Content::Torch(Box::new(torch::TorchFile::new(bytes).map_err(problem)?)),
            false => Content::Safetensors(Box::new(
                TensorFile::from_bytes(path, &bytes).map_err(|e| problem(e.to_string()))?,
            )),
        };
        let about = match &content {
            Content::Torch(_) => About::default(),
            Content::Safetensors(file) => About::of(&file.metadata),
        };
        Ok(Self { path: path.to_owned(), shapes: content.shapes(), content, about })
    }

    /// The shapes of all tensors by name.
    pub fn shapes(&self) -> &BTreeMap<String, Vec<usize>> {
        &self.shapes
    }

    /// The values of a tensor, row after row.
    pub fn read(&self, name: &str) -> Result<Vec<f32>> {
        let problem = |problem| DeepError::Weights { path: self.path.clone(), problem };
        match &self.content {
            Content::Torch(file) => file.read(name).map_err(problem),
            Content::Safetensors(file) => match file.tensors.get(name).map(|t| &t.values) {
                Some(Values::F32(values)) => Ok(values.clone()),
                Some(Values::F64(values)) => Ok(values.iter().map(|v| *v as f32).collect()),
                Some(Values::I64(_)) => Err(problem(format!("`{name}` holds whole numbers"))),
                None => Err(problem(format!("it has no tensor `{name}`"))),
            },
        }
    }
}

impl Content {
    fn shapes(&self) -> BTreeMap<String, Vec<usize>> {
        match self {
            Self::Torch(file) => {
                file.shapes().map(|(name, shape)| (name.to_owned(), shape.to_vec())).collect()
            }
            Self::Safetensors(file) => {
                file.tensors.iter().map(|(name, tensor)| (name.clone(), tensor.shape.clone())).collect()
            }
        }
    }
}

/// How the tensors of a file match those of a network.
#[derive(Default)]
struct Report {
    /// Tensors that the network needs and the file does not have.
    missing: Vec<String>,
    /// Tensors that the file has and the network does not need.
    unexpected: Vec<String>,
    /// Tensors of the wrong shape: name, shape in the file, shape needed.
    misshapen: Vec<(String, Vec<usize>, Vec<usize>)>,
}

impl Report {
    fn problem(&self) -> Option<String> {
        let mut parts = Vec::new();
        let list = |names: &[String]| {
            let shown: Vec<&str> = names.iter().take(6).map(String::as_str).collect();
            let more = names.len().saturating_sub(shown.len());
            shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
        };
        if !self.missing.is_empty() {
            parts.push(format!("{} tensors are missing ({})", self.missing.len(), list(&self.missing)));
        }
        if !self.unexpected.is_empty() {
            parts.push(format!(
                "{} tensors are not expected ({})",
                self.unexpected.len(),
                list(&self.unexpected)
            ));
        }
        if let Some((name, found, needed)) = self.misshapen.first() {
            let count = self.misshapen.len();
            parts.push(format!("{count} tensors have another shape ({name} is {found:?}, not {needed:?})"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Give a network the weights of a file, or say which tensors are missing, unexpected or of the wrong shape.
///
/// Names may be torchvision's, with any prefix (`module.`, `backbone.`). The file may also hold layers after the
/// features, which a network for features does not have, and tensors without that prefix.
pub fn load(backbone: Backbone, net: Net, file: &StateDict) -> Result<Backbone> {
    let needed = shapes_of(&backbone);
    let other = |problem| DeepError::OtherNet { path: file.path.clone(), net, problem };
    if let Some(theirs) = file.about.net.filter(|theirs| *theirs != net) {
        return Err(other(format!("they are those of {theirs}")));
    }
    let (layout, prefix, report) = best_layout(net, &needed, file).map_err(other)?;
    if let Some(problem) = report.problem() {
        return Err(other(problem));
    }
    if let Some(problem) = pixels::mismatch(net, file, &prefix)? {
        return Err(other(problem));
    }
    let mut failed = None;
    let filled = walk::fill(backbone, &mut |name, _| {
        let name = format!("{prefix}{}", layout(name)?);
        finite(file, &name).map_err(|e| failed = Some(e)).ok()
    });
    failed.map_or(Ok(filled), Err)
}

/// The values of a tensor, if all of them are finite.
fn finite(file: &StateDict, name: &str) -> Result<Vec<f32>> {
    let values = file.read(name)?;
    match values.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(DeepError::Weights {
            path: file.path.clone(),
            problem: format!("number {at} of `{name}` is {}", values[at]),
        }),
        None => Ok(values),
    }
}

fn shapes_of(backbone: &Backbone) -> BTreeMap<String, Vec<usize>> {
    let mut shapes = BTreeMap::new();
    walk::each(backbone, &mut |name, shape, _| {
        shapes.insert(name.to_owned(), shape.to_vec());
    });
    shapes
}

/// The layout and prefix with which the fewest tensors are missing.
fn best_layout(
    net: Net,
    needed: &BTreeMap<String, Vec<usize>>,
    file: &StateDict,
) -> std::result::Result<(Layout, String, Report), String> {
    let same: Layout = |name| Some(name.to_owned());
    let layouts = net.layouts().iter().copied().chain([same]);
    let judged = layouts.flat_map(|layout| {
        let judge = move |prefix: String| {
            let report = compare(needed, &file.shapes, layout, &prefix);
            (layout, prefix, report)
        };
        prefixes(needed, &file.shapes, layout).into_iter().map(judge)
    });
    let judged: Vec<(Layout, String, Report)> = judged.collect();
    let whole: BTreeSet<&str> =
        judged.iter().filter(|(_, _, report)| report.missing.is_empty()).map(|j| &*j.1).collect();
    if whole.len() > 1 {
        let places: Vec<String> = whole.iter().map(|prefix| format!("`{prefix}`")).collect();
        return Err(format!("it holds the network more than once, under {}; keep one", places.join(", ")));
    }
    let best = judged.into_iter().min_by_key(|(_, _, report)| report.missing.len());
    Ok(best.unwrap_or((same, String::new(), Report::default())))
}

/// Possible prefixes: none, and whatever precedes a needed name in the file.
fn prefixes(
    needed: &BTreeMap<String, Vec<usize>>,
    found: &BTreeMap<String, Vec<usize>>,
    layout: Layout,
) -> BTreeSet<String> {
    let ends: Vec<String> = needed.keys().filter_map(|name| Some(format!(".{}", layout(name)?))).collect();
    let before = |name: &String| -> Vec<String> {
        let fitting = ends.iter().filter(|end| name.ends_with(&***end));
        fitting.map(|end| name[..=name.len() - end.len()].to_owned()).collect()
    };
    found.keys().flat_map(before).chain([String::new()]).collect()
}

/// Layers after the features, as torchvision and EfficientNet-Lite0 name them.
const AFTER: [&str; 3] = ["fc.", "classifier.", "_fc."];

fn compare(
    needed: &BTreeMap<String, Vec<usize>>,
    found: &BTreeMap<String, Vec<usize>>,
    layout: Layout,
    prefix: &str,
) -> Report {
    let mut report = Report::default();
    let mut used = BTreeSet::new();
    for (name, shape) in needed {
        let key = format!("{prefix}{}", layout(name).unwrap_or_default());
        match found.get(&key) {
            None => report.missing.push(key),
            Some(other) => {
                if other != shape {
                    report.misshapen.push((key.clone(), other.clone(), shape.clone()));
                }
                used.insert(key);
            }
        }
    }
    let spare = |name: &str| match name.strip_prefix(prefix) {
        Some(rest) => {
            rest.ends_with("num_batches_tracked") || AFTER.iter().any(|after| rest.starts_with(after))
        }
        None => true,
    };
    report.unexpected = found.keys().filter(|name| !used.contains(*name) && !spare(name)).cloned().collect();
    report
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

/// A number that identifies what made some features: it changes with the content of a weights file and with `options`.
pub fn fingerprint(path: &Path, options: &str) -> Result<u64> {
    let io = |source| DataError::Io { path: path.to_owned(), action: "read", source };
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes).map_err(io)?;
    Ok(Fingerprint::default().with_bytes(options.as_bytes()).with_bytes(&bytes).0)
}

#[cfg(test)]
mod tests;
