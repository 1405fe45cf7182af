//! Rows eight abreast: the solvers' loops run over lanes of eight rows, so they vectorise at any K without
//! remainders or horizontal sums.

use crate::batch::Batch;

/// Rows side by side.
pub(super) const WIDTH: usize = 8;

/// One number for each of the eight rows.
pub(super) type Lane = [f64; WIDTH];

/// A lane from a function of the row. Kernels are written as one such expression per operation, on copies: stores
/// interleaved element by element might alias, which keeps the compiler from using vectors.
#[inline(always)]
pub(super) fn lane(f: impl Fn(usize) -> f64) -> Lane {
    let mut out = [0.0; WIDTH];
    for (r, out) in out.iter_mut().enumerate() {
        *out = f(r);
    }
    out
}

/// The larger of two numbers that are not NaN, in one instruction.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers that are not NaN, in one instruction.
#[inline(always)]
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// A loop to be compiled once for every width of vectors a machine may have. Everything it calls must be inlined
/// into it, or it is compiled for the narrowest.
pub(super) trait Kernel {
    /// Its result.
    type Output;
    /// Run it; must be `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

struct Dispatched<T>(T);

impl<T: Kernel> pulp::WithSimd for Dispatched<T> {
    type Output = T::Output;
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> T::Output {
        self.0.run()
    }
}

/// Run a kernel with the widest vectors this machine has.
pub(super) fn vectorised<T: Kernel>(kernel: T) -> T::Output {
    pulp::Arch::new().dispatch(Dispatched(kernel))
}

/// exp of eight numbers to a few units in the last place; below −708 it stays at exp(−708) = 3e-308.
#[inline(always)]
pub(super) fn exp(x: &Lane) -> Lane {
    /// 1.5 · 2⁵²: adding it rounds to an integer, which is then in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = lane(|r| larger(smaller(x[r], 708.0), -708.0));
    let rounded = lane(|r| x[r] * std::f64::consts::LOG2_E + ROUND);
    let rest = lane(|r| (x[r] - (rounded[r] - ROUND) * LN_2_HIGH) - (rounded[r] - ROUND) * LN_2_LOW);
    // Taylor's series to the 13th power; |rest| < 0.35, so what is left out is below 1e-17.
    let mut sum = [1.0 / 6_227_020_800.0; WIDTH];
    for factorial in FACTORIALS {
        sum = lane(|r| sum[r] * rest[r] + 1.0 / factorial);
    }
    lane(|r| sum[r] * f64::from_bits(rounded[r].to_bits().wrapping_add(1023) << 52))
}

/// 12!, 11!, …, 1!, 0!.
const FACTORIALS: [f64; 13] = [
    479_001_600.0,
    39_916_800.0,
    3_628_800.0,
    362_880.0,
    40_320.0,
    5_040.0,
    720.0,
    120.0,
    24.0,
    6.0,
    2.0,
    1.0,
    1.0,
];

/// `lane ← exp(lane)`, not below `floor`.
struct Exponentiate<'a> {
    cells: &'a mut [Lane],
    floor: f64,
}

impl Kernel for Exponentiate<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for cell in self.cells {
            let value = exp(cell);
            *cell = lane(|r| larger(value[r], self.floor));
        }
    }
}

/// The rows without a known label, eight to a block; the last block is filled with rows of no weight.
#[derive(Debug, Clone, Default)]
pub(super) struct Packed {
    /// Number of clusters.
    pub k: usize,
    /// σ or a multiple of ln σ, shape `[blocks, k]`.
    pub cells: Vec<Lane>,
    /// w_i/Σw, shape `[blocks]`.
    pub share: Vec<Lane>,
    /// What the known rows add to ȳ, shape `[k]`.
    pub fixed: Vec<f64>,
}

impl Packed {
    /// Pack σ of every unknown row, not below `floor`.
    pub fn pack_sigma(&mut self, batch: Batch<'_>, floor: f64) {
        self.pack(batch, 1.0);
        vectorised(Exponentiate { cells: &mut self.cells, floor });
    }

