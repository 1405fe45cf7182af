//! What the columns of a table hold: counts over all rows, and the values of a sample of them.

use crate::error::Result;
use partita_data::{ColumnKind, Frame};

/// Cells read at a time.
const BLOCK: usize = 1 << 18;
/// Cells of the sample: 64 MB.
const SAMPLE: usize = 1 << 24;
/// Rows of the sample at most; beyond, quantiles change no more.
const ROWS: usize = 100_000;

/// What a column holds, over all rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// Rows without a value.
    pub missing: usize,
    /// Rows with each level, for a category.
    pub levels: Vec<usize>,
    /// The smallest and the largest value of the first cell, ...
    pub range: Option<(f32, f32)>,
    /// ... and of the second, for moments.
    pub seconds: Option<(f32, f32)>,
}

/// The columns of a table, as they were found.
pub(super) struct Survey {
    pub n: usize,
    /// In the order of the frame.
    pub counts: Vec<Counts>,
    width: usize,
    sample: Vec<f32>,
}

impl Survey {
    pub fn of(frame: &Frame) -> Result<Self> {
        let (n, cells) = (frame.n(), frame.cells());
        let width = cells.m();
        let mut counts: Vec<Counts> = frame.columns().iter().map(|_| Counts::default()).collect();
        for (counts, column) in counts.iter_mut().zip(frame.columns()) {
            counts.levels = vec![0; column.levels.as_ref().map_or(0, |levels| levels.words.len())];
        }
        let step = (BLOCK / width).max(1);
        let mut block = Vec::new();
        for start in (0..n).step_by(step) {
            block.resize(step.min(n - start) * width, 0.0);
            cells.read(start, &mut block)?;
            for (counts, column) in counts.iter_mut().zip(frame.columns()) {
                let rows = block.chunks_exact(width).map(|row| &row[column.at..column.at + column.width()]);
                rows.for_each(|cells| counts.add(column.kind, cells));
            }
        }
        let rows = sampled(n, SAMPLE, width);
        let mut sample = vec![0.0; rows.len() * width];
        cells.gather(&rows, &mut sample)?;
        cells.release();
        Ok(Self { n, counts, width, sample })
    }

    /// The values of a cell in the sampled rows, without those that are missing.
    pub fn values(&self, at: usize) -> impl Iterator<Item = f32> + '_ {
        self.sample.iter().skip(at).step_by(self.width).copied().filter(|value| value.is_finite())
    }
}

impl Counts {
    fn add(&mut self, kind: ColumnKind, cells: &[f32]) {
        let first = cells[0];
        // Infinite values say no more than missing ones.
        if !first.is_finite() {
            self.missing += 1;
            return;
        }
        if kind == ColumnKind::Category
            && let Some(count) = self.levels.get_mut(first as usize)
        {
            *count += 1;
        }
        widen(&mut self.range, first);
        if let Some(second) = cells.get(1) {
            widen(&mut self.seconds, *second);
        }
    }

    /// Whether all values are the same.
    pub fn is_constant(&self) -> bool {
        let one = |range: Option<(f32, f32)>| range.is_none_or(|(low, high)| low == high);
        one(self.range) && one(self.seconds)
    }
}

fn widen(range: &mut Option<(f32, f32)>, value: f32) {
    let (low, high) = range.unwrap_or((value, value));
    *range = Some((low.min(value), high.max(value)));
}

/// Rows at equal steps, as many as so many cells have room for.
pub(super) fn sampled(n: usize, cells: usize, width: usize) -> Vec<usize> {
    let count = (cells / width.max(1)).clamp(1000, ROWS).min(n);
    (0..count).map(|i| (i as u128 * n as u128 / count as u128) as usize).collect()
}

/// Sorted values, and what is read off them.
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    pub fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The value below which this share of the others lies, between two neighbours if need be.
    pub fn quantile(&self, share: f64) -> f64 {
        let Some(last) = self.0.len().checked_sub(1) else { return 0.0 };
        let at = share * last as f64;
        let (below, above) = (self.0[at.floor() as usize], self.0[at.ceil() as usize]);
        below + (above - below) * at.fract()
    }

    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The mean of a power of the distance from the mean.
    pub fn moment(&self, power: i32) -> f64 {
        let mean = self.mean();
        self.0.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The standard deviation.
    pub fn deviation(&self) -> f64 {
        self.moment(2).sqrt()
    }

    /// The standard deviation if outer values counted as those at the border.
    pub fn inner_deviation(&self, outer: f64) -> f64 {
        let (low, high) = (self.quantile(outer), self.quantile(1.0 - outer));
        Self(self.0.iter().map(|v| v.clamp(low, high)).collect()).deviation()
    }

    /// Skewness and kurtosis.
    pub fn shape(&self) -> (f64, f64) {
        let variance = self.moment(2);
        match variance > 0.0 {
            true => (self.moment(3) / variance.powf(1.5), self.moment(4) / (variance * variance)),
            false => (0.0, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_moments_are_those_of_the_values() {
        let sorted = Sorted::new([4.0, 1.0, 2.0, 3.0].into_iter());
        assert_eq!((sorted.quantile(0.0), sorted.quantile(0.5), sorted.quantile(1.0)), (1.0, 2.5, 4.0));
        assert_eq!((sorted.mean(), sorted.moment(2)), (2.5, 1.25));
        let skewed = Sorted::new((0..1000).map(|i| -(1.0 - (f64::from(i) + 0.5) / 1000.0).ln()));
        let (skewness, kurtosis) = skewed.shape();
        assert!((1.7..2.1).contains(&skewness) && (6.0..9.5).contains(&kurtosis), "{skewness} {kurtosis}");
    }

    #[test]
    fn the_sample_is_spread_over_all_rows() {
        assert_eq!(sampled(5, SAMPLE, 3), [0, 1, 2, 3, 4]);
        let many = sampled(10_000_000, SAMPLE, 3);
        assert_eq!((many.len(), many[0], many[99_999]), (ROWS, 0, 9_999_900));
        assert_eq!(sampled(5000, SAMPLE, 1 << 20).len(), 1000);
    }
}
