//! What `auto` does to features, and why: by what the columns are.
//!
//! Columns of one unit, such as coordinates, lengths of parts of one thing or counts, have spreads of one order of magnitude, and which of them
//! varies more tells clusters apart: they are only centred. Spreads that differ by more than an order of magnitude are those of
//! different units, whose ratio means nothing: every column then counts as much as the others.

use super::reduce::draw;
use crate::error::Result;
use crate::rows::Rows;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Mean skewness above which features count as one-sided. Rectified activations and pixels have 1 to 5, signed
/// embeddings about 0.
const SKEWED: f64 = 0.5;
/// Spreads of columns that differ by this factor are of different units.
const UNITS: f64 = 10.0;
/// Columns of different units at most.
const MOST_COLUMNS: usize = 512;
/// A standard deviation this many times that of the inner values is made by outliers. Exponential tails have 1.04, a lognormal column of
/// unit variance of the logarithm 1.4.
const TAILS: f64 = 3.0;
/// Rows whose inner values are looked at.
const ROWS: usize = 10_000;
/// Values that are not inner ones, at both ends: they count as if they were at the border.
const OUTER: f64 = 0.01;

/// How rows are prepared before training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// For few features [`Prepare::Centre`] if their spreads are of one order of magnitude, otherwise [`Prepare::Standardise`], or
    /// [`Prepare::Robust`] if outliers make the standard deviation of any. For many, [`Prepare::Floor`] if they are skewed like
    /// counts, pixels and rectified activations, and [`Prepare::Sphere`] if they are not. Neither a shift nor a scale of
    /// all features changes the choice or the result.
    #[default]
    Auto,
    /// As they are, up to one common factor.
    None,
    /// Subtract the mean row.
    Centre,
    /// Subtract the mean row and divide each feature by its standard deviation.
    Standardise,
    /// Subtract the mean row and divide each feature by its standard deviation without the outermost values.
    Robust,
    /// Divide each row by its norm, then subtract the mean row: for embeddings compared by their angle.
    L2,
    /// Subtract the mean row, divide each row by its norm, subtract the mean again: angles as seen from the middle
    /// of the data.
    Sphere,
    /// Subtract the smallest value of each feature, divide each row by its norm, subtract the mean: angles as seen
    /// from where every feature is off.
    Floor,
}

/// With fewer features than this the norm of a row tells clusters apart, and `auto` keeps it.
pub const MANY_FEATURES: usize = 32;
/// What was done to the features of a file before training, and why.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrepareNote {
    /// What was done.
    pub kind: Prepare,
    /// Why.
    #[serde(flatten)]
    pub why: PrepareWhy,
}

/// Why features are prepared as they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum PrepareWhy {
    /// It was asked for.
    Asked,
    /// They count as much as they should already.
    Weighed,
    /// Their spreads are of one order of magnitude: the largest is this many times the smallest.
    OneUnit {
        /// The largest spread over the smallest.
        ratio: f64,
    },
    /// Their spreads are not.
    Units {
        /// The largest spread over the smallest.
        ratio: f64,
    },
    /// Nor are they, and outliers make some of them.
    Tails {
        /// The largest standard deviation over that of the inner values of its column.
        ratio: f64,
    },
    /// There are many, and they are skewed like counts, pixels and activations.
    OneSided {
        /// Mean skewness.
        skewness: f64,
    },
    /// There are many, and they are not.
    TwoSided {
        /// Mean skewness.
        skewness: f64,
    },
}

impl Prepare {
    /// What `auto` means for features of these standard deviations, those of their inner values, and this mean skewness.
    pub(super) fn resolve(self, deviations: &[f64], inner: &[f64], skewness: f64) -> PrepareNote {
        let note = |kind, why| PrepareNote { kind, why };
        if self != Self::Auto {
            return note(self, PrepareWhy::Asked);
        }
        let ratio = disparity(deviations);
        if ratio <= UNITS {
            return match deviations.len() >= MANY_FEATURES {
                true if skewness > SKEWED => note(Self::Floor, PrepareWhy::OneSided { skewness }),
                true => note(Self::Sphere, PrepareWhy::TwoSided { skewness }),
                false => note(Self::Centre, PrepareWhy::OneUnit { ratio }),
            };
        }
        let tails = deviations.iter().zip(inner).filter(|(_, inner)| **inner > 0.0);
        let tails = tails.map(|(deviation, inner)| deviation / inner).fold(0.0, f64::max);
        match tails > TAILS {
            true => note(Self::Robust, PrepareWhy::Tails { ratio: tails }),
            false => note(Self::Standardise, PrepareWhy::Units { ratio }),
        }
    }

    /// What `auto` means for columns of these standard deviations, and those of their inner values, by their units alone: [`Prepare::Centre`],
    /// [`Prepare::Standardise`] or [`Prepare::Robust`].
    ///
    /// ```
    /// use partita::prepare::Prepare;
    /// assert_eq!(Prepare::by_units(&[14.0, 0.3], &[13.0, 0.3]).kind, Prepare::Standardise);
    /// ```
    pub fn by_units(deviations: &[f64], inner: &[f64]) -> PrepareNote {
        let ratio = disparity(deviations);
        match ratio <= UNITS {
            true => PrepareNote { kind: Self::Centre, why: PrepareWhy::OneUnit { ratio } },
            false => Self::Auto.resolve(deviations, inner, 0.0),
        }
    }

