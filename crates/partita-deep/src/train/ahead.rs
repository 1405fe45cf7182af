//! Images of a batch as the numbers that the network takes. They depend only on the seed, the epoch and the rows, so
//! they are made on all cores while the network still works on the previous batch.

use super::Params;
use super::params::Aim;
use crate::augment::{Augment, Draw};
use burn::tensor::TensorData;
use partita::rng::{Stream, stream};
use partita_embed::images::Pixels;
use partita_embed::photos::Normalise;
use rand::RngExt;
use rayon::prelude::*;

/// How an image is presented.
#[derive(Debug, Clone, Copy)]
enum Look {
    /// Unchanged.
    Plain,
    /// The view with this number within the epoch.
    View(u64),
}

/// Where batches come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub pixels: &'a Pixels,
    pub neighbours: &'a [u32],
    pub params: &'a Params,
    pub normalise: Normalise,
}

/// The images of a batch, and the images that the aim compares them with.
pub(super) struct Inputs {
    /// Their indices among all images.
    pub rows: Vec<usize>,
    /// The images.
    pub first: TensorData,
    /// Views of each image or of its partner.
    pub others: Vec<TensorData>,
}

impl Source<'_> {
    /// The inputs that a step of an epoch makes from these images.
    pub fn inputs(&self, rows: &[usize], epoch: usize) -> Inputs {
        use Look::{Plain, View};
        let partners;
        let (first, (compared, views)) = match self.params.aim {
            // A view takes the image's place unless the two are compared.
            Aim::Core { .. } if self.params.pairs == 0.0 => (View(0), (rows, 0..0)),
            Aim::Core { .. } | Aim::Iic { .. } => (Plain, (rows, 0..self.params.views as u64)),
            Aim::Confident { .. } => (Plain, (rows, 0..1)),
            Aim::Contrast { .. } => (View(0), (rows, 1..2)),
            Aim::Neighbours { .. } => {
                partners = self.partners(rows, epoch);
                (View(0), (partners.as_slice(), 1..2))
            }
        };
        Inputs {
            rows: rows.to_vec(),
            first: self.look(rows, epoch, first),
            others: views.map(|view| self.look(compared, epoch, View(view))).collect(),
        }
    }

    /// The images as they are.
    pub fn plain(&self, rows: &[usize]) -> TensorData {
        super::model::input(&self.normalise, rows, self.pixels)
    }

    fn look(&self, rows: &[usize], epoch: usize, look: Look) -> TensorData {
        match look {
            Look::View(number) if self.params.augment != Augment::default() => {
                // No aim compares more than two views unless more are asked for.
                let each = self.params.views.max(2) as u64;
                self.view(rows, each * epoch as u64 + number)
            }
            _ => self.plain(rows),
        }
    }

    /// A view of each image.
    fn view(&self, rows: &[usize], view: u64) -> TensorData {
        let [c, h, w] = self.pixels.shape();
        let numbers = rows.par_iter().flat_map_iter(|&row| {
            let draw = Draw { seed: self.params.seed, view, row: row as u64 };
            let values = self.params.augment.apply(&self.pixels.get(row), draw);
            self.normalise.of_values(&values, h * w)
        });
        TensorData::new(numbers.collect::<Vec<f32>>(), [rows.len(), c, h, w])
    }

    /// One random neighbour of each image, drawn anew in every epoch.
    fn partners(&self, rows: &[usize], epoch: usize) -> Vec<usize> {
        let n = self.pixels.len();
        let count = self.neighbours.len() / n;
        let draw = |&row: &usize| {
            let mut rng = stream(self.params.seed, Stream::Sample, (epoch * n + row) as u64);
            self.neighbours[row * count + rng.random_range(0..count)] as usize
        };
        rows.iter().map(draw).collect()
    }
}
