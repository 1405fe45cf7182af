//! Named tensors with text beside them, written whole and read with every size checked: the shape of a model file.

use crate::disk::open_regular;
use crate::dtype::{Dtype, Encoding};
use crate::error::{DataError, Result};
use crate::mapped;
use crate::safetensors::{dtype, read_header};
use crate::write::{AtomicFile, CompleteFile};
use std::collections::BTreeMap;
use std::path::Path;

/// Values of a tensor. Types that are not listed are read into the nearest one that holds them.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision; also from half precision and brain floats.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Whole numbers of any width.
    I64(Vec<i64>),
}

/// A tensor: values in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Extent of every dimension.
    pub shape: Vec<usize>,
    /// As many values as the shape asks for.
    pub values: Values,
}

/// The content of a `.safetensors` file. The same content always gives the same bytes.
///
/// ```
/// use partita_data::safetensors_io::{Tensor, TensorFile, Values};
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("model.safetensors");
/// let mut file = TensorFile::default();
/// file.metadata.insert("format".into(), "1".into());
/// file.tensors.insert("b".into(), Tensor { shape: vec![2], values: Values::F32(vec![0.5, 1.5]) });
/// file.write(&path)?;
/// assert_eq!(TensorFile::read(&path)?, file);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TensorFile {
    /// Tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// Text by key.
    pub metadata: BTreeMap<String, String>,
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::I64(v) => v.len(),
        }
    }

    fn dtype(&self) -> (&'static str, usize) {
        match self {
            Self::F32(_) => ("F32", 4),
            Self::F64(_) => ("F64", 8),
            Self::I64(_) => ("I64", 8),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::F32(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::F64(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::I64(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }

    fn from_bytes(encoding: Encoding, bytes: &[u8]) -> Self {
        match encoding.dtype {
            Dtype::F64 => Self::F64(encoding.to_f64(bytes)),
            _ => match encoding.to_i64(bytes) {
                Some(values) => Self::I64(values),
                None => {
                    let mut values = vec![0f32; bytes.len() / encoding.size()];
                    encoding.to_f32(bytes, &mut values);
                    Self::F32(values)
                }
            },
        }
    }
}

impl TensorFile {
    /// Write everything to `path`, whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.complete(path)?.appear()
    }

    /// The same file before it has its name.
    pub fn complete(&self, path: impl AsRef<Path>) -> Result<CompleteFile> {
        let mut file = AtomicFile::create(path)?;
        let (header, order) = self.header()?;
        file.put(&(header.len() as u64).to_le_bytes())?;
        file.put(&header)?;
        for tensor in order {
            file.put(&tensor.values.to_bytes())?;
        }
        file.complete()
    }

    /// The header, and the tensors in the order of their bytes: wide types first, so that all are aligned.
    fn header(&self) -> Result<(Vec<u8>, Vec<&Tensor>)> {
        let mut order: Vec<(&String, &Tensor)> = self.tensors.iter().collect();
        order.sort_by_key(|(_, t)| std::cmp::Reverse(t.values.dtype().1));
        let mut object = serde_json::Map::new();
        object.insert("__metadata__".into(), serde_json::json!(self.metadata));
        let mut at = 0;
        for (name, tensor) in &order {
            let expected = tensor.shape.iter().product();
            if tensor.values.len() != expected {
                return Err(DataError::Length { what: "a tensor", found: tensor.values.len(), expected });
            }
            let (dtype, size) = tensor.values.dtype();
            let end = at + expected * size;
            let entry = serde_json::json!({"dtype": dtype, "shape": tensor.shape, "data_offsets": [at, end]});
            object.insert((*name).clone(), entry);
            at = end;
        }
        let mut header = serde_json::Value::Object(object).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        Ok((header, order.into_iter().map(|(_, t)| t).collect()))
    }

    /// Read everything from `path` into memory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = open_regular(path)?;
        Self::from_bytes(path, &mapped::map(path, &file)?)
    }

    /// Read everything from the bytes of a file; `path` is for messages only.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let (start, header) = read_header(path, bytes)?;
        let mut tensors = BTreeMap::new();
        for (name, info) in header.tensors() {
            let encoding = Encoding::little(dtype(path, &name, info.dtype)?);
            let (first, end) = info.data_offsets;
            let values = Values::from_bytes(encoding, &bytes[start + first..start + end]);
            tensors.insert(name, Tensor { shape: info.shape.clone(), values });
        }
        let metadata = header.metadata().clone().unwrap_or_default().into_iter().collect();
        Ok(Self { tensors, metadata })
    }
}
