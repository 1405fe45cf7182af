//! Numbers in text, straight to `f32`.

/// Powers of ten that are exact in `f64`.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The nearest `f32` to a number in text, or nothing if the cell is no number.
///
/// Rounding to `f64` first and to `f32` next could end on another bit than the array that the text was printed from, so
/// the quick way is taken only where that cannot happen.
pub(super) fn number(cell: &[u8]) -> Option<f32> {
    quick(cell).or_else(|| std::str::from_utf8(cell).ok()?.trim().parse().ok())
}

/// Plain decimals of up to 15 digits or so, which is what programs print.
fn quick(cell: &[u8]) -> Option<f32> {
    let (negative, digits) = match cell.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, cell),
    };
    let (mut mantissa, mut places, mut point) = (0u64, 0usize, false);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa.checked_mul(10)? + u64::from(byte - b'0');
                places += usize::from(point);
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    // A lone sign or point is no number. Both operands of the division are exact up to 2^53, so that its result is
    // the `f64` nearest to the text.
    if digits.len() == usize::from(point) || mantissa > 1 << 53 || places >= POWERS.len() {
        return None;
    }
    let wide = mantissa as f64 / POWERS[places];
    let value = to_f32(wide)?;
    Some(if negative { -value } else { value })
}

/// Round to `f32`, unless the value lies halfway between two of them: the text may then lie on either side. Numbers
/// so small that `f32` has fewer digits for them are left to the slow way as well.
fn to_f32(wide: f64) -> Option<f32> {
    const BELOW: u64 = (1 << 29) - 1;
    let halfway = wide.to_bits() & BELOW == 1 << 28;
    let ordinary = wide == 0.0 || (1e-37..1e38).contains(&wide);
    (ordinary && !halfway).then_some(wide as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::rng::{Stream, stream};
    use rand::RngExt;

    fn same(text: &str) {
        let expected = text.trim().parse::<f32>().ok().map(f32::to_bits);
        assert_eq!(number(text.as_bytes()).map(f32::to_bits), expected, "{text}");
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let words = "0 -0 0.0 -0.0 . - -. 1. .5 -.5 +1 1e5 1E-5 1..2 1.2.3 nan inf -inf 1_0 0x1 9007199254740993 \
                     16777217 16777216.5 16777217.0000001 3.4028236e38 1e-46 00000000000000000000001.5 12345678901234567890";
        words.split(' ').for_each(same);
        ["", " 1.5", "1.5 ", "1 5", "é"].into_iter().for_each(same);
    }

    #[test]
    fn random_decimals_and_halfway_points_are_rounded_once() {
        let mut rng = stream(1, Stream::Sample, 0);
        for _ in 0..200_000 {
            same(&format!("{}", f32::from_bits(rng.random())));
            let (whole, part): (u32, u64) = (rng.random(), rng.random());
            same(&format!("{}.{}", whole >> rng.random_range(0..32), part >> rng.random_range(0..64)));
            let near = f32::from_bits(rng.random_range(0x3000_0000..0x5000_0000));
            let half = (f64::from(near) + f64::from(near.next_up())) / 2.0;
            same(&format!("{half}"));
            same(&format!("-{half}1"));
        }
    }
}
