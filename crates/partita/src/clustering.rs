//! The entry point for Rust programs: what to find, then the rows.

use crate::error::Result;
use crate::linear::{Dims, Fit, Init, Input, LiftKind, Loss, Model, Optimiser, Params, Prepare, Prior, fit};
use crate::outliers::OutlierRule;
use crate::report::{Observer, Silent};
use crate::rows::Rows;

/// Finds decisive, fair, max-margin clusters of rows, without labels.
///
/// ```
/// use ndarray::Array2;
/// use partita::EntropyClustering;
///
/// // 300 rows of two features, around three places.
/// let x = Array2::from_shape_fn((300, 2), |(i, j)| {
///     let place = if i % 3 == j { 10.0 } else { 0.0 };
///     place + (i / 3) as f64 * 0.01
/// });
/// let found = EntropyClustering::new(3).restarts(4).fit(&x)?;
/// assert_eq!(found.report.cluster_sizes, [100, 100, 100]);
/// assert_eq!(found.model.predict(&x)?, found.labels);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// Options that have no method here are fields of [`Params`], with which [`EntropyClustering::with_params`] begins.
#[derive(Clone)]
#[must_use = "nothing happens before `fit`"]
pub struct EntropyClustering<'a> {
    params: Params,
    widths: Option<Vec<usize>>,
    weights: Option<&'a [f32]>,
    known: Option<&'a [i32]>,
    start: Option<&'a Model>,
    memory: Option<usize>,
    observer: &'a dyn Observer,
}

/// One method for each option that is set in the same way.
macro_rules! options {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $value:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.params.$name = $value;
            self
        }
    )*};
}

impl<'a> EntropyClustering<'a> {
    /// `k` clusters, with the defaults for everything else.
    pub fn new(k: usize) -> Self {
        Self::with_params(Params::new(k))
    }

    /// A clustering with these options.
    pub fn with_params(params: Params) -> Self {
        Self {
            params,
            widths: None,
            weights: None,
            known: None,
            start: None,
            memory: None,
            observer: &Silent,
        }
    }

    options! {
        /// Independent starts, trained together; the one with the lowest loss is kept. 8 by default.
        restarts: usize => restarts;
        /// Seed of all random choices: the same seed gives the same bits.
        seed: u64 => seed;
        /// What is minimised, besides γ‖W‖².
        loss: Loss => loss;
        /// Weight λ of fairness.
        lambda: f64 => Some(lambda);
        /// Weight γ of ‖W‖², in units of mean squared row norm 1.
        gamma: f64 => Some(gamma);
        /// What is known about the sizes of the clusters; equal by default.
        prior: Prior => prior;
        /// How rows are prepared.
        prepare: Prepare => prepare;
        /// The feature map before the softmax.
        lift: LiftKind => lift;
        /// Dimensions of a row to train on.
        dims: Dims => dims;
        /// Where training starts.
        init: Init => init;
        /// Optimiser of the weights.
        optimiser: Optimiser => optimiser;
        /// Passes over the rows.
        epochs: usize => Some(epochs);
        /// Rows of a batch.
        batch: usize => Some(batch);
        /// L-BFGS iterations on all rows after training.
        polish: usize => polish;
        /// Which rows are outliers; by default every row belongs to a cluster.
        outliers: OutlierRule => Some(outliers);
    }

    /// Rows are groups of features of these widths side by side, such as an image's and its text's; each is prepared on its own and
    /// has the same weight.
    pub fn groups(mut self, widths: &[usize]) -> Self {
        self.widths = Some(widths.to_vec());
        self
    }

    /// Weight of each row, positive.
    pub fn weights(mut self, weights: &'a [f32]) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Labels that are known for some rows, -1 for the others. They name their clusters, and training follows them.
    pub fn known(mut self, known: &'a [i32]) -> Self {
        self.known = Some(known);
        self
    }

    /// Start from this model instead of from scratch.
    pub fn start(mut self, model: &'a Model) -> Self {
        self.start = Some(model);
        self
    }

    /// Bytes of prepared rows to hold in memory; beyond, they are read again in every pass, with the same result. 1 GiB by default.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Report progress to `observer`, which may stop the fit.
    pub fn observer(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Cluster these rows: an array or a view of `f32` or `f64`, or anything else that can be read row by row.
    ///
    /// # Errors
    /// If the rows, what is known about them or an option cannot be used; the message says which, where and what to do. Or if the
    /// observer stops the fit before there is a result.
    pub fn fit(&self, rows: &dyn Rows) -> Result<Fit> {
        let plain = Input::new(rows);
        let input = Input {
            widths: self.widths.clone().unwrap_or_else(|| plain.widths.clone()),
            weights: self.weights,
            known: self.known,
            warm_start: self.start,
            memory: self.memory.unwrap_or(plain.memory),
            rows,
        };
        fit(&input, &self.params, self.observer)
    }
}
