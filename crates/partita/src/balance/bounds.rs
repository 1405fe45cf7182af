//! How many rows each cluster may have.

use crate::error::{Error, Result};
use crate::simplex::check_prior;

/// The smallest and the largest size of every cluster.
///
/// ```
/// use partita::balance::Bounds;
/// let bounds = Bounds { lower: vec![1, 0], upper: vec![3, 2] };
/// assert!(bounds.check(5, 2).is_ok());
/// assert!(bounds.check(6, 2).is_err()); // there is room for five rows only
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Minimum number of rows of each cluster, shape `[k]`.
    pub lower: Vec<usize>,
    /// Maximum number of rows of each cluster, shape `[k]`.
    pub upper: Vec<usize>,
}

impl Bounds {
    /// Sizes in proportion to `prior` that sum to `n`. Each is `prior · n` rounded down or up: up where the
    /// fraction is largest; among equal fractions, the cluster with the smaller index comes first.
    ///
    /// ```
    /// use partita::balance::Bounds;
    /// let bounds = Bounds::exact(&[0.5, 0.3, 0.2], 11)?;
    /// assert_eq!(bounds.lower, [6, 3, 2]); // of 5.5, 3.3 and 2.2
    /// assert_eq!(bounds.lower, bounds.upper);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Prior`] if `prior` is not positive or does not sum to 1.
    pub fn exact(prior: &[f64], n: usize) -> Result<Self> {
        let shares: Vec<f64> = check_prior(prior, prior.len())?.iter().map(|u| u * n as f64).collect();
        let mut sizes: Vec<usize> = shares.iter().map(|share| *share as usize).collect();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by(|&a, &b| shares[b].fract().total_cmp(&shares[a].fract())); // stable: ties keep the index
        let missing = n.saturating_sub(sizes.iter().sum());
        for &cluster in order.iter().take(missing) {
            sizes[cluster] += 1;
        }
        Ok(Self { lower: sizes.clone(), upper: sizes })
    }

    /// The same bounds for all `k` clusters.
    ///
    /// ```
    /// use partita::balance::Bounds;
    /// assert_eq!(Bounds::between(1, 4, 2)?, Bounds { lower: vec![1, 1], upper: vec![4, 4] });
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] if `min > max`, or if `k` is 0.
    pub fn between(min: usize, max: usize, k: usize) -> Result<Self> {
        let bounds = Self { lower: vec![min; k], upper: vec![max; k] };
        bounds.check_order(k)?;
        Ok(bounds)
    }

    /// Whether `n` rows can be given to `k` clusters within the bounds.
    ///
    /// ```
    /// use partita::balance::Bounds;
    /// let message = Bounds::between(4, 5, 3)?.check(10, 3).unwrap_err().to_string();
    /// assert!(message.contains("at most the number of rows"));
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if there are not `k` bounds, [`Error::Parameter`] if no sizes within them sum to `n`.
    pub fn check(&self, n: usize, k: usize) -> Result<()> {
        self.check_order(k)?;
        let sum = |sizes: &[usize]| sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        let refuse = |name, sum: usize, must| {
            Err(Error::Parameter { name, value: format!("{sum} for {n} rows"), must })
        };
        match (sum(&self.lower), sum(&self.upper)) {
            (least, _) if least > n => {
                refuse("the sum of the lower bounds", least, "at most the number of rows")
            }
            (_, most) if most < n => {
                refuse("the sum of the upper bounds", most, "at least the number of rows")
            }
            _ => Ok(()),
        }
    }

    fn check_order(&self, k: usize) -> Result<()> {
        if k == 0 {
            return Err(Error::Parameter { name: "k", value: "0".into(), must: "at least 1" });
        }
        for (what, sizes) in [("the lower bounds", &self.lower), ("the upper bounds", &self.upper)] {
            if sizes.len() != k {
                return Err(Error::Length { what, found: sizes.len(), expected: k });
            }
        }
        match (0..k).find(|&c| self.lower[c] > self.upper[c]) {
            None => Ok(()),
            Some(c) => Err(Error::Parameter {
                name: "the lower bound",
                value: format!("{} of cluster {c}", self.lower[c]),
                must: "at most the cluster's upper bound",
            }),
        }
    }
}
