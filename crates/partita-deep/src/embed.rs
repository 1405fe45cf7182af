//! Features of images by a trained network.

use crate::error::{DeepError, Result};
use crate::images::Images;
use crate::nets::{Backbone, Net};
pub use crate::normalise::Normalise;
use crate::weights::walk::values;
use burn::tensor::{Device, Tensor, TensorData};
use partita::report::{Flow, Observer, Progress, StopReason};
use rayon::prelude::*;
use std::ops::Range;

/// How images become features.
#[derive(Debug)]
pub struct Embedder {
    backbone: Backbone,
    normalise: Normalise,
    size: usize,
    features: usize,
    device: Device,
}

/// Images per batch: few, because the maps of a batch should stay in the processor's cache.
const BATCH: usize = 32;

impl Embedder {
    /// Features of images resized to `size`, made by `backbone`, which is a network of kind `net`.
    pub fn new(backbone: Backbone, net: Net, normalise: Normalise, size: usize, device: Device) -> Self {
        Self { backbone, normalise, size, features: net.features([3, size, size]), device }
    }

    /// Number of features of an image.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Pass the features of the images with the indices `rows[range]` to `sink`, batch by batch, row after row.
    ///
    /// Images are decoded and resized on all cores while the network works on the previous batch.
    pub fn run(
        &self,
        images: &Images,
        rows: &[usize],
        range: Range<usize>,
        observer: &dyn Observer,
        mut sink: impl FnMut(&[f32]) -> Result<()>,
    ) -> Result<StopReason> {
        let (mut done, n) = (range.start, rows.len());
        let mut batches = rows[range].chunks(BATCH);
        let mut next = batches.next().map(|batch| self.prepare(images, batch));
        while let Some(batch) = next.take() {
            let (count, numbers) = batch?;
            let (features, prepared) = rayon::join(
                || self.features_of(count, numbers),
                || batches.next().map(|batch| self.prepare(images, batch)),
            );
            if features.iter().any(|v| !v.is_finite()) {
                let first = images.name(rows[done]);
                let problem = format!(
                    "the network gives no finite numbers for {first}, or one of the {count} images from there on; its weights are broken"
                );
                return Err(DeepError::Option(problem));
            }
            sink(&features)?;
            (done, next) = (done + count, prepared);
            let progress = Progress { stage: "embedding", done: done as f64 / n as f64, loss: None };
            if observer.progress(progress) == Flow::Stop {
                return Ok(StopReason::Interrupted);
            }
        }
        Ok(StopReason::Finished)
    }

    fn features_of(&self, count: usize, numbers: Vec<f32>) -> Vec<f32> {
        let data = TensorData::new(numbers, [count, 3, self.size, self.size]);
        values(self.backbone.forward(Tensor::from_data(data, &self.device)))
    }

    fn prepare(&self, images: &Images, rows: &[usize]) -> Result<(usize, Vec<f32>)> {
        let prepared = rows.par_iter().map(|&i| {
            let image = images.get(i)?.coloured().square(self.size);
            let mut numbers = Vec::with_capacity(image.pixels.len());
            self.normalise.append(&image, &mut numbers);
            Ok(numbers)
        });
        let prepared: Vec<Vec<f32>> = prepared.collect::<Result<_>>()?;
        Ok((rows.len(), prepared.concat()))
    }
}
