//! Soft K-means: min over y and μ of mean Σ_k y_k ‖x − μ_k‖² − γ mean H(y), the paper's other view of variance clustering.
//!
//! For given centres y = softmax(−‖x − μ‖²/γ), and the loss is −γ mean ln Σ_k exp(−‖x − μ_k‖²/γ); for given y the
//! centres are weighted means. γ → 0 is K-means.

use super::{Head, Method, Table, Trained};
use crate::centres::{KeepGoing, NEVER_STOP, plus_plus};
use crate::error::{Result, require};
use crate::numeric::{product, vector};
use crate::report::{Observer, StopReason};
use crate::rng::{Stream, stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows of one piece of work, the same for any number of threads.
const PIECE: usize = 256;

/// Options of soft K-means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftKMeans {
    /// Number of clusters.
    pub k: usize,
    /// Weight γ of the entropy, in units of E‖x‖² = 1.
    pub gamma: f64,
    /// Independent starts; the one with the lowest loss is kept.
    pub restarts: usize,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop when the loss fell by less than this.
    pub tolerance: f64,
}

impl SoftKMeans {
    /// Defaults for `k` clusters.
    pub fn new(k: usize) -> Self {
        Self { k, gamma: 0.02, restarts: 8, max_iterations: 300, tolerance: 1e-7 }
    }
}

/// Centres that share rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoftCentres {
    /// Row-major `[k, m]`.
    pub centres: Vec<f32>,
    gamma: f64,
    /// 2μ/γ, `[k, m]`, and −‖μ‖²/γ: the logits of y are these of x.
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl SoftCentres {
    fn new(centres: Vec<f32>, m: usize, gamma: f64) -> Self {
        let weight = centres.iter().map(|c| (2.0 * f64::from(*c) / gamma) as f32).collect();
        let norm = |c: &[f32]| c.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
        let bias = centres.chunks_exact(m).map(|c| (-norm(c) / gamma) as f32).collect();
        Self { centres, gamma, weight, bias }
    }

    /// −γ Σ ln Σ_k exp(−‖x − μ_k‖²/γ) over the rows, and y into `z`.
    fn label(&self, x: &[f32], z: &mut [f32]) -> f64 {
        let (k, m) = (self.bias.len(), self.centres.len() / self.bias.len());
        product::logits_piece(x, &self.weight, &self.bias, m, z);
        let mut loss = 0.0;
        for (x, z) in x.chunks_exact(m).zip(z.chunks_exact_mut(k)) {
            let top = z.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            z.iter_mut().for_each(|v| *v = (*v - top).exp());
            let sum: f32 = z.iter().sum();
            z.iter_mut().for_each(|v| *v /= sum);
            loss += f64::from(vector::sum_squares(x)) - self.gamma * f64::from(top + sum.ln());
        }
        loss
    }
}

impl Head for SoftCentres {
    fn assign(&self, x: &[f32], proba: &mut [f32]) {
        self.label(x, proba);
    }
}

impl Method for SoftKMeans {
    type Head = SoftCentres;

    fn k(&self) -> usize {
        self.k
    }

    fn check(&self, _: usize) -> Result<()> {
        super::at_least_one("restarts", self.restarts)?;
        super::at_least_one("iterations", self.max_iterations)?;
        let ok = self.gamma > 0.0 && self.gamma.is_finite();
        require("gamma", self.gamma, ok, "a finite number above 0 (K-means is the limit at 0)")
    }

    fn train(&self, table: Table<'_>, seed: u64, observer: &dyn Observer) -> Result<Trained<SoftCentres>> {
        let start = |restart: usize, keep_going: KeepGoing<'_>| {
            let seeds = plus_plus(table, self.k, &mut stream(seed, Stream::Seeds, restart as u64));
            Ok(self.descend_while(table, seeds, keep_going))
        };
        super::best_of("soft K-means", self.restarts, observer, start)
    }
}

impl SoftKMeans {
    /// Iterate from these centres, row-major `[k, m]`.
    pub fn descend(&self, table: Table<'_>, centres: Vec<f32>) -> Trained<SoftCentres> {
        self.descend_while(table, centres, NEVER_STOP)
    }

    /// The same, as long as `keep_going` says so.
    fn descend_while(
        &self,
        table: Table<'_>,
        centres: Vec<f32>,
        keep_going: KeepGoing<'_>,
    ) -> Trained<SoftCentres> {
        let mut head = SoftCentres::new(centres, table.m, self.gamma);
        let (mut loss, mut next) = step(&head, table);
        let mut stop = StopReason::Finished;
        let mut iterations = 0;
        while iterations < self.max_iterations && stop == StopReason::Finished {
            if !keep_going(iterations as f64 / self.max_iterations as f64) {
                stop = StopReason::Interrupted;
                break;
            }
            iterations += 1;
            head = SoftCentres::new(next, table.m, self.gamma);
            let (lower, centres) = step(&head, table);
            if loss - lower <= self.tolerance {
                stop = StopReason::Converged;
            }
            (loss, next) = (lower, centres);
        }
        Trained { head, loss, losses: vec![loss], iterations, stop }
    }
}

