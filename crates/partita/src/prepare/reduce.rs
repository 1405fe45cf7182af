//! Fewer, better conditioned features to train on: principal components, mildly whitened.
//!
//! A softmax of a linear map of a linear map is a softmax of a linear map, so this costs the model nothing and is folded back
//! into W. It pays twice: training runs on at most [`WIDE`] numbers a row instead of thousands, and dividing
//! component j by eig_j^p, with a small p, evens out directions that otherwise learn at very different speeds.

use crate::error::{Error, Result};
use crate::numeric::{product, vector};
use crate::rng::{Stream, stream};
use faer::linalg::solvers::{Qr, SelfAdjointEigen};
use faer::{Mat, MatRef, Side};
use rand::RngExt;
use rand::seq::index;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Dimensions of a row to train on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dims {
    /// At most [`WIDE`] principal components.
    #[default]
    Auto,
    /// All features as they are, neither rotated nor whitened.
    Full,
    /// At most this many principal components.
    Exactly(usize),
}

/// Principal components kept by default.
pub const WIDE: usize = 128;
/// Directions looked for beyond those kept, so that the last ones kept are accurate.
const SPARE: usize = 32;
/// Rows from which the leading directions are found.
const SKETCH_ROWS: usize = 2048;
/// Rows handled by one thread at a time.
const PIECE: usize = 512;
/// Rows from which their variances are found.
const COVARIANCE_ROWS: usize = 4096;
/// Component j is divided by the power `WHITEN` of its variance.
const WHITEN: f64 = 0.2;
/// Variances below this share of the largest are noise and are not blown up further.
const NOISE: f64 = 1e-6;

/// A linear map from prepared features to the numbers that are trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reduction {
    /// `[d, m]`, rows orthogonal to each other.
    matrix: Vec<f32>,
    d: usize,
    m: usize,
}

impl Reduction {
    /// Dimensions that remain.
    pub fn d(&self) -> usize {
        self.d
    }

    /// By how much each component was enlarged to be mildly whitened.
    pub fn enlargements(&self) -> Vec<f32> {
        self.matrix.chunks_exact(self.m).map(|row| vector::sum_squares(row).sqrt()).collect()
    }

    /// Features that it takes.
    pub fn m(&self) -> usize {
        self.m
    }

    /// Reduce rows `[n, m]` into `out` `[n, d]`.
    pub fn apply(&self, rows: &[f32], out: &mut [f32]) {
        product::product(rows, &self.matrix, self.m, out);
    }

    /// Weights `[k, m]` on features from weights `[k, d]` on reduced rows.
    pub fn fold(&self, weight: &[f32]) -> Vec<f32> {
        let fold_row = |w: &[f32]| {
            let mut out = vec![0.0f64; self.m];
            for (w, direction) in w.iter().zip(self.matrix.chunks_exact(self.m)) {
                out.iter_mut().zip(direction).for_each(|(o, p)| *o += f64::from(*w) * f64::from(*p));
            }
            out.into_iter().map(|v| v as f32).collect::<Vec<_>>()
        };
        weight.chunks_exact(self.d).flat_map(fold_row).collect()
    }

    /// The nearest weights `[k, d]` on reduced rows to weights `[k, m]` on features.
    pub fn unfold(&self, weight: &[f32]) -> Vec<f32> {
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let unfold_row = |w: &[f32]| {
            let coordinate = |p: &[f32]| (dot(w, p) / dot(p, p).max(f64::MIN_POSITIVE)) as f32;
            self.matrix.chunks_exact(self.m).map(coordinate).collect::<Vec<_>>()
        };
        weight.chunks_exact(self.m).flat_map(unfold_row).collect()
    }

    /// One with these directions `[d, m]` of `m` features.
    ///
    /// # Errors
    /// If there are none, or a part of one.
    pub fn from_matrix(matrix: Vec<f32>, m: usize) -> Result<Self> {
        let d = matrix.len() / m.max(1);
        if d == 0 || d * m != matrix.len() {
            return Err(Error::Length { what: "a reduction", found: matrix.len(), expected: d.max(1) * m });
        }
        Ok(Self { matrix, d, m })
    }

    /// `d` random directions of `m` features, which keep distances up to a few percent. They depend on no rows: principal components of a
    /// sample of wide rows show that sample wider than all others.
    pub fn random(m: usize, d: usize, seed: u64) -> Self {
        let mut rng = stream(seed, Stream::Sample, 9);
        // The sum of two uniform numbers has the variance 1/6.
        let unit = (6.0 / d as f32).sqrt();
        let matrix = (0..d * m).map(|_| unit * (rng.random::<f32>() + rng.random::<f32>() - 1.0)).collect();
        Self { matrix, d, m }
    }

    /// The directions, `[d, m]`.
    pub fn matrix(&self) -> &[f32] {
        &self.matrix
    }