    pub(super) fn normalises(self) -> bool {
        matches!(self, Self::L2 | Self::Sphere | Self::Floor)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Centre => "centre",
            Self::Standardise => "standardise",
            Self::Robust => "robust",
            Self::L2 => "l2",
            Self::Sphere => "sphere",
            Self::Floor => "floor",
        }
    }
}

/// How many times larger the largest spread is than the smallest. Among many features of one unit some hardly vary at all, such as
/// pixels in a corner: there, than the median. Beyond a number of columns that anybody would name they are one kind of thing, words for
/// instance, some frequent and some rare.
fn disparity(deviations: &[f64]) -> f64 {
    if deviations.len() > MOST_COLUMNS {
        return 1.0;
    }
    let mut varying: Vec<f64> = deviations.iter().copied().filter(|d| *d > 0.0).collect();
    varying.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (varying.first(), varying.last()) else { return 1.0 };
    last / if deviations.len() < MANY_FEATURES { *first } else { varying[varying.len() / 2] }
}

/// Standard deviation of the inner values of each feature; empty where nobody asks for it.
pub(super) struct Inner(Vec<f64>);

impl Inner {
    /// Of a sample of the rows, if files of these widths and deviations need it.
    pub fn of(data: &dyn Rows, widths: &[usize], deviations: &[f64], how: Prepare) -> Result<Self> {
        let mut rest = deviations;
        let mut units = widths.iter().map(|&width| {
            let (view, tail) = rest.split_at(width);
            rest = tail;
            disparity(view) > UNITS
        });
        if how != Prepare::Robust && !(how == Prepare::Auto && units.any(|differ| differ)) {
            return Ok(Self(Vec::new()));
        }
        let m = data.m();
        let rows = draw(data.n(), ROWS, 0, 7);
        let mut values = vec![0.0; rows.len() * m];
        data.gather(&rows, &mut values)?;
        let spread = |j: usize| {
            let mut column: Vec<f32> = values.iter().skip(j).step_by(m).copied().collect();
            column.sort_by(f32::total_cmp);
            let outer = (OUTER * column.len() as f64).ceil() as usize;
            let (low, high) = (
                column[outer.min(column.len() / 2)],
                column[column.len() - 1 - outer.min((column.len() - 1) / 2)],
            );
            let inner = || column.iter().map(|v| f64::from(v.clamp(low, high)));
            let mean = inner().sum::<f64>() / column.len() as f64;
            (inner().map(|v| (v - mean) * (v - mean)).sum::<f64>() / column.len() as f64).sqrt()
        };
        Ok(Self((0..m).into_par_iter().map(spread).collect()))
    }

    /// Those of some features.
    pub fn spread(&self, part: Range<usize>) -> &[f64] {
        self.0.get(part).unwrap_or_default()
    }

    /// Put their squares where robust scaling asks for them. A column whose inner values are one keeps its variance.
    pub fn replace(&self, variance: &mut [f64], widths: &[usize], kinds: &[Prepare]) {
        let mut at = 0;
        for (&width, kind) in widths.iter().zip(kinds) {
            if *kind == Prepare::Robust {
                let part = at..at + width;
                for (variance, inner) in variance[part.clone()].iter_mut().zip(self.spread(part)) {
                    *variance = if *inner > 0.0 && *variance > 0.0 { inner * inner } else { *variance };
                }
            }
            at += width;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_decide_how_they_are_prepared() {
        let kind = |deviations: &[f64], inner: &[f64]| Prepare::Auto.resolve(deviations, inner, 0.0).kind;
        assert_eq!(kind(&[1.0, 4.0, 0.0], &[1.0, 4.0, 0.0]), Prepare::Centre);
        assert_eq!(kind(&[1.0, 40.0], &[1.0, 30.0]), Prepare::Standardise);
        assert_eq!(kind(&[1.0, 40.0], &[1.0, 3.0]), Prepare::Robust);
        assert_eq!(kind(&[1.0, 40.0], &[0.0, 40.0]), Prepare::Standardise);
        let wide = vec![1.0; MANY_FEATURES];
        assert_eq!(kind(&wide, &[]), Prepare::Sphere);
        assert_eq!(Prepare::Auto.resolve(&wide, &[], 2.0).kind, Prepare::Floor);
        let asked = Prepare::L2.resolve(&[1.0], &[], 0.0);
        assert_eq!((asked.kind, asked.why), (Prepare::L2, PrepareWhy::Asked));
    }

    #[test]
    fn outliers_do_not_change_robust_scales() {
        let column = |i: usize| if i == 7 { 1e6 } else { (i % 100) as f32 };
        let x = ndarray::Array2::from_shape_fn(
            (1000, 2),
            |(i, j)| if j == 0 { column(i) } else { (i % 7) as f32 },
        );
        let inner = Inner::of(&x, &[2], &[1.0; 2], Prepare::Robust).unwrap();
        assert!((inner.spread(0..1)[0] - 28.9).abs() < 1.0, "{:?}", inner.0);
        let mut variance = [1e9, 4.0];
        inner.replace(&mut variance, &[2], &[Prepare::Robust]);
        assert!(variance[0] < 2e3 && variance[1] < 10.0, "{variance:?}");
    }
}
