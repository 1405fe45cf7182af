//! Features in a `.safetensors` file: a tensor of rows, left in the file.

use crate::dtype::{Dtype, Encoding};
use crate::error::{DataError, Result, list};
use crate::features::{Features, Storage};
use crate::mapped::{Mapped, map};
use crate::npy::matrix_shape;
use crate::options::OpenOptions;
use ::safetensors::tensor::{Dtype as Stored, Metadata, SafeTensors, TensorInfo};
use std::fs::File;
use std::path::Path;

pub(crate) const FORMAT: &str = "safetensors";

/// Open the named tensor, or the only one with rows.
pub(crate) fn open(path: &Path, file: &File, options: &OpenOptions) -> Result<Features> {
    let map = map(path, file)?;
    let (start, metadata) = read_header(path, &map)?;
    let (name, info) = choose(path, &metadata, options)?;
    let shape: Vec<u64> = info.shape.iter().map(|&d| d as u64).collect();
    let (n, m) = matrix_shape(path, &format!("tensor '{name}'"), &shape)?;
    let encoding = Encoding::little(dtype(path, &name, info.dtype)?);
    let (first, end) = info.data_offsets;
    // The header reader has checked that the place of a tensor fits its shape and the file.
    let values = (end - first) / encoding.size();
    let mapped = Mapped::new(path, file, map, (start + first, values), encoding)?;
    Features::new(path, Storage::Mapped(mapped), n, m)
}

/// The header of a file, checked against the file's length, and where the tensors begin.
pub(crate) fn read_header(path: &Path, bytes: &[u8]) -> Result<(usize, Metadata)> {
    let (len, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|e| DataError::corrupt(path, FORMAT, e.to_string()))?;
    Ok((len + 8, metadata))
}

fn choose(path: &Path, metadata: &Metadata, options: &OpenOptions) -> Result<(String, TensorInfo)> {
    let tensors = metadata.tensors();
    let mut names: Vec<&String> = tensors.keys().collect();
    names.sort_unstable();
    if let Some(name) = &options.array {
        return match tensors.get(name) {
            Some(&info) => Ok((name.clone(), info.clone())),
            None => Err(DataError::NoSuchName {
                path: path.to_owned(),
                kind: "tensor",
                name: name.clone(),
                available: list(&names),
            }),
        };
    }
    let matrices: Vec<&String> = names.iter().copied().filter(|&n| tensors[n].shape.len() == 2).collect();
    match matrices.as_slice() {
        [name] => Ok(((*name).clone(), tensors[*name].clone())),
        found => Err(DataError::Choose {
            path: path.to_owned(),
            problem: format!("{} tensors of two dimensions", found.len()),
            advice: "name the one to use",
            available: list(&names),
        }),
    }
}

/// The type of a tensor's values, if they can be features.
pub(crate) fn dtype(path: &Path, name: &str, stored: Stored) -> Result<Dtype> {
    Ok(match stored {
        Stored::BOOL => Dtype::Bool,
        Stored::I8 => Dtype::I8,
        Stored::U8 => Dtype::U8,
        Stored::I16 => Dtype::I16,
        Stored::U16 => Dtype::U16,
        Stored::I32 => Dtype::I32,
        Stored::U32 => Dtype::U32,
        Stored::I64 => Dtype::I64,
        Stored::U64 => Dtype::U64,
        Stored::F16 => Dtype::F16,
        Stored::BF16 => Dtype::Bf16,
        Stored::F32 => Dtype::F32,
        Stored::F64 => Dtype::F64,
        other => {
            return Err(DataError::Dtype {
                path: path.to_owned(),
                what: format!("tensor '{name}'"),
                dtype: format!("{other:?}"),
                advice: "save it as F32, F16, BF16, F64 or integers",
            });
        }
    })
}
