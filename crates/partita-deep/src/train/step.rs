//! One training step: compute the loss of a batch and update the network.

use super::Trainer;
use super::ahead::Inputs;
use super::views::plus;
use crate::losses::{core, forward, kl, log_sigma, symmetric_kl};
use crate::nets::Classifier;
use crate::weights::walk::{apart, values};
use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use partita::objective::{Batch, BatchObjective, SelfLabelled, Workspace};

/// What the losses of a run need besides the network.
pub(super) enum Judge {
    /// A loss that finds its labels, if it has any, in the batch itself.
    Batch(Box<dyn BatchObjective>),
    /// A loss with labels kept for an epoch, shape `[n, K]`.
    Epoch(SelfLabelled, Vec<f64>),
    /// A loss that compares two views of an image, or views of an image and its neighbour.
    Views,
}

/// Losses of a step, or their means over an epoch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Losses {
    /// The clustering loss.
    pub cluster: f64,
    /// The loss of the views, times its weight.
    pub pairs: f64,
    /// The loss of virtual adversarial training, times its weight.
    pub disturb: f64,
}

impl Losses {
    pub fn total(&self) -> f64 {
        self.cluster + self.pairs + self.disturb
    }
}

impl Trainer<'_> {
    /// Make one descent step on the loss of these images.
    pub(super) fn step(&mut self, inputs: Inputs, judge: &Judge) -> Losses {
        let (loss, losses) = match judge {
            Judge::Views => self.views(inputs),
            _ => self.clusters(inputs, judge),
        };
        let model = self.model.clone();
        self.model = self.adam.step(model, loss.backward());
        losses
    }

    fn clusters(&mut self, inputs: Inputs, judge: &Judge) -> (Tensor<1>, Losses) {
        let rise = match self.params.warm_up {
            0 => 1.0,
            warm_up => (self.adam.steps as f64 / (warm_up * self.batches()) as f64).min(1.0),
        };
        let (pairs, disturb) = (self.params.pairs * rise, self.params.disturb * rise);
        let Inputs { rows, first, others } = inputs;
        let x = self.tracked(first);
        let z = self.model.forward(x.clone());
        let judged = self.judged(z.clone(), &rows, judge);
        // If known labels only replaced the labels of their own rows, a few of them would hardly count.
        let (mut loss, cluster) = plus(judged, self.known_term(z.clone(), &rows));
        let mut losses = Losses { cluster, ..Losses::default() };
        // Where the weight of the views is still 0, they are not looked at.
        for view in others.into_iter().filter(|_| pairs > 0.0) {
            let term = symmetric_kl(z.clone(), self.model.forward(self.tracked(view))) * pairs as f32;
            losses.pairs += scalar(&term);
            loss = loss + term;
        }
        if disturb > 0.0 {
            // Finding the disturbance needs no gradient of the weights, and disturbed images count in no running mean.
            let still = self.model.valid().train().no_grad();
            let draw = (self.params.seed, self.adam.steps);
            let r = self.params.vat.disturbance(&x, &z, draw, |x| still.forward(x));
            let term = kl(z.detach(), apart(&self.model).forward(x + r)) * disturb as f32;
            losses.disturb = scalar(&term);
            loss = loss + term;
        }
        (loss, losses)
    }

    /// A tensor with the gradient of the clustering loss, and its value.
    fn judged(&mut self, z: Tensor<2>, rows: &[usize], judge: &Judge) -> (Tensor<1>, f64) {
        let known: Option<Vec<i32>> = self.known.map(|known| rows.iter().map(|&row| known[row]).collect());
        let (k, weight, ws) = (self.params.k, self.forward_weight(), &mut self.workspace);
        let term = core(z, known.as_deref(), |batch, gradient| {
            let value = match judge {
                Judge::Batch(objective) => objective.value_and_gradient(batch, gradient, ws),
                Judge::Epoch(objective, labels) => {
                    ws.y = rows.iter().flat_map(|&row| &labels[row * k..][..k]).copied().collect();
                    objective.with_labels(batch, gradient, ws)
                }
                Judge::Views => unreachable!("views have no labels"),
            };
            match weight > 0.0 {
                true => value + forward(batch.log_sigma, &ws.y, k, weight, gradient),
                false => value,
            }
        });
        self.count(&term.log_sigma);
        (term.tensor, term.value)
    }

    /// Weight of the forward half of the tie: it falls from 1 at the first step to 0, and the rest of the run minimises
    /// the loss alone.
    pub(super) fn forward_weight(&self) -> f64 {
        let (epochs, fading) = (self.params.epochs as f64, self.params.forward_epochs(self.known.is_some()));
        if fading == 0.0 {
            return 0.0;
        }
        let done = self.adam.steps as f64 / (epochs * self.batches() as f64);
        (1.0 - done / (fading / epochs)).max(0.0)
    }

    /// Add the mean prediction of a batch to that of the epoch.
    fn count(&mut self, log_sigma: &[f64]) {
        let k = self.params.k;
        let n = (log_sigma.len() / k) as f64;
        for row in log_sigma.chunks_exact(k) {
            self.shares.iter_mut().zip(row).for_each(|(share, l)| *share += l.exp() / n);
        }
    }

    /// Images as a tensor for training.
    pub(super) fn tracked(&self, images: TensorData) -> Tensor<4> {
        Tensor::from_data(images, &self.device)
    }

    /// ln σ of images from the first head of a network that is not being trained.
    pub(super) fn log_sigma(&self, still: &Classifier, images: TensorData) -> Vec<f64> {
        log_sigma(&still.forward(Tensor::from_data(images, &self.device.clone().inner())))
    }

    /// Labels of all images, for an epoch that takes them in this order. Each batch is normalised by its own moments,
    /// as in training: running means lag behind the weights, and a new network has none.
    pub(super) fn label_all(&self, objective: &SelfLabelled, order: &[usize]) -> Vec<f64> {
        let (n, k) = (order.len(), self.params.k);
        let batch = self.params.batch.min(n);
        let still = self.model.valid().train().no_grad();
        let mut all = vec![0.0; n * k];
        for start in (0..n).step_by(batch) {
            // The last batch is filled up with images of the one before, so that it is as large as the others.
            let rows = &order[start.min(n - batch)..][..batch];
            let predicted = log_sigma(&still.forward(self.tracked(self.source.plain(rows))));
            for (row, predicted) in rows.iter().zip(predicted.chunks_exact(k)) {
                all[row * k..][..k].copy_from_slice(predicted);
            }
        }
        let mut ws = Workspace::default();
        objective.label(Batch { log_sigma: &all, k, weights: None, known: self.known }, &mut ws);
        ws.y
    }
}

pub(super) fn scalar(tensor: &Tensor<1>) -> f64 {
    values(tensor.clone()).first().map_or(f64::NAN, |v| f64::from(*v))
}