/// The mean loss of the centres, and the weighted means that come next.
fn step(head: &SoftCentres, table: Table<'_>) -> (f64, Vec<f32>) {
    let (k, m) = (head.bias.len(), table.m);
    let parts: Vec<(f64, Vec<f32>, Vec<f32>)> = table
        .x
        .par_chunks(PIECE * m)
        .map(|x| {
            let mut y = vec![0.0; x.len() / m * k];
            let loss = head.label(x, &mut y);
            let mut sums = vec![0.0; k * m];
            product::transposed_product(&y, x, m, &mut sums);
            let mass = (0..k).map(|c| y.iter().skip(c).step_by(k).sum()).collect();
            (loss, sums, mass)
        })
        .collect();
    let (mut loss, mut sums, mut mass) = (0.0, vec![0.0f64; k * m], vec![0.0f64; k]);
    for (part, part_sums, part_mass) in parts {
        loss += part;
        sums.iter_mut().zip(part_sums).for_each(|(s, p)| *s += f64::from(p));
        mass.iter_mut().zip(part_mass).for_each(|(s, p)| *s += f64::from(p));
    }
    let mut centres = head.centres.clone();
    for (c, mass) in mass.iter().enumerate().filter(|(_, mass)| **mass > f64::MIN_POSITIVE) {
        let sums = &sums[c * m..(c + 1) * m];
        centres[c * m..(c + 1) * m].iter_mut().zip(sums).for_each(|(v, s)| *v = (s / mass) as f32);
    }
    (loss / table.n() as f64, centres)
}

#[cfg(test)]
mod tests {
    use super::super::kmeans::KMeans;
    use super::*;
    use rand::RngExt;

    fn blobs() -> Vec<f32> {
        let mut rng = stream(1, Stream::Synthetic, 0);
        let spots = [[0.0, 0.0], [1.0, 0.2], [0.3, 1.1]];
        (0..240).flat_map(|i| spots[i % 3].map(|c: f32| c + 0.9 * (rng.random::<f32>() - 0.5))).collect()
    }

    #[test]
    fn the_loss_never_rises() {
        let x = blobs();
        let table = Table { x: &x, m: 2 };
        let mut last = f64::INFINITY;
        for max_iterations in 1..12 {
            let soft = SoftKMeans { gamma: 0.3, max_iterations, tolerance: 0.0, ..SoftKMeans::new(3) };
            let loss = soft.descend(table, x[..6].to_vec()).loss;
            assert!(loss <= last + 1e-6, "{loss} {last}");
            last = loss;
        }
    }

    #[test]
    fn the_loss_is_what_its_definition_says() {
        let x = blobs();
        let head = SoftCentres::new(x[..6].to_vec(), 2, 0.2);
        let mut y = vec![0.0; 240 * 3];
        let loss = head.label(&x, &mut y);
        let mut plain = 0.0;
        for (x, y) in x.chunks(2).zip(y.chunks(3)) {
            for (c, &y) in head.centres.chunks(2).zip(y) {
                let square = f64::from((x[0] - c[0]).powi(2) + (x[1] - c[1]).powi(2));
                let y = f64::from(y);
                plain += y * square + 0.2 * if y > 0.0 { y * y.ln() } else { 0.0 };
            }
        }
        assert!((loss - plain).abs() < 1e-3, "{loss} {plain}");
    }

    #[test]
    fn as_gamma_vanishes_it_is_k_means() {
        let x = blobs();
        let table = Table { x: &x, m: 2 };
        let start = x[..6].to_vec();
        let hard = KMeans { tolerance: 0.0, ..KMeans::new(3) }.lloyd(table, start.clone());
        let mut gaps = Vec::new();
        for gamma in [1e-1, 1e-2, 1e-3, 1e-4] {
            let soft =
                SoftKMeans { gamma, tolerance: 0.0, ..SoftKMeans::new(3) }.descend(table, start.clone());
            let gap = soft.head.centres.iter().zip(&hard.centres).map(|(a, b)| (a - b).abs());
            gaps.push(gap.fold(0.0, f32::max));
        }
        assert!(gaps[3] < 1e-3 && gaps[3] < gaps[0], "{gaps:?}");
    }
}
