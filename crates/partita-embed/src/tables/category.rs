//! Columns of categories: an indicator for each level, weighed as in factor analysis of mixed data; rare levels are one.

use super::number::Indicator;
use super::survey::Counts;
use super::text::percent;
use partita_data::Levels;
use serde::{Deserialize, Serialize};

/// Levels of a smaller share of the rows are one: each of them alone says nothing about clusters of a size that anybody asks for.
const RARE: f64 = 0.02;
/// Nor do levels of fewer rows, in small tables.
const FEW: usize = 5;
/// Levels that words name at most.
const SHOWN: usize = 3;

/// What is done to a column of categories.
///
/// Its indicators are centred and divided by the roots of their shares, as in factor analysis of mixed data: distances are those of χ², and in no
/// direction does the column vary more than a scaled column of numbers, whose variance is 1. Two levels are such a column exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryPlan {
    /// The levels with an indicator of their own, the most frequent first.
    pub levels: Vec<String>,
    /// Their indicators.
    pub indicators: Vec<Indicator>,
    /// The indicator of rows without a value, if they are a level of their own.
    #[serde(rename = "gaps")]
    pub missing: Option<Indicator>,
    /// The indicator of all other levels, if rows had some. Without it, a level that was not seen counts as the average row.
    pub other: Option<Indicator>,
    /// How many levels are among the others.
    pub pooled: usize,
}

/// Which indicator of a column is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Level(usize),
    Missing,
    Other,
}

impl CategoryPlan {
    /// Of the levels of a column with these counts in `n` rows; none if fewer than two indicators would be left.
    pub(super) fn new(levels: &Levels, counts: &Counts, n: usize) -> Option<Self> {
        let least = (RARE * n as f64).ceil().max(FEW.min(n / 4) as f64) as usize;
        let named = levels.words.iter().zip(&counts.levels).filter(|(_, count)| **count > 0);
        let (mut kept, rare): (Vec<_>, Vec<_>) = named.partition(|(_, count)| **count >= least);
        kept.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let mut others: usize = rare.iter().map(|(_, count)| **count).sum();
        let mut pooled = rare.len();
        let missing = if counts.missing >= least { counts.missing } else { 0 };
        others += counts.missing - missing;
        // A few rows beside the levels are the average row rather than a level.
        if others < least {
            (others, pooled) = (0, rare.len());
        }
        let shares: Vec<usize> = kept.iter().map(|(_, count)| **count).chain([missing, others]).collect();
        let present = shares.iter().filter(|count| **count > 0).count();
        if present < 2 {
            return None;
        }
        let indicator = |count: usize| {
            let share = count as f64 / n as f64;
            (count > 0).then(|| Indicator { centre: share as f32, scale: (1.0 / share.sqrt()) as f32 })
        };
        Some(Self {
            indicators: kept.iter().filter_map(|(_, count)| indicator(**count)).collect(),
            levels: kept.into_iter().map(|(word, _)| word.to_string()).collect(),
            missing: indicator(missing),
            other: indicator(others),
            pooled,
        })
    }

    /// True and false, as levels are.
    pub(super) fn of_truth(levels: [usize; 2], missing: usize, n: usize) -> Option<Self> {
        let counts = Counts { missing, levels: levels.to_vec(), ..Counts::default() };
        Self::new(&Levels::new(["false", "true"]), &counts, n)
    }

    /// Columns it becomes.
    pub(super) fn width(&self) -> usize {
        self.levels.len() + usize::from(self.missing.is_some()) + usize::from(self.other.is_some())
    }

    /// Where a word belongs.
    pub(super) fn slot(&self, word: Option<&str>) -> Slot {
        match word {
            None if self.missing.is_some() => Slot::Missing,
            None => Slot::Other,
            Some(word) => self.levels.iter().position(|level| level == word).map_or(Slot::Other, Slot::Level),
        }
    }

