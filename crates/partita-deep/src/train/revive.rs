//! Clusters without images start again, each as one half of a large cluster.
//!
//! A cluster whose probability is nearly zero everywhere has nearly no gradient: the loss cannot bring it back. The linear
//! engine moves such clusters too (`partita::linear`).

use super::Trainer;
use crate::weights::walk::values;
use burn::tensor::{Tensor, TensorData};
use partita::rng::{Stream, stream};
use rand::RngExt;

/// A cluster counts as dead if it has less than this share of the size that the prior gives it.
const DEAD: f64 = 0.2;
/// How far apart the two halves of a split cluster start, relative to the mean magnitude of its weights.
const APART: f32 = 0.2;

/// The dead clusters, each with the cluster that it takes its half from: the most overfull ones, each used once.
fn splits(shares: &[f64], prior: &[f64]) -> Vec<(usize, usize)> {
    let fill = |c: usize| shares[c] / prior[c].max(f64::MIN_POSITIVE);
    let (dead, mut alive): (Vec<usize>, Vec<usize>) =
        (0..prior.len()).filter(|&c| prior[c] > 0.0).partition(|&c| fill(c) < DEAD);
    alive.sort_by(|&a, &b| fill(b).total_cmp(&fill(a)));
    dead.into_iter().zip(alive).collect()
}

impl Trainer<'_> {
    /// Split the largest clusters if others have died; `shares` are the mean predictions of the epoch.
    pub(super) fn revive(&mut self, shares: &[f64]) {
        let splits = splits(shares, &self.params.prior());
        if splits.is_empty() {
            return;
        }
        let (k, head) = (self.params.k, self.model.heads[0].clone());
        let device = self.device.clone();
        let mut weight = values(head.weight.val());
        let mut bias = head.bias.as_ref().map(|bias| values(bias.val()));
        let mut rng = stream(self.params.seed, Stream::Reseed, self.epochs.len() as u64);
        for &(dead, large) in &splits {
            let size = weight.iter().skip(large).step_by(k).map(|w| w.abs()).sum::<f32>() * k as f32;
            let step = APART * size / weight.len() as f32;
            // Weights have the shape `[features, clusters]`.
            for row in weight.chunks_exact_mut(k) {
                row[dead] = row[large] + step * (2.0 * rng.random::<f32>() - 1.0);
            }
            bias.iter_mut().for_each(|bias| bias[dead] = bias[large]);
            for name in ["heads.0.weight", "heads.0.bias"] {
                let Some(moments) = self.adam.moments.get_mut(name) else { continue };
                for numbers in [&mut moments.first, &mut moments.second] {
                    numbers.iter_mut().skip(dead).step_by(k).for_each(|v| *v = 0.0);
                }
            }
        }
        let head = &mut self.model.heads[0];
        head.weight = head.weight.clone().map(|old| {
            let shape = old.dims();
            Tensor::from_data(TensorData::new(weight, shape), &device).require_grad()
        });
        if let (Some(param), Some(bias)) = (&mut head.bias, bias) {
            *param =
                param.clone().map(|_| Tensor::from_data(TensorData::new(bias, [k]), &device).require_grad());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_cluster_starts_beside_the_largest() {
        use crate::nets::Net;
        use crate::optimise::{Moments, Pace};
        use crate::train::{Input, Params};
        use partita_embed::images::Pixels;
        let pixels = Pixels::new([1, 2, 2], vec![9; 4 * 30]);
        let params = Params { batch: 10, ..Params::new(3, Net::Linear) };
        let mut trainer = Trainer::new(&Input::new(&pixels), &params, crate::device::tested()).unwrap();
        assert_eq!(params.heads, Pace { rate: 1e-3, decay: 0.0 });
        let moments = Moments { first: vec![1.0; 12], second: vec![1.0; 12] };
        trainer.adam.moments.insert("heads.0.weight".into(), moments);
        let columns = |trainer: &Trainer<'_>| -> Vec<Vec<f32>> {
            let weight = values(trainer.model.heads[0].weight.val());
            (0..3).map(|c| weight.iter().skip(c).step_by(3).copied().collect()).collect()
        };
        let before = columns(&trainer);
        trainer.revive(&[0.3, 0.01, 0.69]);
        let after = columns(&trainer);
        assert_eq!((&after[0], &after[2]), (&before[0], &before[2]), "the others stay");
        let size = before[2].iter().map(|w| w.abs()).sum::<f32>() / 4.0;
        let apart = after[1].iter().zip(&after[2]).map(|(a, b)| (a - b).abs());
        assert!(apart.clone().all(|d| d <= APART * size) && apart.sum::<f32>() > 0.0, "{after:?}");
        let moments = &trainer.adam.moments["heads.0.weight"];
        assert_eq!(moments.first, [1.0, 0.0, 1.0].repeat(4));
        assert_eq!(moments.second, [1.0, 0.0, 1.0].repeat(4));
    }

    #[test]
    fn the_dead_take_halves_of_the_most_overfull() {
        let even = [0.25; 4];
        assert_eq!(splits(&[0.3, 0.3, 0.2, 0.2], &even), []);
        assert_eq!(splits(&[0.5, 0.01, 0.4, 0.09], &even), [(1, 0)]);
        assert_eq!(splits(&[0.01, 0.3, 0.02, 0.67], &even), [(0, 3), (2, 1)]);
        assert_eq!(splits(&[0.04, 0.96], &[0.05, 0.95]), [], "a small cluster may be wanted");
    }
}
