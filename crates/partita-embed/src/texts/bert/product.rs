//! Products of rows with weights that are arranged once. Every number of a result is one chain of fused multiplications in the order of the inputs, so that its
//! bits depend neither on the rows beside it nor on the machine's vectors.

use partita::numeric::vector::dispatch;

/// Outputs of a panel.
const WIDE: usize = 16;
/// Rows abreast: with two vectors of outputs for each they fill the registers.
const ROWS: usize = 6;

/// A matrix `[outputs, inputs]` in panels of [`WIDE`] outputs, each input after input; the last panel is filled up with zeros.
#[derive(Debug, Clone, Default)]
pub(super) struct Panels {
    values: Vec<f32>,
    inputs: usize,
    outputs: usize,
}

impl Panels {
    /// Arrange the matrix whose value for an output and an input `of` gives. The room of an older one is used again.
    pub fn arrange(&mut self, outputs: usize, inputs: usize, of: impl Fn(usize, usize) -> f32) {
        self.values.clear();
        self.values.resize(outputs.div_ceil(WIDE) * WIDE * inputs, 0.0);
        for (p, panel) in self.values.chunks_exact_mut((WIDE * inputs).max(1)).enumerate() {
            for (input, lane) in panel.chunks_exact_mut(WIDE).enumerate() {
                for (j, value) in lane.iter_mut().enumerate().take(outputs - p * WIDE) {
                    *value = of(p * WIDE + j, input);
                }
            }
        }
        (self.inputs, self.outputs) = (inputs, outputs);
    }

    /// The product of each of `rows` rows, which begin `stride` numbers apart in `x`, into `out`, whose rows begin `out_stride` apart.
    pub fn multiply(
        &self,
        rows: usize,
        (x, stride): (&[f32], usize),
        (out, out_stride): (&mut [f32], usize),
    ) {
        dispatch(
            #[inline(always)]
            || {
                for (p, panel) in self.values.chunks_exact((WIDE * self.inputs).max(1)).enumerate() {
                    let (first, wide) = (p * WIDE, WIDE.min(self.outputs - p * WIDE));
                    let mut row = 0;
                    while row < rows {
                        let (x, out) = (&x[row * stride..], &mut out[row * out_stride + first..]);
                        row += match rows - row {
                            ROWS.. => tile::<ROWS>(panel, self.inputs, (x, stride), (out, out_stride), wide),
                            3.. => tile::<3>(panel, self.inputs, (x, stride), (out, out_stride), wide),
                            _ => tile::<1>(panel, self.inputs, (x, stride), (out, out_stride), wide),
                        };
                    }
                }
            },
        );
    }
}

/// `R` rows against a panel; returns `R`.
#[inline(always)]
fn tile<const R: usize>(
    panel: &[f32],
    inputs: usize,
    (x, stride): (&[f32], usize),
    (out, out_stride): (&mut [f32], usize),
    wide: usize,
) -> usize {
    let mut sums = [[0.0f32; WIDE]; R];
    let rows: [&[f32]; R] = std::array::from_fn(|r| &x[r * stride..r * stride + inputs]);
    for (i, lane) in panel.chunks_exact(WIDE).enumerate().take(inputs) {
        let lane: &[f32; WIDE] = lane.try_into().expect("chunks have this length");
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let value = row[i];
            for (sum, weight) in sums.iter_mut().zip(lane) {
                *sum = value.mul_add(*weight, *sum);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        out[r * out_stride..r * out_stride + wide].copy_from_slice(&sums[..wide]);
    }
    R
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_plain_loops_whatever_stands_beside_a_row() {
        let (rows, inputs, outputs) = (17, 37, 45);
        let value = |i: usize| ((i * 7919) % 101) as f32 / 50.0 - 1.0;
        let x: Vec<f32> = (0..rows * inputs).map(value).collect();
        let weight: Vec<f32> = (0..outputs * inputs).map(|i| value(i + 13)).collect();
        let mut panels = Panels::default();
        panels.arrange(outputs, inputs, |o, i| weight[o * inputs + i]);
        let mut all = vec![0.0; rows * outputs];
        panels.multiply(rows, (&x, inputs), (&mut all, outputs));
        for row in 0..rows {
            let mut alone = vec![0.0; outputs];
            panels.multiply(1, (&x[row * inputs..], inputs), (&mut alone, outputs));
            assert_eq!(alone, all[row * outputs..(row + 1) * outputs]);
            for (o, found) in alone.iter().enumerate() {
                let plain: f64 = (0..inputs)
                    .map(|i| f64::from(x[row * inputs + i]) * f64::from(weight[o * inputs + i]))
                    .sum();
                assert!((f64::from(*found) - plain).abs() < 1e-5, "{found} {plain}");
            }
        }
    }
}
