//! Tables with named columns: their plan, and the rows that it makes of them.

use super::gaps::Kept;
use super::{DataPart, Dataset, Note, SharedRows};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::items::{Items, TableItems};
use crate::spec::Missing;
use partita::rows::Rows;
use partita_data::model_file::StoredEncoder;
use partita_data::{Columns, Frame, LeftOut};
use partita_embed::Encoder;
use partita_embed::tables::{EncodedTable, PlanNote, PlanOptions, Planned, TableEncoder, TablePlan};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Dataset<'static> {
    /// The same with every table encoded as its plan says: the plan of the model's encoder, or a new one. Tables of numbers stay as they are.
    ///
    /// # Errors
    /// If a table has gaps where they are refused, no column tells rows apart, or a table does not have the columns of the model.
    pub(super) fn planned(
        mut self,
        missing: Option<Missing>,
        model: Option<&[Option<StoredEncoder>]>,
    ) -> Result<Self> {
        let encoders = model.unwrap_or_default();
        let given: Vec<Option<Arc<TablePlan>>> = encoders.iter().map(restored).collect::<Result<_>>()?;
        for at in 0..self.parts.len() {
            let given = given.get(at).cloned().flatten();
            let Some(items) = self.parts[at].table.clone() else {
                if given.is_some() {
                    return Err(nameless(&self.parts[at]));
                }
                continue;
            };
            let planned = match given {
                Some(plan) => Planned::Plan(TablePlan::clone(&plan)),
                // A model without a plan has chosen its columns already.
                None if model.is_some() => continue,
                None => plan(&items.frame, missing)?,
            };
            self.take_plan(at, items.frame, planned);
        }
        if self.parts.iter().all(|part| plan_of(part).is_none()) {
            return Ok(self);
        }
        if matches!(missing, Some(Missing::Error | Missing::DropRows)) {
            self = self.without_gaps_in_tables(missing, &given)?;
        }
        self.encode(model.is_none() && missing.is_none())
    }

    /// Keep a plan for a part; columns of numbers alone are its rows at once.
    fn take_plan(&mut self, at: usize, frame: Frame, planned: Planned) {
        let part = &mut self.parts[at];
        let (columns, plan) = match planned {
            Planned::Plain(kept, left_out) => {
                self.notes
                    .extend(left_out_by_plan(part.origin.as_deref(), &left_out[frame.left_out().len()..]));
                let columns = plain_columns(&frame, &kept, left_out);
                let places: Vec<usize> = kept.iter().map(|&place| frame.columns()[place].at).collect();
                part.rows = chosen(&frame, places);
                part.widths = vec![part.rows.m()];
                (columns, None)
            }
            Planned::Plan(plan) => (plan.names(), Some(Arc::new(plan))),
        };
        part.columns = Some(columns.clone());
        part.table = Some(TableItems { frame, plan });
        self.tables[at] = Some(columns);
    }

    /// Refuse gaps in the columns that plans use, or leave their rows out and plan again for the others.
    fn without_gaps_in_tables(
        mut self,
        missing: Option<Missing>,
        given: &[Option<Arc<TablePlan>>],
    ) -> Result<Self> {
        for part in &mut self.parts {
            let Some((frame, plan)) = plan_of(part) else { continue };
            let first = first_cells(&frame, &plan);
            part.rows = chosen(&frame, first);
        }
        if missing == Some(Missing::Error) {
            self.check_complete()?;
            return Ok(self);
        }
        let mut dropped = self.without_gaps()?;
        let Some((kept, _)) = dropped.kept.clone() else { return Ok(dropped) };
        for at in 0..dropped.parts.len() {
            let Some(TableItems { frame, plan: old }) = dropped.parts[at].table.clone() else { continue };
            let rows = Kept { rows: frame.cells().clone(), kept: kept.clone() };
            let frame = frame.with_cells(Arc::new(rows))?;
            let planned = match (given.get(at).cloned().flatten(), &old) {
                (Some(plan), _) => Planned::Plan(TablePlan::clone(&plan)),
                (None, Some(_)) => plan(&frame, missing)?,
                (None, None) => {
                    dropped.parts[at].table = Some(TableItems { frame, plan: None });
                    continue;
                }
            };
            dropped.take_plan(at, frame, planned);
        }
        Ok(dropped)
    }

    /// The rows that plans make of tables; a `note` says what became of gaps.
    fn encode(mut self, note: bool) -> Result<Self> {
        for part in &mut self.parts {
            let Some((frame, plan)) = plan_of(part) else { continue };
            let origin = part.origin.clone().unwrap_or_else(|| PathBuf::from("the table"));
            let encoded = EncodedTable::new(frame, plan.clone(), &origin)?;
            part.widths = vec![encoded.m()];
            part.rows = Arc::new(encoded);
            part.encoder = Some(TableEncoder::new(plan.clone()).stored());
            let (gaps, columns) = plan.missing();
            if note && gaps > 0 {
                self.notes.push(Note::Missing(about_gaps(gaps, columns)));
            }
        }
        self.items = self
            .parts
            .iter()
            .find(|part| plan_of(part).is_some())
            .and_then(|part| part.table.clone())
            .map(Items::Table);
        Ok(self)
    }

    /// A table in memory, with the plan of a model if it is for one.
    ///
    /// # Errors
    /// As for tables in files.
    pub fn of_frame(
        frame: Frame,
        missing: Option<Missing>,
        model: Option<&[Option<StoredEncoder>]>,
    ) -> Result<Self> {
        Self::new(vec![table_part(frame, None)])?.planned(missing, model)
    }
}

