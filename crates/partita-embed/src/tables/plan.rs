//! The plan of a table: what is done to each column, what is left out and why.

use super::category::CategoryPlan;
use super::date::DatePlan;
use super::number::{self, Draft, NumberPlan};
use super::survey::{Counts, Survey};
use crate::error::{EmbedError, Result};
use partita_data::{ColumnKind, Columns, Frame, FrameColumn, LeftOut, Role, Why};
use serde::{Deserialize, Serialize};

/// Words of which more than every second comes only once are names or free text.
const UNIQUE: f64 = 0.5;
/// In so few rows that says nothing.
const FEW: usize = 10;

/// What is wanted of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanOptions {
    /// Whether gaps are left to be found later, or are gone: numbers alone then stay as they are. Otherwise the plan fills them.
    pub gaps_are_known: bool,
    /// Whether gaps in numbers and dates have no indicator.
    pub unmarked: bool,
}

/// What is done to a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum How {
    /// It is a number.
    Number(NumberPlan),
    /// It is a category.
    Category(CategoryPlan),
    /// It is true or false, a category of these two.
    Boolean(CategoryPlan),
    /// It is a date.
    Date(DatePlan),
}

/// A column that is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnPlan {
    /// Its name.
    pub name: String,
    /// Rows of the fit without a value.
    pub missing: usize,
    /// What is done to it.
    #[serde(flatten)]
    pub how: How,
}

/// What is done to the columns of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePlan {
    /// The columns that are used, in the order of the table.
    pub columns: Vec<ColumnPlan>,
    /// The others.
    pub left_out: Vec<LeftOut>,
}

/// What comes of a table.
pub enum Planned {
    /// Nothing has to be done: these columns, by their places in the frame, are numbers without gaps.
    Plain(Vec<usize>, Vec<LeftOut>),
    /// This has to be done.
    Plan(TablePlan),
}

impl ColumnPlan {
    /// Columns it becomes.
    pub fn width(&self) -> usize {
        match &self.how {
            How::Number(plan) => plan.width(),
            How::Category(plan) | How::Boolean(plan) => plan.width(),
            How::Date(plan) => plan.width(),
        }
    }

    /// What it holds.
    pub fn kind(&self) -> ColumnKind {
        match &self.how {
            How::Number(_) => ColumnKind::Number,
            How::Category(_) => ColumnKind::Category,
            How::Boolean(_) => ColumnKind::Boolean,
            How::Date(_) => ColumnKind::Date,
        }
    }

    /// What its columns are called.
    pub fn features(&self) -> Vec<String> {
        let parts = match &self.how {
            How::Number(plan) => {
                let gaps = plan.gaps.map(|_| " missing".to_owned());
                std::iter::once(String::new()).chain(gaps).collect()
            }
            How::Category(plan) | How::Boolean(plan) => plan.parts(),
            How::Date(plan) => plan.parts(),
        };
        parts.into_iter().map(|part| self.name.clone() + &part).collect()
    }

    fn is_sound(&self) -> bool {
        match &self.how {
            How::Number(plan) => plan.is_sound(),
            How::Category(plan) | How::Boolean(plan) => plan.is_sound(),
            How::Date(plan) => plan.is_sound(),
        }
    }
}

impl TablePlan {
    /// The plan for a table.
    ///
    /// # Errors
    /// If no column tells rows apart, or the table cannot be read.
    pub fn of(frame: &Frame, options: PlanOptions) -> Result<Planned> {
        let survey = Survey::of(frame)?;
        let mut left_out = frame.left_out().to_vec();
        let typed = || frame.columns().iter().zip(&survey.counts);
        let plain =
            |(column, counts): (&FrameColumn, &Counts)| column.kind.is_number() || is_text(column, counts);
        if typed().all(plain) {
            let mut kept = Vec::new();
            let mut gaps = false;
            for (at, (column, counts)) in typed().enumerate() {
                match why_not(column, counts, &survey, options) {
                    Some(Why::Constant) | None => {
                        kept.push(at);
                        gaps |= counts.missing > 0;
                    }
                    Some(Why::Empty) if options.gaps_are_known => kept.push(at),
                    Some(why) => left_out.push(LeftOut { name: column.name.clone(), why }),
                }
            }
            if !kept.is_empty() && (options.gaps_are_known || !gaps) {
                return Ok(Planned::Plain(kept, left_out));
            }
            left_out.truncate(frame.left_out().len());
        }
        Self::mixed(frame, &survey, left_out, options).map(Planned::Plan)
    }

