//! Weights of networks: read from PyTorch and safetensors files, and matched to what a network needs.

mod cursor;
mod find;
mod known;
mod matching;
mod pickle;
#[cfg(test)]
mod tests;
mod torch;

pub use find::{FOLDER, Place, Places};
pub use known::{KNOWN, Kind, Known, known};
pub use matching::{Layout, Match};

use crate::error::{EmbedError, Result};
use memmap2::Mmap;
use partita_data::safetensors_io::{TensorFile, Values};
use partita_data::{DataError, open_regular};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The named tensors of a file.
pub struct StateDict {
    path: PathBuf,
    content: Content,
    shapes: BTreeMap<String, Vec<usize>>,
    texts: BTreeMap<String, String>,
    hash: String,
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
        let problem = |problem| EmbedError::Weights { path: path.to_owned(), problem };
        let hash = sha256(&bytes);
        if torch::is_torch(&bytes) {
            let content = Content::Torch(Box::new(torch::TorchFile::new(bytes).map_err(problem)?));
            return Ok(Self::of(path, content, hash));
        }
        Self::from_bytes(path, &bytes, hash)
    }

    /// The weights of the encoder of this name in a place.
    pub fn at(name: &str, place: &Place) -> Result<Self> {
        match place.path() {
            Some(path) => Self::open(path),
            None => Self::built_in(name, known(name).and_then(|known| known.built_in).unwrap_or_default()),
        }
    }

    /// Weights that come with the program, called by the name of their encoder.
    pub fn built_in(name: &str, bytes: &[u8]) -> Result<Self> {
        Self::from_bytes(Path::new(name), bytes, sha256(bytes))
    }

    fn from_bytes(path: &Path, bytes: &[u8], hash: String) -> Result<Self> {
        let file = TensorFile::from_bytes(path, bytes)
            .map_err(|e| EmbedError::Weights { path: path.to_owned(), problem: e.to_string() })?;
        Ok(Self::of(path, Content::Safetensors(Box::new(file)), hash))
    }

    fn of(path: &Path, content: Content, hash: String) -> Self {
        let texts = match &content {
            Content::Torch(_) => BTreeMap::new(),
            Content::Safetensors(file) => file.metadata.clone(),
        };
        Self { path: path.to_owned(), shapes: content.shapes(), content, texts, hash }
    }

    /// The SHA-256 of the file, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The shapes of all tensors by name.
    pub fn shapes(&self) -> &BTreeMap<String, Vec<usize>> {
        &self.shapes
    }

    /// The values of a tensor, row after row.
    pub fn read(&self, name: &str) -> Result<Vec<f32>> {
        let problem = |problem| EmbedError::Weights { path: self.path.clone(), problem };
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

    /// The values of a tensor, if all of them are finite.
    pub fn read_finite(&self, name: &str) -> Result<Vec<f32>> {
        let values = self.read(name)?;
        match values.iter().position(|v| !v.is_finite()) {
            Some(at) => Err(EmbedError::Weights {
                path: self.path.clone(),
                problem: format!("number {at} of `{name}` is {}", values[at]),
            }),
            None => Ok(values),
        }
    }

    /// What a `.safetensors` file says about itself.
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
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

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
