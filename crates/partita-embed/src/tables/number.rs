//! Columns of numbers: scaled, after a logarithm if they are strongly skewed; gaps become medians and, where there are many, show.

use super::survey::{Counts, Sorted, Survey};
use super::text::figures;
use partita::prepare::Prepare;
use serde::{Deserialize, Serialize};

/// Skewness and kurtosis of the exponential distribution: what goes beyond has longer tails than waiting times have, and a few rows would decide
/// about all distances.
const SKEWED: f64 = 2.0;
const HEAVY: f64 = 9.0;
/// Values that are not inner ones, at both ends.
const OUTER: f64 = 0.01;
/// An indicator of gaps makes up that part of the column's variance which the gaps took from it. Below this share it would change nothing.
const GAPS: f64 = 0.01;
/// Quantiles that are kept, to tell how a value compares with others.
const QUANTILES: usize = 20;

/// What is done to a column of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberPlan {
    /// The unit u of the signed logarithm sign(x)·ln(1 + |x|/u), if there is one.
    pub log: Option<f32>,
    /// Subtracted after that.
    pub centre: f32,
    /// A factor after that; 0 if only gaps tell rows apart.
    pub scale: f32,
    /// The median, which takes the place of missing values.
    pub median: f32,
    /// The indicator of gaps, if there is one.
    pub gaps: Option<Indicator>,
    /// Quantiles at equal steps from the least value to the largest.
    pub quantiles: Vec<f32>,
}

/// A column that is 1 in some rows and 0 in the others, centred and scaled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Indicator {
    /// Subtracted first: the share of the rows.
    pub centre: f32,
    /// A factor after that.
    pub scale: f32,
}

impl Indicator {
    pub(super) fn apply(&self, is: bool) -> f32 {
        (f32::from(u8::from(is)) - self.centre) * self.scale
    }

    /// An indicator of gaps of this share: its variance is that share, as much as medians in their places take from the column's.
    pub(super) fn of_gaps(missing: usize, n: usize) -> Option<Self> {
        let share = missing as f64 / n.max(1) as f64;
        let frequent = (GAPS..1.0).contains(&share);
        frequent.then(|| Self { centre: share as f32, scale: (1.0 / (1.0 - share).sqrt()) as f32 })
    }
}

/// A column of numbers before its scale is known, which depends on the other columns.
pub(super) struct Draft {
    pub plan: NumberPlan,
    deviation: f64,
    inner: f64,
}

impl NumberPlan {
    /// Columns it becomes.
    pub(super) fn width(&self) -> usize {
        1 + usize::from(self.gaps.is_some())
    }

    pub(super) fn encode(&self, value: f32, out: &mut [f32]) {
        let missing = !value.is_finite();
        let value = if missing { self.median } else { value };
        out[0] = (self.transform(value) as f32 - self.centre) * self.scale;
        if let Some(gaps) = &self.gaps {
            out[1] = gaps.apply(missing);
        }
    }

    fn transform(&self, value: f32) -> f64 {
        transform(f64::from(value), self.log.map(f64::from))
    }

    /// The share of rows, in percent, that are below a value.
    pub(super) fn below(&self, value: f32) -> f64 {
        let steps = self.quantiles.len().saturating_sub(1).max(1);
        let at = self.quantiles.partition_point(|q| *q < value);
        100.0 * at.saturating_sub(1).min(steps) as f64 / steps as f64
    }

    /// What is done, in words.
    pub(super) fn say(&self) -> String {
        let mut parts = Vec::new();
        match (self.log, self.scale) {
            (_, 0.0) => parts.push("one value; only its gaps count".to_owned()),
            (Some(_), _) => parts.push("signed logarithm (strongly skewed), scaled".to_owned()),
            (None, _) => parts.push("scaled".to_owned()),
        }
        if let Some(gaps) = &self.gaps {
            let share = 100.0 * gaps.centre;
            parts.push(format!(
                "gaps ({share:.0} %) become the median {} and are marked",
                figures(f64::from(self.median))
            ));
        }
        parts.join("; ")
    }

