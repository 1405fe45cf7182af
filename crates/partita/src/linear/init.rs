//! Where training starts.
//!
//! Random weights are best for few clusters and fail for many, where they leave twins that share a region; K-means centres are
//! the other way round. Known labels place their clusters at the mean of their rows.

use super::head::Head;
use super::layout::Layout;
use super::params::{Init, Params};
use super::plan::Plan;
use super::source::Source;
use crate::centres::{Descent, Lloyd, NEVER_STOP, Table, neighbour_distance, plus_plus};
use crate::error::Result;
use crate::numeric::vector;
use crate::prepare::MANY_CLUSTERS;
use crate::rng::{Stream, stream};
use rand::RngExt;
use rand::seq::index;
use std::ops::Range;

/// Rows for each cluster that K-means starts look at.
const ROWS_PER_CENTRE: usize = 50;
const FEWEST_ROWS: usize = 2_000;
const LLOYD_ITERATIONS: usize = 8;
/// A start from centres c is W = t·c, b = −t‖c‖²/2 with t this many times the inverse mean squared distance, ...
const SHARPNESS: f64 = 10.0;
/// ... but no larger than gives a row at one centre this lead in logits over the nearest other centre, in the mean: where
/// clusters are tight, weights of their own scale would take all of training to shrink.
const MOST_LEAD: f64 = 20.0;
/// Mean squared distance between neighbouring centres that counts at least, rows having a mean squared norm of 1.
const LEAST_DISTANCE: f64 = 1e-4;

/// Starting weights of the restarts with these numbers.
pub fn heads(source: &Source<'_>, plan: &Plan, starts: Range<usize>) -> Result<Vec<Head>> {
    let Params { k, init, seed, .. } = plan.params;
    let known = known_means(source, k)?;
    let layout = plan.free_layout(source);
    let warm = source.warm_start(k)?;
    starts
        .map(|r| {
            if let Some(warm) = &warm {
                return Ok(warmed(warm, seed, r));
            }
            let mut head = match (kind(init, k, layout.is_some(), r), layout) {
                (Init::Auto, Some(layout)) => at_centres(&layout.centres, layout.tightness, source.m()),
                (Init::KMeans, layout) => {
                    let fitted = some_centres(source, k, LLOYD_ITERATIONS, seed, r)?;
                    // The sizes of a layout fall, and those of the clusters at its places do.
                    let layout = layout.map(|_| Layout::of_lloyd(&fitted, None, k));
                    let centres = layout.as_ref().map_or(&fitted.centres, |layout| &layout.centres);
                    at_centres(centres, fitted.tightness(), source.m())
                }
                (Init::PlusPlus, _) => {
                    let fitted = some_centres(source, k, 0, seed, r)?;
                    at_centres(&fitted.centres, fitted.tightness(), source.m())
                }
                _ => random(k, source.m(), seed, r),
            };
            for (cluster, mean) in known.iter().filter(|_| sees_known(r)) {
                place(&mut head, *cluster, mean, SHARPNESS);
            }
            Ok(head)
        })
        .collect()
}

/// Whether a start begins at the known labels and learns from them at once. The others search freely and are shown the
/// labels before they are judged: a few labels fix which minimum is right better than where to look for it.
pub fn sees_known(start: usize) -> bool {
    start.is_multiple_of(2)
}

/// The given weights for the first start; for the others, the same with noise.
fn warmed(warm: &Head, seed: u64, restart: usize) -> Head {
    let mut head = warm.clone();
    if restart > 0 {
        let noise = random(warm.bias.len(), warm.weight.len() / warm.bias.len(), seed, restart);
        head.weight.iter_mut().zip(&noise.weight).for_each(|(w, n)| *w += n);
    }
    head
}

/// Of start `r`, by `auto`: random for few clusters, K-means centres for many. Where the clusters' layout is seen, the first start is there
/// (`auto` again), and the others are of both kinds.
fn kind(init: Init, k: usize, seen: bool, r: usize) -> Init {
    match init {
        Init::Auto if seen && r == 0 => Init::Auto,
        Init::Auto if k > MANY_CLUSTERS || (seen && r.is_multiple_of(2)) => Init::KMeans,
        Init::Auto => Init::Random,
        given => given,
    }
}

/// Weights uniform in ±1: with E‖x‖² = 1 the logits have a standard deviation of 0.58, whatever the number of features.
fn random(k: usize, m: usize, seed: u64, restart: usize) -> Head {
    let mut rng = stream(seed, Stream::Init, restart as u64);
    Head { weight: (0..k * m).map(|_| rng.random::<f32>() * 2.0 - 1.0).collect(), bias: vec![0.0; k] }
}

/// Centres of some of the rows, by k-means++ and a few of Lloyd's iterations.
fn some_centres(source: &Source<'_>, k: usize, lloyd: usize, seed: u64, restart: usize) -> Result<Lloyd> {
    let (n, m) = (source.n(), source.m());
    let mut rng = stream(seed, Stream::Seeds, restart as u64);
    let rows = n.min(FEWEST_ROWS.max(ROWS_PER_CENTRE * k));
    let sample = source.batch(index::sample(&mut rng, n, rows).into_vec())?;
    let table = Table { x: sample.clearest(), m };
    let seeds = plus_plus(table, k, &mut rng);
    let few = Descent { max_iterations: lloyd, tolerance: 0.0, ..Descent::default() };
    Ok(few.run(table, seeds, NEVER_STOP))
}

/// A cluster at each of these centres, from which rows have this mean squared distance.
pub(super) fn at_centres(centres: &[f32], tightness: f64, m: usize) -> Head {
    let k = centres.len() / m;
    let tight = SHARPNESS / tightness.max(f64::MIN_POSITIVE);
    let sharpness = tight.min(2.0 * MOST_LEAD / neighbour_distance(centres, m).max(LEAST_DISTANCE));
    let mut head = Head { weight: vec![0.0; k * m], bias: vec![0.0; k] };
    for (cluster, centre) in centres.chunks_exact(m).enumerate() {
        place(&mut head, cluster, centre, sharpness);
    }
    head
}

/// Put a cluster at a centre.
fn place(head: &mut Head, cluster: usize, centre: &[f32], sharpness: f64) {
    let m = centre.len();
    let t = sharpness as f32;
    head.weight[cluster * m..(cluster + 1) * m].iter_mut().zip(centre).for_each(|(w, c)| *w = t * c);
    head.bias[cluster] = -0.5 * t * vector::sum_squares(centre);
}

/// The mean of the known rows of each cluster that has any.
fn known_means(source: &Source<'_>, k: usize) -> Result<Vec<(usize, Vec<f32>)>> {
    let m = source.m();
    let Some(known) = source.known() else { return Ok(Vec::new()) };
    let mut sums = vec![vec![0.0f64; m]; k];
    let mut counts = vec![0usize; k];
    let rows: Vec<usize> = (0..known.len()).filter(|&i| known[i] >= 0).collect();
    for rows in rows.chunks(1024) {
        let batch = source.batch(rows.to_vec())?;
        for (&i, x) in rows.iter().zip(batch.x.chunks_exact(m)) {
            let label = known[i] as usize;
            counts[label] += 1;
            sums[label].iter_mut().zip(x).for_each(|(s, x)| *s += f64::from(*x));
        }
    }
    let mean = |c: usize| sums[c].iter().map(|s| (s / counts[c] as f64) as f32).collect();
    Ok((0..k).filter(|&c| counts[c] > 0).map(|c| (c, mean(c))).collect())
}
