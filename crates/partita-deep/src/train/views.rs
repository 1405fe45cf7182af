//! Losses that compare views: IIC and the three stages of SCAN.

use super::Trainer;
use super::params::Aim;
use super::step::{Losses, scalar};
use crate::losses::{contrast, iic, log_sigma, neighbours, with_gradient};
use burn::module::Module;
use burn::tensor::Tensor;
use partita::rng::{Stream, stream};
use rand::RngExt;

impl Trainer<'_> {
    /// The loss of these images, and a tensor with its gradient.
    pub(super) fn views(&mut self, rows: &[usize], epoch: usize) -> (Tensor<1>, Losses) {
        let (tensor, cluster) = match self.params.aim {
            Aim::Iic { heads, .. } => self.iic(rows, epoch, heads),
            Aim::Contrast { temperature, .. } => {
                let [first, second] = [0, 1].map(|view| self.model.forward(self.view(rows, epoch, view)));
                told(contrast(first, second, temperature))
            }
            Aim::Neighbours { entropy } => {
                let partners = self.partners(rows, epoch);
                let first = self.model.forward(self.view(rows, epoch, 0));
                let second = self.model.forward(self.view(&partners, epoch, 1));
                told(neighbours(first, second, entropy))
            }
            Aim::Confident { threshold } => self.confident(rows, epoch, threshold),
            Aim::Core { .. } => unreachable!("losses of the core need no views"),
        };
        (tensor, Losses { cluster, ..Losses::default() })
    }

    /// An image and its view, through all heads.
    fn iic(&mut self, rows: &[usize], epoch: usize, heads: usize) -> (Tensor<1>, f64) {
        let first = self.model.backbone.forward(self.plain(rows));
        let second = self.model.backbone.forward(self.view(rows, epoch, 0));
        let term = |head: &burn::nn::Linear| iic(head.forward(first.clone()), head.forward(second.clone()));
        let terms: Vec<Tensor<1>> = self.model.heads.iter().map(term).collect();
        for (sum, term) in self.head_losses.iter_mut().zip(&terms) {
            *sum += scalar(term);
        }
        told(Tensor::cat(terms, 0).sum() / heads as f32)
    }

    /// One of the neighbours of each image, drawn anew in every epoch.
    fn partners(&self, rows: &[usize], epoch: usize) -> Vec<usize> {
        let n = self.pixels.len();
        let count = self.neighbours.len() / n;
        let draw = |&row: &usize| {
            let mut rng = stream(self.params.seed, Stream::Sample, (epoch * n + row) as u64);
            self.neighbours[row * count + rng.random_range(0..count)] as usize
        };
        rows.iter().map(draw).collect()
    }

    /// The clusters that the network is sure of in the images, taught in their views, all clusters weighing the same.
    fn confident(&self, rows: &[usize], epoch: usize, threshold: f64) -> (Tensor<1>, f64) {
        let k = self.params.k;
        let device = self.device.clone().inner();
        let x = super::model::input(&self.normalise, rows, self.pixels.shape(), &device, |row| {
            self.pixels.get(row)
        });
        let said = log_sigma(&self.model.valid().forward(x));
        let sure = |row: &[f64]| {
            let best = (1..k).fold(0, |best, c| if row[c] > row[best] { c } else { best });
            (row[best].exp() > threshold).then_some(best)
        };
        let labels: Vec<Option<usize>> = said.chunks_exact(k).map(sure).collect();
        let mut sizes = vec![0usize; k];
        labels.iter().flatten().for_each(|&label| sizes[label] += 1);
        let used = sizes.iter().filter(|&&size| size > 0).count();

        let z = self.model.forward(self.view(rows, epoch, 0));
        let log_sigma = log_sigma(&z);
        let (mut value, mut gradient) = (0.0, vec![0.0; log_sigma.len()]);
        for ((label, row), gradient) in
            labels.iter().zip(log_sigma.chunks_exact(k)).zip(gradient.chunks_exact_mut(k))
        {
            let Some(label) = *label else { continue };
            let weight = 1.0 / (sizes[label] * used) as f64;
            value -= weight * row[label];
            gradient.iter_mut().zip(row).for_each(|(g, l)| *g = weight * l.exp());
            gradient[label] -= weight;
        }
        (with_gradient(z, &gradient), value)
    }
}

fn told(loss: Tensor<1>) -> (Tensor<1>, f64) {
    let value = scalar(&loss);
    (loss, value)
}
