//! A table as its columns are: numbers, true and false, levels of categories, moments.
//!
//! A frame holds its cells row after row as single-precision numbers, in memory or in a temporary file: a number as it is, true as 1, a level by its
//! place among the levels, a moment as its day and its second of the day. A cell without a value is not a number.

use crate::error::{DataError, Result};
use crate::features::Features;
use crate::levels::Levels;
use crate::role::Role;
use crate::schema::{ColumnKind, LeftOut};
use partita::rows::Rows;
use std::sync::Arc;

/// A column of a [`Frame`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameColumn {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Where its first cell stands in a row.
    pub at: usize,
    /// The levels of a category; none for others.
    pub levels: Option<Arc<Levels>>,
    /// What it was said to be.
    pub role: Option<Role>,
}

impl FrameColumn {
    /// Cells of a row that it takes.
    pub fn width(&self) -> usize {
        self.kind.width()
    }
}

/// A table with typed columns.
///
/// ```
/// use partita_data::{Cells, ColumnKind, Frame, OpenOptions};
/// let cities = ["Bonn", "Kiel", "Bonn"].map(|city| Some(city.to_owned())).to_vec();
/// let columns = vec![("size".into(), Cells::Numbers(vec![1.5, 2.0, f32::NAN])), ("city".into(), Cells::Words(cities))];
/// let frame = Frame::of_columns(columns, &OpenOptions::default())?;
/// assert_eq!((frame.n(), frame.columns()[1].kind), (3, ColumnKind::Category));
/// assert_eq!(frame.columns()[1].levels.as_ref().map(|levels| levels.words.len()), Some(2));
/// # Ok::<(), partita_data::DataError>(())
/// ```
#[derive(Clone)]
pub struct Frame {
    cells: Arc<dyn Rows + Send + Sync>,
    columns: Vec<FrameColumn>,
    left_out: Vec<LeftOut>,
}

/// The cells of a column in memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers; one that is missing is not a number.
    Numbers(Vec<f32>),
    /// 1 for true, 0 for false.
    Booleans(Vec<f32>),
    /// Words, which may be dates.
    Words(Vec<Option<String>>),
    /// Levels by their places; a cell beyond them is missing.
    Levels(Vec<u32>, Vec<String>),
    /// Seconds since 1970-01-01.
    Moments(Vec<f64>),
}

impl Cells {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(cells) | Self::Booleans(cells) => cells.len(),
            Self::Words(cells) => cells.len(),
            Self::Levels(cells, _) => cells.len(),
            Self::Moments(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Frame {
    /// The table that features were read from, where it has columns; its ids and notes stay with the features.
    ///
    /// # Errors
    /// The features, if they are an array or lists.
    pub fn of_features(features: Features) -> std::result::Result<Self, Box<Features>> {
        let Some(columns) = features.columns() else { return Err(Box::new(features)) };
        let mut at = 0;
        let levels = features.levels().iter().cloned().chain(std::iter::repeat(None));
        let roles = features.roles().iter().copied().chain(std::iter::repeat(None));
        let named = columns.names.iter().zip(&columns.kinds).zip(levels).zip(roles);
        let columns_of = named.map(|(((name, &kind), levels), role)| {
            at += kind.width();
            FrameColumn { name: name.clone(), kind, at: at - kind.width(), levels, role }
        });
        let (columns, left_out) = (columns_of.collect(), columns.left_out.clone());
        Ok(Self { cells: Arc::new(features), columns, left_out })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.cells.n()
    }

    /// The columns that may be features, in the order of their cells.
    pub fn columns(&self) -> &[FrameColumn] {
        &self.columns
    }

    /// The other columns of the table, with the reason.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The cells as rows.
    pub fn cells(&self) -> &Arc<dyn Rows + Send + Sync> {
        &self.cells
    }

    /// The same columns with other rows, which have the same cells side by side.
    ///
    /// # Errors
    /// If a row has another number of cells.
    pub fn with_cells(&self, cells: Arc<dyn Rows + Send + Sync>) -> Result<Self> {
        let (found, expected) = (cells.m(), self.cells.m());
        if found != expected {
            return Err(DataError::Length { what: "a row of the table", found, expected });
        }
        Ok(Self { cells, ..self.clone() })
    }
}
