//! Where a kernel lies: which pixels each place of its output meets.

use super::maps::Maps;

/// What is around an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Border {
    /// Half a kernel of zeros on every side, as in PyTorch.
    Half,
    /// As many zeros as the output needs, an odd one after the image, as in TensorFlow.
    Same,
}

/// A square kernel, its step and what is around the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// Side of the kernel.
    pub kernel: usize,
    /// How far its places are apart.
    pub step: usize,
    /// What is around the image.
    pub border: Border,
}

impl Window {
    /// Number of kernel elements.
    pub fn taps(&self) -> usize {
        self.kernel * self.kernel
    }

    /// Height and width of the output for an input of this size.
    pub fn output(&self, size: [usize; 2]) -> [usize; 2] {
        size.map(|side| match self.border {
            Border::Half => (side + 2 * (self.kernel / 2)).saturating_sub(self.kernel) / self.step + 1,
            Border::Same => side.div_ceil(self.step),
        })
    }

    /// Zeros before the first pixel of a line.
    fn before(&self, side: usize, places: usize) -> usize {
        match self.border {
            Border::Half => self.kernel / 2,
            Border::Same => ((places.max(1) - 1) * self.step + self.kernel).saturating_sub(side) / 2,
        }
    }

    /// The image and the first pixel that place `at` of the output meets, counted over all images: row and column. Those beyond the border before
    /// the image wrap around, and are too large as well.
    #[inline(always)]
    pub fn corner(&self, x: &Maps, at: usize) -> [usize; 3] {
        let ([height, width], output) = (x.size, self.output(x.size));
        let (image, at) = (at / (output[0] * output[1]), at % (output[0] * output[1]));
        let top = (at / output[1] * self.step).wrapping_sub(self.before(height, output[0]));
        let left = (at % output[1] * self.step).wrapping_sub(self.before(width, output[1]));
        [image, top, left]
    }

    /// Where in the numbers of some maps the pixels begin that place `at` of the output meets, one for each kernel element; nothing where it is
    /// beyond the border.
    #[inline(always)]
    pub fn pixels<'a>(&self, x: &'a Maps, at: usize) -> impl Iterator<Item = Option<usize>> + use<'a> {
        let ([height, width], [image, top, left]) = (x.size, self.corner(x, at));
        let (kernel, stride) = (self.kernel, x.stride);
        (0..kernel * kernel).map(move |tap| {
            let (y, x) = (top.wrapping_add(tap / kernel), left.wrapping_add(tap % kernel));
            (y < height && x < width).then(|| ((image * height + y) * width + x) * stride)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_as_large_as_pytorch_and_tensorflow_make_them() {
        let window = |kernel, step, border| Window { kernel, step, border };
        let sides = |window: Window| [7, 8].map(|side| window.output([side, side])[0]);
        assert_eq!(sides(window(3, 2, Border::Half)), [4, 4]);
        assert_eq!(sides(window(3, 2, Border::Same)), [4, 4]);
        assert_eq!(sides(window(1, 2, Border::Half)), [4, 4]);
        assert_eq!(sides(window(5, 1, Border::Half)), [7, 8]);
        assert_eq!(sides(window(7, 2, Border::Half)), [4, 4]);
    }

    #[test]
    fn an_odd_zero_is_after_the_image_as_tensorflow_has_it() {
        let x = Maps::tight(1, [1, 4], 1, vec![0.0; 4]);
        let along = |border| -> Vec<_> {
            // The middle line of a 3×3 kernel.
            Window { kernel: 3, step: 2, border }.pixels(&x, 1).skip(3).take(3).collect()
        };
        assert_eq!(along(Border::Half), [Some(1), Some(2), Some(3)]);
        assert_eq!(along(Border::Same), [Some(2), Some(3), None]);
    }
}
