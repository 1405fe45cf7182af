//! Cells of a row in the words of the table, with how they compare with other rows.

use super::date::shown;
use super::plan::{How, TablePlan};
use super::text::figures;
use partita_data::{ColumnKind, Frame};

/// A cell as a person reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The value: a number, a word, a day, or none if it is missing.
    pub value: Option<String>,
    /// The column and the value, such as `city = Berlin` or `income 82,000, higher than 95 % of rows`.
    pub text: String,
}

impl TablePlan {
    /// A cell of a column of the plan, which stands in this row of a table.
    ///
    /// # Errors
    /// If the row cannot be read.
    pub fn shown(&self, frame: &Frame, column: usize, row: usize) -> crate::Result<Option<Shown>> {
        let Some(planned) = self.columns.get(column) else { return Ok(None) };
        let Some(found) = frame.columns().iter().find(|found| found.name == planned.name) else {
            return Ok(None);
        };
        let mut cells = vec![0.0; frame.cells().m()];
        frame.cells().read(row, &mut cells)?;
        let (cell, name) = (cells[found.at], &planned.name);
        if !cell.is_finite() {
            return Ok(Some(Shown { value: None, text: format!("{name} missing") }));
        }
        let (value, text) = match &planned.how {
            How::Number(plan) => {
                let value = figures(f64::from(cell));
                let text = format!("{name} {value}{}", compared(plan.below(cell)));
                (value, text)
            }
            How::Boolean(_) => {
                let value = if cell == 0.0 { "false" } else { "true" };
                (value.to_owned(), format!("{name} = {value}"))
            }
            How::Category(_) => {
                let words = found.levels.as_ref().and_then(|levels| levels.words.get(cell as usize));
                let value = words.map_or_else(|| "other".to_owned(), |word| word.to_string());
                let text = format!("{name} = {value}");
                (value, text)
            }
            How::Date(_) => {
                let day = shown(cell);
                let seconds =
                    cells.get(found.at + 1).copied().filter(|s| found.kind == ColumnKind::Date && *s > 0.0);
                let value = seconds.map_or(day.clone(), |s| {
                    format!("{day} {:02}:{:02}", s as u32 / 3600, s as u32 / 60 % 60)
                });
                let text = format!("{name} {value}");
                (value, text)
            }
        };
        Ok(Some(Shown { value: Some(value), text }))
    }
}

/// How a number with this percentage of rows below it compares.
fn compared(below: f64) -> String {
    match below {
        below if below >= 50.0 => format!(", higher than {below:.0} % of rows"),
        below => format!(", lower than {:.0} % of rows", (95.0 - below).max(0.0)),
    }
}
