//! The shares m that fairness wants, as unknowns of their own.
//!
//! Strong fairness is m (λ + δ) = λu, of the same form as a row's y s = σ. Weak fairness is ln(m/u) = −δ/λ.

use super::{Decrease, NEAR, Problem};
use crate::entropy::Fairness;

/// m and what it is linearised to: m + dm = aim + correction · cross − bend dδ. All have shape `[k]`.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares {
    pub value: Vec<f64>,
    pub bend: Vec<f64>,
    aim: Vec<f64>,
    cross: Vec<f64>,
    /// 1/(λ + δ) for strong fairness, 0 for weak, where prices have no border.
    inverse: Vec<f64>,
}

impl Shares {
    /// At these prices.
    pub fn linearise(&mut self, fairness: Fairness, problem: &Problem<'_>, price: &[f64]) {
        let lambda = problem.lambda;
        self.aim.clear();
        self.bend.clear();
        self.inverse.clear();
        for ((m, prior), price) in self.value.iter().zip(problem.prior).zip(price) {
            let (aim, bend, inverse) = match fairness {
                Fairness::Strong => {
                    let inverse = 1.0 / (lambda + price);
                    (lambda * prior * inverse, m * inverse, inverse)
                }
                Fairness::Weak => (m - m * ((m / prior).ln() + price / lambda), m / lambda, 0.0),
            };
            self.aim.push(aim);
            self.bend.push(bend);
            self.inverse.push(inverse);
        }
        self.cross.clear();
        self.cross.resize(price.len(), 0.0);
    }

    /// m + dm of cluster `k` if its price stays.
    pub fn wish(&self, k: usize, correction: f64) -> f64 {
        self.aim[k] + correction * self.cross[k]
    }

    fn step(&self, k: usize, direction: &[f64], correction: f64) -> f64 {
        self.wish(k, correction) - self.value[k] - self.bend[k] * direction[k]
    }

    /// Keep what the corrector needs of the predictor: −dm dδ/(λ + δ).
    pub fn predict(&mut self, direction: &[f64]) {
        for k in 0..direction.len() {
            self.cross[k] = -self.step(k, direction, 0.0) * direction[k] * self.inverse[k];
        }
    }

    /// Whether the predictor ends near the optimum.
    pub fn near(&self) -> bool {
        self.cross.iter().zip(&self.aim).all(|(cross, aim)| cross.abs() <= NEAR * aim)
    }

    /// The largest relative decrease of m and of λ + δ.
    pub fn decrease(&self, direction: &[f64], correction: f64) -> Decrease {
        let mut most = Decrease { label: 0.0, slack: 0.0 };
        for (k, d) in direction.iter().enumerate() {
            let label = -self.step(k, direction, correction) / self.value[k];
            most = most.or(Decrease { label, slack: -d * self.inverse[k] });
        }
        most
    }

    /// Go `step` of the way.
    pub fn advance(&mut self, direction: &[f64], correction: f64, step: f64) {
        for k in 0..direction.len() {
            self.value[k] += step * self.step(k, direction, correction);
        }
    }
}
