//! The whole fit: prepare, train, fold back, label.

use super::align::{numbers, renumbered};
use super::fitting::Fitting;
use super::input::Input;
use super::model::Model;
use super::params::Params;
use super::report::Report;
use crate::error::Result;
use crate::prepare::Prepared;
use crate::report::{Flow, Observer, Part};
use crate::rows::Rows;
use std::time::Instant;

/// Share of a fit that preparing the rows takes.
pub const PREPARING: f64 = 0.2;

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

/// Cluster the rows of `input`.
///
/// ```
/// use ndarray::Array2;
/// use partita::linear::{Input, Params, fit};
/// use partita::report::Silent;
/// let rows = Array2::from_shape_fn((60, 2), |(i, j)| (i % 3) as f32 * 10.0 * (j + i % 3) as f32 + (i / 3) as f32 * 0.01);
/// let view = rows.view();
/// let found = fit(&Input::new(&view), &Params::new(3), &Silent).unwrap();
/// assert_eq!(found.report.cluster_sizes, [20, 20, 20]);
/// ```
///
/// # Errors
/// If the rows, what is known about them or an option cannot be used; or if the observer stops it before there is a result.
pub fn fit(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Fit> {
    let began = Instant::now();
    input.check(params.k)?;
    params.check(input.rows.n())?;
    let prepared = input.prepared(params.recipe(), &Part::new(observer, 0.0, PREPARING))?;
    let mut found = fit_prepared(input, &prepared, params, &Part::new(observer, PREPARING, 1.0))?;
    found.report.seconds = began.elapsed().as_secs_f64();
    Ok(found)
}

/// [`fit`] on rows that were prepared from the input before, by the recipe of these options.
///
/// # Errors
/// As [`fit`].
pub fn fit_prepared(
    input: &Input<'_>,
    prepared: &Prepared,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Fit> {
    let mut fitting = Fitting::new(input, prepared, params)?;
    while fitting.advance()? && observer.progress(fitting.progress()) == Flow::Continue {}
    fitting.finish()
}
