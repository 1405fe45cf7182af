//! Preparing features: what is done to every row before training, and how the model takes it back.
//!
//! A prepared row is `((x − c) / ‖x − c‖ − mean) · scale`, where each part may be absent. In these units
//! E‖x‖² = 1, so that one set of defaults serves raw pixels and deep features alike. What is affine (`mean`,
//! `scale`) is folded back into W and b; what is not (`c`, the row norm) stays with the model as a [`View`].

use super::vector;
use crate::error::{Error, Result};
use crate::report::{Flow, Observer, Progress};
use crate::rows::{Rows, check_finite};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How rows are prepared before training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// As they are, up to one common factor.
    None,
    /// Subtract the mean row.
    Centre,
    /// Subtract the mean row and divide each feature by its standard deviation.
    Standardise,
    /// Divide each row by its norm, then subtract the mean row: for embeddings compared by their angle.
    L2,
    /// Subtract the mean row, divide each row by its norm, subtract the mean again: angles as seen from the middle of the data.
    /// Neither a shift nor a scale of the features changes the result.
    #[default]
    Sphere,
}

impl Prepare {
    /// Whether the mean row is subtracted before anything else.
    pub fn centres_first(self) -> bool {
        matches!(self, Self::Centre | Self::Standardise | Self::Sphere)
    }
    fn normalises(self) -> bool {
        matches!(self, Self::L2 | Self::Sphere)
    }
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Centre => "centre",
            Self::Standardise => "standardise",
            Self::L2 => "l2",
            Self::Sphere => "sphere",
        }
    }
}

/// The part of the preparation of one feature file that cannot be folded into W and b.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Number of features.
    pub width: usize,
    /// Subtracted from every row before anything else; empty for none.
    pub centre: Vec<f32>,
    /// Whether rows are then divided by their norm.
    pub normalise: bool,
}

impl View {
    /// Apply to one row, in place.
    #[inline(always)]
    fn apply(&self, row: &mut [f32]) {
        for (x, c) in row.iter_mut().zip(&self.centre) {
            *x -= c;
        }
        if self.normalise {
            let scale = inverse_norm(row);
            for x in row {
                *x *= scale;
            }
        }
    }
}

/// 1/‖row‖, or 0 for a row of zeros.
#[inline(always)]
fn inverse_norm(row: &[f32]) -> f32 {
    let squares = vector::sum_squares(row);
    if squares.is_normal() {
        return 1.0 / squares.sqrt();
    }
    // Beyond the range of single precision squares, or zero.
    let squares: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if squares > 0.0 { (1.0 / squares.sqrt()) as f32 } else { 0.0 }
}

/// Apply the views side by side to a block of rows, in place.
pub fn apply_views(views: &[View], block: &mut [f32]) {
    let m: usize = views.iter().map(|v| v.width).sum();
    vector::dispatch(|| {
        for row in block.chunks_exact_mut(m) {
            let mut rest = row;
            for view in views {
                let (part, tail) = rest.split_at_mut(view.width);
                view.apply(part);
                rest = tail;
            }
        }
    });
}

/// The whole preparation, fitted to the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// One view for each feature file.
    pub views: Vec<View>,
    /// Subtracted after the views.
    pub mean: Vec<f32>,
    /// Multiplied last, a factor for each feature.
    pub scale: Vec<f32>,
}

/// A feature whose variance is below this share of its mean square is constant up to rounding of f32 inputs.
const NEGLIGIBLE: f64 = 1e-13;
/// Rows whose sums are taken together. Fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 512;
/// Chunks worked on at a time; bounds the memory of a pass over a file.
const GROUP: usize = 32;

impl Preparation {
    /// Fit to all rows of `data`, whose features are views of these widths side by side.
    ///
    /// Values that are not finite are found here, in the first pass over the data.
    pub fn fit(data: &dyn Rows, widths: &[usize], how: Prepare, observer: &dyn Observer) -> Result<Self> {
        let m = data.m();
        let n = data.n() as f64;
        let mut views: Vec<View> = widths
            .iter()
            .map(|&width| View { width, centre: Vec::new(), normalise: false })
            .collect();
        let first = moments(data, &views, observer)?;
        if how.centres_first() {
            let mut at = 0;
            for view in &mut views {
                view.centre = first.sum[at..at + view.width].iter().map(|s| (s / n) as f32).collect();
                at += view.width;
            }
        }
        for view in &mut views {
            view.normalise = how.normalises();
        }
        let moments = if how == Prepare::None { first } else { moments(data, &views, observer)? };
        let mean: Vec<f64> = match how {
            Prepare::None => vec![0.0; m],
            _ => moments.sum.iter().map(|s| s / n).collect(),
        };
        let variance: Vec<f64> =
            moments.squares.iter().zip(&mean).map(|(s, mean)| variance(s / n, *mean)).collect();
        let scale = scales(&variance, widths, how)?;
        Ok(Self { views, mean: mean.iter().map(|&v| v as f32).collect(), scale })
    }

