//! PyTorch's state dicts: today's zip archive, and the sequence of pickles used before 1.6.
//!
//! Only what is asked for is read, so that a file which refers to the same storage a thousand times costs no more
//! than the tensors that a network has.

use super::cursor::Cursor;
use super::pickle::{Arena, Parsed, TensorSpec, Value, load};
use memmap2::Mmap;
use std::collections::BTreeMap;
use std::io::{Cursor as IoCursor, Read};
use zip::{CompressionMethod, ZipArchive};

/// The tensors of a file, by name.
pub(super) struct TorchFile {
    bytes: Mmap,
    arena: Arena,
    names: BTreeMap<String, usize>,
    storages: Storages,
}

/// Where the numbers are: from a key to a range of bytes.
type Storages = BTreeMap<String, (usize, usize)>;

/// Types of numbers, named after PyTorch's storages.
#[derive(Clone, Copy)]
enum Kind {
    F32,
    F64,
    F16,
    Bf16,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        match name {
            "torch.FloatStorage" => Some(Self::F32),
            "torch.DoubleStorage" => Some(Self::F64),
            "torch.HalfStorage" => Some(Self::F16),
            "torch.BFloat16Storage" => Some(Self::Bf16),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// The number at the start of `bytes`.
    fn read(self, bytes: &[u8]) -> f32 {
        let wide = |n: usize| {
            let mut out = [0u8; 8];
            out[..n].copy_from_slice(&bytes[..n]);
            u64::from_le_bytes(out)
        };
        match self {
            Self::F32 => f32::from_bits(wide(4) as u32),
            Self::F64 => f64::from_bits(wide(8)) as f32,
            Self::F16 => half::f16::from_bits(wide(2) as u16).to_f32(),
            Self::Bf16 => half::bf16::from_bits(wide(2) as u16).to_f32(),
        }
    }
}

/// Whether a file may be one of PyTorch's, judging by its first bytes.
pub(super) fn is_torch(bytes: &[u8]) -> bool {
    // The length of a safetensors header may begin like a pickle; the header itself follows at byte 8.
    let pickle = bytes.starts_with(&[0x80, 2]) && bytes.get(8) != Some(&b'{');
    bytes.starts_with(b"PK\x03\x04") || pickle
}

impl TorchFile {
    pub fn new(bytes: Mmap) -> Parsed<Self> {
        let mut arena = Arena::default();
        let (root, storages) = match bytes.starts_with(b"PK") {
            true => from_archive(&bytes, &mut arena)?,
            false => from_pickles(&bytes, &mut arena)?,
        };
        let names = tensor_names(&arena, root).ok_or("it holds no dictionary of tensors")?;
        Ok(Self { bytes, arena, names, storages })
    }

    /// Names and shapes.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.names.iter().map(|(name, at)| (&**name, &*self.arena.tensors[*at].shape))
    }

    /// The numbers of a tensor, row after row.
    pub fn read(&self, name: &str) -> Parsed<Vec<f32>> {
        let at = self.names.get(name).ok_or_else(|| format!("it has no tensor `{name}`"))?;
        let spec = &self.arena.tensors[*at];
        let (kind, bytes) = self.storage(spec).map_err(|problem| format!("`{name}`: {problem}"))?;
        gather(spec, bytes.len() / kind.size())
            .map(|places| places.into_iter().map(|i| kind.read(&bytes[i * kind.size()..])).collect())
            .ok_or_else(|| format!("`{name}` reaches beyond the numbers that are stored"))
    }

    fn storage(&self, spec: &TensorSpec) -> Parsed<(Kind, &[u8])> {
        let described = &self.arena.items[spec.storage];
        let text = |i: usize| described.get(i).and_then(|v| self.arena.text(*v));
        let name = text(1).ok_or("its storage has no type")?;
        let kind = Kind::of(name).ok_or_else(|| format!("it holds {name}, not floating-point numbers"))?;
        let key = text(2).ok_or("its storage has no name")?;
        let (start, end) = *self.storages.get(key).ok_or("its storage is missing")?;
        Ok((kind, &self.bytes[start..end]))
    }
}

/// The places of a tensor's numbers in its storage, or `None` if some lie beyond `len`.
fn gather(spec: &TensorSpec, len: usize) -> Option<Vec<usize>> {
    let count = spec.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    if count == 0 {
        return Some(Vec::new());
    }
    let last = spec
        .shape
        .iter()
        .zip(&spec.stride)
        .try_fold(spec.offset, |at, (&d, &s)| at.checked_add((d - 1).checked_mul(s)?))?;
    if last >= len || count > len {
        return None;
    }
    let mut places = vec![spec.offset];
    for (&d, &s) in spec.shape.iter().zip(&spec.stride) {
        places = places.iter().flat_map(|&at| (0..d).map(move |i| at + i * s)).collect();
    }
    Some(places)
}

