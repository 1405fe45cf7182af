//! Line search for the strong Wolfe conditions: bracket, then zoom (Nocedal & Wright, algorithms 3.5 and 3.6).
//!
//! Near a minimum the decrease of the value falls below rounding while the slope still tells the way. There the
//! search goes by slopes, as Hager and Zhang propose, so that gradients can be brought to 1e-12 and not only 1e-8.

/// Share of the first-order decrease that a step must reach.
const DECREASE: f64 = 1e-4;
/// Share of the first slope that may remain.
const CURVATURE: f64 = 0.9;
/// Evaluations of one search: halving so often leaves a billionth of the step, and growing covers every scale.
const MOST_TRIALS: usize = 30;
/// Values closer than this, relative to their size, are equal but for rounding.
pub(super) const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A point on the line: step length, value there, and slope along the line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    pub step: f64,
    pub value: f64,
    pub slope: f64,
}

/// A search along one line from `start`, a [`Trial`] of step 0 with a negative slope.
pub(super) struct LineSearch {
    pub start: Trial,
    /// No point above this value is ever accepted, whatever the rounding.
    pub ceiling: f64,
}

impl LineSearch {
    /// A step that meets the conditions, or the lowest point found if none does within the trials, or `None` if no
    /// step makes progress. The last call of `evaluate` was at the returned step.
    pub fn run(&self, first: f64, mut evaluate: impl FnMut(f64) -> Trial) -> Option<Trial> {
        // `low` is the best acceptable point; the minimum lies between it and `high`.
        let (mut low, mut high) = (self.start, None::<Trial>);
        let mut step = first;
        for _ in 0..MOST_TRIALS {
            let here = evaluate(step);
            if !self.decreases(here) || here.value > low.value + self.rounding() {
                high = Some(here);
            } else if here.slope.abs() <= CURVATURE * -self.start.slope {
                return Some(here);
            } else {
                let ahead = high.is_none_or(|high| high.step > low.step);
                if (here.slope >= 0.0) == ahead {
                    high = Some(low);
                }
                low = here;
            }
            step = match high {
                None => 4.0 * step,
                Some(high) => between(low, high),
            };
            if step == low.step || high.is_some_and(|high| step == high.step) || !step.is_finite() {
                break;
            }
        }
        // Short of the conditions, but lower than the start: take it, at the price of one more evaluation.
        (low.step > 0.0 && low.value < self.start.value).then(|| evaluate(low.step))
    }

    fn rounding(&self) -> f64 {
        ROUNDING * self.start.value.abs()
    }

    /// Enough decrease by the value or, where the value only shows rounding, by the slope.
    fn decreases(&self, here: Trial) -> bool {
        let start = self.start;
        let by_value = here.value <= start.value + DECREASE * here.step * start.slope;
        let flat = (here.value - start.value).abs() <= self.rounding();
        let by_slope = flat && here.slope <= (2.0 * DECREASE - 1.0) * start.slope;
        here.value <= self.ceiling && (by_value || by_slope)
    }
}

/// The minimum of the cubic through both ends, kept away from them; the middle where there is no such cubic.
fn between(low: Trial, high: Trial) -> f64 {
    let width = high.step - low.step;
    let middle = low.step + 0.5 * width;
    let d1 = low.slope + high.slope - 3.0 * (high.value - low.value) / width;
    let d2 = (d1 * d1 - low.slope * high.slope).sqrt().copysign(width);
    let step = high.step - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let share = (step - low.step) / width;
    if (0.1..=0.9).contains(&share) { step } else { middle }
}
