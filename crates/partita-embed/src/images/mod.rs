//! Images: folders of files, MNIST's idx, CIFAR's and STL-10's binary files, one after another.

mod folder;
mod jpeg;
mod packed;
mod pixels;
mod resize;

use crate::error::{EmbedError, Result};
use folder::Folder;
pub use folder::is_picture;
use packed::Packed;
use partita_data::Fingerprint;
pub use pixels::Pixels;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Channels, height and width of images.
pub type ImageShape = [usize; 3];

/// An image: channel after channel, row after row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// 1 or 3.
    pub channels: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Pixels per row.
    pub width: usize,
    /// `channels · height · width` values.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Channels, height and width.
    pub fn shape(&self) -> [usize; 3] {
        [self.channels, self.height, self.width]
    }

    /// Grey as three equal channels; three channels as they are.
    pub fn coloured(mut self) -> Self {
        if self.channels == 1 {
            self.pixels = self.pixels.repeat(3);
            self.channels = 3;
        }
        self
    }

    /// The image with the given number of channels, one or three.
    fn with_channels(self, channels: usize) -> Self {
        if channels == 1 { self.grey() } else { self.coloured() }
    }

    /// One channel: three channels become luma, computed as Pillow does.
    pub fn grey(mut self) -> Self {
        if self.channels == 3 {
            let plane = self.height * self.width;
            let [r, g, b] = [0, 1, 2].map(|c| &self.pixels[c * plane..][..plane]);
            let luma = |((r, g), b): ((&u8, &u8), &u8)| {
                let sum = 19_595 * u32::from(*r) + 38_470 * u32::from(*g) + 7_471 * u32::from(*b);
                ((sum + 0x8000) >> 16) as u8
            };
            self.pixels = r.iter().zip(g).zip(b).map(luma).collect();
            self.channels = 1;
        }
        self
    }
}

/// Images from one or several places, decoded when they are asked for.
#[derive(Debug)]
pub struct Images {
    parts: Vec<ImageSource>,
    /// How many images come before each part; the last entry is the total.
    starts: Vec<usize>,
}

#[derive(Debug)]
enum ImageSource {
    Packed(Packed),
    Folder(Folder),
}

impl ImageSource {
    fn packed(&self) -> Option<&Packed> {
        match self {
            Self::Packed(packed) => Some(packed),
            Self::Folder(_) => None,
        }
    }

    fn classes(&self) -> Option<Vec<OsString>> {
        match self {
            Self::Packed(_) => None,
            Self::Folder(folder) => folder.classes(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Packed(packed) => packed.len(),
            Self::Folder(folder) => folder.len(),
        }
    }

    fn channels(&self) -> usize {
        match self {
            Self::Packed(packed) => packed.channels(),
            Self::Folder(_) => 3,
        }
    }
}

impl Images {
    /// Open folders, pictures and packed files; their images follow each other in the order given.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        let mut parts = Vec::new();
        let mut starts = vec![0];
        for path in paths {
            let path = path.as_ref();
            let part = match path.is_dir() || is_picture(path) {
                true => ImageSource::Folder(Folder::open(path)?),
                false => ImageSource::Packed(Packed::open(path)?),
            };
            if part.len() == 0 {
                let problem =
                    "it holds none; give pictures, a folder of them, or files of MNIST, CIFAR or STL-10"
                        .into();
                return Err(EmbedError::Images { path: path.to_owned(), problem });
            }
            starts.push(starts[starts.len() - 1] + part.len());
            parts.push(part);
        }
        Ok(Self { parts, starts })
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.starts[self.parts.len()]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Channels of the images: 1, or 3 if any image may be coloured.
    pub fn channels(&self) -> usize {
        self.parts.iter().map(ImageSource::channels).max().unwrap_or(1)
    }

    /// Image `i`, decoded.
    pub fn get(&self, i: usize) -> Result<Image> {
        let (part, at) = self.locate(i);
        match part {
            ImageSource::Packed(packed) => packed.get(at),
            ImageSource::Folder(folder) => folder.get(at),
        }
    }

    /// The name of image `i`: its file, or its number within a file.
    pub fn name(&self, i: usize) -> String {
        let (part, at) = self.locate(i);
        match part {
            ImageSource::Packed(packed) => packed.name(at),
            ImageSource::Folder(folder) => folder.name(at),
        }
    }