    /// The column of a slot, counted from the column's first; none for what the fit did not see.
    pub(super) fn place(&self, slot: Slot) -> Option<usize> {
        let levels = self.levels.len();
        match slot {
            Slot::Level(level) => Some(level),
            Slot::Missing => self.missing.map(|_| levels),
            Slot::Other => self.other.map(|_| levels + usize::from(self.missing.is_some())),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Indicator> {
        self.indicators.iter().chain(&self.missing).chain(&self.other)
    }

    pub(super) fn encode(&self, slot: Slot, out: &mut [f32]) {
        match self.place(slot) {
            Some(place) => {
                let each = self.all().zip(out).enumerate();
                each.for_each(|(at, (indicator, out))| *out = indicator.apply(at == place));
            }
            None => out.fill(0.0),
        }
    }

    /// What each of its columns is called, after the name of the column.
    pub(super) fn parts(&self) -> Vec<String> {
        let missing = self.missing.map(|_| " missing".to_owned());
        let other = self.other.map(|_| " = other".to_owned());
        self.levels.iter().map(|level| format!(" = {level}")).chain(missing).chain(other).collect()
    }

    /// What is done, in words.
    pub(super) fn say(&self) -> String {
        let shown = self.levels.iter().zip(&self.indicators).take(SHOWN);
        let shown: Vec<String> =
            shown.map(|(level, of)| format!("{level} {}", percent(f64::from(of.centre)))).collect();
        let more = if self.levels.len() > SHOWN { ", …" } else { "" };
        let count = self.levels.len();
        let mut text = match count {
            0 => "no frequent level".to_owned(),
            1 => format!("1 level ({})", shown[0]),
            _ => format!("{count} levels ({}{more})", shown.join(", ")),
        };
        match (self.pooled, self.other.is_some()) {
            (0, _) => {}
            (1, true) => text += ", 1 rare one as other",
            (rare, true) => text += &format!(", {rare} rare ones as other"),
            (1, false) => text += ", 1 rare one left out",
            (rare, false) => text += &format!(", {rare} rare ones left out"),
        }
        if let Some(missing) = &self.missing {
            text += &format!(", missing ({}) as a level", percent(f64::from(missing.centre)));
        }
        text
    }

    pub(super) fn is_sound(&self) -> bool {
        self.indicators.len() == self.levels.len()
            && self.width() > 0
            && self.all().all(|indicator| indicator.centre.is_finite() && indicator.scale.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(counts: &[usize], missing: usize) -> Option<CategoryPlan> {
        let levels = Levels::new((0..counts.len()).map(|i| format!("l{i}")));
        let n = counts.iter().sum::<usize>() + missing;
        CategoryPlan::new(&levels, &Counts { missing, levels: counts.to_vec(), ..Counts::default() }, n)
    }

    fn row(plan: &CategoryPlan, word: Option<&str>) -> Vec<f32> {
        let mut out = vec![9.0; plan.width()];
        plan.encode(plan.slot(word), &mut out);
        out
    }

    #[test]
    fn a_column_has_the_variance_one_for_each_level_beyond_the_first() {
        for (counts, missing) in [(vec![60, 40], 0), (vec![50, 30, 20], 0), (vec![50, 30, 1, 1, 1], 40)] {
            let found = plan(&counts, missing).unwrap();
            let n = (counts.iter().sum::<usize>() + missing) as f32;
            let levels = counts.iter().enumerate();
            let rows: Vec<(Vec<f32>, f32)> = levels
                .map(|(i, count)| (row(&found, Some(&format!("l{i}"))), *count as f32))
                .chain([(row(&found, None), missing as f32)])
                .collect();
            let variance: f32 =
                rows.iter().map(|(row, count)| count * row.iter().map(|v| v * v).sum::<f32>()).sum();
            let expected = found.width() as f32 - 1.0;
            assert!((variance / n - expected).abs() < 0.05, "{counts:?}: {}", variance / n);
        }
    }

    #[test]
    fn rare_levels_are_one_and_unseen_ones_go_there() {
        let found = plan(&[500, 400, 10, 10, 10, 10], 0).unwrap();
        assert_eq!((found.levels.len(), found.pooled), (2, 4));
        assert_eq!(row(&found, Some("never seen")), row(&found, Some("l4")));
        // Where the fit saw no others, what is unseen or missing is the average row.
        let found = plan(&[500, 400], 0).unwrap();
        assert_eq!(row(&found, Some("never seen")), [0.0, 0.0]);
        assert_eq!(row(&found, None), [0.0, 0.0]);
    }

    #[test]
    fn levels_that_are_all_rare_or_all_alike_are_no_column() {
        assert!(plan(&[1; 300], 0).is_none());
        assert!(plan(&[300], 0).is_none());
        assert!(plan(&[300], 100).is_some());
    }
}
