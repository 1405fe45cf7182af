//! Convolutions as matrix products.
//!
//! Images are taken in groups, and within a group the number of the image is the innermost index: `[channel, y, x,
//! image]`. The patches of a kernel element are then long runs of memory even where maps are three pixels wide, and the
//! products are wide where they would be narrow for a single image. A product takes a block of channels at a time, so
//! that their patches stay in the cache. Groups and blocks do not depend on the number of threads, so neither do the bits.

use super::sizes::{Sizes, transpose};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Minimum number of output places per product, if there are enough images.
const PLACES: usize = 512;
/// Approximate number of rows of patches (channels times kernel elements) per product.
const ROWS: usize = 384;

impl Sizes {
    /// Images per group.
    fn group(&self) -> usize {
        PLACES.div_ceil(self.places()).max(1)
    }

    /// Channels per block.
    fn block(&self) -> usize {
        (ROWS / self.patch()).clamp(1, self.from)
    }

    fn blocks(&self) -> impl Iterator<Item = Range<usize>> {
        let (from, block) = (self.from, self.block());
        (0..from).step_by(block).map(move |c| c..from.min(c + block))
    }

    /// The runs that row `[channel, ky, kx]` of the patches shares with a channel's pixels, for groups of `g` images:
    /// where a run starts in the row, where it starts in the channel, and its length.
    fn runs(&self, [ky, kx]: [usize; 2], g: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let (ys, y) = self.met(0, ky);
        let (xs, x) = self.met(1, kx);
        let (stride, width, wide) = (self.stride, self.input[1], self.output[1]);
        // A run is a whole line of places for stride 1, and a single place for other strides.
        let (pieces, length) = if stride[1] == 1 { (1, xs.len()) } else { (xs.len(), 1) };
        let pieces = if xs.is_empty() { 0 } else { pieces };
        ys.enumerate().flat_map(move |(i, oy)| {
            let (row, line) = (oy * wide + xs.start, (y + i * stride[0]) * width + x);
            (0..pieces).map(move |p| ((row + p) * g, (line + p * stride[1]) * g, length * g))
        })
    }
}

/// Patches `[channels, kernel, place, image]` of channels `[channels, y, x, image]`.
fn unroll(x: &[f32], sizes: &Sizes, g: usize, patches: &mut [f32]) {
    let (pixels, row) = (sizes.pixels() * g, sizes.places() * g);
    if sizes.padding != [0, 0] {
        patches.fill(0.0);
    }
    for (channel, patches) in x.chunks_exact(pixels).zip(patches.chunks_exact_mut(sizes.patch() * row)) {
        for (k, patches) in patches.chunks_exact_mut(row).enumerate() {
            for (at, from, length) in sizes.runs([k / sizes.kernel[1], k % sizes.kernel[1]], g) {
                patches[at..at + length].copy_from_slice(&channel[from..from + length]);
            }
        }
    }
}

/// Add patches to the pixels they were taken from.
fn roll(patches: &[f32], sizes: &Sizes, g: usize, x: &mut [f32]) {
    let (pixels, row) = (sizes.pixels() * g, sizes.places() * g);
    for (channel, patches) in x.chunks_exact_mut(pixels).zip(patches.chunks_exact(sizes.patch() * row)) {
        for (k, patches) in patches.chunks_exact(row).enumerate() {
            for (at, from, length) in sizes.runs([k / sizes.kernel[1], k % sizes.kernel[1]], g) {
                let pixels = &mut channel[from..from + length];
                pixels.iter_mut().zip(&patches[at..at + length]).for_each(|(x, p)| *x += p);
            }
        }
    }
}

/// The convolution of images `x` `[n, from, h, w]` with `weight` `[to, from, kh, kw]`.
pub fn forward(x: &[f32], weight: &[f32], sizes: &Sizes) -> Vec<f32> {
    let mut out = vec![0.0; x.len() / sizes.input_len() * sizes.output_len()];
    let group = sizes.group();
    out.par_chunks_mut(group * sizes.output_len())
        .zip(x.par_chunks(group * sizes.input_len()))
        .for_each_init(Scratch::default, |scratch, (out, x)| {
            let g = x.len() / sizes.input_len();
            let columns = sizes.places() * g;
            let Scratch { images, patches, result } = scratch;
            images.resize(x.len(), 0.0);
            transpose(x, sizes.input_len(), images, g, [g, sizes.input_len()]);
            result.resize(out.len(), 0.0);
            for channels in sizes.blocks() {
                let rows = channels.len() * sizes.patch();
                patches.resize(rows * columns, 0.0);
                let pixels = sizes.pixels() * g;
                unroll(&images[channels.start * pixels..channels.end * pixels], sizes, g, patches);
                matmul(
                    MatMut::from_row_major_slice_mut(result, sizes.to, columns),
                    if channels.start == 0 { Accum::Replace } else { Accum::Add },
                    weight_block(weight, sizes, &channels),
                    MatRef::from_row_major_slice(patches, rows, columns),
                    1.0,
                    Par::Seq,
                );
            }
            transpose(result, g, out, sizes.output_len(), [sizes.output_len(), g]);
        });
    out
}

