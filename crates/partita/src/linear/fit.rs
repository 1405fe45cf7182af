//! The whole fit: prepare, train, fold back, label.

use super::fitted::Fit;
use super::fitting::Fitting;
use super::input::Input;
use super::params::Params;
use crate::error::Result;
use crate::prepare::Prepared;
use crate::report::{Flow, Observer, Part};
use std::time::Instant;

/// Share of a fit that preparing the rows takes.
pub const PREPARING: f64 = 0.2;

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
