//! Synthetic sets whose clusters are known, from a seed.

use partita::rng::{Stream, stream};
use rand::{Rng, RngExt};

/// Rows, row after row, and the cluster that each row was drawn from.
pub type Labelled = (Vec<f32>, Vec<usize>);

/// Gaussian clusters of unit variance in `d` dimensions, `sizes[k]` rows from cluster `k`, in random order.
///
/// No two centres are closer than `separation`, in standard deviations.
///
/// ```
/// let (rows, labels) = partita_data::synth::gaussian_mixture(&[30, 70], 5, 8.0, 1);
/// assert_eq!((rows.len(), labels.len()), (500, 100));
/// assert_eq!(labels.iter().filter(|&&k| k == 1).count(), 70);
/// ```
pub fn gaussian_mixture(sizes: &[usize], d: usize, separation: f64, seed: u64) -> Labelled {
    let mut rng = stream(seed, Stream::Synthetic, 0);
    let centres = spread_centres(sizes.len(), d, separation, &mut rng);
    let labels = shuffled_labels(sizes, &mut rng);
    let mut rows = Vec::with_capacity(labels.len() * d);
    for &label in &labels {
        rows.extend(centres[label].iter().map(|c| (c + normal(&mut rng)) as f32));
    }
    (rows, labels)
}

/// Split `n` rows in these proportions, rounding so that the sizes add up to `n`.
pub fn sizes(n: usize, proportions: &[f64]) -> Vec<usize> {
    let total: f64 = proportions.iter().sum();
    let (mut share, mut given) = (0.0, 0);
    let split = |p: &f64| {
        share += p / total;
        let until = (share * n as f64).round() as usize;
        let size = until.saturating_sub(given);
        given = given.max(until);
        size
    };
    proportions.iter().map(split).collect()
}

/// `k` long parallel Gaussians in the plane, `size` rows each: `length` standard deviations along x against one
/// along y, `gap` apart in y. Where `length` is well above `gap`, K-means cuts them across.
pub fn elongated(k: usize, size: usize, length: f64, gap: f64, seed: u64) -> Labelled {
    let mut rng = stream(seed, Stream::Synthetic, 1);
    let labels = shuffled_labels(&vec![size; k], &mut rng);
    let mut rows = Vec::with_capacity(labels.len() * 2);
    for &label in &labels {
        let x = length * normal(&mut rng);
        let y = gap * (label as f64 - (k as f64 - 1.0) / 2.0) + normal(&mut rng);
        rows.extend([x as f32, y as f32]);
    }
    (rows, labels)
}

/// Long parallel bars in the plane, with a narrow notch across the middle of all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// Rows of each bar, an even number: half of them on each side of the notch.
    pub size: usize,
    /// Length along x, notch included.
    pub length: f64,
    /// Thickness along y.
    pub thickness: f64,
    /// Empty space between one bar and the next; one more bar than gaps.
    pub gaps: Vec<f64>,
    /// Empty space across the middle.
    pub notch: f64,
}

impl Bars {
    /// Rows drawn uniformly from the bars, the first bar at the bottom, centred at the origin.
    ///
    /// Each bar is a cluster. Where a bar is longer than twice the distance of two, K-means cuts them across instead,
    /// although the notch is a narrower gap than that between them.
    ///
    /// ```
    /// let bars = partita_data::synth::Bars { size: 10, length: 6.0, thickness: 0.5, gaps: vec![1.0], notch: 0.2 };
    /// let (rows, labels) = bars.draw(1);
    /// assert_eq!(labels.iter().filter(|&&k| k == 1).count(), 10);
    /// assert!(rows.chunks(2).all(|r| r[0].abs() >= 0.1 && r[1].abs() >= 0.5));
    /// ```
    pub fn draw(&self, seed: u64) -> Labelled {
        let mut rng = stream(seed, Stream::Synthetic, 3);
        let k = self.gaps.len() + 1;
        let height = k as f64 * self.thickness + self.gaps.iter().sum::<f64>();
        let bottom =
            |bar: usize| bar as f64 * self.thickness + self.gaps[..bar].iter().sum::<f64>() - height / 2.0;
        let labels = shuffled_labels(&vec![self.size; k], &mut rng);
        let mut right = vec![false; k];
        let mut rows = Vec::with_capacity(2 * labels.len());
        for &bar in &labels {
            let reach = self.notch / 2.0 + rng.random::<f64>() * (self.length - self.notch) / 2.0;
            let y = bottom(bar) + self.thickness * rng.random::<f64>();
            right[bar] = !right[bar];
            rows.extend([if right[bar] { reach } else { -reach } as f32, y as f32]);
        }
        (rows, labels)
    }
}

