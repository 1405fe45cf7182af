//! Convolutions of every channel on its own.

use super::maps::{GROUP, Maps, Shelf};
use super::place::Window;
use super::vector::{Vector, Work, vectorised};

/// A convolution of every channel on its own, with what follows it.
#[derive(Debug, Clone)]
pub(crate) struct Depthwise {
    window: Window,
    channels: usize,
    /// `[kernel element][channel]`.
    weights: Vec<f32>,
    bias: Vec<f32>,
    zeros: Vec<f32>,
    bounds: [f32; 2],
}

impl Depthwise {
    /// From weights `[channels, 1, height, width]` and a bias for each channel; results are clipped to `bounds`.
    pub fn new(window: Window, channels: usize, weights: &[f32], bias: &[f32], bounds: [f32; 2]) -> Self {
        let (taps, whole) = (window.taps(), channels.next_multiple_of(GROUP));
        let mut packed = vec![0.0; taps * whole];
        for (c, weights) in weights.chunks_exact(taps).enumerate() {
            for (tap, weight) in weights.iter().enumerate() {
                packed[tap * whole + c] = *weight;
            }
        }
        let mut all = bias.to_vec();
        all.resize(whole, 0.0);
        Self { window, channels, weights: packed, bias: all, zeros: vec![0.0; whole], bounds }
    }

    /// The result for some maps.
    pub fn apply(&self, x: &Maps, shelf: &mut Shelf) -> Maps {
        let mut out = shelf.maps(x.n, self.window.output(x.size), self.channels);
        assert_eq!((x.channels, x.stride), (self.channels, out.stride), "channels of the input");
        vectorised(Pass { of: self, x, out: &mut out });
        out
    }
}

/// A convolution on its way.
struct Pass<'a> {
    of: &'a Depthwise,
    x: &'a Maps,
    out: &'a mut Maps,
}

impl Work for Pass<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const M: usize, const N: usize>(self) {
        let Self { of, x, out } = self;
        let whole = of.bias.len();
        let mut pixels = vec![std::ptr::null::<f32>(); of.window.taps()];
        for place in 0..out.pixels() {
            for (pixel, at) in pixels.iter_mut().zip(of.window.pixels(x, place)) {
                *pixel = at.map_or(of.zeros.as_ptr(), |at| x.numbers[at..at + whole].as_ptr());
            }
            let to = out.numbers[place * out.stride..][..whole].as_mut_ptr();
            // SAFETY: pixels, weights, bias and result have `whole` numbers, a multiple of the lanes. The caller vouches for the instructions.
            unsafe {
                let [low, high] = of.bounds.map(|bound| V::splat(bound));
                for c in (0..whole).step_by(V::LANES) {
                    let mut sum = V::load(of.bias.as_ptr().add(c));
                    for (tap, pixel) in pixels.iter().enumerate() {
                        let weight = V::load(of.weights.as_ptr().add(tap * whole + c));
                        sum = V::load(pixel.add(c)).times(weight, sum);
                    }
                    sum.clamp(low, high).store(to.add(c));
                }
            }
        }
    }
}
