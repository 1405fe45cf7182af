//! Convolutions of many channels: one product for every kernel element, and none with the zeros around the image.
//!
//! Images are taken in groups and written line by line, `[y, channel, x, image]`. The part of a line that a kernel
//! element covers is then a matrix `[channel, places · images]` that is already in memory: nothing is copied into
//! patches, and on small maps, where half of a patch is padding, that half is not computed. Work is split by lines
//! and by kernel elements, whatever the number of threads, so the bits do not depend on it.

use super::sizes::{Sizes, transpose};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Images per group.
const GROUP: usize = 64;
/// Approximate number of columns of a product: its sums stay in the cache from one kernel element to the next.
const COLUMNS: usize = 512;
/// Images that are written back together.
const IMAGES: usize = 16;
/// Lines that are written together, channel after channel, so that a page of memory is visited once for all of them.
const LINES: usize = 8;

/// Channels, height and width of maps.
#[derive(Clone, Copy)]
struct Maps([usize; 3]);

impl Maps {
    fn len(&self) -> usize {
        self.0.iter().product()
    }

    /// Count of numbers in one line of an image.
    fn line(&self) -> usize {
        self.0[0] * self.0[2]
    }

    /// Images to lines.
    fn lines(&self, images: &[f32]) -> Vec<f32> {
        let Self([channels, h, w]) = *self;
        let mut out = vec![0.0; images.len()];
        let group = GROUP * self.len();
        out.par_chunks_mut(group).zip(images.par_chunks(group)).for_each(|(out, images)| {
            let g = images.len() / self.len();
            let line = self.line() * g;
            out.par_chunks_mut(LINES * line).enumerate().for_each(|(block, out)| {
                for c in 0..channels {
                    for (i, out) in out.chunks_exact_mut(line).enumerate() {
                        let (y, out) = (block * LINES + i, &mut out[c * w * g..][..w * g]);
                        transpose(&images[(c * h + y) * w..], self.len(), out, g, [g, w]);
                    }
                }
            });
        });
        out
    }

    /// Lines to images.
    fn images(&self, lines: &[f32]) -> Vec<f32> {
        let Self([channels, h, w]) = *self;
        let mut out = vec![0.0; lines.len()];
        let group = GROUP * self.len();
        out.par_chunks_mut(group).zip(lines.par_chunks(group)).for_each(|(out, lines)| {
            let g = lines.len() / self.len();
            out.par_chunks_mut(IMAGES * self.len()).enumerate().for_each(|(block, out)| {
                let (first, count) = (block * IMAGES, out.len() / self.len());
                for ys in (0..h).step_by(LINES).map(|y| y..h.min(y + LINES)) {
                    for (c, y) in (0..channels).flat_map(|c| ys.clone().map(move |y| (c, y))) {
                        let line = &lines[(y * channels + c) * w * g + first..];
                        transpose(line, g, &mut out[(c * h + y) * w..], self.len(), [w, count]);
                    }
                }
            });
        });
        out
    }
}

impl Sizes {
    fn input_maps(&self) -> Maps {
        Maps([self.from, self.input[0], self.input[1]])
    }

    fn output_maps(&self) -> Maps {
        Maps([self.to, self.output[0], self.output[1]])
    }

    /// The line of the input that row `ky` of the kernel meets at line `oy` of the output.
    fn input_line(&self, oy: usize, ky: usize) -> Option<usize> {
        (oy * self.stride[0] + ky).checked_sub(self.padding[0]).filter(|&y| y < self.input[0])
    }

    /// The line of the output at which row `ky` of the kernel meets line `iy` of the input.
    fn output_line(&self, iy: usize, ky: usize) -> Option<usize> {
        let at = (iy + self.padding[0]).checked_sub(ky)?;
        (at % self.stride[0] == 0).then_some(at / self.stride[0]).filter(|&y| y < self.output[0])
    }

    /// Runs of output places and of the pixels that kernel column `kx` meets there: first place, first pixel, length.
    fn spans(&self, kx: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let (places, pixel) = self.met(1, kx);
        let stride = self.stride[1];
        let (count, length) = if stride == 1 { (1, places.len()) } else { (places.len(), 1) };
        let count = if places.is_empty() { 0 } else { count };
        (0..count).map(move |i| (places.start + i, pixel + i * stride, length))
    }
}

/// Weights `[to, from, kernel]` as `[to, kernel, from]`.
fn elements(weight: &[f32], sizes: &Sizes) -> Vec<f32> {
    let (from, patch) = (sizes.from, sizes.patch());
    let mut out = vec![0.0; weight.len()];
    out.par_chunks_mut(patch * from).zip(weight.par_chunks(patch * from)).for_each(|(out, weight)| {
        transpose(weight, patch, out, from, [from, patch]);
    });
    out
}

/// Parts of a line whose products have about [`COLUMNS`] columns.
fn parts(width: usize, g: usize) -> impl Iterator<Item = Range<usize>> {
    let step = (COLUMNS / g).max(1);
    (0..width).step_by(step).map(move |start| start..width.min(start + step))
}

/// The overlap of `start..start + length` with a part: how far in it begins, and its length.
fn shared(start: usize, length: usize, part: &Range<usize>) -> Option<(usize, usize)> {
    let (first, end) = (start.max(part.start), (start + length).min(part.end));
    (first < end).then(|| (first - start, end - first))
}

