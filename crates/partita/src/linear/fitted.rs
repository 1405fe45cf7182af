//! What a fit leaves.

use super::align::{numbers, renumbered};
use super::model::Model;
use super::report::Report;
use crate::error::Result;
use crate::rows::Rows;

/// A fitted model with what is known about the fit.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model; takes raw rows.
    pub model: Model,
    /// The model's label of each row.
    pub labels: Vec<u32>,
    /// How it went.
    pub report: Report,
}

impl Fit {
    /// Renumber the clusters so that as many rows as possible keep the number that `other` gives them. Clusters that are new take
    /// numbers that are free.
    ///
    /// # Errors
    /// If the rows do not suit `other`, or cannot be read.
    pub fn number_like(&mut self, other: &Model, rows: &dyn Rows) -> Result<()> {
        let number = numbers(&other.predict(rows)?, &self.labels, self.model.k())?;
        let model = &mut self.model;
        for values in [&mut model.weight, &mut model.bias, &mut model.prior] {
            *values = renumbered(values, &number);
        }
        self.labels.iter_mut().for_each(|l| *l = number[*l as usize] as u32);
        self.report.cluster_sizes = renumbered(&self.report.cluster_sizes, &number);
        self.report.prior = renumbered(&self.report.prior, &number);
        self.report.ailments.iter_mut().for_each(|a| a.renumber(&number));
        Ok(())
    }
}
