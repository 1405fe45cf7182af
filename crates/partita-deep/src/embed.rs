//! Features of images by a trained network.

use crate::error::{DeepError, Result};
use crate::images::{Image, Images};
use crate::nets::{Backbone, Net};
use crate::weights::walk::values;
use burn::tensor::{Device, Tensor, TensorData};
use partita::report::{Flow, Observer, Progress, StopReason};
use rayon::prelude::*;
use std::ops::Range;

/// Turns pixels from 0 to 255 into the numbers that a network expects: (x/255 − mean)/deviation for every channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalise {
    /// Subtracted from each channel.
    pub mean: [f32; 3],
    /// Each channel is divided by this.
    pub deviation: [f32; 3],
}

impl Normalise {
    /// As torchvision's networks expect it.
    pub const IMAGENET: Self = Self { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
    /// As EfficientNet-Lite expects it: (x − 127)/128.
    pub const LITE: Self = Self { mean: [127.0 / 255.0; 3], deviation: [128.0 / 255.0; 3] };

    /// As Keras' and Caffe's networks expect it: x minus the mean of its channel, not scaled.
    pub const CAFFE: Self =
        Self { mean: [123.68 / 255.0, 116.779 / 255.0, 103.939 / 255.0], deviation: [1.0 / 255.0; 3] };

    /// Values from 0 to 1.
    pub const PLAIN: Self = Self { mean: [0.0; 3], deviation: [1.0; 3] };

    /// What the usual weights of a network expect: large networks have weights from ImageNet, small ones are trained
    /// here.
    pub fn of(net: Net) -> Self {
        match net {
            Net::Linear | Net::Mlp | Net::Vgg4 | Net::Resnet18Cifar => Self::PLAIN,
            Net::Resnet18 | Net::Resnet50 | Net::Mobilenetv2 => Self::IMAGENET,
            Net::Resnet50Keras => Self::CAFFE,
            Net::EfficientnetLite0 => Self::LITE,
        }
    }

    /// Append the numbers of an image to `out`, channel after channel.
    pub fn append(&self, image: &Image, out: &mut Vec<f32>) {
        for (c, plane) in image.pixels.chunks_exact(image.height * image.width).enumerate() {
            let (scale, shift) = self.line(c);
            out.extend(plane.iter().map(|&p| f32::from(p) * scale + shift));
        }
    }

    /// The same for values from 0 to 255 that are no longer whole numbers, with `plane` values per channel.
    pub(crate) fn of_values(&self, values: &[f32], plane: usize) -> Vec<f32> {
        let planes = values.chunks_exact(plane).enumerate();
        let normalised = planes.flat_map(|(c, values)| {
            let (scale, shift) = self.line(c);
            values.iter().map(move |v| v * scale + shift)
        });
        normalised.collect()
    }

    /// The scale and shift of a channel.
    fn line(&self, c: usize) -> (f32, f32) {
        (1.0 / (255.0 * self.deviation[c]), -self.mean[c] / self.deviation[c])
    }
}

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
    pub fn new(backbone: Backbone, net: Net, size: usize, device: Device) -> Self {
        Self {
            backbone,
            normalise: Normalise::of(net),
            size,
            features: net.features([3, size, size]),
            device,
        }
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