    pub(super) fn is_sound(&self) -> bool {
        let gaps = self.gaps.map_or([0.0; 2], |gaps| [gaps.centre, gaps.scale]);
        let numbers = [self.centre, self.scale, self.median, gaps[0], gaps[1]];
        self.log.is_none_or(|unit| unit.is_finite() && unit > 0.0)
            && numbers.iter().chain(&self.quantiles).all(|v| v.is_finite())
    }
}

fn transform(value: f64, log: Option<f64>) -> f64 {
    log.map_or(value, |unit| value.signum() * (value.abs() / unit).ln_1p())
}

impl Draft {
    /// What the values of a column suggest; `marked` is whether gaps may have an indicator.
    pub fn new(survey: &Survey, counts: &Counts, at: usize, marked: bool) -> Self {
        let raw = Sorted::new(survey.values(at).map(f64::from));
        let log = log_unit(survey, at, &raw);
        let sorted = match log {
            Some(unit) => Sorted::new(survey.values(at).map(|v| transform(f64::from(v), Some(unit)))),
            None => Sorted::new(survey.values(at).map(f64::from)),
        };
        let median = raw.quantile(0.5);
        let gaps = if marked { Indicator::of_gaps(counts.missing, survey.n) } else { None };
        // The median in the place of gaps moves the mean.
        let share = counts.missing as f64 / survey.n.max(1) as f64;
        let centre = (1.0 - share) * sorted.mean() + share * transform(median, log);
        let quantiles = (0..=QUANTILES).map(|i| raw.quantile(i as f64 / QUANTILES as f64) as f32);
        let plan = NumberPlan {
            log: log.map(|unit| unit as f32),
            centre: centre as f32,
            scale: 0.0,
            median: median as f32,
            gaps,
            quantiles: quantiles.collect(),
        };
        let constant = counts.is_constant();
        let deviation = if constant { 0.0 } else { sorted.deviation() };
        Self { plan, deviation, inner: if constant { 0.0 } else { sorted.inner_deviation(OUTER) } }
    }
}

/// The unit of a logarithm that makes a strongly skewed or heavy-tailed column less so: the median size of what is not zero.
fn log_unit(survey: &Survey, at: usize, raw: &Sorted) -> Option<f64> {
    let (skewness, kurtosis) = raw.shape();
    if skewness.abs() <= SKEWED && kurtosis <= HEAVY {
        return None;
    }
    let sizes = survey.values(at).map(|v| f64::from(v.abs())).filter(|size| *size > 0.0);
    let unit = Sorted::new(sizes).quantile(0.5);
    if !(f64::from(f32::MIN_POSITIVE)..f64::from(f32::MAX)).contains(&unit) {
        return None;
    }
    let (less_skewed, less_heavy) =
        Sorted::new(survey.values(at).map(|v| transform(f64::from(v), Some(unit)))).shape();
    (less_skewed.abs() + less_heavy < skewness.abs() + kurtosis).then_some(unit)
}

