//! What is to be shown and what must hold, from a TOML file.

use crate::error::{Result, StudyError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// One figure or table of the paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The experiment that draws it; see [`crate::paper`].
    pub experiment: String,
    /// One line.
    pub title: String,
    /// Where it is in the paper.
    pub paper: String,
    /// What the paper says it shows.
    pub claim: String,
    /// What was run instead of the paper's own set-up: other data, another model, other options. Empty if nothing differs.
    #[serde(default)]
    pub differences: String,
    /// Options of the experiment.
    #[serde(default)]
    pub settings: toml::Table,
    /// What must hold.
    pub checks: Vec<Check>,
}

impl Spec {
    /// From the text of a file; errors mention `name`.
    ///
    /// ```
    /// use partita_study::spec::Spec;
    /// let text = "experiment = 'renyi'\ntitle = 't'\npaper = 'Figure 5'\nclaim = 'c'\nchecks = []";
    /// assert_eq!(Spec::parse("renyi", text).unwrap().paper, "Figure 5");
    /// assert!(Spec::parse("renyi", "title = 't'").unwrap_err().to_string().contains("experiment"));
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        toml::from_str(text)
            .map_err(|error| StudyError::Spec { name: name.to_owned(), why: error.to_string() })
    }

    /// The options as the experiment's own type.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T> {
        let bad =
            |error: toml::de::Error| StudyError::Spec { name: self.title.clone(), why: error.to_string() };
        self.settings.clone().try_into().map_err(bad)
    }
}

/// Something that must hold of a number that the experiment finds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// In words.
    pub says: String,
    /// The number's name.
    pub number: String,
    /// What the paper has there.
    pub paper: Option<f64>,
    /// It must not be less.
    pub at_least: Option<f64>,
    /// It must not be more.
    pub at_most: Option<f64>,
    /// Why it may miss, if that is known.
    pub reason: Option<String>,
}

/// Whether something holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It does.
    Pass(f64),
    /// It does not.
    Miss(f64),
    /// Nothing is asked of it.
    Told(f64),
    /// The experiment found no such number: the description and the experiment disagree.
    Unknown,
}

impl Check {
    /// Judge it by the numbers that were found.
    pub fn judge(&self, numbers: &BTreeMap<String, f64>) -> Verdict {
        let Some(&value) = numbers.get(&self.number) else {
            return Verdict::Unknown;
        };
        if self.at_least.is_none() && self.at_most.is_none() {
            return Verdict::Told(value);
        }
        let above = self.at_least.is_none_or(|least| value >= least);
        let below = self.at_most.is_none_or(|most| value <= most);
        // A number that is not one is neither above nor below anything.
        if above && below && !value.is_nan() { Verdict::Pass(value) } else { Verdict::Miss(value) }
    }

    /// The bounds, for a person.
    pub fn bounds(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("{} to {}", Short(least), Short(most)),
            (Some(least), None) => format!("≥ {}", Short(least)),
            (None, Some(most)) => format!("≤ {}", Short(most)),
            (None, None) => "none".to_owned(),
        }
    }
}

/// A number with four digits that matter.
pub struct Short(pub f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if self.0 == self.0.trunc() && size < 1e6 {
            write!(f, "{}", self.0)
        } else if (1e-3..1e5).contains(&size) {
            let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
            write!(f, "{:.digits$}", self.0)
        } else {
            write!(f, "{:.1e}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(at_least: Option<f64>, at_most: Option<f64>) -> Check {
        let (says, number) = ("it holds".to_owned(), "x".to_owned());
        Check { says, number, paper: None, at_least, at_most, reason: None }
    }

    #[test]
    fn a_number_passes_within_its_bounds_only() {
        let judge = |c: &Check, x: f64| c.judge(&BTreeMap::from([("x".to_owned(), x)]));
        let between = check(Some(1.0), Some(2.0));
        assert_eq!(judge(&between, 1.5), Verdict::Pass(1.5));
        assert_eq!(judge(&between, 0.5), Verdict::Miss(0.5));
        assert_eq!(judge(&between, 2.5), Verdict::Miss(2.5));
        assert!(matches!(judge(&between, f64::NAN), Verdict::Miss(_)));
        assert_eq!(judge(&check(None, None), 5.0), Verdict::Told(5.0));
        assert_eq!(between.judge(&BTreeMap::new()), Verdict::Unknown);
        assert_eq!(between.bounds(), "1 to 2");
    }

    #[test]
    fn numbers_are_written_with_four_digits() {
        let text = |x| Short(x).to_string();
        assert_eq!(
            [text(0.0), text(12.0), text(0.61234), text(419.64), text(1.234e-9)],
            ["0", "12", "0.6123", "419.6", "1.2e-9"]
        );
    }
}
