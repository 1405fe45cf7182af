//! Mean and standard deviation of what was measured several times.

use serde::Serialize;
use std::fmt;

/// Mean and standard deviation (of the sample) of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation; 0 for a single number.
    pub sd: f64,
}

impl Spread {
    /// The spread of these numbers; none if there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Some(Self { mean, sd: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 } })
    }

    /// That of the numbers times a factor, such as 100 for per cent.
    pub fn times(self, factor: f64) -> Self {
        Self { mean: factor * self.mean, sd: factor * self.sd }
    }
}

/// Mean ± sd, both with the digits asked for.
///
/// ```
/// let spread = partita::metrics::Spread { mean: 0.6142, sd: 0.0101 };
/// assert_eq!(format!("{:.1}", spread.times(100.0)), "61.4 ± 1.0");
/// ```
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.mean, f)?;
        f.write_str(" ± ")?;
        fmt::Display::fmt(&self.sd, f)
    }
}
