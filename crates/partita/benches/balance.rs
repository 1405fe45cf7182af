//! Labels with bounds on the sizes of clusters: a million rows and 100 clusters, and many small batches.
//!
//! Run with `cargo bench -p partita --bench balance`. Prints Markdown; the recorded tables are in
//! `docs/results/balance.md`. With the name of a folder, `cargo bench -p partita --bench balance -- FOLDER`, it writes there
//! a problem of 3,000 rows and 20 clusters for `bench/balance.py`, and prints the sums that were found.
#![allow(clippy::print_stdout)]

use partita::balance::{Assignment, Bounds, Workspace, assign, assign_into};
use partita::rng::{Stream, stream};
use partita::simplex::{log_softmax, uniform};
use rand::RngExt;
use rayon::prelude::*;
use std::time::Instant;

const N: usize = 1_000_000;
const K: usize = 100;

/// ln softmax of `n` rows of logits of this standard deviation, with a bias that falls from 0 to `-bias` over the clusters.
fn predictions(n: usize, k: usize, deviation: f64, bias: f64) -> Vec<f32> {
    let mut scores = vec![0.0; n * k];
    scores.par_chunks_mut(1000 * k).enumerate().for_each(|(piece, scores)| {
        let mut rng = stream(0, Stream::Sample, piece as u64);
        let (mut z, mut log_sigma) = (vec![0.0; k], vec![0.0; k]);
        for row in scores.chunks_mut(k) {
            for (c, z) in z.iter_mut().enumerate() {
                let normal = 3f64.sqrt() * (0..4).map(|_| f64::from(rng.random::<f32>()) - 0.5).sum::<f64>();
                *z = deviation * normal - bias * c as f64 / k as f64;
            }
            log_softmax(&z, &mut log_sigma);
            row.iter_mut().zip(&log_sigma).for_each(|(s, l)| *s = *l as f32);
        }
    });
    scores
}

/// One-hot predictions whose other clusters all have the same floor: as many ties as there can be.
fn one_hot(n: usize, k: usize) -> Vec<f32> {
    let mut scores = predictions(n, k, 2.0, 8.0);
    scores.par_chunks_mut(k).for_each(|row| {
        let best = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|s| *s = if *s == best { 0.0 } else { -27.6 });
    });
    scores
}

/// Rows of which there are only so many different ones, some much more often than others.
fn alike(n: usize, k: usize, kinds: usize) -> Vec<f32> {
    let different = predictions(kinds, k, 2.0, 8.0);
    let mut rng = stream(0, Stream::Synthetic, 0);
    let mut scores = Vec::with_capacity(n * k);
    for _ in 0..n {
        let kind = (rng.random::<f32>() * rng.random::<f32>() * kinds as f32) as usize;
        scores.extend_from_slice(&different[kind * k..(kind + 1) * k]);
    }
    scores
}

/// Shares that fall as 1/(c + 1).
fn falling(k: usize) -> Vec<f64> {
    let sum: f64 = (1..=k).map(|c| 1.0 / c as f64).sum();
    (1..=k).map(|c| 1.0 / (c as f64 * sum)).collect()
}

/// Largest memory of the process so far, in MB; where the system tells it.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? / 1000)
}

/// Rows whose cluster of the largest score is another than their label.
fn moved(scores: &[f32], k: usize, labels: &[u32]) -> usize {
    let is_moved = |(row, label): &(&[f32], &u32)| row.iter().any(|s| *s > row[**label as usize]);
    scores.chunks(k).zip(labels).filter(is_moved).count()
}

/// Best of three times, on so many threads.
fn seconds(scores: &[f32], bounds: &Bounds, threads: usize) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let time = |_| {
        let start = Instant::now();
        pool.install(|| assign(scores, K, bounds)).expect("bounds can be kept");
        start.elapsed().as_secs_f64()
    };
    (0..3).map(time).fold(f64::INFINITY, f64::min)
}

