//! Convolutions of all channels: a product of the pixels under each place with the weights, in tiles that stay in registers.
//!
//! The pixels are not copied into patches: a tile has a pointer to each pixel that its places meet, so a 1×1 convolution is a plain
//! product and a 3×3 one nine of them whose sums never leave the registers. What follows a convolution (bias, the connection past a block,
//! clipping) is done before the tile is stored.

use super::maps::{GROUP, Maps, Shelf};
use super::place::Window;
use super::vector::{Vector, Work, vectorised};

/// Tiles that use the same weights one after another while these are in the nearest caches.
const TILES: usize = 8;

/// Numbers of a pixel below which the pixels of a window are copied side by side: the products would be too short.
const FEW: usize = 8;

/// A convolution with everything that follows it.
#[derive(Debug, Clone)]
pub(crate) struct Convolution {
    window: Window,
    from: usize,
    to: usize,
    /// `[group of output channels][kernel element][input channel][channel of the group]`.
    weights: Vec<f32>,
    bias: Vec<f32>,
    /// What a place beyond the border meets.
    zeros: Vec<f32>,
    bounds: [f32; 2],
}

impl Convolution {
    /// From weights `[to, from, height, width]` and a bias for each output channel; results are clipped to `bounds`.
    pub fn new(
        window: Window,
        [from, to]: [usize; 2],
        weights: &[f32],
        bias: &[f32],
        bounds: [f32; 2],
    ) -> Self {
        let taps = window.taps();
        let mut packed = vec![0.0; to.next_multiple_of(GROUP) * taps * from];
        for (o, weights) in weights.chunks_exact(from * taps).enumerate() {
            let group = &mut packed[o / GROUP * GROUP * taps * from..];
            for (c, weights) in weights.chunks_exact(taps).enumerate() {
                for (tap, weight) in weights.iter().enumerate() {
                    group[(tap * from + c) * GROUP + o % GROUP] = *weight;
                }
            }
        }
        let mut all = bias.to_vec();
        all.resize(to.next_multiple_of(GROUP), 0.0);
        let zeros = vec![0.0; from];
        Self { window, from, to, weights: packed, bias: all, zeros, bounds }
    }

    /// The result for some maps, with `past` added before it is clipped.
    pub fn apply(&self, x: &Maps, past: Option<&Maps>, shelf: &mut Shelf) -> Maps {
        let mut out = shelf.maps(x.n, self.window.output(x.size), self.to);
        assert_eq!(x.channels, self.from, "channels of the input");
        if let Some(past) = past {
            assert_eq!(
                (past.n, past.size, past.stride),
                (out.n, out.size, out.stride),
                "maps that are added"
            );
        }
        vectorised(Convolve { of: self, x, past, out: &mut out });
        out
    }

    /// Whether windows are copied, so that a product is over all of their numbers at once.
    fn copied(&self) -> bool {
        self.from < FEW && self.window.taps() > 1
    }

    /// The numbers of each window from place `first` on, one window after another.
    fn patches(&self, x: &Maps, first: usize, out: &mut [f32]) {
        let ([height, width], kernel) = (x.size, self.window.kernel);
        for (i, patch) in out.chunks_exact_mut(self.from * self.window.taps()).enumerate() {
            let [image, top, left] = self.window.corner(x, first + i);
            let whole = left < width && left + kernel <= width && x.stride == self.from;
            for (ky, line) in patch.chunks_exact_mut(kernel * self.from).enumerate() {
                let y = top.wrapping_add(ky);
                if whole && y < height {
                    let at = ((image * height + y) * width + left) * x.stride;
                    line.copy_from_slice(&x.numbers[at..at + line.len()]);
                    continue;
                }
                for (kx, pixel) in line.chunks_exact_mut(self.from).enumerate() {
                    let column = left.wrapping_add(kx);
                    if y < height && column < width {
                        let at = ((image * height + y) * width + column) * x.stride;
                        pixel.copy_from_slice(&x.numbers[at..at + self.from]);
                    } else {
                        pixel.fill(0.0);
                    }
                }
            }
        }
    }
}

/// A convolution on its way.
struct Convolve<'a> {
    of: &'a Convolution,
    x: &'a Maps,
    past: Option<&'a Maps>,
    out: &'a mut Maps,
}

