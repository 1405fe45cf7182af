//! A plan as an encoder, and as a model file keeps it.

use super::category::Slot;
use super::plan::{How, TablePlan};
use crate::encoder::Encoder;
use crate::error::{EmbedError, Result};
use partita_data::Fingerprint;
use partita_data::model_file::StoredEncoder;
use std::sync::Arc;

/// The kind of an encoder of tables in model files.
pub const KIND: &str = "table";
/// Columns that a row may become at most: more are no plan but a broken file.
const MOST: usize = 1 << 22;

/// A cell of a row in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Missing,
    /// A number; 1 for true and 0 for false.
    Number(f32),
    /// A word.
    Word(&'a str),
    /// Days since 1970-01-01, and the second of the day.
    Moment(f32, f32),
}

/// Makes rows of numbers of the rows of a table, as its plan says.
///
/// ```
/// use partita_data::{Cells, Frame, OpenOptions};
/// use partita_embed::tables::{Cell, Planned, PlanOptions, TableEncoder, TablePlan};
/// use partita_embed::Encoder;
/// let words = |i: usize| Some(["red", "blue"][i % 2].to_owned());
/// let columns = vec![("size".into(), Cells::Numbers((0..20).map(|i| i as f32 / 8.0).collect())), ("colour".into(), Cells::Words((0..20).map(words).collect()))];
/// let frame = Frame::of_columns(columns, &OpenOptions::default())?;
/// let Planned::Plan(plan) = TablePlan::of(&frame, PlanOptions::default())? else { panic!("words are no numbers") };
/// let encoder = TableEncoder::new(plan.into());
/// let mut row = vec![0.0; encoder.features()];
/// encoder.encode(&[&[Cell::Number(1.0), Cell::Word("red")]], &mut row)?;
/// assert_eq!(TableEncoder::restore(&encoder.stored())?.fingerprint(), encoder.fingerprint());
/// # Ok::<(), partita_embed::EmbedError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TableEncoder {
    plan: Arc<TablePlan>,
    fingerprint: u64,
}

impl TableEncoder {
    /// The encoder of a plan.
    pub fn new(plan: Arc<TablePlan>) -> Self {
        let said = serde_json::to_string(&*plan).unwrap_or_default();
        Self { fingerprint: Fingerprint::default().with_bytes(said.as_bytes()).0, plan }
    }

    /// The one that a model file keeps.
    ///
    /// # Errors
    /// If it is of another kind, or its plan is broken.
    pub fn restore(stored: &StoredEncoder) -> Result<Self> {
        let refused =
            |problem: String| EmbedError::Refused(format!("the plan of a table in the model {problem}"));
        if stored.kind != KIND {
            return Err(refused(format!("is of another kind, '{}'", stored.kind)));
        }
        let plan: TablePlan = serde_json::from_value(stored.about.clone())
            .map_err(|e| refused(format!("is not complete ({e})")))?;
        if !plan.is_sound() || plan.width() > MOST {
            return Err(refused("has numbers that are none; fit the model again".to_owned()));
        }
        Ok(Self::new(Arc::new(plan)))
    }

    /// Its plan.
    pub fn plan(&self) -> &Arc<TablePlan> {
        &self.plan
    }

    fn row(&self, cells: &[Cell<'_>], mut out: &mut [f32]) -> Result<()> {
        if cells.len() != self.plan.columns.len() {
            let (found, needed) = (cells.len(), self.plan.columns.len());
            return Err(EmbedError::Refused(format!(
                "a row has {found} cells where the plan has {needed} columns"
            )));
        }
        for (cell, column) in cells.iter().zip(&self.plan.columns) {
            let (part, rest) = out.split_at_mut(column.width());
            match (&column.how, *cell) {
                (How::Number(plan), Cell::Number(value)) => plan.encode(value, part),
                (How::Number(plan), Cell::Missing) => plan.encode(f32::NAN, part),
                (How::Category(plan), Cell::Word(word)) => plan.encode(plan.slot(Some(word)), part),
                (How::Boolean(plan), Cell::Number(value)) => {
                    let word = if value == 0.0 { "false" } else { "true" };
                    plan.encode(plan.slot(Some(word)), part);
                }
                (How::Category(plan) | How::Boolean(plan), Cell::Missing) => {
                    plan.encode(plan.slot(None), part);
                }
                (How::Category(plan) | How::Boolean(plan), _) => plan.encode(Slot::Other, part),
                (How::Date(plan), Cell::Moment(day, seconds)) => plan.encode(day, seconds, part),
                (How::Date(plan), Cell::Missing) => plan.encode(f32::NAN, 0.0, part),
                (How::Number(_) | How::Date(_), _) => {
                    let problem = format!("a cell of column '{}' is not what the plan says", column.name);
                    return Err(EmbedError::Refused(problem));
                }
            }
            out = rest;
        }
        Ok(())
    }
}

impl Encoder for TableEncoder {
    type Item = [Cell<'static>];

    fn name(&self) -> &str {
        KIND
    }

    fn features(&self) -> usize {
        self.plan.width()
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn encode(&self, items: &[&Self::Item], out: &mut [f32]) -> Result<()> {
        let rows = items.iter().zip(out.chunks_exact_mut(self.features().max(1)));
        rows.into_iter().try_for_each(|(cells, out)| self.row(cells, out))
    }

    fn stored(&self) -> StoredEncoder {
        let about = serde_json::to_value(&*self.plan).unwrap_or_default();
        StoredEncoder { kind: KIND.to_owned(), about, tensors: Default::default() }
    }
}
