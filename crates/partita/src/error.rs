//! What can be wrong with the input, with the value and the place where it was found.

use thiserror::Error;

/// A problem with the input. Not converging is never an error: see [`crate::report::StopReason`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A feature is NaN, infinite, or so large that it cannot be computed with.
    #[error("row {row}, column {column} is {} (rows and columns count from 0)", unusable(*value))]
    NotFinite {
        /// Row of the offending value, from 0.
        row: usize,
        /// Column of the offending value, from 0.
        column: usize,
        /// The value itself.
        value: f32,
    },
    /// There is nothing to cluster.
    #[error("the data has {rows} rows of {columns} features; give at least one row and one column")]
    Empty {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// More clusters were asked for than there are rows.
    #[error(
        "{k} clusters were asked for but there are only {rows} rows; ask for at most as many clusters as rows"
    )]
    TooFewRows {
        /// Number of rows.
        rows: usize,
        /// Number of clusters asked for.
        k: usize,
    },
    /// More clusters were asked for than there are different rows.
    #[error(
        "the {rows} rows hold only {distinct} different feature vectors, fewer than the {k} clusters asked for"
    )]
    TooFewDistinctRows {
        /// Number of rows.
        rows: usize,
        /// Number of different rows.
        distinct: usize,
        /// Number of clusters asked for.
        k: usize,
    },
    /// An option is outside its range.
    #[error("{name} = {value} is not valid: it must be {must}")]
    Parameter {
        /// Name of the option.
        name: &'static str,
        /// The value given.
        value: String,
        /// What would be accepted.
        must: &'static str,
    },
    /// Training left the range of numbers.
    #[error(
        "training ended in weights that are not finite; give a smaller learning rate, momentum, lambda or gamma, \
         or scale the features and weights to about 1"
    )]
    Diverged,
    /// Finite weights of a model and a finite row that give no finite number.
    #[error(
        "the model gives no finite number for row {row} (counted from 0): its weights are broken, or the row is very unlike those of its \
         fit; fit the model again, or scale the rows as they were for its fit"
    )]
    Overflow {
        /// The row, from 0.
        row: usize,
    },
    /// Two inputs that must have the same length do not.
    #[error("{what} has {found} entries where {expected} are needed")]
    Length {
        /// Which input.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length needed.
        expected: usize,
    },
    /// No row has a label in both labelings that are compared.
    #[error(
        "none of the {rows} rows has a label in both labelings; give at least one row whose labels are not negative"
    )]
    NoLabels {
        /// Number of rows.
        rows: usize,
    },
    /// A label is not one of the clusters.
    #[error("the label of row {row} is {label}; labels go from 0 to {}, and -1 means unknown", k - 1)]
    LabelOutOfRange {
        /// Row of the label, from 0.
        row: usize,
        /// The label.
        label: i64,
        /// Number of clusters.
        k: usize,
    },
    /// A distribution over clusters is not on the simplex.
    #[error("the prior must be {k} positive numbers that sum to 1, but {problem}")]
    Prior {
        /// Number of clusters.
        k: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The data has another width than the model.
    #[error("the model takes {expected} features a row but the data has {found}")]
    Width {
        /// Features the model takes.
        expected: usize,
        /// Features the data has.
        found: usize,
    },
    /// The feature files are not those of the model, or stand in another order.
    #[error(
        "the model takes files of {expected:?} features a row but the data has files of {found:?}; \
         give the files of its fit, in their order"
    )]
    Files {
        /// Features of each file the model takes.
        expected: Vec<usize>,
        /// Features of each file of the data.
        found: Vec<usize>,
    },
    /// Every row is the same, so there is nothing to tell clusters apart.
    #[error("all rows are alike after preparation ({preparation}); there is nothing to tell clusters apart")]
    Constant {
        /// How the rows were prepared.
        preparation: String,
    },
    /// The reader behind a [`crate::rows::Rows`] failed.
    #[error(transparent)]
    Reader(Box<dyn std::error::Error + Send + Sync>),
    /// The observer asked to stop before there was a result.
    #[error("interrupted")]
    Interrupted,
}

/// A value that is no feature, why, and what to do.
fn unusable(value: f32) -> String {
    match value {
        value if value.is_nan() => "NaN; remove or fill such values first".to_owned(),
        value if value.is_infinite() => format!(
            "{value}: infinite, or beyond {:.1e}, the largest number in single precision; remove or fill such values, or divide the column \
             first",
            f32::MAX
        ),
        value => format!(
            "{value:e}, so large that differences overflow in single precision; divide the column first"
        ),
    }
}

/// Refuse an option whose value is not `ok`.
pub(crate) fn require<T: ToString>(name: &'static str, value: T, ok: bool, must: &'static str) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::Parameter { name, value: value.to_string(), must }) }
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