impl Work for Convolve<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const M: usize, const N: usize>(self) {
        let Self { of, x, past, out } = self;
        let (places, block) = (out.pixels(), TILES * M);
        let (taps, depth) =
            if of.copied() { (1, of.from * of.window.taps()) } else { (of.window.taps(), of.from) };
        let mut patches = vec![0.0; if of.copied() { block * depth } else { 0 }];
        let mut pointers = vec![std::ptr::null::<f32>(); block * taps];
        let groups = out.channels.div_ceil(GROUP);
        let abreast = (N * V::LANES).div_ceil(GROUP);
        for first in (0..places).step_by(block) {
            let count = block.min(places - first);
            if of.copied() {
                of.patches(x, first, &mut patches[..count * depth]);
            }
            // The last tile is filled with its last place, whose results are not stored.
            for slot in 0..count.next_multiple_of(M) {
                let (i, pointers) = (slot.min(count - 1), &mut pointers[slot / M * M * taps + slot % M..]);
                if of.copied() {
                    pointers[0] = patches[i * depth..].as_ptr();
                    continue;
                }
                for (tap, pixel) in of.window.pixels(x, first + i).enumerate() {
                    pointers[tap * M] =
                        pixel.map_or(of.zeros.as_ptr(), |at| x.numbers[at..at + depth].as_ptr());
                }
            }
            for group in (0..groups).step_by(abreast) {
                for tile in 0..count.div_ceil(M) {
                    let start = (first + tile * M) * out.stride + group * GROUP;
                    let tile = Tile {
                        pointers: &pointers[tile * M * taps..][..M * taps],
                        depth,
                        weights: of.weights[group * GROUP * taps * depth..].as_ptr(),
                        apart: taps * depth * GROUP,
                        bias: of.bias[group * GROUP..].as_ptr(),
                        past: past.map(|past| past.numbers[start..].as_ptr()),
                        out: out.numbers[start..].as_mut_ptr(),
                        stride: out.stride,
                        rows: M.min(count - tile * M),
                        bounds: of.bounds,
                    };
                    // SAFETY: pointers are to `depth` numbers each; groups of weights, of the bias and of a pixel's channels are whole; rows end
                    // with the maps. The caller vouches for the instructions.
                    unsafe {
                        match group + abreast <= groups {
                            true => tile.multiply::<V, M, N>(),
                            false => tile.multiply::<V, M, 1>(),
                        }
                    }
                }
            }
        }
    }
}

/// Some places and channels of a result.
struct Tile<'a> {
    /// For each kernel element, the pixel that each place meets.
    pointers: &'a [*const f32],
    /// Numbers of a pixel.
    depth: usize,
    weights: *const f32,
    /// How far the weights of the next group of channels are.
    apart: usize,
    bias: *const f32,
    past: Option<*const f32>,
    out: *mut f32,
    stride: usize,
    /// Places that are stored.
    rows: usize,
    bounds: [f32; 2],
}

impl Tile<'_> {
    /// # Safety
    /// As the fields say, and the machine must have the instructions of `V`.
    #[inline(always)]
    unsafe fn multiply<V: Vector, const M: usize, const N: usize>(self) {
        let [low, high] = self.bounds;
        // SAFETY: see above; the offsets are within the groups.
        unsafe {
            let bias: [V; N] = std::array::from_fn(|n| V::load(self.bias.add(n * V::LANES)));
            let mut sums = [bias; M];
            let weights: [*const f32; N] = std::array::from_fn(|n| {
                let lane = n * V::LANES;
                self.weights.add(lane / GROUP * self.apart + lane % GROUP)
            });
            let mut at = 0;
            for pointers in self.pointers.chunks_exact(M) {
                let pointers: [*const f32; M] = std::array::from_fn(|m| pointers[m]);
                for c in 0..self.depth {
                    let weights: [V; N] = std::array::from_fn(|n| V::load(weights[n].add(at)));
                    at += GROUP;
                    for m in 0..M {
                        let number = V::splat(*pointers[m].add(c));
                        for n in 0..N {
                            sums[m][n] = number.times(weights[n], sums[m][n]);
                        }
                    }
                }
            }
            let (low, high) = (V::splat(low), V::splat(high));
            for (m, sums) in sums.into_iter().enumerate().take(self.rows) {
                for (n, sum) in sums.into_iter().enumerate() {
                    let place = m * self.stride + n * V::LANES;
                    let sum = match self.past {
                        Some(past) => sum.plus(V::load(past.add(place))),
                        None => sum,
                    };
                    sum.clamp(low, high).store(self.out.add(place));
                }
            }
        }
    }
}
