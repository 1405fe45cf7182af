//! Columns of dates: where they lie on the line of time, and on the circles of the year, the week and the day.

use super::number::Indicator;
use super::survey::{Counts, Sorted, Survey};
use partita_data::civil;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A circle says something once the dates go around it.
const YEAR: f32 = 365.0;
const WEEK: f32 = 7.0;
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// What is done to a column of dates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatePlan {
    /// Days since 1970-01-01, ...
    pub centre: f32,
    /// ... and the factor after that is subtracted; 0 if all days are the same.
    pub scale: f32,
    /// The median day, which takes the place of missing ones.
    pub median: f32,
    /// Whether the month counts, as a place on a circle.
    pub month: bool,
    /// Whether the day of the week does.
    pub weekday: bool,
    /// Whether the time of the day does.
    pub hour: bool,
    /// The factor of places on circles.
    pub round: f32,
    /// The indicator of gaps, if there is one.
    pub gaps: Option<Indicator>,
    /// The first and the last day.
    pub range: [f32; 2],
}

impl DatePlan {
    /// What the moments of a column suggest; `marked` is whether gaps may have an indicator.
    pub(super) fn new(survey: &Survey, counts: &Counts, at: usize, marked: bool) -> Self {
        let days = Sorted::new(survey.values(at).map(f64::from));
        let (first, last) = counts.range.unwrap_or_default();
        let of_day = || survey.values(at).map(|day| civil(day as i32));
        // Dates that are all the first of a month stand for months, and those that are all the first of a year for years.
        let months = of_day().all(|(_, _, day)| day == 1);
        let years = months && of_day().all(|(_, month, _)| month == 1);
        let month = last - first >= YEAR && !years;
        let weekday = last - first >= WEEK && !months && varies(survey.values(at).map(weekday));
        let hour = counts.seconds.is_some_and(|(low, high)| low != high);
        let deviation = if first < last { days.deviation() } else { 0.0 };
        let parts =
            usize::from(deviation > 0.0) + [month, weekday, hour].iter().filter(|part| **part).count();
        // Each part has about the variance 1, and all together have it.
        let share = 1.0 / (parts.max(1) as f64).sqrt();
        Self {
            centre: days.mean() as f32,
            scale: if deviation > 0.0 { (share / deviation) as f32 } else { 0.0 },
            median: days.quantile(0.5).floor() as f32,
            month,
            weekday,
            hour,
            round: share as f32,
            gaps: if marked { Indicator::of_gaps(counts.missing, survey.n) } else { None },
            range: [first, last],
        }
    }

    fn circles(&self) -> usize {
        [self.month, self.weekday, self.hour].iter().filter(|part| **part).count()
    }

    /// Columns it becomes.
    pub(super) fn width(&self) -> usize {
        1 + 2 * self.circles() + usize::from(self.gaps.is_some())
    }

    pub(super) fn encode(&self, day: f32, seconds: f32, out: &mut [f32]) {
        let missing = !day.is_finite();
        out.fill(0.0);
        if let (Some(gaps), Some(last)) = (&self.gaps, out.last_mut()) {
            *last = gaps.apply(missing);
        }
        if missing {
            out[0] = (self.median - self.centre) * self.scale;
            return;
        }
        out[0] = (day - self.centre) * self.scale;
        let (_, month, of_month) = civil(day as i32);
        let of_year = (f64::from(month - 1) + f64::from(of_month - 1) / 31.0) / 12.0;
        let turns = [
            (self.month, of_year),
            (self.weekday, f64::from(weekday(day)) / 7.0),
            (self.hour, f64::from(seconds) / DAY),
        ];
        let turns = turns.into_iter().filter(|(counts, _)| *counts);
        for ((_, turn), out) in turns.zip(out[1..].chunks_exact_mut(2)) {
            let (sine, cosine) = (TAU * turn).sin_cos();
            out[0] = sine as f32 * self.round;
            out[1] = cosine as f32 * self.round;
        }
    }

