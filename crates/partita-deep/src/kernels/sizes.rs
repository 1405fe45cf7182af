//! Sizes of convolutions, and reordering numbers for their products.

use std::ops::Range;

/// Side of the square tiles of a transposition.
const TILE: usize = 16;

/// Sizes of a convolution without groups or dilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Channels of the input.
    pub from: usize,
    /// Channels of the output.
    pub to: usize,
    /// Height and width of the input.
    pub input: [usize; 2],
    /// Height and width of the output.
    pub output: [usize; 2],
    /// Height and width of the kernel.
    pub kernel: [usize; 2],
    /// Step size of the kernel.
    pub stride: [usize; 2],
    /// Zeros before and after the image.
    pub padding: [usize; 2],
}

impl Sizes {
    /// Count of numbers in an input image.
    pub fn input_len(&self) -> usize {
        self.from * self.pixels()
    }

    /// Count of numbers in an output image.
    pub fn output_len(&self) -> usize {
        self.to * self.places()
    }

    pub fn pixels(&self) -> usize {
        self.input[0] * self.input[1]
    }

    pub fn places(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Count of numbers in a patch of one channel.
    pub fn patch(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Count of numbers in a patch of all channels.
    pub fn depth(&self) -> usize {
        self.from * self.patch()
    }

    /// Places along an axis where kernel element `k` meets the image, and the pixel it meets at the first place.
    pub fn met(&self, axis: usize, k: usize) -> (Range<usize>, usize) {
        let (stride, padding) = (self.stride[axis], self.padding[axis]);
        let first = padding.saturating_sub(k).div_ceil(stride);
        let end = match (self.input[axis] + padding).checked_sub(k + 1) {
            Some(last) => (last / stride + 1).min(self.output[axis]),
            None => 0,
        };
        let first = first.min(end);
        (first..end, (first * stride + k).saturating_sub(padding))
    }
}

/// Transpose `[rows, columns]` to `[columns, rows]`; rows of `a` start `from` apart, rows of `out` `to` apart.
pub fn transpose(a: &[f32], from: usize, out: &mut [f32], to: usize, [rows, columns]: [usize; 2]) {
    // A tile passes through registers and the nearest cache, so memory is read and written in whole cache lines.
    let mut tile = [[0f32; TILE]; TILE];
    for r in (0..rows).step_by(TILE) {
        let high = TILE.min(rows - r);
        for c in (0..columns).step_by(TILE) {
            let wide = TILE.min(columns - c);
            for i in 0..high {
                let line = &a[(r + i) * from + c..][..wide];
                tile.iter_mut().zip(line).for_each(|(tile, &v)| tile[i] = v);
            }
            for (j, tile) in tile[..wide].iter().enumerate() {
                let line = &mut out[(c + j) * to + r..][..high];
                match <&mut [f32; TILE]>::try_from(&mut *line) {
                    Ok(line) => *line = *tile,
                    Err(_) => line.copy_from_slice(&tile[..high]),
                }
            }
        }
    }
}