/// The convolution of images `x` with `weight`, and the lines of the images.
pub fn forward(x: &[f32], weight: &[f32], sizes: &Sizes) -> (Vec<f32>, Vec<f32>) {
    let (input, output) = (sizes.input_maps(), sizes.output_maps());
    let (lines, weight) = (input.lines(x), elements(weight, sizes));
    let mut out = vec![0.0; x.len() / input.len() * output.len()];
    out.par_chunks_mut(GROUP * output.len()).zip(lines.par_chunks(GROUP * input.len())).for_each(
        |(out, lines)| {
            let g = lines.len() / input.len();
            out.par_chunks_mut(output.line() * g).enumerate().for_each(|(oy, out)| {
                let line =
                    |iy: usize| matrix(&lines[iy * input.line() * g..][..input.line() * g], sizes.from);
                for part in parts(sizes.output[1], g) {
                    for (ky, iy) in
                        (0..sizes.kernel[0]).filter_map(|ky| Some((ky, sizes.input_line(oy, ky)?)))
                    {
                        for kx in 0..sizes.kernel[1] {
                            let weight = element(&weight, sizes, ky, kx);
                            for (place, pixel, length) in sizes.spans(kx) {
                                let Some((skip, length)) = shared(place, length, &part) else { continue };
                                add(
                                    columns_mut(out, sizes.to, (place + skip) * g, length * g),
                                    weight,
                                    line(iy).subcols((pixel + skip) * g, length * g),
                                );
                            }
                        }
                    }
                }
            });
        },
    );
    (output.images(&out), lines)
}

/// Gradients with respect to the images and the weights, each if wanted, from the gradient with respect to the output
/// and the lines of the images.
pub fn gradients(
    lines: &[f32],
    weight: &[f32],
    d: &[f32],
    sizes: &Sizes,
    wanted: [bool; 2],
) -> [Option<Vec<f32>>; 2] {
    let d = sizes.output_maps().lines(d);
    [wanted[0].then(|| by_input(weight, &d, sizes)), wanted[1].then(|| by_weight(lines, &d, sizes))]
}

fn by_input(weight: &[f32], d: &[f32], sizes: &Sizes) -> Vec<f32> {
    let (input, output) = (sizes.input_maps(), sizes.output_maps());
    let weight = elements(weight, sizes);
    let mut out = vec![0.0; d.len() / output.len() * input.len()];
    out.par_chunks_mut(GROUP * input.len()).zip(d.par_chunks(GROUP * output.len())).for_each(|(out, d)| {
        let g = d.len() / output.len();
        out.par_chunks_mut(input.line() * g).enumerate().for_each(|(iy, out)| {
            let line = |oy: usize| matrix(&d[oy * output.line() * g..][..output.line() * g], sizes.to);
            for part in parts(sizes.input[1], g) {
                for (ky, oy) in (0..sizes.kernel[0]).filter_map(|ky| Some((ky, sizes.output_line(iy, ky)?))) {
                    for kx in 0..sizes.kernel[1] {
                        let weight = element(&weight, sizes, ky, kx);
                        for (place, pixel, length) in sizes.spans(kx) {
                            let Some((skip, length)) = shared(pixel, length, &part) else { continue };
                            add(
                                columns_mut(out, sizes.from, (pixel + skip) * g, length * g),
                                weight.transpose(),
                                line(oy).subcols((place + skip) * g, length * g),
                            );
                        }
                    }
                }
            }
        });
    });
    input.images(&out)
}

/// The gradient with respect to the weights, from images and gradients that are already lines.
fn by_weight(x: &[f32], d: &[f32], sizes: &Sizes) -> Vec<f32> {
    let (input, output) = (sizes.input_maps(), sizes.output_maps());
    let element = sizes.to * sizes.from;
    let mut elements = vec![0.0; element * sizes.patch()];
    // Every kernel element has its own weights, so nothing is summed over threads.
    elements.par_chunks_mut(element).enumerate().for_each(|(k, out)| {
        let (ky, kx) = (k / sizes.kernel[1], k % sizes.kernel[1]);
        for (x, d) in x.chunks(GROUP * input.len()).zip(d.chunks(GROUP * output.len())) {
            let g = x.len() / input.len();
            let (lines, rows) = (input.line() * g, output.line() * g);
            for (oy, iy) in (0..sizes.output[0]).filter_map(|oy| Some((oy, sizes.input_line(oy, ky)?))) {
                let (x, d) = (
                    matrix(&x[iy * lines..][..lines], sizes.from),
                    matrix(&d[oy * rows..][..rows], sizes.to),
                );
                for (place, pixel, length) in sizes.spans(kx) {
                    add(
                        MatMut::from_row_major_slice_mut(out, sizes.to, sizes.from),
                        d.subcols(place * g, length * g),
                        x.subcols(pixel * g, length * g).transpose(),
                    );
                }
            }
        }
    });
    let mut out = vec![0.0; elements.len()];
    out.par_chunks_mut(sizes.from * sizes.patch()).enumerate().for_each(|(o, out)| {
        transpose(&elements[o * sizes.from..], element, out, sizes.patch(), [sizes.patch(), sizes.from]);
    });
    out
}

fn matrix(line: &[f32], channels: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(line, channels, line.len() / channels)
}

fn columns_mut(line: &mut [f32], channels: usize, start: usize, count: usize) -> MatMut<'_, f32> {
    let columns = line.len() / channels;
    MatMut::from_row_major_slice_mut(line, channels, columns).subcols_mut(start, count)
}

/// The weights `[to, from]` of a kernel element.
fn element<'a>(elements: &'a [f32], sizes: &Sizes, ky: usize, kx: usize) -> MatRef<'a, f32> {
    let k = ky * sizes.kernel[1] + kx;
    MatRef::from_row_major_slice(elements, sizes.to, sizes.depth()).subcols(k * sizes.from, sizes.from)
}

fn add(out: MatMut<'_, f32>, a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    matmul(out, Accum::Add, a, b, 1.0, Par::Seq);
}
