//! Types of stored numbers and their conversion to `f32`: one tight loop per type.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// Type of the numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// Any non-zero byte is 1.
    Bool,
    /// Signed byte.
    I8,
    /// Unsigned byte.
    U8,
    /// 16-bit signed integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit signed integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE half precision.
    F16,
    /// Brain float.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Dtype {
    /// Bytes of one value.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// How values lie in a file: their type and byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    /// Type of a value.
    pub dtype: Dtype,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
}

/// Convert fixed-size pieces of bytes one by one; the compiler turns this into vector code.
fn each<const N: usize, T>(bytes: &[u8], out: &mut [T], convert: impl Fn([u8; N]) -> T) {
    for (value, piece) in out.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *value = convert(*piece);
    }
}

/// Match the byte order once, outside the loop.
macro_rules! number {
    ($t:ty, $to:ty, $encoding:expr, $bytes:expr, $out:expr) => {
        if $encoding.big_endian {
            each($bytes, $out, |b| <$t>::from_be_bytes(b) as $to)
        } else {
            each($bytes, $out, |b| <$t>::from_le_bytes(b) as $to)
        }
    };
}

/// Half floats go through a small buffer: bytes of a file have no alignment, the hardware conversion wants slices.
fn halves<H: Copy>(
    bytes: &[u8],
    out: &mut [f32],
    zero: H,
    load: impl Fn([u8; 2]) -> H,
    convert: impl Fn(&[H], &mut [f32]),
) {
    let mut buffer = [zero; 512];
    for (out, bytes) in out.chunks_mut(512).zip(bytes.chunks(1024)) {
        let buffer = &mut buffer[..out.len()];
        each(bytes, buffer, &load);
        convert(buffer, out);
    }
}

impl Encoding {
    /// Little-endian values of this type.
    pub fn little(dtype: Dtype) -> Self {
        Self { dtype, big_endian: false }
    }

    /// Bytes of one value.
    pub fn size(self) -> usize {
        self.dtype.size()
    }

    /// Convert `out.len()` values from `bytes`, which must hold exactly as many.
    pub fn to_f32(self, bytes: &[u8], out: &mut [f32]) {
        debug_assert_eq!(bytes.len(), out.len() * self.size());
        match self.dtype {
            Dtype::Bool => each(bytes, out, |[b]| f32::from(b != 0)),
            Dtype::I8 => number!(i8, f32, self, bytes, out),
            Dtype::U8 => number!(u8, f32, self, bytes, out),
            Dtype::I16 => number!(i16, f32, self, bytes, out),
            Dtype::U16 => number!(u16, f32, self, bytes, out),
            Dtype::I32 => number!(i32, f32, self, bytes, out),
            Dtype::U32 => number!(u32, f32, self, bytes, out),
            Dtype::I64 => number!(i64, f32, self, bytes, out),
            Dtype::U64 => number!(u64, f32, self, bytes, out),
            Dtype::F32 => number!(f32, f32, self, bytes, out),
            Dtype::F64 => number!(f64, f32, self, bytes, out),
            Dtype::F16 => {
                let load = |b| if self.big_endian { f16::from_be_bytes(b) } else { f16::from_le_bytes(b) };
                halves(bytes, out, f16::ZERO, load, |h, out| h.convert_to_f32_slice(out));
            }
            Dtype::Bf16 => {
                let load = |b| if self.big_endian { bf16::from_be_bytes(b) } else { bf16::from_le_bytes(b) };
                halves(bytes, out, bf16::ZERO, load, |h, out| h.convert_to_f32_slice(out));
            }
        }
    }

    /// Convert to `f64`, for small vectors and labels.
    pub fn to_f64(self, bytes: &[u8]) -> Vec<f64> {
        let mut out = vec![0f64; bytes.len() / self.size()];
        let values = &mut out[..];
        match self.dtype {
            Dtype::I32 => number!(i32, f64, self, bytes, values),
            Dtype::U32 => number!(u32, f64, self, bytes, values),
            Dtype::I64 => number!(i64, f64, self, bytes, values),
            Dtype::U64 => number!(u64, f64, self, bytes, values),
            Dtype::F64 => number!(f64, f64, self, bytes, values),
            _ => {
                let mut narrow = vec![0f32; values.len()];
                self.to_f32(bytes, &mut narrow);
                values.iter_mut().zip(narrow).for_each(|(v, n)| *v = f64::from(n));
            }
        }
        out
    }

    /// Convert to `i64` if this is an integer type; `None` for floats.
    pub fn to_i64(self, bytes: &[u8]) -> Option<Vec<i64>> {
        let mut out = vec![0i64; bytes.len() / self.size()];
        let values = &mut out[..];
        match self.dtype {
            Dtype::Bool => each(bytes, values, |[b]| i64::from(b != 0)),
            Dtype::I8 => number!(i8, i64, self, bytes, values),
            Dtype::U8 => number!(u8, i64, self, bytes, values),
            Dtype::I16 => number!(i16, i64, self, bytes, values),
            Dtype::U16 => number!(u16, i64, self, bytes, values),
            Dtype::I32 => number!(i32, i64, self, bytes, values),
            Dtype::U32 => number!(u32, i64, self, bytes, values),
            Dtype::I64 => number!(i64, i64, self, bytes, values),
            Dtype::U64 => number!(u64, i64, self, bytes, values),
            Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64 => return None,
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_convert_at_any_alignment_and_length() {
        let values: Vec<f32> = (0..1300).map(|i| i as f32 * 0.25 - 100.0).collect();
        for big_endian in [false, true] {
            let mut bytes = vec![0u8];
            for v in &values {
                let h = f16::from_f32(*v);
                bytes.extend(if big_endian { h.to_be_bytes() } else { h.to_le_bytes() });
            }
            let mut out = vec![0f32; values.len()];
            Encoding { dtype: Dtype::F16, big_endian }.to_f32(&bytes[1..], &mut out);
            assert_eq!(out, values);
        }
    }

    #[test]
    fn integers_keep_their_sign_and_byte_order() {
        let bytes: Vec<u8> = [-2i32, 70_000].iter().flat_map(|v| v.to_be_bytes()).collect();
        let encoding = Encoding { dtype: Dtype::I32, big_endian: true };
        let mut out = [0f32; 2];
        encoding.to_f32(&bytes, &mut out);
        assert_eq!(out, [-2.0, 70_000.0]);
        assert_eq!(encoding.to_i64(&bytes), Some(vec![-2, 70_000]));
    }
}