    /// Fit to prepared rows.
    pub fn fit((n, m): (usize, usize), dims: Dims, seed: u64, rows: &dyn Lines) -> Result<Option<Self>> {
        let wanted = match dims {
            Dims::Full => return Ok(None),
            Dims::Auto => WIDE,
            Dims::Exactly(d) => d,
        };
        let basis = if m <= wanted + SPARE { None } else { Some(range(n, m, wanted + SPARE, seed, rows)?) };
        let covariance = covariance((n, m), basis.as_ref(), seed, rows)?;
        Ok(Some(Self::from_covariance(&covariance, basis, wanted.min(m), m)))
    }

    /// Rotate the basis to principal components, whiten them mildly, and scale to E‖x‖² = 1.
    fn from_covariance(covariance: &Mat<f64>, basis: Option<Mat<f64>>, d: usize, m: usize) -> Self {
        let eigen = SelfAdjointEigen::new(covariance.as_ref(), Side::Lower).expect("a covariance is finite");
        let size = covariance.nrows();
        let variances = eigen.S().column_vector();
        let largest = variances[size - 1].max(f64::MIN_POSITIVE);
        let mut matrix = Vec::with_capacity(d * m);
        let mut power = 0.0;
        // Eigenvalues ascend: the leading components stand last.
        for j in (size - d..size).rev() {
            let variance = variances[j].max(NOISE * largest);
            let scale = variance.powf(-WHITEN);
            power += variances[j].max(0.0) * scale * scale;
            let direction = eigen.U().col(j);
            let mut row: Vec<f64> = match &basis {
                Some(basis) => (basis.as_ref() * direction).iter().copied().collect(),
                None => direction.iter().copied().collect(),
            };
            // The sign of an eigenvector is arbitrary; fix it by its largest entry.
            let top = row.iter().copied().fold(0.0f64, |a, b| if b.abs() > a.abs() { b } else { a });
            row.iter_mut().for_each(|v| *v *= scale.copysign(top));
            matrix.extend(row);
        }
        let scale = 1.0 / power.sqrt().max(f64::MIN_POSITIVE);
        Self { matrix: matrix.iter().map(|v| (v * scale) as f32).collect(), d, m }
    }
}

/// Gives products of the prepared rows at some indices.
pub type Products<'a> = Box<dyn Fn(&[usize]) -> Result<Vec<f32>> + Sync + 'a>;

/// Prepared rows, as far as the reduction has to know them.
pub trait Lines: Sync {
    /// What multiplies rows with directions `[d, m]` into `[rows, d]`; without directions it gives the rows themselves.
    fn products<'a>(&'a self, directions: Option<&'a [f32]>) -> Products<'a>;

    /// XᵀX Dᵀ of the rows X at these indices for directions D `[d, m]`; `[m, d]`.
    fn power(&self, rows: &[usize], directions: &[f32], m: usize) -> Result<Mat<f64>>;
}

/// Rows that `read` brings by index into a buffer `[rows, m]`.
pub struct Dense<F> {
    /// Features of a row.
    pub m: usize,
    /// Brings rows.
    pub read: F,
}

impl<F: Fn(&[usize], &mut [f32]) -> Result<()> + Sync> Lines for Dense<F> {
    fn products<'a>(&'a self, directions: Option<&'a [f32]>) -> Products<'a> {
        Box::new(move |rows| {
            let mut x = vec![0.0; rows.len() * self.m];
            (self.read)(rows, &mut x)?;
            let Some(directions) = directions else { return Ok(x) };
            let mut images = vec![0.0; rows.len() * (directions.len() / self.m)];
            product::product(&x, directions, self.m, &mut images);
            Ok(images)
        })
    }

    fn power(&self, rows: &[usize], directions: &[f32], m: usize) -> Result<Mat<f64>> {
        let width = directions.len() / m;
        let mut x = vec![0.0; rows.len() * m];
        (self.read)(rows, &mut x)?;
        let parts: Vec<Vec<f32>> = x
            .par_chunks(PIECE * m)
            .map(|x| {
                let mut images = vec![0.0; x.len() / m * width];
                product::product(x, directions, m, &mut images);
                let mut part = vec![0.0; width * m];
                product::transposed_product(&images, x, m, &mut part);
                part
            })
            .collect();
        Ok(Mat::from_fn(m, width, |i, j| parts.iter().map(|p| f64::from(p[j * m + i])).sum::<f64>()))
    }
}

/// At most `count` different rows, in ascending order.
pub(super) fn draw(n: usize, count: usize, seed: u64, purpose: u64) -> Vec<usize> {
    if n <= count {
        return (0..n).collect();
    }
    let mut rows = index::sample(&mut stream(seed, Stream::Sample, purpose), n, count).into_vec();
    rows.sort_unstable();
    rows
}