/// `n` rows without clusters: uniform in the cube from −1 to 1; every label is 0.
pub fn uniform(n: usize, d: usize, seed: u64) -> Labelled {
    let mut rng = stream(seed, Stream::Synthetic, 2);
    let rows = (0..n * d).map(|_| (2.0 * rng.random::<f64>() - 1.0) as f32).collect();
    (rows, vec![0; n])
}

/// One standard normal number, by Box and Muller.
fn normal(rng: &mut impl Rng) -> f64 {
    // 1 - u lies in (0, 1], so that the logarithm is finite.
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// Centres at least `separation` apart: drawn from a Gaussian that widens when there is no room left.
fn spread_centres(k: usize, d: usize, separation: f64, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let mut width = separation / (d.max(1) as f64).sqrt();
    let mut centres: Vec<Vec<f64>> = Vec::with_capacity(k);
    while centres.len() < k {
        let centre: Vec<f64> = (0..d).map(|_| width * normal(rng)).collect();
        let near = |c: &Vec<f64>| {
            c.iter().zip(&centre).map(|(a, b)| (a - b).powi(2)).sum::<f64>() < separation.powi(2)
        };
        if d > 0 && centres.iter().any(near) {
            width *= 1.02;
        } else {
            centres.push(centre);
        }
    }
    centres
}

/// `sizes[k]` copies of each label `k`, in random order.
fn shuffled_labels(sizes: &[usize], rng: &mut impl Rng) -> Vec<usize> {
    let mut labels: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(k, &size)| std::iter::repeat_n(k, size)).collect();
    for i in (1..labels.len()).rev() {
        labels.swap(i, rng.random_range(0..=i));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_rows() {
        let (a, b) = (gaussian_mixture(&[5, 5], 3, 4.0, 7), gaussian_mixture(&[5, 5], 3, 4.0, 7));
        assert_eq!(a, b);
        assert_ne!(a.0, gaussian_mixture(&[5, 5], 3, 4.0, 8).0);
    }

    #[test]
    fn clusters_have_their_sizes_and_keep_their_distance() {
        let (rows, labels) = gaussian_mixture(&[200, 300, 500], 2, 12.0, 3);
        let mut means = [[0f64; 2]; 3];
        for (row, &label) in rows.chunks(2).zip(&labels) {
            means[label][0] += f64::from(row[0]) / [200.0, 300.0, 500.0][label];
            means[label][1] += f64::from(row[1]) / [200.0, 300.0, 500.0][label];
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let distance = (means[i][0] - means[j][0]).hypot(means[i][1] - means[j][1]);
            assert!(distance > 11.5, "{distance}");
        }
    }

    #[test]
    fn sizes_add_up() {
        assert_eq!(sizes(10, &[1.0, 1.0, 1.0]), [3, 4, 3]);
        assert_eq!(sizes(7, &[0.9, 0.1]), [6, 1]);
        assert_eq!(sizes(0, &[1.0]), [0]);
    }

    #[test]
    fn elongated_clusters_are_balanced_and_longer_than_they_are_apart() {
        let (rows, labels) = elongated(3, 400, 20.0, 8.0, 1);
        let spread = rows.chunks(2).map(|r| f64::from(r[0]).powi(2)).sum::<f64>() / 1200.0;
        assert!((18.0..22.0).contains(&spread.sqrt()));
        assert_eq!(labels.iter().filter(|&&l| l == 2).count(), 400);
        let wrong = rows.chunks(2).zip(&labels).filter(|(r, l)| ((r[1] / 8.0).round() + 1.0) as usize != **l);
        assert!(wrong.count() < 10);
    }

    #[test]
    fn noise_fills_the_cube() {
        let (rows, labels) = uniform(1000, 3, 5);
        assert!(rows.iter().all(|v| (-1.0..=1.0).contains(v)));
        assert_eq!(labels.len(), 1000);
    }
}