    /// What identifies the content of image `i`: the beginning of a hash of its file, or of its pixels if the file has several.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn content(&self, i: usize) -> Result<[u8; 16]> {
        use sha2::{Digest, Sha256};
        let (part, at) = self.locate(i);
        let hash = match part {
            ImageSource::Folder(folder) => Sha256::digest(&*folder.bytes(at)?),
            ImageSource::Packed(packed) => {
                let image = packed.get(at)?;
                let shape = image.shape().map(|side| (side as u64).to_le_bytes()).concat();
                Sha256::new().chain_update(shape).chain_update(&image.pixels).finalize()
            }
        };
        Ok(std::array::from_fn(|byte| hash[byte]))
    }

    /// A number that changes with the name of image `i` and with the size and age of its file.
    pub fn identity(&self, i: usize) -> u64 {
        let (part, at) = self.locate(i);
        let age = match part {
            ImageSource::Packed(packed) => packed.age(),
            ImageSource::Folder(folder) => folder.age(at),
        };
        Fingerprint::default().with_bytes(format!("{} {age:?}", self.name(i)).as_bytes()).0
    }

    /// Labels that came with the images, if all parts have labels of one kind: labels from files of the same format,
    /// or sub-folders, numbered in the order of their names. CIFAR-100 has two kinds of classes: this gives the 20
    /// superclasses, or all 100 classes if there are more than 20 clusters. The labels are for reporting only.
    pub fn labels(&self, clusters: usize) -> Option<Vec<i64>> {
        let packed: Vec<&Packed> = self.parts.iter().filter_map(ImageSource::packed).collect();
        if packed.len() == self.parts.len() {
            let alike = packed.iter().all(|part| part.like(packed[0]));
            let all: Option<Vec<Vec<i64>>> = packed.iter().map(|part| part.labels(clusters)).collect();
            return all.filter(|_| alike).map(|all| all.concat());
        }
        let all: Option<Vec<Vec<OsString>>> = self.parts.iter().map(ImageSource::classes).collect();
        let all = all?.concat();
        let names: BTreeSet<&OsString> = all.iter().collect();
        let numbers: BTreeMap<&OsString, i64> = names.into_iter().zip(0..).collect();
        Some(all.iter().map(|class| numbers[class]).collect())
    }

    /// The class of each image as text, if all parts have one: the name of its sub-folder, or the number in its file (of CIFAR-100's two
    /// kinds, one of the 100 classes).
    pub fn class_names(&self) -> Option<Vec<String>> {
        let all: Option<Vec<Vec<OsString>>> = self.parts.iter().map(ImageSource::classes).collect();
        match all {
            Some(all) => {
                Some(all.concat().iter().map(|class| class.to_string_lossy().into_owned()).collect())
            }
            None => Some(self.labels(usize::MAX)?.iter().map(i64::to_string).collect()),
        }
    }

    fn locate(&self, i: usize) -> (&ImageSource, usize) {
        let part = self.starts.partition_point(|&start| start <= i) - 1;
        (&self.parts[part], i - self.starts[part])
    }

    /// The indices of all images that can be decoded, and the errors of the others.
    pub fn survey(&self) -> (Vec<usize>, Vec<EmbedError>) {
        use rayon::prelude::*;
        let check = |i: usize| self.get(i).map(|_| i);
        let checked: Vec<Result<usize>> = (0..self.len()).into_par_iter().map(check).collect();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for outcome in checked {
            match outcome {
                Ok(i) => good.push(i),
                Err(e) => bad.push(e),
            }
        }
        (good, bad)
    }
}

/// Size of a file and the time of its last change, if the system reports them.
type Age = Option<(u64, SystemTime)>;

fn age(about: &Metadata) -> Age {
    Some((about.len(), about.modified().ok()?))
}

/// The name of a file in messages.
fn shown(path: &Path, base: &Path) -> String {
    path.strip_prefix(base)
        .map_or_else(|_| path.display().to_string(), |rest| base.join(rest).display().to_string())
}

/// All files below a folder, in the order of their names. Links are followed, unless they lead back to a folder above.
fn files_below(folder: &Path, within: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let problem = |e: std::io::Error| EmbedError::Images { path: folder.to_owned(), problem: e.to_string() };
    let place = folder.canonicalize().map_err(problem)?;
    if within.contains(&place) {
        return Ok(Vec::new());
    }
    let within = [within, &[place]].concat();
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(problem)? {
        entries.push(entry.map_err(problem)?.path());
    }
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        match path.is_dir() {
            true => files.extend(files_below(&path, &within)?),
            false => files.push(path),
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
