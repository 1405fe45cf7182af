//! The rows that a plan makes of a table.

use super::category::Slot;
use super::plan::{ColumnPlan, How, TablePlan};
use crate::error::{EmbedError, Result};
use partita::rows::Rows;
use partita_data::{Frame, FrameColumn};
use std::path::Path;
use std::sync::Arc;

/// A table as rows of numbers, encoded as they are read.
pub struct EncodedTable {
    frame: Frame,
    plan: Arc<TablePlan>,
    /// Where the cells of each planned column stand, and where its levels belong.
    sources: Vec<Source>,
    width: usize,
}

struct Source {
    at: usize,
    width: usize,
    /// Where each level of the table belongs in the plan.
    slots: Vec<Slot>,
    missing: Slot,
}

impl EncodedTable {
    /// The rows of a table that has the columns of a plan; other columns do not matter.
    ///
    /// # Errors
    /// If a column is missing, or holds something else than the plan's.
    pub fn new(frame: Frame, plan: Arc<TablePlan>, origin: &Path) -> Result<Self> {
        let available: Vec<&str> = frame.columns().iter().map(|column| &*column.name).collect();
        let places = plan.names().find(origin, &available)?;
        let found = plan.columns.iter().zip(places.iter().map(|&at| &frame.columns()[at]));
        let sources = found.map(|(planned, column)| source(planned, column)).collect::<Result<_>>()?;
        let width = plan.width();
        Ok(Self { frame, plan, sources, width })
    }

    /// The table.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<TablePlan> {
        &self.plan
    }

    /// Encode a block of raw rows.
    fn encode(&self, cells: &[f32], out: &mut [f32]) {
        let raw = cells.chunks_exact(self.frame.cells().m());
        for (cells, mut out) in raw.zip(out.chunks_exact_mut(self.width)) {
            for (source, column) in self.sources.iter().zip(&self.plan.columns) {
                let (part, rest) = out.split_at_mut(column.width());
                encode(column, source, &cells[source.at..source.at + source.width], part);
                out = rest;
            }
        }
    }
}

/// Where a planned column is found in a table.
fn source(planned: &ColumnPlan, column: &FrameColumn) -> Result<Source> {
    let fits = planned.kind() == column.kind || (planned.kind().is_number() && column.kind.is_number());
    if !fits {
        let problem = format!(
            "column '{}' holds {}, but the model was fitted to {}",
            planned.name,
            held(column.kind),
            held(planned.kind())
        );
        return Err(EmbedError::Refused(problem));
    }
    let (slots, missing) = match &planned.how {
        How::Category(plan) => {
            let words = column.levels.iter().flat_map(|levels| &levels.words);
            (words.map(|word| plan.slot(Some(word))).collect(), plan.slot(None))
        }
        How::Boolean(plan) => (["false", "true"].map(|word| plan.slot(Some(word))).to_vec(), plan.slot(None)),
        How::Number(_) | How::Date(_) => (Vec::new(), Slot::Missing),
    };
    Ok(Source { at: column.at, width: column.width(), slots, missing })
}

fn held(kind: partita_data::ColumnKind) -> &'static str {
    match kind {
        partita_data::ColumnKind::Number => "numbers",
        partita_data::ColumnKind::Boolean => "true and false",
        partita_data::ColumnKind::Category => "words",
        partita_data::ColumnKind::Date => "dates",
    }
}

fn encode(column: &ColumnPlan, source: &Source, cells: &[f32], out: &mut [f32]) {
    match &column.how {
        How::Number(plan) => plan.encode(cells[0], out),
        How::Category(plan) | How::Boolean(plan) => plan.encode(slot(source, cells[0]), out),
        How::Date(plan) => plan.encode(cells[0], cells.get(1).copied().unwrap_or(0.0), out),
    }
}

/// Where a cell with the number of a level belongs. What was too much to keep is among the others.
fn slot(source: &Source, cell: f32) -> Slot {
    match cell.is_finite() {
        true => source.slots.get(cell as usize).copied().unwrap_or(Slot::Other),
        false => source.missing,
    }
}

impl Rows for EncodedTable {
    fn n(&self) -> usize {
        self.frame.n()
    }

    fn m(&self) -> usize {
        self.width
    }

    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        let mut cells = vec![0.0; out.len() / self.width * self.frame.cells().m()];
        self.frame.cells().read(start, &mut cells)?;
        self.encode(&cells, out);
        Ok(())
    }

    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        let mut cells = vec![0.0; rows.len() * self.frame.cells().m()];
        self.frame.cells().gather(rows, &mut cells)?;
        self.encode(&cells, out);
        Ok(())
    }

    fn release(&self) {
        self.frame.cells().release();
    }

    fn is_weighed(&self, _: usize) -> bool {
        true
    }

    fn table_columns(&self) -> usize {
        self.plan.columns.len()
    }
}