    fn mixed(
        frame: &Frame,
        survey: &Survey,
        mut left_out: Vec<LeftOut>,
        options: PlanOptions,
    ) -> Result<Self> {
        let mut columns = Vec::new();
        let mut drafts: Vec<(usize, Draft)> = Vec::new();
        for (column, counts) in frame.columns().iter().zip(&survey.counts) {
            let name = column.name.clone();
            if let Some(why) = why_not(column, counts, survey, options) {
                left_out.push(LeftOut { name, why });
                continue;
            }
            let how = match column.kind {
                ColumnKind::Number => {
                    let draft = Draft::new(survey, counts, column.at, !options.unmarked);
                    let how = How::Number(draft.plan.clone());
                    drafts.push((columns.len(), draft));
                    Some(how)
                }
                ColumnKind::Boolean => truth(survey, counts, column.at).map(How::Boolean),
                ColumnKind::Category => column
                    .levels
                    .as_ref()
                    .and_then(|levels| CategoryPlan::new(levels, counts, survey.n))
                    .map(How::Category),
                ColumnKind::Date => {
                    Some(How::Date(DatePlan::new(survey, counts, column.at, !options.unmarked)))
                }
            };
            match how {
                Some(how) => columns.push(ColumnPlan { name, missing: counts.missing, how }),
                None => left_out.push(LeftOut { name, why: Why::Rare }),
            }
        }
        number::scale(&mut drafts.iter_mut().map(|(_, draft)| draft).collect::<Vec<_>>());
        for (at, draft) in drafts {
            columns[at].how = How::Number(draft.plan);
        }
        if columns.is_empty() {
            let out: Vec<String> =
                left_out.iter().map(|out| format!("'{}' {}", out.name, out.why)).take(6).collect();
            let problem = format!("no column tells its rows apart: {}; give other columns", out.join(", "));
            return Err(EmbedError::Refused(problem));
        }
        Ok(Self { columns, left_out })
    }

    /// The columns as a model keeps them and another table is matched by.
    pub fn names(&self) -> Columns {
        Columns {
            names: self.columns.iter().map(|column| column.name.clone()).collect(),
            kinds: self.columns.iter().map(ColumnPlan::kind).collect(),
            left_out: self.left_out.clone(),
        }
    }

    /// Columns of a row that it makes.
    pub fn width(&self) -> usize {
        self.columns.iter().map(ColumnPlan::width).sum()
    }

    /// The column of the table that a feature belongs to.
    pub fn column_of(&self, feature: usize) -> Option<usize> {
        let mut end = 0;
        self.columns.iter().position(|column| {
            end += column.width();
            feature < end
        })
    }

    /// How many values were missing in the fit, and in how many columns.
    pub fn missing(&self) -> (usize, usize) {
        let with = self.columns.iter().filter(|column| column.missing > 0);
        (with.clone().map(|column| column.missing).sum(), with.count())
    }

    /// Whether all numbers are finite and all parts fit together: a plan in a file may be broken.
    pub(super) fn is_sound(&self) -> bool {
        !self.columns.is_empty() && self.columns.iter().all(ColumnPlan::is_sound)
    }
}

/// True and false with their counts.
fn truth(survey: &Survey, counts: &Counts, at: usize) -> Option<CategoryPlan> {
    let there = survey.n - counts.missing;
    // The share in the sample is that of all rows, as far as a weight is concerned.
    let (mut all, mut yes) = (0usize, 0usize);
    survey.values(at).for_each(|value| {
        all += 1;
        yes += usize::from(value != 0.0);
    });
    let yes = (yes as f64 / all.max(1) as f64 * there as f64).round() as usize;
    CategoryPlan::of_truth([there - yes, yes], counts.missing, survey.n)
}

/// Whether the words of a column are names or free text.
fn is_text(column: &FrameColumn, counts: &Counts) -> bool {
    let Some(levels) = column.levels.as_ref().filter(|_| column.role != Some(Role::Category)) else {
        return false;
    };
    let present: usize = counts.levels.iter().sum();
    levels.too_many || (present >= FEW && levels.words.len() as f64 > UNIQUE * present as f64)
}

/// Why a column is not used.
fn why_not(column: &FrameColumn, counts: &Counts, survey: &Survey, options: PlanOptions) -> Option<Why> {
    if counts.missing == survey.n {
        return Some(Why::Empty);
    }
    if column.levels.as_ref().is_some_and(|levels| levels.too_many) || is_text(column, counts) {
        return Some(Why::Unique);
    }
    // Gaps alone may tell rows apart.
    let gaps = counts.missing as f64 / survey.n as f64;
    (counts.is_constant() && (gaps < 0.01 || options.unmarked)).then_some(Why::Constant)
}