    /// Pack `factor` · ln σ of every unknown row.
    pub fn pack(&mut self, batch: Batch<'_>, factor: f64) {
        self.k = batch.k;
        self.cells.clear();
        self.share.clear();
        self.fixed.clear();
        self.fixed.resize(batch.k, 0.0);
        let mut lane = WIDTH;
        for row in batch.rows() {
            if let Some(label) = row.known {
                self.fixed[label] += row.share;
                continue;
            }
            if lane == WIDTH {
                lane = 0;
                self.share.push([0.0; WIDTH]);
                // The block starts as eight copies of its first row, which no later code can trip over.
                self.cells.extend(row.log_sigma.iter().map(|l| [factor * l; WIDTH]));
            } else {
                let block = self.cells.len() - batch.k;
                for (cells, l) in self.cells[block..].iter_mut().zip(row.log_sigma) {
                    cells[lane] = factor * l;
                }
            }
            if let Some(share) = self.share.last_mut() {
                share[lane] = row.share;
            }
            lane += 1;
        }
    }

    /// Σ share · `cells` plus the known rows' part: the mean over all rows, into `mean`.
    pub fn mean(&self, cells: &[Lane], mean: &mut Vec<f64>) {
        mean.clear();
        mean.extend_from_slice(&self.fixed);
        for (block, share) in cells.chunks_exact(self.k).zip(&self.share) {
            for (m, cell) in mean.iter_mut().zip(block) {
                *m += dot(cell, share);
            }
        }
    }

    /// Undo the packing of `labels` into `y`, shape `[n, k]`; known rows become their one-hot.
    pub fn unpack(labels: &[Lane], batch: Batch<'_>, y: &mut [f64]) {
        let mut next = 0;
        for (row, y) in batch.rows().zip(y.chunks_exact_mut(batch.k)) {
            if let Some(label) = row.known {
                y.fill(0.0);
                y[label] = 1.0;
                continue;
            }
            let (block, lane) = (next / WIDTH * batch.k, next % WIDTH);
            for (y, cell) in y.iter_mut().zip(&labels[block..block + batch.k]) {
                *y = cell[lane];
            }
            next += 1;
        }
    }
}

/// total += share · labels.
#[inline(always)]
pub(super) fn accumulate(total: &mut [Lane], labels: &[Lane], share: &Lane) {
    let share = *share;
    for (total, label) in total.iter_mut().zip(labels) {
        let (sum, label) = (*total, *label);
        *total = lane(|r| sum[r] + share[r] * label[r]);
    }
}

/// Σ over the eight rows of a·b.
#[inline(always)]
pub(super) fn dot(a: &Lane, b: &Lane) -> f64 {
    let mut products = [0.0; WIDTH];
    for r in 0..WIDTH {
        products[r] = a[r] * b[r];
    }
    products.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::testing::sample;
    use proptest::prelude::*;

    #[test]
    fn exp_is_that_of_the_standard_library() {
        for i in 0..20_000 {
            let x = -705.0 + 0.0353 * f64::from(i);
            let value = exp(&[x; WIDTH]);
            assert!((value[3] / x.exp() - 1.0).abs() < 1e-14, "exp({x}) = {}", value[3]);
        }
        assert!(exp(&[-1e300; WIDTH])[0] < 1e-300 && exp(&[0.0; WIDTH])[7] == 1.0);
    }

    proptest! {
        #[test]
        fn unpacking_undoes_packing(s in sample()) {
            let l = s.log_sigma();
            let mut packed = Packed::default();
            packed.pack(s.batch(&l), 1.0);
            let mut out = vec![f64::NAN; l.len()];
            Packed::unpack(&packed.cells, s.batch(&l), &mut out);
            for ((row, out), known) in l.chunks(s.k).zip(out.chunks(s.k)).zip(&s.known) {
                match usize::try_from(*known) {
                    Ok(label) => prop_assert!(out[label] == 1.0 && out.iter().sum::<f64>() == 1.0),
                    Err(_) => prop_assert_eq!(row, out),
                }
            }
            let shares: f64 = packed.share.iter().flatten().chain(&packed.fixed).sum();
            prop_assert!((shares - 1.0).abs() < 1e-12);
        }
    }
}