/// The dictionary of tensors: the object itself, or one inside it if it is a training checkpoint.
fn tensor_names(arena: &Arena, root: Value) -> Option<BTreeMap<String, usize>> {
    let Value::Dict(at) = root else { return None };
    let inside = |name: &&str| {
        let found = arena.dicts[at].iter().find(|(key, _)| arena.text(*key) == Some(name));
        match found?.1 {
            // Only one level deep: a dictionary may contain itself.
            Value::Dict(inner) if inner != at => flat_names(arena, inner),
            _ => None,
        }
    };
    ["state_dict", "model_state_dict", "model"].iter().find_map(inside).or_else(|| flat_names(arena, at))
}

fn flat_names(arena: &Arena, at: usize) -> Option<BTreeMap<String, usize>> {
    let tensor = |(key, value): &(Value, Value)| match value {
        Value::Tensor(at) => Some((arena.text(*key)?.to_owned(), *at)),
        _ => None,
    };
    let names: BTreeMap<String, usize> = arena.dicts[at].iter().filter_map(tensor).collect();
    (!names.is_empty()).then_some(names)
}

fn from_archive(bytes: &[u8], arena: &mut Arena) -> Parsed<(Value, Storages)> {
    let mut archive =
        ZipArchive::new(IoCursor::new(bytes)).map_err(|e| format!("its archive is broken ({e})"))?;
    let (mut storages, mut program) = (Storages::new(), None);
    for i in 0..archive.len() {
        let mut file = archive.by_index(i).map_err(|e| format!("its archive is broken ({e})"))?;
        let name = file.name().map_err(|e| format!("its archive is broken ({e})"))?.into_owned();
        let Some((_, inner)) = name.split_once('/') else { continue };
        if inner == "data.pkl" {
            let mut text = Vec::new();
            file.read_to_end(&mut text).map_err(|e| format!("`{name}` is broken ({e})"))?;
            program = Some(text);
        } else if let Some(key) = inner.strip_prefix("data/") {
            if file.compression() != CompressionMethod::Stored {
                return Err(format!("`{name}` is compressed, which PyTorch never does"));
            }
            let start = file.data_start().ok_or("a part without a place")?;
            let end = start.checked_add(file.size()).filter(|&end| end <= bytes.len() as u64);
            let end = end.ok_or_else(|| format!("`{name}` reaches beyond the end of the file"))?;
            storages.insert(key.to_owned(), (start as usize, end as usize));
        }
    }
    let program = program.ok_or("the archive has no data.pkl")?;
    Ok((load(&mut Cursor::new(&program), arena)?, storages))
}

/// The format before 1.6: a magic number, a version, the machine, the object and the keys of its storages, each as a
/// pickle, then every storage, preceded by its length.
fn from_pickles(bytes: &[u8], arena: &mut Arena) -> Parsed<(Value, Storages)> {
    let mut cursor = Cursor::new(bytes);
    for _ in 0..3 {
        load(&mut cursor, arena)?;
    }
    let root = load(&mut cursor, arena)?;
    let Value::Items(keys) = load(&mut cursor, arena)? else {
        return Err("it has no list of storages".into());
    };
    let sizes = storage_sizes(arena);
    let mut storages = Storages::new();
    for key in &arena.items[keys] {
        let key = arena.text(*key).ok_or("a storage without a name")?;
        let count = usize::try_from(cursor.u64()?).map_err(|_| "a storage without end")?;
        let size = sizes.get(key).ok_or("a storage that no tensor uses")?;
        let start = cursor.position();
        cursor.take(count.checked_mul(*size).ok_or("a storage without end")?)?;
        storages.insert(key.to_owned(), (start, cursor.position()));
    }
    Ok((root, storages))
}

/// Bytes per number in every storage that a tensor refers to.
fn storage_sizes(arena: &Arena) -> BTreeMap<&str, usize> {
    let size = |name: &str| match name {
        "torch.LongStorage" => Some(8),
        "torch.IntStorage" => Some(4),
        "torch.ShortStorage" => Some(2),
        "torch.CharStorage" | "torch.ByteStorage" | "torch.BoolStorage" => Some(1),
        other => Kind::of(other).map(Kind::size),
    };
    let described = arena.tensors.iter().map(|spec| &arena.items[spec.storage]);
    let entry = |items: &Vec<Value>| Some((arena.text(*items.get(2)?)?, size(arena.text(*items.get(1)?)?)?));
    described.filter_map(entry).collect()
}
