//! Several numbers at once, and which of these the machine has.
//!
//! Every number of a result is a chain of fused multiplications and additions in one order, whatever the width of the vectors: machines
//! that fuse give the same bits.

/// Numbers that a processor works on at once. The methods are compiled into a function that has the instructions.
pub(super) trait Vector: Copy {
    /// How many numbers.
    const LANES: usize;

    /// The same number everywhere.
    ///
    /// # Safety
    /// The machine must have the instructions of the type; so in all that follow.
    unsafe fn splat(value: f32) -> Self;

    /// # Safety
    /// `LANES` numbers can be read at `from`.
    unsafe fn load(from: *const f32) -> Self;

    /// # Safety
    /// `LANES` numbers can be written at `to`.
    unsafe fn store(self, to: *mut f32);

    /// `self · by + plus`, rounded once where the machine can.
    ///
    /// # Safety
    /// As [`Self::splat`].
    unsafe fn times(self, by: Self, plus: Self) -> Self;

    /// # Safety
    /// As [`Self::splat`].
    unsafe fn plus(self, other: Self) -> Self;

    /// min(max(self, low), high); what is no number stays none.
    ///
    /// # Safety
    /// As [`Self::splat`].
    unsafe fn clamp(self, low: Self, high: Self) -> Self;
}

/// Work that is compiled once for each kind of vectors.
pub(super) trait Work {
    /// With vectors `V`, in tiles of `M` places and `N` vectors of channels. Must be `#[inline(always)]`.
    ///
    /// # Safety
    /// The machine must have the instructions of `V`.
    unsafe fn run<V: Vector, const M: usize, const N: usize>(self);
}

/// Do the work with the widest vectors of this machine.
pub(super) fn vectorised(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has just said so.
            return unsafe { x86::sixteen(work) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has just said so.
            return unsafe { x86::eight(work) };
        }
    }
    // SAFETY: arrays need no special instructions.
    unsafe { work.run::<Plain, 4, 2>() }
}

/// Numbers in an array, for machines without known vectors; the compiler makes what it can of them.
#[derive(Clone, Copy)]
pub(super) struct Plain([f32; 8]);

impl Plain {
    #[inline(always)]
    fn each(f: impl Fn(usize) -> f32) -> Self {
        Self(std::array::from_fn(f))
    }
}

impl Vector for Plain {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self([value; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for eight numbers.
        Self(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for eight numbers.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn times(self, by: Self, plus: Self) -> Self {
        // Without the instruction, fusing is a function call for every number.
        match cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
            true => Self::each(|i| self.0[i].mul_add(by.0[i], plus.0[i])),
            false => Self::each(|i| self.0[i] * by.0[i] + plus.0[i]),
        }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self::each(|i| self.0[i] + other.0[i])
    }

    #[inline(always)]
    unsafe fn clamp(self, low: Self, high: Self) -> Self {
        let larger = |i: usize| if self.0[i] < low.0[i] { low.0[i] } else { self.0[i] };
        Self::each(|i| if larger(i) > high.0[i] { high.0[i] } else { larger(i) })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Vector, Work};
    use std::arch::x86_64::*;

    /// 32 registers: 24 sums, two vectors of weights and a number.
    #[target_feature(enable = "avx512f")]
    pub unsafe fn sixteen<W: Work>(work: W) {
        // SAFETY: this function has the instructions.
        unsafe { work.run::<Sixteen, 12, 2>() }
    }

    /// 16 registers: 12 sums, two vectors of weights and a number.
    #[target_feature(enable = "avx2,fma")]
    pub unsafe fn eight<W: Work>(work: W) {
        // SAFETY: this function has the instructions.
        unsafe { work.run::<Eight, 6, 2>() }
    }

    /// AVX-512.
    #[derive(Clone, Copy)]
    pub struct Sixteen(__m512);

    /// AVX2 with FMA.
    #[derive(Clone, Copy)]
    pub struct Eight(__m256);

    macro_rules! vector {
        ($name:ident, $lanes:literal, $splat:ident, $load:ident, $store:ident, $fma:ident, $add:ident, $max:ident, $min:ident) => {
            impl Vector for $name {
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn splat(value: f32) -> Self {
                    // SAFETY: the caller vouches for the instructions; so below.
                    Self(unsafe { $splat(value) })
                }

                #[inline(always)]
                unsafe fn load(from: *const f32) -> Self {
                    // SAFETY: the caller vouches for the numbers, too.
                    Self(unsafe { $load(from) })
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut f32) {
                    // SAFETY: the caller vouches for the numbers, too.
                    unsafe { $store(to, self.0) }
                }

                #[inline(always)]
                unsafe fn times(self, by: Self, plus: Self) -> Self {
                    // SAFETY: as above.
                    Self(unsafe { $fma(self.0, by.0, plus.0) })
                }

                #[inline(always)]
                unsafe fn plus(self, other: Self) -> Self {
                    // SAFETY: as above.
                    Self(unsafe { $add(self.0, other.0) })
                }

                #[inline(always)]
                unsafe fn clamp(self, low: Self, high: Self) -> Self {
                    // If one is no number, both instructions give their second operand.
                    // SAFETY: as above.
                    Self(unsafe { $min(high.0, $max(low.0, self.0)) })
                }
            }
        };
    }

    vector!(
        Sixteen,
        16,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_fmadd_ps,
        _mm512_add_ps,
        _mm512_max_ps,
        _mm512_min_ps
    );
    vector!(
        Eight,
        8,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_fmadd_ps,
        _mm256_add_ps,
        _mm256_max_ps,
        _mm256_min_ps
    );
}
