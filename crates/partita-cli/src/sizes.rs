//! Sizes that labels must have, from the arguments.

use crate::args::SizeArgs;
use anyhow::{Result, bail};
use partita::balance::{Assignment, Bounds};
use partita::linear::{Model, Prior};
use partita::rows::Rows;
use serde::Serialize;

/// How labels were given the sizes that were asked for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Balanced {
    /// Rows that are not in their most probable cluster.
    pub moved: usize,
    /// No labels of such sizes have a mean ln σ larger by more than this.
    pub gap: f64,
}

impl SizeArgs {
    /// Whether any size was asked for.
    pub fn any(&self) -> bool {
        self.balance.is_some() || self.min_size.is_some() || self.max_size.is_some()
    }

    /// Fewest and most rows of a cluster, if any limit was given.
    fn limits(&self, n: usize) -> Option<(usize, usize)> {
        if self.min_size.is_none() && self.max_size.is_none() {
            return None;
        }
        // A share of the rows, or rows; inwards, so that the limit holds.
        let rows = |size: f64| if size < 1.0 { whole(size * n as f64) } else { size };
        let least = self.min_size.map_or(0, |size| rows(size).ceil() as usize);
        let most = self.max_size.map_or(n, |size| rows(size).floor() as usize);
        Some((least, most.min(n)))
    }

    /// What limits say about the prior of a fit: sizes are estimated within them.
    pub fn prior(&self, n: usize, k: usize) -> Result<Option<Prior>> {
        let Some((least, most)) = self.limits(n) else { return Ok(None) };
        if k.saturating_mul(least) > n || k.saturating_mul(most) < n || least > most {
            bail!(
                "{n} rows cannot be split into {k} clusters of {least} to {most} rows each; \
                 change --min-size, --max-size or -k"
            );
        }
        let share = |rows: usize| rows as f64 / n as f64;
        let equal = 1.0 / k as f64;
        let Prior::Estimated { least: floor, .. } = Prior::unknown(k) else { return Ok(None) };
        Ok(Some(Prior::Estimated { least: share(least).clamp(floor, equal), most: share(most).max(equal) }))
    }

    /// Labels of the asked sizes, if any were asked for.
    pub fn balance(&self, model: &Model, rows: &dyn Rows) -> Result<Option<Assignment>> {
        let (n, k) = (rows.n(), model.k());
        let bounds = match (self.balance, self.limits(n)) {
            (Some(_), _) => Bounds::exact(&model.shares(), n)?,
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

    #[test]
    fn rounding_of_a_share_does_not_cost_a_row() {
        let limits = |min, max, n| SizeArgs { balance: None, min_size: min, max_size: max }.limits(n);
        assert_eq!(limits(Some(0.14), None, 50), Some((7, 50)));
        assert_eq!(limits(None, Some(0.29), 100), Some((0, 29)));
        assert_eq!(limits(Some(0.145), Some(0.295), 100), Some((15, 29)));
        assert_eq!(limits(None, Some(1000.0), 90), Some((0, 90)));
    }
}
