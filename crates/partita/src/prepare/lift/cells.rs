//! The cells that values stand for: what a column holds between the values that it can have.
//!
//! A column of whole numbers, or of true and false, has gaps that say nothing about clusters: no row could lie in them. A graph of neighbours would
//! part the rows there all the same, and a Gaussian without width would explain each value. So where densities are looked for, a value stands for
//! the interval around it that is as wide as the smallest step between two values of its column, and each row gets a place of its own in there
//! (uniform dequantisation). What is left of a gap wider than a step is a real one. Columns of continuous values have steps of nearly nothing and stay as they are.

use crate::rng::{Stream, stream};
use rand::RngExt;

/// Steps below this part of the standard deviation are left as they are: they change nothing.
const FINE: f64 = 1e-3;

/// Give each of the rows `[n, m]` a place in the cell that it stands for.
pub fn spread(x: &mut [f32], m: usize, seed: u64) {
    for j in 0..m {
        let column: Vec<f32> = x.iter().skip(j).step_by(m).copied().collect();
        if let Some(step) = step(&column) {
            let mut rng = stream(seed, Stream::Cells, j as u64);
            x.iter_mut().skip(j).step_by(m).for_each(|v| *v += step * (rng.random::<f32>() - 0.5));
        }
    }
}

/// The smallest difference between two different values, if it is not negligible.
fn step(column: &[f32]) -> Option<f32> {
    let n = column.len() as f64;
    let mean = column.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let variance = column.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n;
    let mut sorted = column.to_vec();
    sorted.sort_by(f32::total_cmp);
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
    let least = steps.fold(f32::INFINITY, f32::min);
    (least.is_finite() && f64::from(least) > FINE * variance.sqrt()).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_fill_their_cells_and_wider_gaps_stay() {
        // 0, 1, 2 and 50, 51, 52, beside a continuous column.
        let mut rng = stream(3, Stream::Synthetic, 0);
        let mut x: Vec<f32> =
            (0..600).flat_map(|i| [(i % 3 + i / 300 * 50) as f32, rng.random::<f32>()]).collect();
        let before = x.clone();
        spread(&mut x, 2, 0);
        let mut places: Vec<f32> = x.iter().step_by(2).copied().collect();
        places.sort_by(f32::total_cmp);
        let gaps: Vec<f32> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let wide: Vec<&f32> = gaps.iter().filter(|gap| **gap > 0.2).collect();
        assert!(wide.len() == 1 && *wide[0] > 46.5, "{wide:?}");
        x.chunks_exact(2).zip(before.chunks_exact(2)).for_each(|(new, old)| {
            assert!((new[0] - old[0]).abs() <= 0.5 && new[1] == old[1]);
        });
    }

    #[test]
    fn columns_of_one_value_stay() {
        let mut x = vec![3.0f32; 20];
        spread(&mut x, 2, 0);
        assert_eq!(x, [3.0; 20]);
    }
}