impl Dataset<'_> {
    /// What is done to the columns of each table, in words; nothing for tables of numbers as they are.
    pub fn plans(&self) -> Vec<PlanNote> {
        self.parts.iter().filter_map(|part| Some(plan_of(part)?.1.note())).collect()
    }
}

/// A part that is a table, before anything is done to its columns.
pub(super) fn table_part(frame: Frame, origin: Option<PathBuf>) -> DataPart<'static> {
    let rows: SharedRows<'static> = frame.cells().clone();
    let kept: Vec<usize> = (0..frame.columns().len()).collect();
    let columns = plain_columns(&frame, &kept, frame.left_out().to_vec());
    let table = Some(TableItems { frame, plan: None });
    DataPart { columns: Some(columns), origin, table, ..DataPart::new(rows) }
}

/// The plan of a table that is fitted.
fn plan(frame: &Frame, missing: Option<Missing>) -> Result<Planned> {
    let options =
        PlanOptions { gaps_are_known: missing.is_some(), unmarked: missing == Some(Missing::Median) };
    Ok(TablePlan::of(frame, options)?)
}

/// The table of a part and its plan, if it has one.
pub(crate) fn plan_of(part: &DataPart<'_>) -> Option<(Frame, Arc<TablePlan>)> {
    let TableItems { frame, plan } = part.table.as_ref()?;
    Some((frame.clone(), plan.clone()?))
}

/// The plan that a model file keeps.
fn restored(stored: &Option<StoredEncoder>) -> Result<Option<Arc<TablePlan>>> {
    let stored = stored.as_ref().filter(|stored| stored.kind == partita_embed::tables::KIND);
    Ok(stored.map(TableEncoder::restore).transpose()?.map(|encoder| encoder.plan().clone()))
}

fn nameless(part: &DataPart<'_>) -> JobError {
    let origin = part.origin.as_deref().unwrap_or(Path::new("the data")).display();
    let problem =
        format!("{origin} is no table with named columns, to which the model was fitted; give such a table");
    JobError::refused(Field::Data, problem)
}

fn about_gaps(gaps: usize, columns: usize) -> String {
    let (values, columns) = match (gaps, columns) {
        (1, _) => ("one missing value".to_owned(), "one column".to_owned()),
        (gaps, 1) => (format!("{gaps} missing values"), "one column".to_owned()),
        (gaps, columns) => (format!("{gaps} missing values"), format!("{columns} columns")),
    };
    format!(
        "the plan takes care of {values} in {columns}; `missing` error refuses them, drop-rows leaves their rows out"
    )
}

/// Notes on columns that are left out beside numbers, for what their cells are in all rows.
fn left_out_by_plan(origin: Option<&Path>, left_out: &[LeftOut]) -> Vec<Note> {
    let path = origin.unwrap_or(Path::new("the table"));
    let note = |out: &LeftOut| {
        let text = format!("left out: column '{}' {}", out.name, out.why);
        Note::Read { path: path.to_owned(), text }
    };
    left_out.iter().map(note).collect()
}

/// Columns of numbers as they are.
fn plain_columns(frame: &Frame, kept: &[usize], left_out: Vec<LeftOut>) -> Columns {
    Columns {
        names: kept.iter().map(|&at| frame.columns()[at].name.clone()).collect(),
        kinds: kept.iter().map(|&at| frame.columns()[at].kind).collect(),
        left_out,
    }
}

/// Where the first cell of each planned column stands.
fn first_cells(frame: &Frame, plan: &TablePlan) -> Vec<usize> {
    let at = |name: &str| frame.columns().iter().find(|column| column.name == name).map(|column| column.at);
    plan.columns.iter().filter_map(|column| at(&column.name)).collect()
}

/// These cells of each row; all of them as they are.
fn chosen(frame: &Frame, places: Vec<usize>) -> SharedRows<'static> {
    let cells = frame.cells().clone();
    if places.len() == cells.m() && places.is_sorted() {
        return cells;
    }
    Arc::new(Chosen { cells, places })
}

/// Some cells of each row.
struct Chosen {
    cells: SharedRows<'static>,
    places: Vec<usize>,
}

impl Chosen {
    fn pick(&self, cells: &[f32], out: &mut [f32]) {
        for (cells, out) in cells.chunks_exact(self.cells.m()).zip(out.chunks_exact_mut(self.places.len())) {
            out.iter_mut().zip(&self.places).for_each(|(out, &place)| *out = cells[place]);
        }
    }
}

impl Rows for Chosen {
    fn n(&self) -> usize {
        self.cells.n()
    }
    fn m(&self) -> usize {
        self.places.len()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        let mut cells = vec![0.0; out.len() / self.m() * self.cells.m()];
        self.cells.read(start, &mut cells)?;
        self.pick(&cells, out);
        Ok(())
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        let mut cells = vec![0.0; rows.len() * self.cells.m()];
        self.cells.gather(rows, &mut cells)?;
        self.pick(&cells, out);
        Ok(())
    }
    fn release(&self) {
        self.cells.release();
    }
}
