//! Where K-means starts: k-means++ seeds with row weights, or rows drawn at random.

use super::centres::Centres;
use super::rows::Plain;
use crate::error::Result;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// `k` rows, by number, spread out by greedy k-means++: each is the best of a few candidates, which are drawn with probability proportional to
/// weight × squared distance from the rows chosen before.
pub(super) fn plus_plus(
    plain: &Plain<'_>,
    weights: Option<&[f64]>,
    k: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<usize>> {
    let n = plain.n();
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let candidates = 2 + (k as f64).ln() as usize;
    let mut chosen = Vec::with_capacity(k);
    let mut nearest = vec![f64::INFINITY; n];
    while chosen.len() < k {
        let odds: Vec<f64> = match chosen.is_empty() {
            true => (0..n).map(weight).collect(),
            false => nearest.iter().enumerate().map(|(i, d)| weight(i) * d).collect(),
        };
        let tries = if chosen.is_empty() { 1 } else { candidates };
        let rows: Vec<usize> = (0..tries).map(|_| draw(&odds, weights, rng)).collect();
        let next = closer(plain, &rows, &nearest)?;
        let sum = |at: usize| {
            next.iter().skip(at).step_by(tries).enumerate().map(|(i, d)| weight(i) * d).sum::<f64>()
        };
        let sums: Vec<f64> = (0..tries).map(sum).collect();
        let best = (1..tries).fold(0, |best, at| if sums[at] < sums[best] { at } else { best });
        chosen.push(rows[best]);
        nearest = next.into_iter().skip(best).step_by(tries).collect();
    }
    Ok(chosen)
}

/// Squared distances `[n, rows]` to each of some more rows, where that is nearer.
fn closer(plain: &Plain<'_>, rows: &[usize], nearest: &[f64]) -> Result<Vec<f64>> {
    let rows = rows.iter().map(|&row| plain.row(row)).collect::<Result<Vec<_>>>()?.concat();
    let centres = Centres::new(&rows, plain.m(), false);
    let parts = plain.each_block(|block, start| {
        let of_row = |i: usize| (0..centres.k()).map(move |c| (i, c));
        let distance =
            |(i, c)| block.distance(i, centres.centre(c), centres.squares[c]).min(nearest[start + i]);
        (0..block.len()).flat_map(of_row).map(distance).collect::<Vec<_>>()
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// `k` different rows, by number, drawn with probability proportional to their weights.
pub(super) fn random_rows(n: usize, weights: Option<&[f64]>, k: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut odds: Vec<f64> = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
    let mut chosen = Vec::with_capacity(k);
    while chosen.len() < k {
        let row = draw(&odds, weights, rng);
        odds[row] = 0.0;
        chosen.push(row);
    }
    chosen
}

/// Draw an index with probability proportional to its entry; if all are zero, any with weight.
fn draw(odds: &[f64], weights: Option<&[f64]>, rng: &mut ChaCha8Rng) -> usize {
    let total: f64 = odds.iter().sum();
    let mut left = rng.random::<f64>() * total;
    let mut last = None;
    for (i, &w) in odds.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        left -= w;
        last = Some(i);
        if left < 0.0 {
            return i;
        }
    }
    // Rounding may leave a rest behind the last; without odds there are only copies to choose from.
    last.unwrap_or_else(|| {
        let start = rng.random_range(0..odds.len());
        let there = |i: &usize| weights.is_none_or(|w| w[*i] > 0.0);
        (start..odds.len()).chain(0..start).find(there).unwrap_or(start)
    })
}
