//! Passes over all rows that every preparation begins with: sums, moments, smallest values.

use super::sparse::Norms;
use super::view::{FeatureView, apply_views};
use crate::error::{Error, Result};
use crate::numeric::vector;
use crate::report::{Flow, Observer, Progress};
use crate::rows::{Csr, Rows, check_finite};
use rayon::prelude::*;

/// A feature whose variance is below this share of its mean square is constant up to rounding of f32 inputs.
const NEGLIGIBLE: f64 = 1e-13;
/// Rows whose sums are taken together. Fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 512;
/// Chunks worked on at a time; bounds the memory of a pass over a file.
const GROUP: usize = 32;

/// The variance, or 0 if it is no more than rounding.
pub fn variance(mean_square: f64, mean: f64) -> f64 {
    let variance = mean_square - mean * mean;
    if variance > NEGLIGIBLE * mean_square { variance } else { 0.0 }
}

/// Sums over all rows, feature by feature.
trait Tally: Sized + Send {
    /// Nothing counted yet, for `m` features.
    fn empty(m: usize) -> Self;
    /// Count one more row.
    fn add(&mut self, row: &[f32]);
    /// Count what another tally counted.
    fn merge(&mut self, other: &Self);
}

/// One pass over all rows, each of which `prepare` may change first; the same bits for any number of threads.
fn tally<T: Tally>(
    data: &dyn Rows,
    observer: &dyn Observer,
    prepare: impl Fn(&mut [f32], usize) -> Result<()> + Sync,
) -> Result<T> {
    let (n, m) = (data.n(), data.m());
    let mut total = T::empty(m);
    let chunks = n.div_ceil(CHUNK);
    for first in (0..chunks).step_by(GROUP) {
        let done = first as f64 / chunks as f64;
        if observer.progress(Progress { stage: "reading", done, loss: None }) == Flow::Stop {
            return Err(Error::Interrupted);
        }
        let parts: Vec<T> = (first..chunks.min(first + GROUP))
            .into_par_iter()
            .map_init(Vec::new, |block, chunk| {
                let start = chunk * CHUNK;
                block.resize(CHUNK.min(n - start) * m, 0.0);
                data.read(start, block)?;
                prepare(block, start)?;
                let mut part = T::empty(m);
                vector::dispatch(
                    #[inline(always)]
                    || block.chunks_exact(m).for_each(|row| part.add(row)),
                );
                Ok(part)
            })
            .collect::<Result<_>>()?;
        parts.iter().for_each(|part| total.merge(part));
    }
    data.release();
    Ok(total)
}

/// Sums and sums of squares.
pub struct Moments {
    /// Σx.
    pub sum: Vec<f64>,
    /// Σx².
    pub squares: Vec<f64>,
}

impl Tally for Moments {
    fn empty(m: usize) -> Self {
        Self { sum: vec![0.0; m], squares: vec![0.0; m] }
    }
    #[inline(always)]
    fn add(&mut self, row: &[f32]) {
        for ((x, sum), squares) in row.iter().zip(&mut self.sum).zip(&mut self.squares) {
            let x = f64::from(*x);
            *sum += x;
            *squares += x * x;
        }
    }
    fn merge(&mut self, other: &Self) {
        add_all(&mut self.sum, &other.sum);
        add_all(&mut self.squares, &other.squares);
    }
}

/// Moments of all rows after their views.
pub fn moments(data: &dyn Rows, views: &[FeatureView], observer: &dyn Observer) -> Result<Moments> {
    if let (Some(rows), [view]) = (data.sparse(), views) {
        return Ok(sparse_moments(rows, view));
    }
    tally(data, observer, |block, _| {
        apply_views(views, block);
        Ok(())
    })
}

/// The same for sparse rows: what is not zero is summed, and the centre that every row loses is accounted for at once.
fn sparse_moments(rows: &Csr<'_>, view: &FeatureView) -> Moments {
    let norms = Norms::new(view);
    let mut total = Moments::empty(rows.m());
    let (mut factors, mut squared_factors) = (0.0, 0.0);
    for i in 0..rows.n() {
        let factor = norms.factor(rows.row(i));
        factors += factor;
        squared_factors += factor * factor;
        for (j, x) in rows.row(i) {
            let (x, c) = (f64::from(x), norms.centre_at(j));
            total.sum[j] += factor * x;
            total.squares[j] += factor * factor * (x * x - 2.0 * x * c);
        }
    }
    for (j, (sum, squares)) in total.sum.iter_mut().zip(&mut total.squares).enumerate() {
        let c = norms.centre_at(j);
        *sum -= factors * c;
        *squares += squared_factors * c * c;
    }
    total
}

