//! Products of many rows with few vectors.
//!
//! A general matrix product arranges its operands for reuse first, which does not pay when one side has a dozen rows. Here
//! rows are taken [`ROWS`] abreast, each against a few vectors in registers. The order of every sum depends
//! on the instruction set alone, not on a row's neighbours.

use pulp::{Arch, Simd, WithSimd};

/// Up to this many vectors this is faster than a general product.
pub const FEW: usize = 32;
/// Rows abreast. Four rows and three vectors make twelve sums, which with their operands fill sixteen registers.
const ROWS: usize = 4;

/// out = X Wᵀ for row-major X `[n, m]`, W `[k, m]`, out `[n, k]`.
pub fn dots(x: &[f32], w: &[f32], m: usize, out: &mut [f32]) {
    Arch::new().dispatch(Dots { x, w, m, out });
}

struct Dots<'a> {
    x: &'a [f32],
    w: &'a [f32],
    m: usize,
    out: &'a mut [f32],
}

impl WithSimd for Dots<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (m, k) = (self.m, self.w.len() / self.m);
        for (x, out) in self.x.chunks(ROWS * m).zip(self.out.chunks_mut(ROWS * k)) {
            if x.len() == ROWS * m {
                against_all::<S, ROWS>(simd, x, self.w, m, out);
            } else {
                for (x, out) in x.chunks_exact(m).zip(out.chunks_exact_mut(k)) {
                    against_all::<S, 1>(simd, x, self.w, m, out);
                }
            }
        }
    }
}

/// `R` rows against all vectors: three at a time, the last two or four in twos.
#[inline(always)]
fn against_all<S: Simd, const R: usize>(simd: S, x: &[f32], w: &[f32], m: usize, out: &mut [f32]) {
    let k = w.len() / m;
    let mut c = 0;
    while c < k {
        let w = &w[c * m..];
        c += match k - c {
            1 => tile::<S, R, 1>(simd, x, w, m, (k, c), out),
            2 | 4 => tile::<S, R, 2>(simd, x, w, m, (k, c), out),
            _ => tile::<S, R, 3>(simd, x, w, m, (k, c), out),
        };
    }
}

/// `R` rows against `C` vectors, which go to columns `first ..` of `k`; returns `C`.
#[inline(always)]
fn tile<S: Simd, const R: usize, const C: usize>(
    simd: S,
    x: &[f32],
    w: &[f32],
    m: usize,
    (k, first): (usize, usize),
    out: &mut [f32],
) -> usize {
    let x: [(&[S::f32s], &[f32]); R] = std::array::from_fn(|r| S::as_simd_f32s(&x[r * m..(r + 1) * m]));
    let w: [(&[S::f32s], &[f32]); C] = std::array::from_fn(|c| S::as_simd_f32s(&w[c * m..(c + 1) * m]));
    let whole = m / S::F32_LANES;
    let x_whole: [&[S::f32s]; R] = std::array::from_fn(|r| &x[r].0[..whole]);
    let w_whole: [&[S::f32s]; C] = std::array::from_fn(|c| &w[c].0[..whole]);
    let mut sums = [[simd.splat_f32s(0.0); C]; R];
    for j in 0..whole {
        for (sums, x) in sums.iter_mut().zip(&x_whole) {
            for (sum, w) in sums.iter_mut().zip(&w_whole) {
                *sum = simd.mul_add_f32s(x[j], w[j], *sum);
            }
        }
    }
    for r in 0..R {
        for c in 0..C {
            let rest: f32 = x[r].1.iter().zip(w[c].1).map(|(x, w)| x * w).sum();
            out[r * k + first + c] = simd.reduce_sum_f32s(sums[r][c]) + rest;
        }
    }
    C
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_product_and_a_row_does_not_see_its_neighbours(n in 1usize..12, k in 1usize..14, m in 1usize..50) {
            let x: Vec<f32> = (0..n * m).map(|i| (i as f32 * 0.37).sin()).collect();
            let w: Vec<f32> = (0..k * m).map(|i| (i as f32 * 0.73).cos()).collect();
            let mut out = vec![f32::NAN; n * k];
            dots(&x, &w, m, &mut out);
            for i in 0..n {
                let row = &x[i * m..(i + 1) * m];
                let mut alone = vec![f32::NAN; k];
                dots(row, &w, m, &mut alone);
                prop_assert_eq!(&alone, &out[i * k..(i + 1) * k]);
                for c in 0..k {
                    let plain: f64 = row.iter().zip(&w[c * m..]).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
                    prop_assert!((f64::from(alone[c]) - plain).abs() < 1e-5, "{} {plain}", alone[c]);
                }
            }
        }
    }
}