/// An orthonormal basis `[m, width]` of the leading directions: one power iteration on random directions.
fn range(n: usize, m: usize, width: usize, seed: u64, lines: &dyn Lines) -> Result<Mat<f64>> {
    let rows = draw(n, SKETCH_ROWS, seed, 1);
    let mut rng = stream(seed, Stream::Sample, 2);
    // Sums of uniform numbers will do for random directions; transposed, [width, m].
    let directions: Vec<f32> =
        (0..width * m).map(|_| rng.random::<f32>() + rng.random::<f32>() - 1.0).collect();
    let back = lines.power(&rows, &directions, m)?;
    Ok(Qr::new(back.as_ref()).compute_thin_Q())
}

/// Covariance of the rows (whose mean is zero) in the basis, or as they are.
fn covariance(
    (n, m): (usize, usize),
    basis: Option<&Mat<f64>>,
    seed: u64,
    lines: &dyn Lines,
) -> Result<Mat<f64>> {
    let rows = draw(n, COVARIANCE_ROWS, seed, 3);
    let transposed: Option<Vec<f32>> =
        basis.map(|b| (0..b.ncols()).flat_map(|j| b.col(j).iter().map(|v| *v as f32)).collect());
    let size = basis.map_or(m, Mat::ncols);
    let products = lines.products(transposed.as_deref());
    let parts: Vec<Vec<f32>> = rows
        .par_chunks(PIECE)
        .map(|rows| {
            let inner = products(rows)?;
            let mut part = vec![0.0; size * size];
            product::transposed_product(&inner, &inner, size, &mut part);
            Ok(part)
        })
        .collect::<Result<_>>()?;
    let mut sum = vec![0.0f64; size * size];
    for part in &parts {
        sum.iter_mut().zip(part).for_each(|(s, p)| *s += f64::from(*p));
    }
    let scale = 1.0 / rows.len() as f64;
    Ok(MatRef::from_row_major_slice(&sum, size, size).to_owned() * faer::Scale(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with a few strong directions and noise.
    fn data(n: usize, m: usize) -> Vec<f32> {
        let mut rng = stream(1, Stream::Synthetic, 0);
        let mut x = Vec::with_capacity(n * m);
        for _ in 0..n {
            let common: Vec<f32> = (0..4).map(|_| rng.random::<f32>() - 0.5).collect();
            x.extend((0..m).map(|j| common[j % 4] * (1 + j % 7) as f32 + 0.01 * (rng.random::<f32>() - 0.5)));
        }
        x
    }

    fn fitted(n: usize, m: usize, dims: Dims) -> (Vec<f32>, Reduction) {
        let x = data(n, m);
        let read = |rows: &[usize], out: &mut [f32]| {
            for (&r, out) in rows.iter().zip(out.chunks_exact_mut(m)) {
                out.copy_from_slice(&x[r * m..(r + 1) * m]);
            }
            Ok(())
        };
        let reduction = Reduction::fit((n, m), dims, 0, &Dense { m, read }).unwrap().unwrap();
        (x, reduction)
    }

    #[test]
    fn components_are_uncorrelated_and_their_power_is_one() {
        for (m, dims) in [(20, Dims::Auto), (300, Dims::Exactly(10)), (300, Dims::Auto)] {
            let (x, reduction) = fitted(900, m, dims);
            let d = reduction.d();
            let mut y = vec![0.0; 900 * d];
            reduction.apply(&x, &mut y);
            let moment = |a: usize, b: usize| -> f64 {
                y.chunks_exact(d).map(|r| f64::from(r[a]) * f64::from(r[b])).sum::<f64>() / 900.0
            };
            let power: f64 = (0..d).map(|j| moment(j, j)).sum();
            assert!((power - 1.0).abs() < 1e-3, "{dims:?}: {power}");
            for j in 1..4 {
                let correlation = moment(0, j) / (moment(0, 0) * moment(j, j)).sqrt();
                assert!(correlation.abs() < 2e-2, "{dims:?}: {correlation}");
            }
        }
    }

    #[test]
    fn folded_weights_give_the_same_logits_and_unfolding_takes_them_back() {
        let (x, reduction) = fitted(500, 200, Dims::Exactly(12));
        let d = reduction.d();
        let weight: Vec<f32> = (0..2 * d).map(|i| (i as f32).sin()).collect();
        let folded = reduction.fold(&weight);
        let mut y = vec![0.0; 500 * d];
        reduction.apply(&x, &mut y);
        for (x, y) in x.chunks_exact(200).zip(y.chunks_exact(d)) {
            let a: f32 = weight[..d].iter().zip(y).map(|(a, b)| a * b).sum();
            let b: f32 = folded[..200].iter().zip(x).map(|(a, b)| a * b).sum();
            assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{a} {b}");
        }
        for (a, b) in weight.iter().zip(reduction.unfold(&folded)) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
}
