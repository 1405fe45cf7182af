//! One description of what is to be shown, and what came of it.

use crate::chart::sheet;
use crate::paper::{Figure, Findings};
use crate::spec::{Check, Short, Spec, Verdict};
use crate::table::{Table, words};

/// One description and what came of it.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// The description.
    pub spec: Spec,
    /// What the experiment showed, or why it was not run.
    pub outcome: Result<Findings, String>,
    /// How long it took.
    pub seconds: f64,
}

impl Record {
    /// Every check with its verdict.
    pub fn verdicts(&self) -> Vec<(&Check, Verdict)> {
        let Ok(outcome) = &self.outcome else { return Vec::new() };
        self.spec.checks.iter().map(|check| (check, check.judge(&outcome.numbers))).collect()
    }

    /// The pictures: file names and contents.
    pub fn pictures(&self) -> Vec<(String, String)> {
        let file = |figure: &Figure| (format!("{}.svg", figure.name), sheet(&figure.charts, figure.columns));
        self.outcome.iter().flat_map(|outcome| outcome.figures.iter().map(file)).collect()
    }

    /// The checks as a table.
    pub(crate) fn checks(&self) -> Table {
        let row = |(check, verdict): (&Check, Verdict)| {
            let (value, word) = match verdict {
                Verdict::Pass(value) => (Short(value).to_string(), "pass".to_owned()),
                Verdict::Miss(value) => (Short(value).to_string(), miss(check)),
                Verdict::Told(value) => (Short(value).to_string(), "told".to_owned()),
                Verdict::Unknown => (String::new(), format!("no number \"{}\" was found", check.number)),
            };
            let paper = check.paper.map_or_else(String::new, |p| Short(p).to_string());
            vec![check.says.clone(), paper, value, check.bounds(), word]
        };
        let headings = words(&["check", "paper", "here", "tolerance", "verdict"]);
        Table { headings, rows: self.verdicts().into_iter().map(row).collect(), ..Table::default() }
    }

    /// The command that runs it.
    pub(crate) fn command(&self) -> String {
        format!("partita reproduce {}", self.name)
    }
}

/// The word for a check that does not hold.
pub(crate) fn miss(check: &Check) -> String {
    check.reason.as_ref().map_or_else(|| "MISS".to_owned(), |why| format!("miss: {why}"))
}
