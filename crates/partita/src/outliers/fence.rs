//! What is usual in a cluster, and from where on a row is not.
//!
//! In d dimensions a density p gives scales s ∝ p^(−1/d). For a Gaussian cluster ln s therefore follows the squared distance to its centre, a χ²
//! divided by 2d, besides the chance of a few neighbours. Few dimensions spread ln s widely, with a long upper tail; many spread it little,
//! like a normal distribution. So the spread of the rows tells how far the tail of a Gaussian cluster reaches that is spread as much. With
//! ln s after the median of each cluster is subtracted, and w the mean distance of the values below a quantile q to that quantile,
//!
//! ```text
//! rough fence = q + w (3.2 + 12 w),    q the quantile of 40 %
//! fence       = q + w (2.9 + 30 w²),   q the median
//! ```
//!
//! The first numbers in brackets are those of the 99th percentile of a normal distribution, which many dimensions come near to; the second ones
//! were fitted to Gaussian clusters of 1 to 100 dimensions. Noise lies above both quantiles. The rough fence looks at less of the rows, so that
//! more noise may be among them: rows beyond it are left out and it is found again, until it stays. What is inside gives the fence, with w larger
//! by one standard error. Rows share their neighbours, so about one in seven of the landmarks speaks for itself.

use super::{LANDMARKS, SCALE};

/// How far a Gaussian cluster reaches, by its spread below a quantile.
struct Reach {
    quantile: f64,
    normal: f64,
    skew: f64,
    power: i32,
    /// Standard errors that are added to the spread.
    caution: f64,
}

const ROUGH: Reach = Reach { quantile: 0.4, normal: 3.2, skew: 12.0, power: 1, caution: 0.0 };
const FINE: Reach = Reach { quantile: 0.5, normal: 2.9, skew: 30.0, power: 2, caution: 1.0 };
/// Spread of rows of even density, times the dimensions: that of the logarithm of a gamma variable of [`SCALE`]. Less is no chance but a grid.
const CHANCE: f64 = 0.28;
/// Most rounds of the rough fence; a few are usual.
const ROUNDS: usize = 50;

/// ln of the typical scale of each of `k` clusters, and how much larger ln s of an outlier is, for rows of `d` dimensions.
pub fn fence(logs: &[f64], labels: &[u32], k: usize, d: usize) -> (Vec<f64>, f64) {
    let mut inside: Vec<usize> = (0..logs.len()).collect();
    for _ in 0..ROUNDS {
        let (typical, end) = ROUGH.of(logs, labels, &inside, (k, d));
        let before = inside.len();
        inside.retain(|&row| logs[row] - typical[labels[row] as usize] <= end);
        if inside.len() == before {
            break;
        }
    }
    FINE.of(logs, labels, &inside, (k, d))
}

impl Reach {
    /// The typical ln s of each of `k` clusters, and the fence, as these rows show them.
    fn of(&self, logs: &[f64], labels: &[u32], rows: &[usize], (k, d): (usize, usize)) -> (Vec<f64>, f64) {
        let typical = typical(logs, labels, k, rows);
        let mut excess: Vec<f64> =
            rows.iter().map(|&row| logs[row] - typical[labels[row] as usize]).collect();
        excess.sort_unstable_by(f64::total_cmp);
        let q = quantile(&excess, self.quantile);
        let below = &excess[..excess.partition_point(|e| *e <= q)];
        let spread = below.iter().map(|e| q - e).sum::<f64>() / below.len().max(1) as f64;
        let error = (SCALE as f64 / rows.len().clamp(1, LANDMARKS) as f64).sqrt();
        let spread = spread.max(CHANCE / d as f64) * (1.0 + self.caution * error);
        (typical, (q + spread * (self.normal + self.skew * spread.powi(self.power))).max(0.0))
    }
}

/// Median of ln s in each of `k` clusters, of these rows. Clusters of hardly any rows have that of all.
pub fn typical(logs: &[f64], labels: &[u32], k: usize, rows: &[usize]) -> Vec<f64> {
    let mut members = vec![Vec::new(); k];
    rows.iter().for_each(|&row| members[labels[row] as usize].push(logs[row]));
    let usual = median(rows.iter().map(|&row| logs[row]).collect());
    members.into_iter().map(|logs| if logs.len() < SCALE { usual } else { median(logs) }).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    quantile(&values, 0.5)
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((part * last as f64).round() as usize).copied().unwrap_or(0.0)
}
