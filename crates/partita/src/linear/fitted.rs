//! What a fit leaves.

use super::align::{numbers, renumbered};
use super::model::Model;
use super::report::Report;
use crate::error::Result;
use crate::outliers::Outliers;
use crate::rows::Rows;

/// A fitted model with what is known about the fit.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model; takes raw rows.
    pub model: Model,
    /// The most probable cluster of each row, outliers included.
    pub labels: Vec<u32>,
    /// How sparse the place of each row is beside its cluster, if outliers were asked for.
    pub outlier_scores: Option<Vec<f32>>,
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
        if let Some(outliers) = &mut model.outliers {
            outliers.typical = renumbered(&outliers.typical, &number);
        }
        self.labels.iter_mut().for_each(|l| *l = number[*l as usize] as u32);
        self.report.cluster_sizes = renumbered(&self.report.cluster_sizes, &number);
        self.report.prior = renumbered(&self.report.prior, &number);
        self.report.ailments.iter_mut().for_each(|a| a.renumber(&number));
        Ok(())
    }

    /// The cluster of each row, −1 for outliers.
    pub fn assigned(&self) -> Vec<i32> {
        match (&self.model.outliers, &self.outlier_scores) {
            (Some(outliers), Some(scores)) => outliers.mark(&self.labels, scores),
            _ => self.labels.iter().map(|&label| label as i32).collect(),
        }
    }

    /// Take these labels with their scores in place of those of the rows of the fit.
    ///
    /// # Panics
    /// If a label is not one of the clusters.
    pub fn relabel(&mut self, labels: Vec<u32>, outlier_scores: Option<Vec<f32>>) {
        let outliers = self.model.outliers.as_ref();
        self.report.outliers =
            outliers.zip(outlier_scores.as_ref()).map(|(found, scores)| found.note(scores));
        (self.labels, self.outlier_scores) = (labels, outlier_scores);
        self.report.cluster_sizes.fill(0);
        for label in self.assigned().into_iter().filter(|label| *label >= 0) {
            self.report.cluster_sizes[label as usize] += 1;
        }
    }

    /// Let the model judge all of these rows, in place of those of the fit.
    ///
    /// # Errors
    /// If the rows do not suit the model, or cannot be read.
    pub fn judge_again(&mut self, rows: &dyn Rows) -> Result<()> {
        let (labels, scores) = self.model.judged(rows)?;
        self.relabel(labels, scores);
        Ok(())
    }

    /// Keep what another model of the same clusters knows about outliers.
    ///
    /// # Errors
    /// If it does not suit the model, or if the rows cannot be read.
    pub fn keep_outliers(&mut self, outliers: Outliers, rows: &dyn Rows) -> Result<()> {
        self.model = self.model.clone().with_outliers(outliers)?;
        self.judge_again(rows)
    }
}