/// Scale columns of numbers as [`Prepare::Auto`] does: those of one unit by one factor, others each by its own; logarithms have no unit. On average
/// a column has the variance 1.
pub(super) fn scale(drafts: &mut [&mut Draft]) -> Prepare {
    let plain = |draft: &&&mut Draft| draft.plan.log.is_none() && draft.deviation > 0.0;
    let of =
        |value: fn(&Draft) -> f64| -> Vec<f64> { drafts.iter().filter(plain).map(|d| value(d)).collect() };
    let deviations = of(|draft| draft.deviation);
    let kind = Prepare::by_units(&deviations, &of(|draft| draft.inner)).kind;
    let squares = deviations.iter().map(|d| d * d).sum::<f64>() / deviations.len().max(1) as f64;
    for draft in drafts {
        let own = match (draft.plan.log, kind) {
            (None, Prepare::Robust) if draft.inner > 0.0 => draft.inner,
            (None, Prepare::Centre) => squares.sqrt(),
            _ => draft.deviation,
        };
        let scale = if draft.deviation > 0.0 { (1.0 / own) as f32 } else { 0.0 };
        draft.plan.scale = if scale.is_finite() { scale } else { 0.0 };
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_data::{Cells, Frame, OpenOptions};

    fn drafts(columns: &[&[f32]]) -> Vec<Draft> {
        let named = columns.iter().enumerate();
        let cells = named.map(|(i, cells)| (format!("c{i}"), Cells::Numbers(cells.to_vec()))).collect();
        let frame = Frame::of_columns(cells, &OpenOptions::default()).unwrap();
        let survey = Survey::of(&frame).unwrap();
        let mut drafts: Vec<Draft> =
            (0..columns.len()).map(|i| Draft::new(&survey, &survey.counts[i], i, true)).collect();
        scale(&mut drafts.iter_mut().collect::<Vec<_>>());
        drafts
    }

    fn encoded(plan: &NumberPlan, values: &[f32]) -> Vec<f32> {
        let encode = |value: &f32| {
            let mut out = vec![0.0; plan.width()];
            plan.encode(*value, &mut out);
            out
        };
        values.iter().flat_map(encode).collect()
    }

    fn variance(values: &[f32]) -> f64 {
        Sorted::new(values.iter().map(|v| f64::from(*v))).moment(2)
    }

    #[test]
    fn columns_of_different_units_count_alike() {
        let small: Vec<f32> = (0..100).map(|i| (i * 37 % 100) as f32 / 100.0).collect();
        let large: Vec<f32> = (0..100).map(|i| (i * 41 % 100) as f32 * 1000.0 + 0.5).collect();
        let found = drafts(&[&small, &large]);
        assert!((variance(&encoded(&found[0].plan, &small)) - 1.0).abs() < 1e-3);
        assert!((variance(&encoded(&found[1].plan, &large)) - 1.0).abs() < 1e-3);
        assert!(found.iter().all(|draft| draft.plan.log.is_none()));
    }

    #[test]
    fn incomes_are_seen_by_their_logarithm_whatever_the_currency() {
        let income: Vec<f32> =
            (0..300).map(|i| (5.0 * ((i * 97 % 300) as f32 / 150.0 - 1.0)).exp()).collect();
        let cents: Vec<f32> = income.iter().map(|v| v * 128.0).collect();
        let other: Vec<f32> = (0..300).map(|i| (i * 7 % 300) as f32 + 0.5).collect();
        let found = drafts(&[&income, &cents, &other]);
        assert!(found[0].plan.log.is_some() && found[2].plan.log.is_none());
        let (a, b) = (encoded(&found[0].plan, &income), encoded(&found[1].plan, &cents));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4));
    }

    #[test]
    fn a_column_with_gaps_counts_as_a_column() {
        let n = f32::NAN;
        let half: Vec<f32> =
            (0..400).map(|i| if i % 4 < 2 { (i * 37 % 400) as f32 + 0.25 } else { n }).collect();
        let found = &drafts(&[&half])[0].plan;
        let rows = encoded(found, &half);
        let (values, marks): (Vec<f32>, Vec<f32>) = rows.chunks_exact(2).map(|row| (row[0], row[1])).unzip();
        assert!((variance(&values) + variance(&marks) - 1.0).abs() < 0.02);
        assert!(marks[0] < marks[2]);
        // Below one percent they are not marked.
        let few: Vec<f32> = (0..400).map(|i| if i == 7 { n } else { (i * 37 % 400) as f32 + 0.25 }).collect();
        assert!(drafts(&[&few])[0].plan.gaps.is_none());
    }
}