    /// What each of its columns is called, after the name of the column.
    pub(super) fn parts(&self) -> Vec<String> {
        let circles = [(self.month, "month"), (self.weekday, "weekday"), (self.hour, "hour")];
        let circles = circles.iter().filter(|(counts, _)| *counts);
        let circles =
            circles.flat_map(|(_, part)| ["sine", "cosine"].map(|what| format!(": {part} ({what})")));
        let gaps = self.gaps.map(|_| " missing".to_owned());
        std::iter::once(": time".to_owned()).chain(circles).chain(gaps).collect()
    }

    /// What is done, in words.
    pub(super) fn say(&self) -> String {
        let circles = [(self.month, "month"), (self.weekday, "weekday"), (self.hour, "hour")];
        let circles: String =
            circles.iter().filter(|(counts, _)| *counts).map(|(_, part)| format!(", {part}")).collect();
        let [first, last] = self.range.map(shown);
        let mut text = format!("time ({first} to {last}){circles}");
        if let Some(gaps) = &self.gaps {
            text += &format!(
                "; gaps ({:.0} %) become {} and are marked",
                100.0 * gaps.centre,
                shown(self.median)
            );
        }
        text
    }

    pub(super) fn is_sound(&self) -> bool {
        let gaps = self.gaps.map_or([0.0; 2], |gaps| [gaps.centre, gaps.scale]);
        let numbers = [self.centre, self.scale, self.median, self.round, gaps[0], gaps[1]];
        numbers.iter().chain(&self.range).all(|v| v.is_finite())
    }
}

/// The day of the week, Monday as 0.
fn weekday(day: f32) -> u8 {
    // 1970-01-01 was a Thursday.
    (day as i64 + 3).rem_euclid(7) as u8
}

fn varies(mut values: impl Iterator<Item = u8>) -> bool {
    values.next().is_some_and(|first| values.any(|value| value != first))
}

/// A day as 2021-01-05.
pub(super) fn shown(day: f32) -> String {
    let (year, month, day) = civil(day as i32);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_data::{Cells, Frame, OpenOptions};

    fn plan(days: impl Iterator<Item = f64>) -> DatePlan {
        let cells = Cells::Moments(days.map(|day| day * DAY).collect());
        let frame = Frame::of_columns(vec![("since".into(), cells)], &OpenOptions::default()).unwrap();
        let survey = Survey::of(&frame).unwrap();
        DatePlan::new(&survey, &survey.counts[0], 0, true)
    }

    #[test]
    fn only_parts_that_vary_are_kept() {
        let daily = plan((0..1000).map(|i| f64::from(i * 37 % 1000)));
        assert_eq!((daily.month, daily.weekday, daily.hour), (true, true, false));
        let hours = plan((0..100).map(|i| f64::from(i) / 24.0));
        assert_eq!((hours.month, hours.weekday, hours.hour), (false, false, true));
        let yearly = plan([0.0, 365.0, 731.0 - 1.0].into_iter());
        assert_eq!((yearly.month, yearly.weekday), (false, false));
        let monthly = plan([0.0, 31.0, 59.0, 90.0, 365.0, 396.0].into_iter());
        assert_eq!((monthly.month, monthly.weekday), (true, false));
    }

    #[test]
    fn december_is_near_january_and_gaps_are_the_median_day() {
        let found = plan((0..1000).map(f64::from));
        let row = |day: f32| {
            let mut out = vec![0.0; found.width()];
            found.encode(day, 0.0, &mut out);
            out
        };
        let apart = |a: f32, b: f32| {
            row(a)[1..3].iter().zip(&row(b)[1..3]).map(|(a, b)| (a - b).powi(2)).sum::<f32>()
        };
        assert!(apart(364.0, 366.0) < apart(364.0, 300.0));
        assert_eq!(row(f32::NAN)[0], row(found.median)[0]);
        assert_eq!(row(f32::NAN)[1..], vec![0.0; found.width() - 1]);
    }
}
