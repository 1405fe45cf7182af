//! Files that hold many images of one size: idx (MNIST), CIFAR-10, CIFAR-100 and STL-10.

use super::{Age, Image, age};
use crate::error::{EmbedError, Result};
use flate2::read::GzDecoder;
use memmap2::Mmap;
use partita_data::{DataError, open_regular, read_labels};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Packed {
    path: PathBuf,
    age: Age,
    bytes: Bytes,
    layout: Layout,
    shape: [usize; 3],
    n: usize,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Unpacked(Vec<u8>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Unpacked(bytes) => bytes,
        }
    }
}

/// Where images and labels are in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Images after a header of 16 bytes; labels in a separate file.
    Idx,
    /// Each image after this many bytes of labels. The first one counts: the class, or one of CIFAR-100's 20
    /// superclasses.
    Cifar(usize),
    /// Pixels column after column; labels, counted from 1, in a separate file.
    Stl,
}

const CIFAR: usize = 3 * 32 * 32;
const STL: usize = 3 * 96 * 96;

/// The images of a gzip file may take this many times its size: deflate cannot compress further.
const MOST_UNPACKED: u64 = 1032;

impl Layout {
    /// Recognise a file without header by its size.
    fn of_size(len: usize) -> Option<Self> {
        let fits = |record: usize| len > 0 && len.is_multiple_of(record);
        match (fits(CIFAR + 1), fits(CIFAR + 2), fits(STL)) {
            (true, false, false) => Some(Self::Cifar(1)),
            (false, true, false) => Some(Self::Cifar(2)),
            (false, false, true) => Some(Self::Stl),
            _ => None,
        }
    }

    /// Bytes before the first image, bytes per image with its labels, and bytes from there to its pixels.
    fn record(self, pixels: usize) -> (usize, usize, usize) {
        match self {
            Self::Idx => (16, pixels, 0),
            Self::Cifar(labels) => (0, labels + pixels, labels),
            Self::Stl => (0, pixels, 0),
        }
    }
}

/// Superclasses of CIFAR-100; they are the first of the two labels of an image.
const SUPERCLASSES: usize = 20;

impl Packed {
    pub fn open(path: &Path) -> Result<Self> {
        let io = |source| DataError::Io { path: path.to_owned(), action: "open", source };
        let file = open_regular(path)?;
        let problem =
            |problem: &str| EmbedError::Images { path: path.to_owned(), problem: problem.to_owned() };
        let about = file.metadata().map_err(io)?;
        // SAFETY: if another program shortens the file while it is mapped, this program ends, as everywhere in Partita.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let bytes = match map.starts_with(&[0x1f, 0x8b]) {
            true => {
                Bytes::Unpacked(unpack(&map).map_err(|e| problem(&format!("it cannot be unpacked ({e})")))?)
            }
            false => Bytes::Mapped(map),
        };
        let (layout, shape, n) = match bytes.starts_with(&[0, 0, 8, 3]) {
            true => idx(&bytes)
                .ok_or_else(|| problem("it is cut short, or its header is wrong; fetch it again"))?,
            false => {
                let layout = Layout::of_size(bytes.len()).ok_or_else(|| {
                    problem("its size is not that of whole CIFAR-10, CIFAR-100 or STL-10 images, and it is no idx file of bytes")
                })?;
                let shape = if layout == Layout::Stl { [3, 96, 96] } else { [3, 32, 32] };
                let (_, record, _) = layout.record(shape.iter().product());
                (layout, shape, bytes.len() / record)
            }
        };
        Ok(Self { path: path.to_owned(), age: age(&about), bytes, layout, shape, n })
    }

    pub fn len(&self) -> usize {
        self.n
    }

    pub fn channels(&self) -> usize {
        self.shape[0]
    }

    /// Size and age of the file when it was opened.
    pub fn age(&self) -> Age {
        self.age
    }

    /// Whether the labels of the other file mean the same.
    pub fn like(&self, other: &Self) -> bool {
        self.layout == other.layout
    }

    pub fn name(&self, i: usize) -> String {
        format!("{} of {}", i, self.path.display())
    }

    pub fn get(&self, i: usize) -> Result<Image> {
        let [channels, height, width] = self.shape;
        let len = channels * height * width;
        let (start, record, labels) = self.layout.record(len);
        let mut pixels = self.bytes[start + i * record + labels..][..len].to_vec();
        if self.layout == Layout::Stl {
            let planes = pixels.chunks_exact(height * width);
            pixels = planes
                .flat_map(|p| (0..height).flat_map(move |y| (0..width).map(move |x| p[x * height + y])))
                .collect();
        }
        Ok(Image { channels, height, width, pixels })
    }

    pub fn labels(&self, clusters: usize) -> Option<Vec<i64>> {
        let (_, record, _) = self.layout.record(self.shape.iter().product());
        let labels = match self.layout {
            Layout::Cifar(kinds) => {
                let kind = usize::from(kinds == 2 && clusters > SUPERCLASSES);
                self.bytes.chunks_exact(record).map(|r| i64::from(r[kind])).collect()
            }
            Layout::Idx => read_labels(self.beside("images-idx3", "labels-idx1")?).ok()?.values,
            Layout::Stl => {
                let bytes = std::fs::read(self.beside("_X", "_y")?).ok()?;
                bytes.iter().map(|&b| i64::from(b) - 1).collect()
            }
        };
        (labels.len() == self.n).then_some(labels)
    }

    /// The file with the labels, found by its usual name.
    fn beside(&self, images: &str, labels: &str) -> Option<PathBuf> {
        let name = self.path.file_name()?.to_str()?;
        let file = self.path.with_file_name(name.replace(images, labels));
        (name.contains(images) && file.is_file()).then_some(file)
    }
}

/// Number and size of the images of an idx file, if the file is complete.
fn idx(bytes: &[u8]) -> Option<(Layout, [usize; 3], usize)> {
    let extent = |i: usize| -> Option<usize> {
        let bytes = bytes.get(4 + 4 * i..8 + 4 * i)?;
        usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
    };
    let (n, h, w) = (extent(0)?, extent(1)?, extent(2)?);
    let needed = n.checked_mul(h)?.checked_mul(w)?.checked_add(16)?;
    (needed <= bytes.len() && h > 0 && w > 0).then_some((Layout::Idx, [1, h, w], n))
}

fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    GzDecoder::new(bytes).take(bytes.len() as u64 * MOST_UNPACKED).read_to_end(&mut out)?;
    Ok(out)
}
