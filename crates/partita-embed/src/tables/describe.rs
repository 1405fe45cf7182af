//! A plan in words.

use super::plan::{ColumnPlan, How, TablePlan};
use partita_data::Why;
use serde::Serialize;
use std::collections::HashMap;

/// Characters that names take at most before what is done; longer ones push it to the right.
const WIDEST: usize = 24;

/// A column of a plan in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnNote {
    /// The column.
    pub name: String,
    /// What it is taken for: `number`, `category`, `boolean` or `date`.
    pub kind: &'static str,
    /// What is done to it.
    pub done: String,
    /// Rows of the fit without a value.
    pub missing: usize,
    /// Columns it becomes.
    pub features: usize,
}

/// A plan in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanNote {
    /// The columns that are used.
    pub columns: Vec<ColumnNote>,
    /// The others.
    pub left_out: Vec<LeftOutNote>,
}

/// A column that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOutNote {
    /// The column.
    pub name: String,
    /// Why.
    pub why: Why,
    /// Why, in words.
    pub said: String,
}

impl ColumnPlan {
    fn note(&self) -> ColumnNote {
        let (kind, done) = match &self.how {
            How::Number(plan) => ("number", plan.say()),
            How::Category(plan) => ("category", plan.say()),
            How::Boolean(plan) => ("boolean", plan.say()),
            How::Date(plan) => ("date", plan.say()),
        };
        ColumnNote { name: self.name.clone(), kind, done, missing: self.missing, features: self.width() }
    }
}

impl TablePlan {
    /// The plan in words.
    pub fn note(&self) -> PlanNote {
        let left_out = self.left_out.iter();
        PlanNote {
            columns: self.columns.iter().map(ColumnPlan::note).collect(),
            left_out: left_out
                .map(|out| LeftOutNote { name: out.name.clone(), why: out.why, said: out.why.to_string() })
                .collect(),
        }
    }
}

impl PlanNote {
    /// A line for each column or, where there are too many for `most` lines, for all columns of which the same is said.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let out = self.left_out_lines();
        let room = most.saturating_sub(out.len()).max(2);
        let mut groups: Vec<(Vec<&str>, &ColumnNote)> =
            self.columns.iter().map(|column| (vec![&*column.name], column)).collect();
        if groups.len() > room {
            groups = self.groups();
        }
        let shown = if groups.len() > room { room - 1 } else { groups.len() };
        let (first, rest) = groups.split_at(shown);
        let wide = |(names, _): &(Vec<&str>, &ColumnNote)| some(names).chars().count();
        let width = first.iter().map(wide).max().unwrap_or(0).min(WIDEST);
        let line = |(names, of): &(Vec<&str>, &ColumnNote)| {
            format!("{:<width$}  {:<8}  {}", some(names), of.kind, of.done)
        };
        let mut lines: Vec<String> = first.iter().map(line).collect();
        let more: usize = rest.iter().map(|(names, _)| names.len()).sum();
        lines.extend((more > 0).then(|| format!("… and {more} more columns")));
        lines.extend(out);
        lines
    }

    /// Columns of which the same can be said, in the order of their first.
    fn groups(&self) -> Vec<(Vec<&str>, &ColumnNote)> {
        let mut groups: Vec<(Vec<&str>, &ColumnNote)> = Vec::new();
        let mut places: HashMap<(&str, &str), usize> = HashMap::new();
        for column in &self.columns {
            match places.get(&(column.kind, &*column.done)) {
                Some(&at) => groups[at].0.push(&*column.name),
                None => {
                    places.insert((column.kind, &*column.done), groups.len());
                    groups.push((vec![&*column.name], column));
                }
            }
        }
        groups
    }

    /// What is left out, a line for each reason.
    fn left_out_lines(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for LeftOutNote { name, said, .. } in &self.left_out {
            match reasons.iter_mut().find(|(reason, _)| reason == said) {
                Some((_, names)) => names.push(name),
                None => reasons.push((said, vec![name])),
            }
        }
        reasons.iter().map(|(reason, names)| format!("left out: {} ({reason})", some(names))).collect()
    }
}

/// Names; of many, the first.
fn some(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
