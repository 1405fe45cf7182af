//! From values to places on a sheet, and the values that are named on an axis.

use super::{Axis, Chart, Mark};

/// One axis laid out on a sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// Where the low and the high end are on the sheet.
    from: f64,
    to: f64,
}

/// Space left free at each end of an axis that fits what is drawn.
const SLACK: f64 = 0.04;

impl Scale {
    /// Lay out an axis of a chart between two places; `pick` takes its coordinate of a point.
    pub fn new(chart: &Chart, axis: &Axis, pick: fn((f64, f64)) -> f64, (from, to): (f64, f64)) -> Self {
        let wrap = |v: f64| if axis.log { v.max(f64::MIN_POSITIVE).log10() } else { v };
        let (low, high) = match axis.range {
            Some((low, high)) => (wrap(low), wrap(high)),
            None => {
                let values = chart.marks.iter().flat_map(Mark::corners).map(pick).map(wrap);
                let (low, high) = values
                    .filter(|v| v.is_finite())
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
                let (low, high) =
                    if low < high { (low, high) } else { (low.min(0.0) - 0.5, high.max(0.0) + 0.5) };
                let slack = SLACK * (high - low);
                (low - slack, high + slack)
            }
        };
        Self { low, high, log: axis.log, from, to }
    }

    /// The low and the high end, as exponents if it is logarithmic.
    pub fn ends(&self) -> (f64, f64, bool) {
        (self.low, self.high, self.log)
    }

    /// Where a value is; within the sheet even if the value is not.
    pub fn place(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Whether a value is on the sheet.
    pub fn holds(&self, value: f64) -> bool {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let slack = 1e-9 * (self.high - self.low);
        (self.low - slack..=self.high + slack).contains(&value)
    }

    /// Round values along the axis, with how they are written.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let step = round_step((self.high - self.low) / 6.0);
        let step = if self.log { step.max(1.0).round() } else { step };
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|i| {
                let value = i as f64 * step;
                if self.log {
                    (10f64.powf(value), format!("1e{value:.0}"))
                } else {
                    (value, written(value, step))
                }
            })
            .collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// With as many digits as the step needs.
fn written(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.digits$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(low: f64, high: f64, log: bool) -> Scale {
        let axis = Axis { label: String::new(), log, range: Some((low, high)) };
        let chart = Chart { title: String::new(), x: axis.clone(), y: axis.clone(), marks: Vec::new() };
        Scale::new(&chart, &axis, |p| p.0, (10.0, 110.0))
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let names = |s: Scale| s.ticks().into_iter().map(|t| t.1).collect::<Vec<_>>();
        assert_eq!(
            names(scale(0.0, 1.0, false)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(|t| if t == "0.0" { "0" } else { t })
        );
        assert_eq!(names(scale(2.0, 16.0, false)), ["5", "10", "15"]);
        assert_eq!(names(scale(1e-4, 1.0, true)), ["1e-4", "1e-3", "1e-2", "1e-1", "1e0"]);
    }

    #[test]
    fn values_go_where_they_belong() {
        let linear = scale(-1.0, 1.0, false);
        assert_eq!((linear.place(-1.0), linear.place(0.0), linear.place(9.0)), (10.0, 60.0, 110.0));
        assert!(linear.holds(1.0) && !linear.holds(1.1) && !linear.holds(f64::NAN));
        assert!((scale(1e-4, 1.0, true).place(1e-2) - 60.0).abs() < 1e-9);
    }

    #[test]
    fn an_empty_chart_still_has_an_axis() {
        let chart = Chart { title: String::new(), x: Axis::new(""), y: Axis::new(""), marks: Vec::new() };
        let scale = Scale::new(&chart, &chart.x, |p| p.0, (0.0, 1.0));
        assert!(scale.place(0.0).is_finite() && !scale.ticks().is_empty());
    }
}
