//! Losses of a network's logits.
//!
//! The losses of a batch of predictions are the core's own: their gradient d/dz, in double precision, is put on the
//! graph as a constant, so that the network minimises exactly what the linear engine minimises. Losses that compare two
//! views of the same images are written with tensors here.

mod contrast;
mod fixed;
mod forward;
mod iic;
mod pairs;
mod vat;

pub use contrast::{contrast, neighbours};
pub use fixed::{Direction, fixed};
pub use forward::forward;
pub use iic::iic;
pub use pairs::{kl, symmetric_kl};
pub use vat::Vat;

use crate::weights::walk::values;
use burn::tensor::{Tensor, TensorData};
use partita::objective::Batch;
use partita::simplex::log_softmax_rows;

/// The loss of a batch: its value, and a tensor with the gradient of the loss.
#[derive(Debug, Clone)]
pub struct Term {
    /// The loss.
    pub value: f64,
    /// To be added to other terms and minimised; only its gradient has a meaning.
    pub tensor: Tensor<1>,
    /// ln σ of the batch, row after row.
    pub log_sigma: Vec<f64>,
}

/// ln σ of logits, row after row, in double precision.
pub fn log_sigma(z: &Tensor<2>) -> Vec<f64> {
    let mut out = Vec::new();
    log_softmax_rows(values(z.clone()).into_iter(), z.dims()[1], &mut out);
    out
}

/// A loss of the core on logits `z`, shape `[n, K]`; known labels are −1 where unknown. `loss` returns the value and
/// writes d/dz into its second argument, which is 0 before.
pub fn core(z: Tensor<2>, known: Option<&[i32]>, loss: impl FnOnce(Batch<'_>, &mut [f64]) -> f64) -> Term {
    let log_sigma = log_sigma(&z);
    let mut gradient = vec![0.0; log_sigma.len()];
    let batch = Batch { log_sigma: &log_sigma, k: z.dims()[1], weights: None, known };
    let value = loss(batch, &mut gradient);
    Term { value, tensor: with_gradient(z, &gradient), log_sigma }
}

/// A tensor whose gradient with respect to `z` is the one given.
pub fn with_gradient(z: Tensor<2>, gradient: &[f64]) -> Tensor<1> {
    let gradient: Vec<f32> = gradient.iter().map(|g| *g as f32).collect();
    let constant = Tensor::<2>::from_data(TensorData::new(gradient, z.dims()), &z.device());
    (z * constant).sum()
}

#[cfg(test)]
mod tests;
