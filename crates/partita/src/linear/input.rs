//! What is clustered: rows, and what is known about them.

use super::model::Model;
use crate::error::{Error, Result, require};
use crate::prepare::{LiftKind, Prepared, Recipe, Sight};
use crate::report::Observer;
use crate::rows::{Rows, bits};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// What is clustered: rows, and what is known about them.
#[derive(Clone)]
pub struct Input<'a> {
    /// The features.
    pub rows: &'a dyn Rows,
    /// Widths of the feature files that stand side by side in a row; each is prepared on its own.
    pub widths: Vec<usize>,
    /// Weight of each row, positive; none means one each.
    pub weights: Option<&'a [f32]>,
    /// Known label of each row, -1 for unknown.
    pub known: Option<&'a [i32]>,
    /// A model of the same shape to start from; every restart starts there, the later ones with noise.
    pub warm_start: Option<&'a Model>,
    /// Bytes of prepared rows that may be held in memory.
    pub memory: usize,
}

impl<'a> Input<'a> {
    /// One feature file, no weights, nothing known, up to 1 GiB in memory.
    pub fn new(rows: &'a dyn Rows) -> Self {
        Self { rows, widths: vec![rows.m()], weights: None, known: None, warm_start: None, memory: 1 << 30 }
    }

    /// Whether the label of any row is known. Such labels name the clusters, so that no other numbers may be given to them.
    pub fn names_clusters(&self) -> bool {
        self.known.is_some_and(|known| known.iter().any(|l| *l >= 0))
    }

    /// Prepare the rows by a recipe, as the model to start from sees them if there is one. Rows of which some labels are known are not lifted
    /// unless the recipe says so: a lift keeps the clusters that rows show by themselves, and labels may ask for others.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn prepared(&self, recipe: Recipe, observer: &dyn Observer) -> Result<Prepared> {
        let known = recipe.lift == LiftKind::Auto && self.names_clusters();
        let recipe = if known { Recipe { lift: LiftKind::None, ..recipe } } else { recipe };
        let sight = self.warm_start.map(|model| Sight { lift: model.lift.as_ref(), views: &model.views });
        Prepared::new(self.rows, &self.widths, recipe, sight, self.memory, observer)
    }

    /// Refuse data with fewer different rows than clusters. Stops as soon as enough are found, which is at once unless most rows
    /// are copies.
    ///
    /// # Errors
    /// [`Error::TooFewDistinctRows`], or that of the reader.
    pub fn check_distinct(&self, k: usize) -> Result<()> {
        let (n, m) = (self.rows.n(), self.rows.m());
        let mut seen: HashSet<Vec<u32>> = HashSet::with_capacity(k);
        let mut row = vec![0.0; m];
        for i in 0..n {
            self.rows.read(i, &mut row)?;
            seen.insert(bits(&row));
            if seen.len() >= k {
                return Ok(());
            }
        }
        Err(Error::TooFewDistinctRows { rows: n, distinct: seen.len(), k })
    }

    /// Check weights and labels against the rows and the number of clusters.
    ///
    /// # Errors
    /// If there are no rows, or if widths, weights, labels or the model to start from do not fit them.
    pub fn check(&self, k: usize) -> Result<()> {
        let (n, m) = (self.rows.n(), self.rows.m());
        if n == 0 || m == 0 {
            return Err(Error::Empty { rows: n, columns: m });
        }
        let width: usize = self.widths.iter().sum();
        if width != m {
            return Err(Error::Width { expected: width, found: m });
        }
        if let Some(model) = self.warm_start {
            model.check_files(&self.widths)?;
        }
        self.weights.map_or(Ok(()), |weights| check_weights(weights, n))?;
        if let Some(known) = self.known {
            same_length("the known labels", known.len(), n)?;
            if let Some(row) = known.iter().position(|l| *l < -1 || *l >= k as i32) {
                return Err(Error::LabelOutOfRange { row, label: i64::from(known[row]), k });
            }
        }
        Ok(())
    }
}

/// Mean weights whose sums and products single precision can hold.
const WEIGHTS: RangeInclusive<f64> = 1e-15..=1e15;

fn same_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, found, expected }) }
}

fn check_weights(weights: &[f32], n: usize) -> Result<()> {
    same_length("the row weights", weights.len(), n)?;
    if let Some(row) = weights.iter().position(|w| !w.is_finite() || *w <= 0.0) {
        return Err(Error::Parameter {
            name: "a row weight",
            value: format!("{} (row {row})", weights[row]),
            must: "finite and above 0",
        });
    }
    let mean = weights.iter().map(|w| f64::from(*w)).sum::<f64>() / n as f64;
    require(
        "the mean row weight",
        mean,
        WEIGHTS.contains(&mean),
        "between 1e-15 and 1e15; only the ratios count, so divide all by one number",
    )
}
