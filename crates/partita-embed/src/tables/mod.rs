//! Tables whose columns are numbers, categories, dates and gaps, as rows of numbers.
//!
//! A [`TablePlan`] says what is done to each column, and what is left out and why. A column counts as a column: in no direction does what it becomes vary
//! more than a scaled number does. A table of numbers without gaps needs no plan and stays as it is.

mod category;
mod date;
mod describe;
mod encode;
mod encoder;
mod explain;
mod number;
mod plan;
mod portrait;
mod survey;
mod text;

pub use category::CategoryPlan;
pub use date::DatePlan;
pub use describe::{ColumnNote, LeftOutNote, PlanNote};
pub use encode::EncodedTable;
pub use encoder::{Cell, KIND, TableEncoder};
pub use explain::Shown;
pub use number::{Indicator, NumberPlan};
pub use plan::{ColumnPlan, How, PlanOptions, Planned, TablePlan};
pub use portrait::{Difference, TablePortrait, What, portraits};
pub use text::figures;

#[cfg(test)]
mod tests;
