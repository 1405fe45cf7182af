//! A folder of pictures, or a single picture; sub-folders, if there are any, are classes.

use super::jpeg::is_cut;
use super::{Age, Image, age, files_below, shown};
use crate::error::{EmbedError, Result};
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use memmap2::Mmap;
use partita_data::{DataError, open_regular, unpanicked};
use std::ffi::OsString;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Extensions of the pictures that are read.
const EXTENSIONS: [&str; 8] = ["png", "jpg", "jpeg", "bmp", "gif", "webp", "ppm", "pgm"];

/// Memory that a decoded picture may take.
const MOST_BYTES: u64 = 1 << 29;
/// Memory that a decoder may take besides, however small the picture is.
const BUFFERS: u64 = 16 << 20;

#[derive(Debug)]
pub(super) struct Folder {
    base: PathBuf,
    files: Vec<PathBuf>,
}

impl Folder {
    /// The pictures of a folder, or a single picture.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            let io = |source| DataError::Io { path: path.to_owned(), action: "open", source };
            path.metadata().map_err(io)?;
            let base = path.parent().unwrap_or(path).to_owned();
            return Ok(Self { base, files: vec![path.to_owned()] });
        }
        let mut files = files_below(path, &[])?;
        files.retain(|file| is_picture(file));
        Ok(Self { base: path.to_owned(), files })
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn name(&self, i: usize) -> String {
        shown(&self.files[i], &self.base)
    }

    /// The sub-folder of each picture, if every picture is in one.
    pub fn classes(&self) -> Option<Vec<OsString>> {
        let class = |file: &PathBuf| {
            let mut parts = file.strip_prefix(&self.base).ok()?.components();
            let first = parts.next()?.as_os_str().to_owned();
            parts.next().map(|_| first)
        };
        self.files.iter().map(class).collect()
    }

    /// Size and age of a picture's file.
    pub fn age(&self, i: usize) -> Age {
        age(&self.files[i].metadata().ok()?)
    }

    /// The bytes of a picture's file.
    pub fn bytes(&self, i: usize) -> Result<Mmap> {
        mapped(&self.files[i]).map_err(|problem| EmbedError::Image { name: self.name(i), problem })
    }

    pub fn get(&self, i: usize) -> Result<Image> {
        let problem = |problem: String| EmbedError::Image { name: self.name(i), problem };
        // The decoders are third-party code: if a hostile file makes one panic, the file is reported.
        let decoded = unpanicked(|| decode(&self.files[i]));
        let decoded = decoded.unwrap_or_else(|| Err("its structure contradicts itself".into()));
        // Messages of decoders may have more than one line.
        let picture = decoded.map_err(|told| problem(told.replace('\n', " ")))?.to_rgb8();
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        if width == 0 || height == 0 {
            return Err(problem("it has no pixels".into()));
        }
        let bytes = picture.into_raw();
        let pixels = (0..3).flat_map(|c| bytes.iter().skip(c).step_by(3)).copied().collect();
        Ok(Image { channels: 3, height, width, pixels })
    }
}

/// Whether a file is named like a picture.
pub fn is_picture(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    EXTENSIONS.contains(&&*extension)
}

/// The bytes of a file.
fn mapped(path: &Path) -> std::result::Result<Mmap, String> {
    // A pipe or a device among the pictures could keep the decoder waiting for ever.
    let file = open_regular(path).map_err(|e| e.to_string())?;
    // SAFETY: if another program shortens the file while it is mapped, this program ends, as everywhere in Partita.
    unsafe { Mmap::map(&file) }.map_err(|e| e.to_string())
}

/// Decode a picture the right way up.
fn decode(path: &Path) -> std::result::Result<DynamicImage, String> {
    let bytes = mapped(path)?;
    if is_cut(&bytes) {
        return Err("it is cut short: its last part is missing".into());
    }
    let reader =
        ImageReader::new(Cursor::new(&bytes[..])).with_guessed_format().map_err(|e| e.to_string())?;
    let mut decoder = reader.into_decoder().map_err(|e| e.to_string())?;
    // A few bytes can claim any size, and running out of memory would end the program.
    let (bytes, (w, h)) = (decoder.total_bytes(), decoder.dimensions());
    if bytes > MOST_BYTES {
        return Err(format!("its {w}×{h} pixels would take {:.1} GB of memory", bytes as f64 / 1e9));
    }
    // A frame of an animation can claim more pixels than the picture has.
    let mut limits = Limits::default();
    limits.max_alloc = Some(8 * bytes + BUFFERS);
    decoder.set_limits(limits).map_err(|e| e.to_string())?;
    let orientation = decoder.orientation().map_err(|e| e.to_string())?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|e| e.to_string())?;
    picture.apply_orientation(orientation);
    Ok(picture)
}
