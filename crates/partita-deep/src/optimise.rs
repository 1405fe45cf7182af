//! Adam, with separate rates and weight decay for the backbone and the heads.
//!
//! The moments are plain numbers under the parameters' names, so that a checkpoint can hold them; each parameter is
//! updated in one pass over its numbers.

use crate::weights::walk::{Place, values};
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Gradients, Tensor, TensorData};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How fast a part of a network learns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Learning rate; 0 freezes the part.
    pub rate: f64,
    /// Weight decay for weights, but not for biases and normalisation: the gradient of ½·decay·‖W‖² is added.
    pub decay: f64,
}

/// The two moments of a parameter's gradient.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moments {
    /// Mean of the gradient.
    pub first: Vec<f32>,
    /// Mean of its square.
    pub second: Vec<f32>,
}

/// Adam (Kingma and Ba 2015).
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    /// Pace of the backbone.
    pub backbone: Pace,
    /// Pace of the heads.
    pub heads: Pace,
    /// Steps made so far.
    pub steps: u64,
    /// Moments by parameter name.
    pub moments: BTreeMap<String, Moments>,
}

const BETAS: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// Numbers that one thread updates at a time.
const PIECE: usize = 1 << 14;

impl Adam {
    /// Adam before its first step.
    pub fn new(backbone: Pace, heads: Pace) -> Self {
        Self { backbone, heads, steps: 0, moments: BTreeMap::new() }
    }

    /// One step along the gradients.
    pub fn step<M: Module>(&mut self, module: M, gradients: Gradients) -> M {
        self.steps += 1;
        module.map(&mut Step { adam: self, place: Place::default(), gradients })
    }

    fn pace(&self, name: &str) -> Pace {
        if name.starts_with("heads.") { self.heads } else { self.backbone }
    }

    /// Update the numbers of a parameter along its gradient.
    fn update(&mut self, name: &str, matrix: bool, numbers: &mut [f32], gradient: &[f32]) {
        let pace = self.pace(name);
        let decay = if matrix { pace.decay as f32 } else { 0.0 };
        let power = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let corrections = BETAS.map(|b| 1.0 - f64::from(b).powi(power));
        let rate = (pace.rate / corrections[0]) as f32;
        let root = (1.0 / corrections[1].sqrt()) as f32;
        let moments = self.moments.entry(name.to_owned()).or_default();
        moments.first.resize(numbers.len(), 0.0);
        moments.second.resize(numbers.len(), 0.0);
        let moments = moments.first.par_chunks_mut(PIECE).zip(moments.second.par_chunks_mut(PIECE));
        let pieces = numbers.par_chunks_mut(PIECE).zip(gradient.par_chunks(PIECE)).zip(moments);
        pieces.for_each(|((numbers, gradient), (first, second))| {
            for (((w, g), m), v) in numbers.iter_mut().zip(gradient).zip(first).zip(second) {
                let g = g + decay * *w;
                *m += (1.0 - BETAS[0]) * (g - *m);
                *v += (1.0 - BETAS[1]) * (g * g - *v);
                *w -= rate * *m / (root * v.sqrt() + EPSILON);
            }
        });
    }
}

struct Step<'a> {
    adam: &'a mut Adam,
    place: Place,
    gradients: Gradients,
}

impl ModuleMapper for Step<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.place.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let tensor = param.val();
        let name = self.place.name();
        let gradient = tensor.grad_remove(&mut self.gradients);
        let Some(gradient) = gradient.filter(|_| self.adam.pace(&name).rate > 0.0) else { return param };
        let (shape, device) = (tensor.dims(), tensor.device());
        param.map(|old| {
            drop(tensor);
            let mut numbers = values(old.inner());
            self.adam.update(&name, D > 1, &mut numbers, &values(gradient));
            Tensor::from_data(TensorData::new(numbers, shape), &device).require_grad()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with PyTorch 2.15: `torch.optim.Adam([w], lr=0.1, weight_decay=0.5)` on w = [1, −2] with the gradients
    /// [0.5, −1] and then [−0.25, 0.125].
    #[test]
    fn steps_are_pytorchs() {
        let pace = Pace { rate: 0.1, decay: 0.5 };
        let mut adam = Adam::new(pace, pace);
        let mut w = [1.0, -2.0];
        for gradient in [[0.5, -1.0], [-0.25, 0.125]] {
            adam.steps += 1;
            adam.update("backbone.w", true, &mut w, &gradient);
        }
        let expected: [f64; 2] = include!("../tests/golden/adam.in");
        for (found, expected) in w.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{w:?} {expected:?}");
        }
    }
}