/// Gradient with respect to the images, from the gradient with respect to the output.
pub fn by_input(weight: &[f32], by_output: &[f32], sizes: &Sizes) -> Vec<f32> {
    let mut out = vec![0.0; by_output.len() / sizes.output_len() * sizes.input_len()];
    let group = sizes.group();
    out.par_chunks_mut(group * sizes.input_len())
        .zip(by_output.par_chunks(group * sizes.output_len()))
        .for_each_init(Scratch::default, |scratch, (out, d)| {
            let g = d.len() / sizes.output_len();
            let columns = sizes.places() * g;
            let Scratch { images, patches, result } = scratch;
            result.resize(d.len(), 0.0);
            transpose(d, sizes.output_len(), result, g, [g, sizes.output_len()]);
            images.clear();
            images.resize(out.len(), 0.0);
            for channels in sizes.blocks() {
                let rows = channels.len() * sizes.patch();
                patches.resize(rows * columns, 0.0);
                matmul(
                    MatMut::from_row_major_slice_mut(patches, rows, columns),
                    Accum::Replace,
                    weight_block(weight, sizes, &channels).transpose(),
                    MatRef::from_row_major_slice(result, sizes.to, columns),
                    1.0,
                    Par::Seq,
                );
                let pixels = sizes.pixels() * g;
                roll(patches, sizes, g, &mut images[channels.start * pixels..channels.end * pixels]);
            }
            transpose(images, g, out, sizes.input_len(), [sizes.input_len(), g]);
        });
    out
}

/// Gradient with respect to the weights, from the gradient with respect to the output.
pub fn by_weight(x: &[f32], by_output: &[f32], sizes: &Sizes) -> Vec<f32> {
    let (group, depth) = (sizes.group(), sizes.depth());
    let mut d = vec![0.0; by_output.len()];
    d.par_chunks_mut(group * sizes.output_len())
        .zip(by_output.par_chunks(group * sizes.output_len()))
        .for_each(|(to, from)| {
            let g = from.len() / sizes.output_len();
            transpose(from, sizes.output_len(), to, g, [g, sizes.output_len()]);
        });
    // Every block of channels has its own weights, so nothing is summed over threads.
    let mut transposed = vec![0.0; depth * sizes.to];
    transposed.par_chunks_mut(sizes.block() * sizes.patch() * sizes.to).enumerate().for_each_init(
        Scratch::default,
        |scratch, (b, out)| {
            let rows = out.len() / sizes.to;
            let skip = b * sizes.block() * sizes.pixels();
            let numbers = rows / sizes.patch() * sizes.pixels();
            let Scratch { images, patches, .. } = scratch;
            let groups = x.chunks(group * sizes.input_len()).zip(d.chunks(group * sizes.output_len()));
            for (x, d) in groups {
                let g = x.len() / sizes.input_len();
                let columns = sizes.places() * g;
                images.resize(numbers * g, 0.0);
                transpose(&x[skip..], sizes.input_len(), images, g, [g, numbers]);
                patches.resize(rows * columns, 0.0);
                unroll(images, sizes, g, patches);
                matmul(
                    MatMut::from_row_major_slice_mut(out, rows, sizes.to),
                    Accum::Add,
                    MatRef::from_row_major_slice(patches, rows, columns),
                    MatRef::from_row_major_slice(d, sizes.to, columns).transpose(),
                    1.0,
                    Par::Seq,
                );
            }
        },
    );
    let mut out = vec![0.0; transposed.len()];
    transpose(&transposed, sizes.to, &mut out, depth, [depth, sizes.to]);
    out
}

/// Weights of some channels `[to, channels · kernel]`.
fn weight_block<'a>(weight: &'a [f32], sizes: &Sizes, channels: &Range<usize>) -> MatRef<'a, f32> {
    let patch = sizes.patch();
    MatRef::from_row_major_slice(weight, sizes.to, sizes.depth())
        .subcols(channels.start * patch, channels.len() * patch)
}

/// Memory that a thread keeps between groups.
#[derive(Default)]
struct Scratch {
    images: Vec<f32>,
    patches: Vec<f32>,
    result: Vec<f32>,
}
