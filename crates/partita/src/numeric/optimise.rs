//! Updating weights: stochastic gradient descent with momentum, and Adam; and the schedule both follow.

use super::vector;
use serde::{Deserialize, Serialize};

/// Optimiser of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Optimiser {
    /// Stochastic gradient descent on batches.
    Sgd {
        /// Share of the last update that is repeated, from 0 (none) to below 1.
        momentum: f64,
    },
    /// Adam on batches, with its usual constants.
    Adam,
    /// Limited-memory BFGS on all rows at once: for small data.
    Lbfgs,
}

impl Default for Optimiser {
    fn default() -> Self {
        Self::Sgd { momentum: 0.0 }
    }
}

/// Biases learn this much slower than weights: they answer to the size of a cluster alone, and at the pace of the
/// weights one cluster takes every row before directions have formed (measured on image features).
pub const BIAS_PACE: f32 = 1e-3;

const ADAM_MEAN: f32 = 0.9;
const ADAM_SQUARE: f32 = 0.999;
const ADAM_FLOOR: f32 = 1e-8;

/// Learning rate and norm weight along the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Learning rate at the start.
    pub rate: f64,
    /// Share of the steps at the full rate; it then falls linearly to `last_rate`.
    pub hold: f64,
    /// Share of the rate at the end.
    pub last_rate: f64,
    /// Final weight γ of the norm.
    pub gamma: f64,
    /// γ starts this many times larger and falls geometrically ...
    pub anneal: f64,
    /// ... until this share of the steps.
    pub anneal_until: f64,
}

impl Schedule {
    /// Learning rate and γ after the share `t` of all steps.
    pub fn at(&self, t: f64) -> (f64, f64) {
        let fall = ((t - self.hold) / (1.0 - self.hold)).clamp(0.0, 1.0);
        let rate = self.rate * (1.0 - fall * (1.0 - self.last_rate));
        let gamma = self.gamma * self.anneal.powf((1.0 - t / self.anneal_until).max(0.0));
        (rate, gamma)
    }
}

/// One update's numbers.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Learning rate of the weights.
    pub rate: f32,
    /// 2γ: the norm's pull.
    pub decay: f32,
    /// Number of this update, from 1.
    pub step: u32,
}

/// What an optimiser remembers of one group of numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Optimiser {
    /// Move `values` against `gradient` plus `pace.decay` times themselves.
    pub fn update(&self, values: &mut [f32], gradient: &[f32], memory: &mut Memory, pace: Pace) {
        match *self {
            Self::Sgd { momentum: 0.0 } | Self::Lbfgs => vector::dispatch(
                #[inline(always)]
                || descend(values, gradient, pace),
            ),
            Self::Sgd { momentum } => {
                memory.first.resize(values.len(), 0.0);
                vector::dispatch(
                    #[inline(always)]
                    || momentum_step(values, gradient, &mut memory.first, momentum as f32, pace),
                );
            }
            Self::Adam => {
                memory.first.resize(values.len(), 0.0);
                memory.second.resize(values.len(), 0.0);
                vector::dispatch(
                    #[inline(always)]
                    || adam_step(values, gradient, memory, pace),
                );
            }
        }
    }
}

#[inline(always)]
fn descend(values: &mut [f32], gradient: &[f32], Pace { rate, decay, .. }: Pace) {
    // The norm's pull is taken implicitly: it shrinks the weights whatever the rate, and cannot overshoot.
    let shrink = 1.0 / (1.0 + rate * decay);
    for (w, g) in values.iter_mut().zip(gradient) {
        *w = (*w - rate * g) * shrink;
    }
}

#[inline(always)]
fn momentum_step(
    values: &mut [f32],
    gradient: &[f32],
    velocity: &mut [f32],
    momentum: f32,
    Pace { rate, decay, .. }: Pace,
) {
    // The norm's pull is implicit here too. It has no velocity, so it gets at once what a velocity would add up to.
    let shrink = 1.0 / (1.0 + rate * decay / (1.0 - momentum));
    for ((w, g), v) in values.iter_mut().zip(gradient).zip(velocity) {
        *v = momentum * *v + g;
        *w = (*w - rate * *v) * shrink;
    }
}

#[inline(always)]
fn adam_step(values: &mut [f32], gradient: &[f32], memory: &mut Memory, Pace { rate, decay, step }: Pace) {
    let mean_scale = 1.0 / (1.0 - ADAM_MEAN.powi(step as i32));
    let square_scale = 1.0 / (1.0 - ADAM_SQUARE.powi(step as i32));
    let state = memory.first.iter_mut().zip(&mut memory.second);
    for ((w, g), (m, v)) in values.iter_mut().zip(gradient).zip(state) {
        let g = g + decay * *w;
        *m = ADAM_MEAN * *m + (1.0 - ADAM_MEAN) * g;
        *v = ADAM_SQUARE * *v + (1.0 - ADAM_SQUARE) * g * g;
        *w -= rate * (*m * mean_scale) / ((*v * square_scale).sqrt() + ADAM_FLOOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_optimiser_finds_the_minimum_of_a_quadratic() {
        let target = [3.0f32, -2.0, 0.5];
        for (optimiser, rate) in [
            (Optimiser::Sgd { momentum: 0.0 }, 0.1),
            (Optimiser::Sgd { momentum: 0.9 }, 0.02),
            (Optimiser::Adam, 0.05),
        ] {
            let mut values = [0.0f32; 3];
            let mut memory = Memory::default();
            for step in 1..=2000 {
                let gradient: Vec<f32> = values.iter().zip(&target).map(|(v, t)| v - t).collect();
                optimiser.update(&mut values, &gradient, &mut memory, Pace { rate, decay: 0.0, step });
            }
            for (v, t) in values.iter().zip(&target) {
                assert!((v - t).abs() < 1e-3, "{optimiser:?}: {values:?}");
            }
        }
    }

    #[test]
    fn the_norm_pulls_alike_with_and_without_momentum() {
        for (momentum, rate, decay) in
            [(0.0, 10.0, 0.5), (0.9, 1.0, 0.5), (0.0, 800.0, 10.0), (0.9, 80.0, 10.0)]
        {
            let (optimiser, mut values) = (Optimiser::Sgd { momentum }, [7.0f32]);
            let mut memory = Memory::default();
            for step in 1..=3000 {
                // A gradient too weak to overshoot at these rates.
                let gradient = [1e-3 * (values[0] - 3.0)];
                optimiser.update(
                    &mut values,
                    &gradient,
                    &mut memory,
                    Pace { rate, decay: decay * 1e-3, step },
                );
            }
            let minimum = 3.0 / (1.0 + decay);
            assert!((values[0] - minimum).abs() < 0.02, "{momentum} {rate} {decay}: {values:?} {minimum}");
        }
    }

    #[test]
    fn the_schedule_anneals_gamma_and_then_the_rate() {
        let s =
            Schedule { rate: 10.0, hold: 0.5, last_rate: 0.1, gamma: 1.0, anneal: 16.0, anneal_until: 0.8 };
        assert_eq!(s.at(0.0), (10.0, 16.0));
        assert!((s.at(0.4).1 - 4.0).abs() < 1e-12);
        assert_eq!(s.at(0.9).1, 1.0);
        assert!((s.at(1.0).0 - 1.0).abs() < 1e-12);
    }
}
