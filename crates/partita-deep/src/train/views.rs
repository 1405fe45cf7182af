//! Losses that compare views: IIC and the three stages of SCAN.

use super::Trainer;
use super::ahead::Inputs;
use super::params::Aim;
use super::step::{Losses, scalar};
use crate::losses::{contrast, iic, log_sigma, neighbours, with_gradient};
use burn::module::Module;
use burn::tensor::{Tensor, TensorData, activation::relu};
use partita::simplex::largest;

impl Trainer<'_> {
    /// The loss of these images, and a tensor with its gradient.
    pub(super) fn views(&mut self, inputs: Inputs) -> (Tensor<1>, Losses) {
        let Inputs { rows, first, others } = inputs;
        let mut others: Vec<Tensor<4>> = others.into_iter().map(|view| self.tracked(view)).collect();
        if let Aim::Iic { heads, .. } = self.params.aim {
            let (tensor, cluster) = self.iic(self.tracked(first), others, &rows, heads);
            return (tensor, Losses { cluster, ..Losses::default() });
        }
        let other = others.pop().expect("aims that compare have something to compare with");
        let (tensor, cluster) = match self.params.aim {
            Aim::Contrast { temperature, .. } => {
                with_value(contrast(self.project(self.tracked(first)), self.project(other), temperature))
            }
            Aim::Neighbours { entropy } => {
                let first = self.model.forward(self.tracked(first));
                let second = self.model.forward(other);
                let known = self.known_term(first.clone(), &rows);
                plus(with_value(neighbours(first, second, entropy)), known)
            }
            Aim::Confident { threshold } => self.confident(first, other, &rows, threshold),
            Aim::Core { .. } | Aim::Iic { .. } => unreachable!("they have their own way to compare"),
        };
        (tensor, Losses { cluster, ..Losses::default() })
    }

    /// The projection in which views are compared: two layers on top of the features, so that the features themselves
    /// may still show how views differ.
    fn project(&self, x: Tensor<4>) -> Tensor<2> {
        let [hidden, out] = &self.model.heads[..] else { unreachable!("a projection has two layers") };
        out.forward(relu(hidden.forward(self.model.backbone.forward(x))))
    }

    /// The loss of IIC: images and their views, summed over all heads. With several views, an image and each of them is a pair
    /// of its own, as in the authors' code.
    fn iic(&mut self, x: Tensor<4>, views: Vec<Tensor<4>>, rows: &[usize], heads: usize) -> (Tensor<1>, f64) {
        let first = self.model.backbone.forward(x);
        let seen: Vec<Tensor<2>> = views.into_iter().map(|view| self.model.backbone.forward(view)).collect();
        let (again, second) = match <[Tensor<2>; 1]>::try_from(seen) {
            Ok([second]) => (first.clone(), second),
            Err(seen) => (Tensor::cat(vec![first.clone(); seen.len()], 0), Tensor::cat(seen, 0)),
        };
        let term = |head: &burn::nn::Linear| iic(head.forward(again.clone()), head.forward(second.clone()));
        let terms: Vec<Tensor<1>> = self.model.heads.iter().map(term).collect();
        for (sum, term) in self.head_losses.iter_mut().zip(&terms) {
            *sum += scalar(term);
        }
        let known =
            self.model.heads[..heads].iter().map(|head| self.known_term(head.forward(first.clone()), rows));
        let (tensor, value) = known.fold(with_value(Tensor::cat(terms, 0).sum()), plus);
        (tensor / heads as f32, value / heads as f64)
    }

    /// The label of an image, if it is known.
    fn known_label(&self, row: usize) -> Option<usize> {
        self.known.and_then(|known| usize::try_from(known[row]).ok())
    }

    /// Mean cross-entropy of the known labels, if there are any; it is added to the loss of all images.
    pub(super) fn known_term(&self, z: Tensor<2>, rows: &[usize]) -> Option<(Tensor<1>, f64)> {
        let labels: Vec<Option<usize>> = rows.iter().map(|&row| self.known_label(row)).collect();
        let count = labels.iter().flatten().count();
        (count > 0).then(|| taught(z, &labels, |_| 1.0 / count as f64))
    }

    /// Where the network is sure of an image's cluster, its view learns that cluster; all clusters weigh the same.
    fn confident(
        &mut self,
        images: TensorData,
        views: Tensor<4>,
        rows: &[usize],
        threshold: f64,
    ) -> (Tensor<1>, f64) {
        let k = self.params.k;
        let log_sigma = self.log_sigma(&self.model.valid(), images);
        let sure = |row: &[f64]| {
            let best = largest(row);
            (row[best].exp() > threshold).then_some(best)
        };
        let found: Vec<Option<usize>> = log_sigma.chunks_exact(k).map(sure).collect();
        self.sure += found.iter().flatten().count();
        let labels = rows.iter().zip(found).map(|(&row, found)| self.known_label(row).or(found));
        let labels: Vec<Option<usize>> = labels.collect();
        let mut sizes = vec![0usize; k];
        labels.iter().flatten().for_each(|&label| sizes[label] += 1);
        let used = sizes.iter().filter(|&&size| size > 0).count();

        let z = self.model.forward(views);
        taught(z, &labels, |label| 1.0 / (sizes[label] * used) as f64)
    }
}

/// Cross-entropy of labels and predictions; each row has the weight of its label.
fn taught(z: Tensor<2>, labels: &[Option<usize>], weight: impl Fn(usize) -> f64) -> (Tensor<1>, f64) {
    let k = z.dims()[1];
    let log_sigma = log_sigma(&z);
    let (mut value, mut gradient) = (0.0, vec![0.0; log_sigma.len()]);
    let rows = log_sigma.chunks_exact(k).zip(gradient.chunks_exact_mut(k));
    for (label, (row, gradient)) in labels.iter().zip(rows) {
        let Some(label) = *label else { continue };
        let weight = weight(label);
        value -= weight * row[label];
        gradient.iter_mut().zip(row).for_each(|(g, l)| *g = weight * l.exp());
        gradient[label] -= weight;
    }
    (with_gradient(z, &gradient), value)
}

/// The sum of a loss and an optional second term.
pub(super) fn plus(a: (Tensor<1>, f64), b: Option<(Tensor<1>, f64)>) -> (Tensor<1>, f64) {
    match b {
        Some(b) => (a.0 + b.0, a.1 + b.1),
        None => a,
    }
}

/// A loss and its value.
fn with_value(loss: Tensor<1>) -> (Tensor<1>, f64) {
    let value = scalar(&loss);
    (loss, value)
}
