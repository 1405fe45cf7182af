//! Adam and gradient descent, with separate rates and weight decay for the backbone and the heads.
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

/// How a gradient becomes a step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Adam (Kingma and Ba 2015).
    #[default]
    Adam,
    /// Stochastic gradient descent.
    Sgd {
        /// Share of the last step that the next one keeps.
        momentum: f64,
    },
}

/// What share of the rate is left in an epoch, from 0: half a cosine, from 1 to a thousandth, as in SCAN's first stage.
pub fn cosine(epoch: usize, epochs: usize) -> f64 {
    const LEAST: f64 = 1e-3;
    let turn = std::f64::consts::PI * epoch as f64 / epochs.max(1) as f64;
    LEAST + (1.0 - LEAST) * (1.0 + turn.cos()) / 2.0
}

/// Makes the steps of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimiser {
    /// Pace of the backbone.
    pub backbone: Pace,
    /// Pace of the heads.
    pub heads: Pace,
    /// How a gradient becomes a step.
    pub rule: Rule,
    /// What share of the rates is in use.
    pub share: f64,
    /// Steps made so far.
    pub steps: u64,
    /// Moments by parameter name; gradient descent has only the first, its last step.
    pub moments: BTreeMap<String, Moments>,
}

const BETAS: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// Numbers that one thread updates at a time.
const PIECE: usize = 1 << 14;

impl Optimiser {
    /// Adam before its first step.
    pub fn new(backbone: Pace, heads: Pace) -> Self {
        Self { backbone, heads, rule: Rule::Adam, share: 1.0, steps: 0, moments: BTreeMap::new() }
    }

    /// One step along the gradients.
    pub fn step<M: Module>(&mut self, module: M, gradients: Gradients) -> M {
        self.steps += 1;
        module.map(&mut Step { optimiser: self, place: Place::default(), gradients })
    }

    fn pace(&self, name: &str) -> Pace {
        if name.starts_with("heads.") { self.heads } else { self.backbone }
    }

    /// Update the numbers of a parameter along its gradient.
    fn update(&mut self, name: &str, matrix: bool, numbers: &mut [f32], gradient: &[f32]) {
        let pace = self.pace(name);
        let pace = Pace { rate: pace.rate * self.share, decay: if matrix { pace.decay } else { 0.0 } };
        let moments = self.moments.entry(name.to_owned()).or_default();
        moments.first.resize(numbers.len(), 0.0);
        match self.rule {
            Rule::Adam => adam(pace, self.steps, moments, numbers, gradient),
            Rule::Sgd { momentum } => sgd(pace, momentum as f32, moments, numbers, gradient),
        }
    }
}

fn adam(pace: Pace, steps: u64, moments: &mut Moments, numbers: &mut [f32], gradient: &[f32]) {
    let decay = pace.decay as f32;
    let power = i32::try_from(steps).unwrap_or(i32::MAX);
    let corrections = BETAS.map(|b| 1.0 - f64::from(b).powi(power));
    let rate = (pace.rate / corrections[0]) as f32;
    let root = (1.0 / corrections[1].sqrt()) as f32;
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

fn sgd(pace: Pace, momentum: f32, moments: &mut Moments, numbers: &mut [f32], gradient: &[f32]) {
    let (rate, decay) = (pace.rate as f32, pace.decay as f32);
    let moments = moments.first.par_chunks_mut(PIECE);
    let pieces = numbers.par_chunks_mut(PIECE).zip(gradient.par_chunks(PIECE)).zip(moments);
    pieces.for_each(|((numbers, gradient), last)| {
        for ((w, g), m) in numbers.iter_mut().zip(gradient).zip(last) {
            *m = momentum * *m + (g + decay * *w);
            *w -= rate * *m;
        }
    });
}

struct Step<'a> {
    optimiser: &'a mut Optimiser,
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
        let Some(gradient) = gradient.filter(|_| self.optimiser.pace(&name).rate > 0.0) else { return param };
        let (shape, device) = (tensor.dims(), tensor.device());
        param.map(|old| {
            drop(tensor);
            let mut numbers = values(old.inner());
            self.optimiser.update(&name, D > 1, &mut numbers, &values(gradient));
            Tensor::from_data(TensorData::new(numbers, shape), &device).require_grad()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// w = [1, −2] after steps along the gradients [0.5, −1] and [−0.25, 0.125].
    fn after_two_steps(mut optimiser: Optimiser) -> [f32; 2] {
        let mut w = [1.0, -2.0];
        for gradient in [[0.5, -1.0], [-0.25, 0.125]] {
            optimiser.steps += 1;
            optimiser.update("backbone.w", true, &mut w, &gradient);
        }
        w
    }

    /// By hand, which is what `torch.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.5)` gives: steps 1 and −2, then
    /// 0.9 − 0.25 + 0.45 = 1.1 and −1.8 + 0.125 − 0.9 = −2.575. Half the rate makes half the first step.
    #[test]
    fn steps_of_descent_are_pytorchs() {
        let pace = Pace { rate: 0.1, decay: 0.5 };
        let sgd = Optimiser { rule: Rule::Sgd { momentum: 0.9 }, ..Optimiser::new(pace, pace) };
        for (share, expected) in [(1.0, [0.79, -1.5425]), (0.5, [0.89375, -1.76875])] {
            let w = after_two_steps(Optimiser { share, ..sgd.clone() });
            assert!(w.iter().zip(expected).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6), "{w:?}");
        }
    }

    #[test]
    fn rates_fall_along_half_a_cosine() {
        assert_eq!(cosine(0, 500), 1.0);
        assert!((cosine(250, 500) - 0.5005).abs() < 1e-12);
        assert!(cosine(499, 500) < 0.0011 && cosine(499, 500) > 0.001);
        assert!((1..500).all(|epoch| cosine(epoch, 500) < cosine(epoch - 1, 500)));
    }

    /// Made with PyTorch 2.15: `torch.optim.Adam([w], lr=0.1, weight_decay=0.5)` on w = [1, −2] with the gradients
    /// [0.5, −1] and then [−0.25, 0.125].
    #[test]
    fn steps_are_pytorchs() {
        let pace = Pace { rate: 0.1, decay: 0.5 };
        let w = after_two_steps(Optimiser::new(pace, pace));
        let expected: [f64; 2] = include!("../tests/golden/adam.in");
        for (found, expected) in w.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{w:?} {expected:?}");
        }
    }
}