    /// Number of features.
    pub fn m(&self) -> usize {
        self.mean.len()
    }

    /// Prepare a block of raw rows, in place.
    pub fn apply(&self, block: &mut [f32]) {
        apply_views(&self.views, block);
        vector::dispatch(|| {
            for row in block.chunks_exact_mut(self.m()) {
                for ((x, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                    *x = (*x - mean) * scale;
                }
            }
        });
    }

    /// Fold `mean` and `scale` into weights and biases that were trained on prepared rows.
    pub fn fold(&self, weight: &[f32], bias: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let m = self.m();
        let folded: Vec<f32> =
            weight.chunks_exact(m).flat_map(|w| w.iter().zip(&self.scale).map(|(w, s)| w * s)).collect();
        let bias = folded
            .chunks_exact(m)
            .zip(bias)
            .map(|(w, &b)| {
                let shift: f64 = w.iter().zip(&self.mean).map(|(w, c)| f64::from(*w) * f64::from(*c)).sum();
                (f64::from(b) - shift) as f32
            })
            .collect();
        (folded, bias)
    }

    /// The inverse of [`Preparation::fold`]: weights for prepared rows from weights for rows after the views.
    pub fn unfold(&self, weight: &[f32], bias: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let m = self.m();
        let bias = weight
            .chunks_exact(m)
            .zip(bias)
            .map(|(w, &b)| {
                let shift: f64 = w.iter().zip(&self.mean).map(|(w, c)| f64::from(*w) * f64::from(*c)).sum();
                (f64::from(b) + shift) as f32
            })
            .collect();
        let unfolded = weight
            .chunks_exact(m)
            .flat_map(|w| w.iter().zip(&self.scale).map(|(w, &s)| if s > 0.0 { w / s } else { 0.0 }))
            .collect();
        (unfolded, bias)
    }
}

fn variance(mean_square: f64, mean: f64) -> f64 {
    let variance = mean_square - mean * mean;
    if variance > NEGLIGIBLE * mean_square { variance } else { 0.0 }
}

/// Factors that give every view an equal share of E‖x‖² = 1.
fn scales(variance: &[f64], widths: &[usize], how: Prepare) -> Result<Vec<f32>> {
    let mut scale = Vec::with_capacity(variance.len());
    let mut rest = variance;
    let mut varying = 0;
    for &width in widths {
        let (view, tail) = rest.split_at(width);
        rest = tail;
        let target = 1.0 / widths.len() as f64;
        let total: f64 = view.iter().sum();
        let features = view.iter().filter(|v| **v > 0.0).count();
        varying += features;
        scale.extend(view.iter().map(|&v| match how {
            _ if v == 0.0 || total == 0.0 => 0.0,
            Prepare::Standardise => (target / (features as f64 * v)).sqrt() as f32,
            _ => (target / total).sqrt() as f32,
        }));
    }
    if varying == 0 || !scale.iter().all(|s| s.is_finite()) {
        return Err(Error::Constant { preparation: how.name().to_owned() });
    }
    Ok(scale)
}

/// Sums and sums of squares of each feature.
struct Moments {
    sum: Vec<f64>,
    squares: Vec<f64>,
}

/// One pass over all rows after `views`, the same bits for any number of threads.
fn moments(data: &dyn Rows, views: &[View], observer: &dyn Observer) -> Result<Moments> {
    let (n, m) = (data.n(), data.m());
    let mut total = Moments { sum: vec![0.0; m], squares: vec![0.0; m] };
    let chunks = n.div_ceil(CHUNK);
    for first in (0..chunks).step_by(GROUP) {
        let done = first as f64 / chunks as f64;
        if observer.progress(Progress { stage: "reading", done, loss: None }) == Flow::Stop {
            return Err(Error::Interrupted);
        }
        let parts: Vec<Moments> = (first..chunks.min(first + GROUP))
            .into_par_iter()
            .map_init(Vec::new, |block, chunk| chunk_moments(data, views, chunk * CHUNK, block))
            .collect::<Result<_>>()?;
        for part in parts {
            total.sum.iter_mut().zip(&part.sum).for_each(|(t, v)| *t += v);
            total.squares.iter_mut().zip(&part.squares).for_each(|(t, v)| *t += v);
        }
    }
    data.release();
    Ok(total)
}

fn chunk_moments(data: &dyn Rows, views: &[View], start: usize, block: &mut Vec<f32>) -> Result<Moments> {
    let m = data.m();
    let rows = CHUNK.min(data.n() - start);
    block.resize(rows * m, 0.0);
    data.read(start, block)?;
    check_finite(block, m, start)?;
    apply_views(views, block);
    let mut part = Moments { sum: vec![0.0; m], squares: vec![0.0; m] };
    vector::dispatch(|| {
        for row in block.chunks_exact(m) {
            for ((x, sum), squares) in row.iter().zip(&mut part.sum).zip(&mut part.squares) {
                let x = f64::from(*x);
                *sum += x;
                *squares += x * x;
            }
        }
    });
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Silent;
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;

    fn random(n: usize, m: usize) -> Array2<f32> {
        let mut rng = stream(3, Stream::Synthetic, 0);
        Array2::from_shape_fn((n, m), |(_, j)| rng.random::<f32>() * (1 + j) as f32 + 5.0)
    }

    const ALL: [Prepare; 5] =
        [Prepare::None, Prepare::Centre, Prepare::Standardise, Prepare::L2, Prepare::Sphere];

    #[test]
    fn prepared_rows_have_unit_mean_square_norm_and_zero_mean() {
        let data = random(1500, 7);
        for how in ALL {
            let prep = Preparation::fit(&data.view(), &[3, 4], how, &Silent).unwrap();
            let mut block = data.clone().into_raw_vec_and_offset().0;
            prep.apply(&mut block);
            let rows = Array2::from_shape_vec((1500, 7), block).unwrap();
            let power = rows.mapv(|v| f64::from(v).powi(2)).sum() / 1500.0;
            if how != Prepare::None {
                assert!((power - 1.0).abs() < 1e-4, "{how:?}: {power}");
                assert!(rows.mean_axis(ndarray::Axis(0)).unwrap().iter().all(|v| v.abs() < 1e-4), "{how:?}");
            }
        }
    }

    #[test]
    fn folding_gives_the_same_logits_and_unfolding_takes_it_back() {
        let data = random(200, 7);
        let weight: Vec<f32> = (0..21).map(|i| (i as f32 * 0.7).sin()).collect();
        let bias = [0.1, -0.2, 0.3];
        let logits = |w: &[f32], b: &[f32], row: &[f32]| -> Vec<f32> {
            (0..3)
                .map(|k| b[k] + w[k * 7..k * 7 + 7].iter().zip(row).map(|(w, x)| w * x).sum::<f32>())
                .collect()
        };
        for how in ALL {
            let prep = Preparation::fit(&data.view(), &[3, 4], how, &Silent).unwrap();
            let (folded, folded_bias) = prep.fold(&weight, &bias);
            let (back, back_bias) = prep.unfold(&folded, &folded_bias);
            for row in data.rows() {
                let mut prepared = row.to_vec();
                prep.apply(&mut prepared);
                let mut viewed = row.to_vec();
                apply_views(&prep.views, &mut viewed);
                let expected = logits(&weight, &bias, &prepared);
                for (a, b) in logits(&folded, &folded_bias, &viewed).iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-4, "{how:?}: {a} {b}");
                }
                for (a, b) in logits(&back, &back_bias, &prepared).iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-4, "{how:?}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn constant_rows_are_refused_and_a_constant_feature_is_not() {
        let same = Array2::from_elem((10, 3), 2.5f32);
        let error = Preparation::fit(&same.view(), &[3], Prepare::Centre, &Silent).unwrap_err();
        assert!(matches!(error, Error::Constant { .. }), "{error}");
        let mut one = same;
        one[[4, 1]] = 3.0;
        let prep = Preparation::fit(&one.view(), &[3], Prepare::Standardise, &Silent).unwrap();
        assert_eq!((prep.scale[0], prep.scale[2]), (0.0, 0.0));
        assert!(prep.scale[1] > 0.0);
    }
}