fn large(name: &str, scores: &[f32], all_bounds: &[(&str, Bounds)]) {
    for (bounds_name, bounds) in all_bounds {
        let (one, two) = (seconds(scores, bounds, 1), seconds(scores, bounds, 2));
        let Assignment { labels, balanced } = assign(scores, K, bounds).expect("bounds can be kept");
        let share = 100.0 * moved(scores, K, &labels) as f64 / N as f64;
        let (score, gap) = (balanced.score, balanced.gap);
        let peak = peak().map_or(String::new(), |mb| mb.to_string());
        println!(
            "| {name} | {bounds_name} | {share:.0}% | {one:.2} | {two:.2} | {score:.6e} | {gap:.1e} | {peak} |"
        );
    }
}

fn small(n: usize, k: usize) {
    let (scores, bounds) =
        (predictions(n, k, 2.0, 4.0), Bounds::exact(&uniform(k), n).expect("uniform is a prior"));
    let (mut labels, mut space) = (vec![0; n], Workspace::default());
    let (begun, mut best, mut solves) = (Instant::now(), f64::INFINITY, 0);
    while solves < 5 || begun.elapsed().as_secs_f64() < 1.0 {
        let start = Instant::now();
        assign_into(&scores, k, &bounds, &mut labels, &mut space).expect("bounds can be kept");
        best = best.min(start.elapsed().as_secs_f64());
        solves += 1;
    }
    println!(
        "| {n} | {k} | {:.0}% | {:.0} |",
        100.0 * moved(&scores, k, &labels) as f64 / n as f64,
        1e6 * best
    );
}

/// A problem for another solver: scores, then lower and upper bounds, as raw numbers.
fn export(folder: &str) -> std::io::Result<()> {
    let (n, k) = (3000, 20);
    for (name, deviation, bias) in [("soft", 2.0, 8.0), ("hard", 20.0, 200.0)] {
        let scores = predictions(n, k, deviation, bias);
        std::fs::write(
            format!("{folder}/{name}.f32"),
            scores.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<_>>(),
        )?;
        for (sizes, bounds) in
            [("equal", Bounds::exact(&uniform(k), n)), ("between", Bounds::between(100, 170, k))]
        {
            let bounds = bounds.expect("bounds are in order");
            let numbers = bounds.lower.iter().chain(&bounds.upper).flat_map(|b| (*b as u64).to_le_bytes());
            std::fs::write(format!("{folder}/{name}-{sizes}.u64"), numbers.collect::<Vec<_>>())?;
            let start = Instant::now();
            let found = assign(&scores, k, &bounds).expect("bounds can be kept").balanced;
            let seconds = start.elapsed().as_secs_f64();
            println!("{name} {sizes} {:.9} {:.3e} {seconds:.4}", found.score, found.gap);
        }
    }
    Ok(())
}

fn main() {
    if let Some(folder) = std::env::args().skip(1).find(|a| !a.starts_with("--")) {
        return export(&folder).expect("the folder can be written to");
    }
    println!("N = {N}, K = {K}\n");
    println!(
        "| predictions | sizes | rows moved | s, 1 thread | s, 2 threads | sum of scores | gap | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let equal = || ("equal", Bounds::exact(&uniform(K), N).expect("uniform is a prior"));
    let falling = || ("falling as 1/c", Bounds::exact(&falling(K), N).expect("the shares are a prior"));
    let between = || ("5,000 to 20,000", Bounds::between(5_000, 20_000, K).expect("5,000 is less"));
    large("soft (deviation 2), bias to -8", &predictions(N, K, 2.0, 8.0), &[equal(), falling(), between()]);
    large(
        "nearly one-hot (deviation 20), bias to -200",
        &predictions(N, K, 20.0, 200.0),
        &[equal(), between()],
    );
    large("one-hot with a floor", &one_hot(N, K), &[equal(), falling()]);
    for kinds in [20, 200] {
        large(&format!("{kinds} different rows"), &alike(N, K, kinds), &[equal(), falling()]);
    }
    println!("\nOne batch, warm workspace, best of a second\n");
    println!("| N | K | rows moved | µs |\n|---|---|---|---|");
    for (n, k) in [(250, 10), (1000, 10), (1000, 20), (4000, 10), (4000, 100), (10_000, 10)] {
        small(n, k);
    }
}
