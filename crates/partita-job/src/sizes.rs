//! Sizes that labels must have: limits in rows or as shares, and exact balance.

use crate::error::{JobError, Result};
use crate::field::Field;
use partita::balance::{Assignment, Bounds};
use partita::linear::{Model, Prior};
use partita::rows::Rows;
use serde::{Deserialize, Serialize};

/// Sizes that are guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SizeSpec {
    /// Sizes as the prior says.
    pub balance: Option<Balance>,
    /// Smallest size of a cluster: a number of rows, or a share of them if below 1.
    pub min_size: Option<f64>,
    /// Largest size of a cluster: a number of rows, or a share of them if below 1.
    pub max_size: Option<f64>,
}

/// How closely clusters have the sizes of the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// Within one row.
    Exact,
}

/// How labels were moved to give clusters the requested sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Balanced {
    /// Rows that are not in their most probable cluster.
    pub moved: usize,
    /// No labels of such sizes have a mean ln σ larger by more than this.
    pub gap: f64,
}

impl SizeSpec {
    /// Whether any size was requested.
    pub fn any(&self) -> bool {
        self.balance.is_some() || self.min_size.is_some() || self.max_size.is_some()
    }

    /// Refuse limits that are not sizes, and limits together with exact sizes.
    ///
    /// # Errors
    /// The first such field.
    pub fn check(&self) -> Result<()> {
        for (field, size) in [(Field::MinSize, self.min_size), (Field::MaxSize, self.max_size)] {
            let Some(size) = size else { continue };
            if !(size > 0.0 && size.is_finite()) {
                let problem =
                    "is not a size; a number above 0 is needed: rows, or a share below 1".to_owned();
                return Err(JobError::Value { field, value: size.to_string(), problem });
            }
            if self.balance.is_some() {
                return Err(JobError::Idle { field, why: "beside `balance`; leave one of them out" });
            }
        }
        Ok(())
    }

    /// Fewest and most rows of a cluster among `n` rows, if any limit was given. Limits are rounded inwards, so that they hold.
    ///
    /// ```
    /// use partita_job::SizeSpec;
    /// let sizes = SizeSpec { min_size: Some(0.14), max_size: Some(1000.0), ..SizeSpec::default() };
    /// assert_eq!(sizes.limits(50), Some((7, 50)));
    /// ```
    pub fn limits(&self, n: usize) -> Option<(usize, usize)> {
        if self.min_size.is_none() && self.max_size.is_none() {
            return None;
        }
        let rows = |size: f64| if size < 1.0 { whole(size * n as f64) } else { size };
        let least = self.min_size.map_or(0, |size| rows(size).ceil() as usize);
        let most = self.max_size.map_or(n, |size| rows(size).floor() as usize);
        Some((least, most.min(n)))
    }

    /// What limits say about the prior of a fit: sizes are estimated within them.
    pub(crate) fn prior(&self, n: usize, k: usize) -> Result<Option<Prior>> {
        let Some((least, most)) = self.limits(n) else { return Ok(None) };
        if k.saturating_mul(least) > n || k.saturating_mul(most) < n || least > most {
            let field = if self.min_size.is_some() { Field::MinSize } else { Field::MaxSize };
            let problem = format!(
                "{n} rows cannot be split into {k} clusters of {least} to {most} rows each; \
                 change `min_size`, `max_size` or `k`"
            );
            return Err(JobError::refused(field, problem));
        }
        let share = |rows: usize| rows as f64 / n as f64;
        let equal = 1.0 / k as f64;
        let Prior::Estimated { least: floor, .. } = Prior::unknown(k) else { return Ok(None) };
        Ok(Some(Prior::Estimated { least: share(least).clamp(floor, equal), most: share(most).max(equal) }))
    }

    /// The likeliest labels of the requested sizes, if any were requested.
    ///
    /// # Errors
    /// If the rows are not like those of the model, or cannot have such sizes.
    pub fn assign(&self, model: &Model, rows: &dyn Rows) -> Result<Option<Assignment>> {
        if self.any() && model.outliers().is_some() {
            let problem = "this model leaves outliers out of its clusters, and sizes count every row; \
                           leave `balance`, `min_size` and `max_size` out, or fit a model without `outliers`";
            return Err(JobError::refused(Field::Outliers, problem));
        }
        let (n, k) = (rows.n(), model.k());
        let bounds = match (self.balance, self.limits(n)) {
            (Some(Balance::Exact), _) => Bounds::exact(&model.shares(), n)?,
            (None, Some((least, most))) => Bounds::between(least, most, k)?,
            (None, None) => return Ok(None),
        };
        Ok(Some(model.predict_balanced(rows, &bounds)?))
    }
}

/// The whole number that a product missed by rounding: 0.14 · 50 is a little more than 7.
fn whole(product: f64) -> f64 {
    let near = product.round();
    let error = 1e-9f64.max(4.0 * f64::EPSILON * product);
    if (product - near).abs() <= error { near } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(min_size: Option<f64>, max_size: Option<f64>) -> SizeSpec {
        SizeSpec { balance: None, min_size, max_size }
    }

    #[test]
    fn rounding_of_a_share_does_not_cost_a_row() {
        assert_eq!(sizes(Some(0.14), None).limits(50), Some((7, 50)));
        assert_eq!(sizes(None, Some(0.29)).limits(100), Some((0, 29)));
        assert_eq!(sizes(Some(0.145), Some(0.295)).limits(100), Some((15, 29)));
    }

    #[test]
    fn a_limit_above_the_number_of_rows_is_none() {
        assert_eq!(sizes(None, Some(1000.0)).limits(90), Some((0, 90)));
        let Some(Prior::Estimated { most, .. }) = sizes(None, Some(1000.0)).prior(90, 3).unwrap() else {
            panic!("a limit has the sizes estimated")
        };
        assert_eq!(most, 1.0);
    }

    #[test]
    fn limits_that_cannot_be_met_are_refused() {
        for (limits, field) in [
            (sizes(Some(400.0), None), Field::MinSize),
            (sizes(None, Some(0.2)), Field::MaxSize),
            (sizes(Some(1e300), None), Field::MinSize),
        ] {
            let error = limits.prior(1000, 3).unwrap_err();
            assert_eq!(error.field(), Some(field));
            assert!(error.to_string().contains("1000 rows cannot be split into 3 clusters"), "{error}");
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(sizes(None, Some(bad)).check().unwrap_err().field(), Some(Field::MaxSize));
        }
        let both = SizeSpec { balance: Some(Balance::Exact), ..sizes(Some(3.0), None) };
        assert_eq!(both.check().unwrap_err().field(), Some(Field::MinSize));
    }
}
