//! exp and ln of single-precision slices, written so that the compiler can vectorise them.
//!
//! The standard library's functions are calls, one value at a time; a training step needs thousands of both.
//! Both are polynomials after range reduction, accurate to about one unit in the last place, and use no fused
//! operations, so that every vector width gives the same bits.

use pulp::Arch;

/// e^x for x in [-87, 87]; smaller x gives a tiny positive number, larger x is not needed here (logits come minus their maximum).
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding and subtracting it rounds to the nearest integer
    let x = x.clamp(-87.0, 87.0);
    let n = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4; // ln 2 in two pieces
    let p = 1.987_569_2e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let e = p * r * r + r + 1.0;
    e * f32::from_bits(((n as i32 + 127) as u32) << 23)
}

/// ln x for positive normal x.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    // x = 2^n * f with f in [sqrt(1/2), sqrt(2))
    let bits = x.to_bits() as i32;
    let n = (bits - 0x3f35_04f3) >> 23;
    let f = f32::from_bits((bits - (n << 23)) as u32) - 1.0;
    let p = 7.037_683_6e-2;
    let p = p * f - 1.151_461e-1;
    let p = p * f + 1.167_699_9e-1;
    let p = p * f - 1.242_014_1e-1;
    let p = p * f + 1.424_932_3e-1;
    let p = p * f - 1.666_805_8e-1;
    let p = p * f + 2.000_071_5e-1;
    let p = p * f - 2.499_999_4e-1;
    let p = p * f + 3.333_333e-1;
    let n = n as f32;
    let ff = f * f;
    let low = f * ff * p + n * -2.121_944_4e-4 - 0.5 * ff;
    f + low + n * 0.693_359_4
}

/// Sum in sixteen lanes and a fixed tree, the same bits for every vector width.
#[inline(always)]
pub fn sum(values: &[f32]) -> f32 {
    sum_of(values, |v| v)
}

/// Sum of the squares, in sixteen lanes and a fixed tree.
#[inline(always)]
pub fn sum_squares(values: &[f32]) -> f32 {
    sum_of(values, |v| v * v)
}

/// 1/‖v‖, or 0 for a vector of zeros.
pub fn inverse_norm(v: &[f32]) -> f32 {
    let squares = sum_squares(v);
    if squares > 0.0 { 1.0 / squares.sqrt() } else { 0.0 }
}

/// ‖a − b‖².
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[inline(always)]
fn sum_of(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; 16];
    let chunks = values.chunks_exact(16);
    let rest = chunks.remainder();
    for c in chunks {
        for (lane, v) in lanes.iter_mut().zip(c) {
            *lane += term(*v);
        }
    }
    for (lane, v) in lanes.iter_mut().zip(rest) {
        *lane += term(*v);
    }
    fold(&mut lanes)
}

#[inline(always)]
fn fold(lanes: &mut [f32; 16]) -> f32 {
    let mut width = 8;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

/// Run `f` compiled for the best vector instructions of this machine. Only what is inlined into `f` profits.
#[inline(always)]
pub fn dispatch<R>(f: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_ln_are_accurate_to_a_few_units_in_the_last_place() {
        for i in 0..200_000 {
            let x = -86.9 + i as f32 * (173.0 / 200_000.0);
            let truth = f64::from(x).exp();
            assert!((f64::from(exp(x)) / truth - 1.0).abs() < 3e-7, "exp({x})");
            let v = exp(x);
            let error = (f64::from(ln(v)) - f64::from(v).ln()).abs();
            assert!(error < 2e-7 * f64::from(v).ln().abs().max(0.5), "ln({v}): {error}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e30) > 0.0 && exp(-1e30) < 1e-37);
    }

    #[test]
    fn lane_sums_agree_with_plain_sums() {
        let v: Vec<f32> = (0..1003).map(|i| (i % 17) as f32 - 8.0).collect();
        assert_eq!(sum(&v), v.iter().sum::<f32>());
        assert_eq!(sum_squares(&v), v.iter().map(|v| v * v).sum::<f32>());
    }
}