/// Power sums up to the third, and the smallest value. Rows come minus the first row, so that a common shift of all
/// rows does not cost precision.
struct Sums {
    powers: [Vec<f64>; 3],
    least: Vec<f32>,
}

impl Tally for Sums {
    fn empty(m: usize) -> Self {
        Self { powers: std::array::from_fn(|_| vec![0.0; m]), least: vec![f32::INFINITY; m] }
    }
    #[inline(always)]
    fn add(&mut self, row: &[f32]) {
        let [one, two, three] = &mut self.powers;
        for (((x, one), two), three) in row.iter().zip(one).zip(two).zip(three) {
            let x = f64::from(*x);
            *one += x;
            *two += x * x;
            *three += x * x * x;
        }
        for (least, x) in self.least.iter_mut().zip(row) {
            *least = if *x < *least { *x } else { *least };
        }
    }
    fn merge(&mut self, other: &Self) {
        self.powers.iter_mut().zip(&other.powers).for_each(|(t, v)| add_all(t, v));
        self.least.iter_mut().zip(&other.least).for_each(|(t, v)| *t = t.min(*v));
    }
}

fn add_all(total: &mut [f64], part: &[f64]) {
    total.iter_mut().zip(part).for_each(|(t, v)| *t += v);
}

/// Where the raw features lie.
pub struct Survey {
    pivot: Vec<f32>,
    sums: Sums,
    /// Smallest value of each feature.
    pub floor: Vec<f32>,
}

/// The first pass over the data; finds values that are not finite.
pub fn survey(data: &dyn Rows, observer: &dyn Observer) -> Result<Survey> {
    if let Some(rows) = data.sparse() {
        return sparse_survey(rows);
    }
    let m = data.m();
    let mut pivot = vec![0.0; m];
    data.read(0, &mut pivot)?;
    let sums: Sums = tally(data, observer, |block, start| {
        check_finite(block, m, start)?;
        for row in block.chunks_exact_mut(m) {
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= p);
        }
        Ok(())
    })?;
    let floor = sums.least.iter().zip(&pivot).map(|(x, p)| x + p).collect();
    Ok(Survey { pivot, sums, floor })
}

/// The same for sparse rows, whose zeros add nothing to the sums and count for the smallest value.
fn sparse_survey(rows: &Csr<'_>) -> Result<Survey> {
    rows.check_finite()?;
    let (n, m) = (rows.n(), rows.m());
    let mut sums = Sums::empty(m);
    let mut filled = vec![0; m];
    for (j, value) in (0..n).flat_map(|i| rows.row(i)) {
        let x = f64::from(value);
        sums.powers.iter_mut().zip([x, x * x, x * x * x]).for_each(|(sum, x)| sum[j] += x);
        sums.least[j] = sums.least[j].min(value);
        filled[j] += 1;
    }
    let zeros = |least: f32, filled: usize| if filled < n { least.min(0.0) } else { least };
    let floor = sums.least.iter().zip(filled).map(|(least, filled)| zeros(*least, filled)).collect();
    Ok(Survey { pivot: vec![0.0; m], sums, floor })
}

impl Survey {
    /// Mean of some features over `n` rows.
    pub fn mean(&self, part: std::ops::Range<usize>, n: f64) -> Vec<f32> {
        part.map(|j| (f64::from(self.pivot[j]) + self.sums.powers[0][j] / n) as f32).collect()
    }

    /// Standard deviation of some features over `n` rows.
    pub fn deviations(&self, part: std::ops::Range<usize>, n: f64) -> Vec<f64> {
        let [one, two, _] = &self.sums.powers;
        part.map(|j| variance(two[j] / n, one[j] / n).sqrt()).collect()
    }

    /// Mean skewness E(x−μ)³/σ³ of the features that vary.
    pub fn skewness(&self, part: std::ops::Range<usize>, n: f64) -> f64 {
        let skew = |j: usize| {
            let [one, two, three] = &self.sums.powers;
            let (one, two, three) = (one[j] / n, two[j] / n, three[j] / n);
            let variance = variance(two, one);
            let third = three - 3.0 * one * two + 2.0 * one.powi(3);
            (variance > 0.0).then(|| third / variance.powf(1.5))
        };
        let values: Vec<f64> = part.filter_map(skew).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }
}
