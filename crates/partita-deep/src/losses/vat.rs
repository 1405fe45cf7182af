//! Virtual adversarial training: predictions must not change where they would change most.

use super::kl;
use burn::tensor::{Tensor, TensorData};
use partita::rng::{Stream, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// KL(σ(x)‖σ(x + r)) for the r of length ε that increases it most, found by one power step (Miyato et al. 2018).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vat {
    /// Length of r, in units of the network's input.
    pub epsilon: f64,
    /// Length of the random disturbance that is used to find r.
    pub xi: f64,
}

impl Default for Vat {
    fn default() -> Self {
        Self { epsilon: 2.0, xi: 10.0 }
    }
}

impl Vat {
    /// The disturbance r of every image.
    ///
    /// `logits` gives the network's logits without tracking its weights; `z` are those of `x`. The random direction
    /// depends on the seed and the number of the step.
    pub fn disturbance(
        &self,
        x: &Tensor<4>,
        z: &Tensor<2>,
        (seed, step): (u64, u64),
        logits: impl Fn(Tensor<4>) -> Tensor<2>,
    ) -> Tensor<4> {
        let direction = unit(random(x, seed, step)) * self.xi as f32;
        let direction = direction.require_grad();
        let loss = kl(z.clone().detach(), logits(x.clone().detach() + direction.clone()));
        match direction.grad(&loss.backward()) {
            Some(gradient) => Tensor::from_inner(unit(gradient)) * self.epsilon as f32,
            None => direction.detach() * (self.epsilon / self.xi) as f32,
        }
    }
}

/// Normal random numbers in the shape of `x`; each image has its own random stream.
pub(super) fn random(x: &Tensor<4>, seed: u64, step: u64) -> Tensor<4> {
    let [n, c, h, w] = x.dims();
    let m = c * h * w;
    let mut numbers = vec![0f32; n * m];
    use rayon::prelude::*;
    numbers.par_chunks_mut(m).enumerate().for_each(|(row, out)| {
        let mut rng = stream(seed, Stream::Disturb, step * n as u64 + row as u64);
        // The sum of four uniform numbers is close enough to normal for a direction in many dimensions.
        out.iter_mut().for_each(|o| *o = (0..4).map(|_| rng.random::<f32>() - 0.5).sum());
    });
    Tensor::from_data(TensorData::new(numbers, [n, c, h, w]), &x.device())
}

/// Every image divided by its norm.
fn unit(x: Tensor<4>) -> Tensor<4> {
    let shape = x.dims();
    super::contrast::unit(x.flatten(1, 3)).reshape(shape)
}
