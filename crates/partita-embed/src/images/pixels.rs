//! Images of one shape, decoded into memory to be trained on.

use super::{Image, ImageShape, Images};
use crate::error::{EmbedError, Result};
use crate::memory;
use rayon::prelude::*;

/// Pixels of all images, one after another.
#[derive(Debug, Clone)]
pub struct Pixels {
    shape: ImageShape,
    bytes: Vec<u8>,
}

impl Pixels {
    /// Decode the images with these indices; with `size`, each is first made a square of that side. Grey images among
    /// coloured ones get three channels too.
    ///
    /// Images of different sizes are an error that names both.
    pub fn load(images: &Images, rows: &[usize], size: Option<usize>) -> Result<Self> {
        let channels = images.channels();
        let made = |image: Image| {
            let image = image.with_channels(channels);
            match size {
                Some(size) => image.square(size),
                None => image,
            }
        };
        let &first = rows.first().ok_or_else(|| EmbedError::Refused("there are no images".into()))?;
        let shape = made(images.get(first)?).shape();
        let advice = || {
            let ([_, h, w], first) = (shape, images.name(first));
            format!("{first} has {h}×{w} pixels; give --size to resize all of them")
        };
        Self::gather(images, rows, shape, made, advice)
    }

    /// Decode the images with these indices for a network that takes images of this shape. If the shape is a square,
    /// images of other sizes are resized to it; channels are added or removed as needed.
    pub fn load_for(shape: ImageShape, images: &Images, rows: &[usize]) -> Result<Self> {
        let [channels, height, width] = shape;
        let made = |image: Image| {
            let image = image.with_channels(channels);
            if height == width { image.square(height) } else { image }
        };
        let advice = || format!("the model takes {height}×{width} pixels; resize it");
        Self::gather(images, rows, shape, made, advice)
    }

    /// All images after `made`, if they then have this shape.
    fn gather(
        images: &Images,
        rows: &[usize],
        shape: ImageShape,
        made: impl Fn(Image) -> Image + Sync,
        advice: impl Fn() -> String + Sync,
    ) -> Result<Self> {
        let len = shape.iter().product::<usize>();
        let need = len as u64 * rows.len() as u64;
        if let Some(free) = memory::free().filter(|&free| need > free) {
            let advice = "give fewer images at a time, or make them smaller".into();
            return Err(EmbedError::Memory { what: "holding the images", need, free, advice });
        }
        let mut bytes = vec![0; len * rows.len()];
        bytes.par_chunks_exact_mut(len).zip(rows).try_for_each(|(out, &i)| {
            let image = images.get(i)?;
            let found = image.shape();
            let image = made(image);
            if image.shape() != shape {
                return Err(EmbedError::OtherShape { name: images.name(i), found, advice: advice() });
            }
            out.copy_from_slice(&image.pixels);
            Ok(())
        })?;
        Ok(Self { shape, bytes })
    }

    /// From pixels in memory, image after image.
    pub fn new(shape: ImageShape, bytes: Vec<u8>) -> Self {
        Self { shape, bytes }
    }

    /// Channels, height and width of each image.
    pub fn shape(&self) -> ImageShape {
        self.shape
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.shape.iter().product::<usize>().max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All pixels, image after image.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Image `i`.
    pub fn get(&self, i: usize) -> Image {
        let [channels, height, width] = self.shape;
        let len = channels * height * width;
        Image { channels, height, width, pixels: self.bytes[i * len..][..len].to_vec() }
    }
}
