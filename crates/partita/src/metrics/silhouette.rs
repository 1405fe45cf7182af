//! Silhouette: how much nearer a row is to its own cluster than to the next one. Needs no ground truth.

use super::contingency::Label;
use crate::error::{Error, Result};
use crate::rng::{Stream, stream};
use crate::rows::Rows;
use pulp::Arch;
use rayon::prelude::*;

/// Mean Euclidean silhouette of `sample` rows drawn at random (all rows if there are no more), from -1 to 1.
///
/// Each drawn row is compared with the other drawn rows, so the cost is `sample`² distances: 2,000 rows of 1,280
/// features take about 1.5 s of one core. A row alone in its cluster scores 0. Rows with a negative label are left
/// out. `None` means that fewer than two clusters are among the drawn rows, where the silhouette has no meaning.
///
/// ```
/// use ndarray::arr2;
/// let rows = arr2(&[[0.0f32], [1.0], [10.0], [11.0]]);
/// let score = partita::metrics::silhouette(&rows.view(), &[0, 0, 1, 1], 1000, 0)?;
/// assert!(score.is_some_and(|s| s > 0.89 && s < 0.91));
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`] if there is not one label a row, [`Error::NoLabels`] if no row has a label, and whatever
/// reading the rows gives.
pub fn silhouette<L: Label>(rows: &dyn Rows, labels: &[L], sample: usize, seed: u64) -> Result<Option<f64>> {
    if labels.len() != rows.n() {
        return Err(Error::Length { what: "the labeling", found: labels.len(), expected: rows.n() });
    }
    let drawn = draw(labels, sample, seed);
    if drawn.is_empty() {
        return Err(Error::NoLabels { rows: labels.len() });
    }
    let (clusters, sizes) = number(labels, &drawn);
    if sizes.len() < 2 {
        return Ok(None);
    }
    let m = rows.m();
    let mut features = vec![0.0; drawn.len() * m];
    rows.gather(&drawn, &mut features)?;
    // Collected in order before they are added, so that the sum has the same bits for any number of threads.
    let scores: Vec<f64> =
        (0..drawn.len()).into_par_iter().map(|i| score(i, &features, m, &clusters, &sizes)).collect();
    Ok(Some(scores.iter().sum::<f64>() / scores.len() as f64))
}

/// Ascending indices of at most `sample` rows that have a label.
fn draw<L: Label>(labels: &[L], sample: usize, seed: u64) -> Vec<usize> {
    let known: Vec<usize> = (0..labels.len()).filter(|&row| labels[row].name().is_some()).collect();
    if known.len() <= sample {
        return known;
    }
    let mut rng = stream(seed, Stream::Sample, 0);
    let mut drawn = rand::seq::index::sample(&mut rng, known.len(), sample).into_vec();
    drawn.sort_unstable();
    drawn.into_iter().map(|at| known[at]).collect()
}

/// Clusters of the drawn rows, numbered from 0, and the size of each.
fn number<L: Label>(labels: &[L], drawn: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let names: Vec<u64> = drawn.iter().filter_map(|&row| labels[row].name()).collect();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let clusters: Vec<usize> = names.iter().map(|name| distinct.partition_point(|d| d < name)).collect();
    let mut sizes = vec![0; distinct.len()];
    clusters.iter().for_each(|&k| sizes[k] += 1);
    (clusters, sizes)
}

fn score(i: usize, features: &[f32], m: usize, clusters: &[usize], sizes: &[usize]) -> f64 {
    let own = clusters[i];
    if sizes[own] == 1 {
        return 0.0;
    }
    let row = &features[i * m..(i + 1) * m];
    let mut sums = vec![0.0; sizes.len()];
    // Compiled for the widest vectors of the machine; the lanes are fixed, so the bits are the same on all.
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (j, &cluster) in clusters.iter().enumerate() {
                sums[cluster] += distance(row, &features[j * m..(j + 1) * m]);
            }
        },
    );
    let within = sums[own] / (sizes[own] - 1) as f64;
    let others = (0..sizes.len()).filter(|&k| k != own).map(|k| sums[k] / sizes[k] as f64);
    let next = others.fold(f64::INFINITY, f64::min);
    let larger = within.max(next);
    // Copies of one row in several clusters are at distance 0 from both: neither in nor out.
    if larger > 0.0 { (next - within) / larger } else { 0.0 }
}

/// Euclidean distance from differences rather than from dot products, which would lose near rows to cancellation.
#[inline(always)]
fn distance(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 16;
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let square = |x: f32, y: f32| (f64::from(x) - f64::from(y)).powi(2);
    // Independent sums per lane: one running sum could not be vectorised.
    let mut lanes = [0.0; LANES];
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            lanes[lane] += square(x[lane], y[lane]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(&x, &y)| square(x, y)).sum();
    (lanes.iter().sum::<f64>() + rest).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn line(values: &[f32]) -> Array2<f32> {
        Array2::from_shape_vec((values.len(), 1), values.to_vec()).unwrap()
    }

    #[test]
    fn one_cluster_has_no_silhouette() {
        let rows = line(&[0.0, 1.0, 2.0]);
        assert_eq!(silhouette(&rows.view(), &[4, 4, 4], 10, 0).unwrap(), None);
    }

    #[test]
    fn singletons_and_copies_score_zero() {
        let rows = line(&[0.0, 1.0, 2.0]);
        assert_eq!(silhouette(&rows.view(), &[0, 1, 2], 10, 0).unwrap(), Some(0.0));
        let copies = line(&[5.0; 4]);
        assert_eq!(silhouette(&copies.view(), &[0, 0, 1, 1], 10, 0).unwrap(), Some(0.0));
    }

    #[test]
    fn unknown_rows_change_nothing() {
        let known = silhouette(&line(&[0.0, 1.0, 5.0, 7.0]).view(), &[0, 0, 1, 1], 10, 0).unwrap();
        let more = silhouette(&line(&[0.0, 9.0, 1.0, 5.0, 7.0]).view(), &[0, -1, 0, 1, 1], 10, 0).unwrap();
        assert_eq!(known, more);
    }

    #[test]
    fn a_sample_of_well_separated_clusters_is_close_to_the_whole() {
        let values: Vec<f32> = (0..3000).map(|i| (i % 3) as f32 * 100.0 + (i / 3 % 10) as f32).collect();
        let labels: Vec<usize> = (0..3000).map(|i| i % 3).collect();
        let rows = line(&values);
        let whole = silhouette(&rows.view(), &labels, 3000, 0).unwrap().unwrap();
        let sampled = silhouette(&rows.view(), &labels, 300, 7).unwrap().unwrap();
        assert!((whole - sampled).abs() < 0.01, "{whole} {sampled}");
        assert_eq!(silhouette(&rows.view(), &labels, 300, 7).unwrap(), Some(sampled));
    }

    #[test]
    fn labels_must_match_the_rows() {
        let rows = line(&[0.0, 1.0]);
        assert!(matches!(
            silhouette(&rows.view(), &[0], 10, 0),
            Err(Error::Length { found: 1, expected: 2, .. })
        ));
        assert!(matches!(silhouette(&rows.view(), &[-1, -1], 10, 0), Err(Error::NoLabels { rows: 2 })));
    }
}
