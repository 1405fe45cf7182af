//! A folder of pictures; sub-folders, if there are any, are classes.

use super::{Image, files_below, shown};
use crate::error::{DeepError, Result};
use image::{DynamicImage, ImageDecoder, ImageReader};
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// Extensions of the pictures that are read.
const EXTENSIONS: [&str; 8] = ["png", "jpg", "jpeg", "bmp", "gif", "webp", "ppm", "pgm"];

#[derive(Debug)]
pub(super) struct Folder {
    base: PathBuf,
    files: Vec<PathBuf>,
}

impl Folder {
    pub fn open(path: &Path) -> Result<Self> {
        let mut files = files_below(path)?;
        files.retain(|file| {
            let extension =
                file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
            EXTENSIONS.contains(&&*extension)
        });
        Ok(Self { base: path.to_owned(), files })
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn name(&self, i: usize) -> String {
        shown(&self.files[i], &self.base)
    }

    /// The numbers of the sub-folders in the order of their names, if every picture is in one.
    pub fn labels(&self) -> Option<Vec<i64>> {
        let class = |file: &PathBuf| {
            let mut parts = file.strip_prefix(&self.base).ok()?.components();
            let first = parts.next()?.as_os_str().to_owned();
            parts.next().map(|_| first)
        };
        let classes: Vec<_> = self.files.iter().map(class).collect::<Option<_>>()?;
        let mut numbers: BTreeMap<_, i64> = classes.iter().map(|c| (c, 0)).collect();
        numbers.values_mut().enumerate().for_each(|(i, n)| *n = i as i64);
        Some(classes.iter().map(|c| numbers[c]).collect())
    }

    pub fn get(&self, i: usize) -> Result<Image> {
        let problem = |problem: String| DeepError::Image { name: self.name(i), problem };
        // Decoders of foreign formats: whatever a hostile file makes one do is the file's fault.
        let decoded = catch_unwind(|| decode(&self.files[i]));
        let decoded = decoded.unwrap_or_else(|_| Err("its structure contradicts itself".into()));
        let picture = decoded.map_err(problem)?.to_rgb8();
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        if width == 0 || height == 0 {
            return Err(problem("it has no pixels".into()));
        }
        let bytes = picture.into_raw();
        let pixels = (0..3).flat_map(|c| bytes.iter().skip(c).step_by(3)).copied().collect();
        Ok(Image { channels: 3, height, width, pixels })
    }
}

/// Decode a picture the right way up.
fn decode(path: &Path) -> std::result::Result<DynamicImage, String> {
    let reader =
        ImageReader::open(path).and_then(ImageReader::with_guessed_format).map_err(|e| e.to_string())?;
    let mut decoder = reader.into_decoder().map_err(|e| e.to_string())?;
    let orientation = decoder.orientation().map_err(|e| e.to_string())?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|e| e.to_string())?;
    picture.apply_orientation(orientation);
    Ok(picture)
}
