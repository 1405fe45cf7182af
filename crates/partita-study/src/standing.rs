//! How a claim of the paper stands: it holds, holds with differences, does not hold, or was not run.

use crate::paper::Findings;
use crate::spec::{Check, Spec, Verdict};
use std::fmt;

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
}

/// How one description stands after it was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    kind: Kind,
    passed: usize,
    asked: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// Every check holds, in the paper's own set-up.
    Holds,
    /// Every check holds, in a set-up that differs from the paper's.
    Differs,
    /// Some checks hold, and those that do not have a reason.
    InPart,
    /// No check holds, for reasons that are given.
    DoesNot,
    /// A check does not hold, and nobody knows why.
    Unexplained,
    /// It was not run now; results of earlier runs are on record for some of its cells.
    Recorded { cells: usize, of: usize },
    /// It was not run, for this reason.
    NotRun(String),
}

impl Standing {
    /// How a record stands.
    pub fn of(record: &Record) -> Self {
        let (mut passed, mut explained, mut missed) = (0, 0, 0);
        for (check, verdict) in record.verdicts() {
            match verdict {
                Verdict::Pass(_) => passed += 1,
                Verdict::Told(_) => {}
                Verdict::Miss(_) if check.reason.is_some() => explained += 1,
                Verdict::Miss(_) | Verdict::Unknown => missed += 1,
            }
        }
        let recorded = record.outcome.as_ref().ok().and_then(|found| found.recorded);
        let kind = match (&record.outcome, recorded) {
            (Err(why), _) => Kind::NotRun(why.clone()),
            _ if missed > 0 => Kind::Unexplained,
            (_, Some((cells, of))) => Kind::Recorded { cells, of },
            _ if explained > 0 && passed == 0 => Kind::DoesNot,
            _ if explained > 0 => Kind::InPart,
            _ if record.spec.differences.is_empty() => Kind::Holds,
            _ => Kind::Differs,
        };
        Self { kind, passed, asked: passed + explained + missed }
    }

    /// In two or three words.
    pub fn word(&self) -> &'static str {
        match self.kind {
            Kind::Holds => "holds",
            Kind::Differs => "holds, with differences",
            Kind::InPart => "holds in part",
            Kind::DoesNot => "does not hold",
            Kind::Unexplained => "misses without a reason",
            Kind::Recorded { .. } => "not run now",
            Kind::NotRun(_) => "not run",
        }
    }

    /// What follows these words.
    pub fn rest(&self) -> String {
        match &self.kind {
            Kind::Recorded { cells: 0, of } => {
                format!(": none of {of} cells is on record; the commands are below")
            }
            Kind::Recorded { cells, of } => format!(": {cells} of {of} cells are on record"),
            Kind::NotRun(why) => format!(": {why}"),
            _ => String::new(),
        }
    }

    /// How many of its checks hold, of those that ask for something.
    pub fn checks(&self) -> String {
        match self.kind {
            Kind::NotRun(_) => String::new(),
            _ if self.asked == 0 => String::new(),
            _ => format!("{} of {}", self.passed, self.asked),
        }
    }

    /// The class of its colour on a page.
    pub fn class(&self) -> &'static str {
        match self.kind {
            Kind::Holds | Kind::Differs => "good",
            Kind::InPart => "partly",
            Kind::DoesNot | Kind::Unexplained => "bad",
            Kind::Recorded { .. } | Kind::NotRun(_) => "none",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.word(), self.rest())
    }
}

/// How the checks of a study ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Checks that hold.
    pub passed: usize,
    /// Checks that do not, for a reason that the description gives.
    pub explained: usize,
    /// Checks that do not.
    pub missed: usize,
    /// Descriptions that were not run.
    pub not_run: usize,
    /// Descriptions that only show what is on record.
    pub recorded: usize,
}

/// Count the checks of many records.
pub fn tally(records: &[Record]) -> Tally {
    let mut tally = Tally::default();
    for record in records {
        match &record.outcome {
            Err(_) => tally.not_run += 1,
            Ok(found) => tally.recorded += usize::from(found.recorded.is_some()),
        }
    }
    for (check, verdict) in records.iter().flat_map(Record::verdicts) {
        match verdict {
            Verdict::Pass(_) => tally.passed += 1,
            Verdict::Told(_) => {}
            Verdict::Miss(_) if check.reason.is_some() => tally.explained += 1,
            _ => tally.missed += 1,
        }
    }
    tally
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, explained, missed, not_run, recorded } = *self;
        write!(
            f,
            "{passed} checks pass, {explained} miss for a known reason, {missed} miss, {not_run} not run"
        )?;
        match recorded {
            0 => Ok(()),
            _ => write!(f, ", {recorded} on record only"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// How a record stands whose two checks ask for at least 1, the second with a reason.
    fn standing(a: f64, b: f64, differences: &str) -> Standing {
        let text = format!(
            "experiment = 'x'\ntitle = 't'\npaper = 'p'\nclaim = 'c'\ndifferences = '{differences}'\n\
             [[checks]]\nsays = 'one'\nnumber = 'a'\nat_least = 1.0\n\
             [[checks]]\nsays = 'two'\nnumber = 'b'\nat_least = 1.0\nreason = 'because'\n"
        );
        let spec = Spec::parse("x", &text).expect("well-formed");
        let numbers = BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
        let outcome = Ok(Findings { numbers, ..Findings::default() });
        Standing::of(&Record { name: "x".to_owned(), spec, outcome, seconds: 0.0 })
    }

    #[test]
    fn a_claim_stands_by_its_checks_and_its_differences() {
        assert_eq!(standing(1.0, 1.0, "").word(), "holds");
        assert_eq!(standing(1.0, 1.0, "other data").word(), "holds, with differences");
        assert_eq!(standing(1.0, 0.0, "other data").word(), "holds in part");
        assert_eq!(standing(0.0, 0.0, "").word(), "misses without a reason");
        assert_eq!(standing(1.0, 0.0, "").checks(), "1 of 2");
    }

    #[test]
    fn what_was_not_run_says_why_and_what_is_on_record_says_how_much() {
        let spec = Spec::parse("x", "experiment = 'x'\ntitle = 't'\npaper = 'p'\nclaim = 'c'\nchecks = []");
        let spec = spec.expect("well-formed");
        let of = |outcome| {
            Standing::of(&Record { name: "x".to_owned(), spec: spec.clone(), outcome, seconds: 0.0 })
                .to_string()
        };
        assert_eq!(of(Err("no data".to_owned())), "not run: no data");
        let found = Findings { recorded: Some((3, 24)), ..Findings::default() };
        assert_eq!(of(Ok(found)), "not run now: 3 of 24 cells are on record");
    }
}
