//! Images of one shape, decoded into memory to be trained on.

use super::{Image, Images};
use crate::error::{DeepError, Result};
use crate::nets::ImageShape;
use rayon::prelude::*;

/// Pixels of all images, one after another.
#[derive(Debug, Clone)]
pub struct Pixels {
    shape: ImageShape,
    bytes: Vec<u8>,
}

impl Pixels {
    /// Decode the images with these numbers; with `size` each is first made a square of that side.
    ///
    /// Images of different shapes are an error that names both.
    pub fn load(images: &Images, rows: &[usize], size: Option<usize>) -> Result<Self> {
        let decode = |&i: &usize| -> Result<Image> {
            let image = images.get(i)?;
            Ok(size.map_or_else(|| image.clone(), |size| image.square(size)))
        };
        let first =
            rows.first().map(decode).ok_or_else(|| DeepError::Option("there are no images".into()))??;
        let shape = first.shape();
        let len = shape.iter().product::<usize>();
        let mut bytes = vec![0; len * rows.len()];
        bytes.par_chunks_exact_mut(len).zip(rows).try_for_each(|(out, i)| {
            let image = decode(i)?;
            if image.shape() != shape {
                let ([c, h, w], [fc, fh, fw]) = (image.shape(), shape);
                let first = images.name(rows[0]);
                let problem = format!(
                    "it has {c} channels and {h}×{w} pixels, but {first} has {fc} and {fh}×{fw}; give --size to make all alike"
                );
                return Err(DeepError::Image { name: images.name(*i), problem });
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

    /// Image `i`.
    pub fn get(&self, i: usize) -> Image {
        let [channels, height, width] = self.shape;
        let len = channels * height * width;
        Image { channels, height, width, pixels: self.bytes[i * len..][..len].to_vec() }
    }
}
