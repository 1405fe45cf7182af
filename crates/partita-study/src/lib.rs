//! Studies with Partita: charts, tables, and the paper's figures and tables drawn again and checked.
//!
//! | module | what it holds |
//! |---|---|
//! | [`chart`] | charts, as SVG files and as parts of a page |
//! | [`table`] | tables, as Markdown, CSV and parts of a page |
//! | [`spec`] | what is to be shown and what must hold, from a TOML file |
//! | [`paper`] | the experiments |
//! | [`standing`] | whether a claim holds, holds with differences, does not hold, or was not run |
//! | [`report`] | all of it as one page and its pictures |

pub mod chart;
mod error;
mod labelings;
mod library;
pub mod paper;
mod plain;
pub mod report;
pub mod spec;
pub mod standing;
pub mod table;
mod toy;

pub use error::{Result, StudyError};
pub use library::Library;
