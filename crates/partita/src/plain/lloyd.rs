//! Lloyd's iterations with row weights.

use super::centres::{Centres, largest};
use super::rows::{BLOCK, Plain};
use crate::centres::KeepGoing;
use crate::error::Result;
use crate::report::StopReason;
use rayon::prelude::*;

/// Numbers that all partial sums of an iteration may take together.
const SUMS: usize = 1 << 23;

/// When iterations end, and where they move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub max_iterations: usize,
    /// Stop when the centres moved by no more than this, squared and summed.
    pub enough: f64,
    pub spherical: bool,
}

/// Where the iterations ended; in the space of the rows after their shift.
pub(super) struct Ended {
    pub centres: Vec<f64>,
    pub iterations: usize,
    pub stop: StopReason,
}

/// Rows by cluster.
struct Tally {
    labels: Vec<u32>,
    sums: Vec<f64>,
    masses: Vec<f64>,
}

/// Iterate from these centres as long as `keep_going` says so.
pub(super) fn run(
    plain: &Plain<'_>,
    weights: Option<&[f64]>,
    mut centres: Vec<f64>,
    rule: Rule,
    keep_going: KeepGoing<'_>,
) -> Result<Ended> {
    let mut stop = StopReason::Finished;
    let (mut iterations, mut last) = (0, Vec::new());
    while iterations < rule.max_iterations && stop == StopReason::Finished {
        if !keep_going(iterations as f64 / rule.max_iterations as f64) {
            stop = StopReason::Interrupted;
            break;
        }
        iterations += 1;
        let mut tally = assign(plain, weights, &centres)?;
        relocate(plain, weights, &centres, &mut tally)?;
        let moved = move_centres(&tally, &mut centres, plain.m(), rule.spherical);
        if tally.labels == last || moved <= rule.enough {
            stop = StopReason::Converged;
        }
        last = tally.labels;
    }
    Ok(Ended { centres, iterations, stop })
}

/// Send every row to its nearest centre. Rows are summed in pieces whose number depends on the problem alone, so that threads do not change a bit.
fn assign(plain: &Plain<'_>, weights: Option<&[f64]>, centres: &[f64]) -> Result<Tally> {
    let (n, m) = (plain.n(), plain.m());
    let centres = Centres::new(centres, m, matches!(plain, Plain::Sparse { .. }));
    let k = centres.k();
    let pieces = (SUMS / (k * m)).clamp(1, 64);
    let each = n.div_ceil(BLOCK).div_ceil(pieces) * BLOCK;
    let parts: Vec<Tally> = (0..n.div_ceil(each))
        .into_par_iter()
        .map(|piece| tally(plain, weights, &centres, piece * each..((piece + 1) * each).min(n)))
        .collect::<Result<_>>()?;
    let mut parts = parts.into_iter();
    let mut whole =
        parts.next().unwrap_or(Tally { labels: Vec::new(), sums: vec![0.0; k * m], masses: vec![0.0; k] });
    for part in parts {
        whole.labels.extend(part.labels);
        whole.sums.iter_mut().zip(part.sums).for_each(|(a, b)| *a += b);
        whole.masses.iter_mut().zip(part.masses).for_each(|(a, b)| *a += b);
    }
    Ok(whole)
}

fn tally(
    plain: &Plain<'_>,
    weights: Option<&[f64]>,
    centres: &Centres<'_>,
    rows: std::ops::Range<usize>,
) -> Result<Tally> {
    let (k, m) = (centres.k(), centres.m);
    let mut found =
        Tally { labels: Vec::with_capacity(rows.len()), sums: vec![0.0; k * m], masses: vec![0.0; k] };
    let (mut buffer, mut close) = (Vec::new(), Vec::new());
    for start in rows.clone().step_by(BLOCK) {
        let block = plain.block(start..(start + BLOCK).min(rows.end), &mut buffer)?;
        centres.closeness(&block, &mut close);
        for (i, close) in close.chunks_exact(k).enumerate() {
            let (c, weight) = (largest(close), weights.map_or(1.0, |w| w[start + i]));
            found.labels.push(c as u32);
            found.masses[c] += weight;
            block.add(i, weight, &mut found.sums[c * m..(c + 1) * m]);
        }
    }
    Ok(found)
}

/// Give clusters without weight the rows that are farthest from their centres.
fn relocate(plain: &Plain<'_>, weights: Option<&[f64]>, centres: &[f64], tally: &mut Tally) -> Result<()> {
    let m = plain.m();
    let empty: Vec<usize> = (0..tally.masses.len()).filter(|&c| tally.masses[c] == 0.0).collect();
    if empty.is_empty() {
        return Ok(());
    }
    let centres = Centres::new(centres, m, false);
    let apart = plain.each_block(|block, start| {
        let distance = |i: usize| {
            let c = tally.labels[start + i] as usize;
            block.distance(i, centres.centre(c), centres.squares[c])
        };
        (0..block.len()).map(distance).collect::<Vec<_>>()
    })?;
    let mut far: Vec<(f64, usize)> = apart.into_iter().flatten().zip(0..).collect();
    far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (c, (distance, i)) in empty.into_iter().zip(far) {
        let weight = weights.map_or(1.0, |w| w[i]);
        // There are fewer different rows than clusters, or the row has no say.
        if distance == 0.0 || weight == 0.0 {
            continue;
        }
        let (row, old) = (plain.row(i)?, tally.labels[i] as usize);
        for (j, v) in row.iter().enumerate() {
            tally.sums[old * m + j] -= weight * v;
            tally.sums[c * m + j] = weight * v;
        }
        tally.masses[old] -= weight;
        tally.masses[c] = weight;
    }
    Ok(())
}

/// Put centres at the means; returns by how much they moved, squared and summed. A cluster without rows stays where it is.
fn move_centres(tally: &Tally, centres: &mut [f64], m: usize, spherical: bool) -> f64 {
    let mut moved = 0.0;
    for (c, centre) in centres.chunks_exact_mut(m).enumerate().filter(|(c, _)| tally.masses[*c] > 0.0) {
        let sum = &tally.sums[c * m..(c + 1) * m];
        let norm = sum.iter().map(|v| v * v).sum::<f64>().sqrt();
        let scale = if spherical { 1.0 / norm.max(f64::MIN_POSITIVE) } else { 1.0 / tally.masses[c] };
        for (centre, sum) in centre.iter_mut().zip(sum) {
            moved += (sum * scale - *centre).powi(2);
            *centre = sum * scale;
        }
    }
    moved
}
