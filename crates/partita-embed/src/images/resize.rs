//! Resizing images exactly as Pillow does with its bicubic filter: the features that people compare with were made this
//! way, and other filters change what a network gives.

use super::Image;
use rayon::prelude::*;
use std::ops::Range;

/// Fractional bits of a filter's weights.
const BITS: u32 = 22;

/// The weights of one output pixel: the first input pixel, and a weight for each pixel from there on.
struct Taps {
    first: usize,
    weights: Vec<i32>,
}

/// Keys' cubic with a = −1/2.
fn cubic(x: f64) -> f64 {
    let x = x.abs();
    match x {
        _ if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
        _ if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        _ => 0.0,
    }
}

/// The taps of some of the `to` output pixels. Shrinking takes a wider filter, so that no pixel is skipped.
fn taps(from: usize, to: usize, wanted: Range<usize>) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let widen = scale.max(1.0);
    let tap = |i: usize| {
        let centre = (i as f64 + 0.5) * scale;
        let first = (centre - 2.0 * widen + 0.5).max(0.0) as usize;
        let end = ((centre + 2.0 * widen + 0.5) as usize).min(from);
        let weights: Vec<f64> = (first..end).map(|j| cubic((j as f64 + 0.5 - centre) / widen)).collect();
        let sum: f64 = weights.iter().sum();
        let fixed = |w: f64| (w / sum * f64::from(1u32 << BITS)).round() as i32;
        Taps { first, weights: weights.into_iter().map(fixed).collect() }
    };
    wanted.map(tap).collect()
}

fn weighted(taps: &Taps, pixel: impl Fn(usize) -> u8) -> u8 {
    let half = 1i64 << (BITS - 1);
    let terms = taps.weights.iter().enumerate();
    let sum: i64 = terms.map(|(j, w)| i64::from(*w) * i64::from(pixel(taps.first + j))).sum();
    ((sum + half) >> BITS).clamp(0, 255) as u8
}

impl Image {
    /// The image at another size.
    pub fn resized(&self, height: usize, width: usize) -> Self {
        self.part([height, width], [0..height, 0..width])
    }

    /// Some rows and columns of the image at another size. Only these are computed: a long and thin picture would be
    /// enormous at the size at which its shorter side is long enough.
    fn part(&self, [height, width]: [usize; 2], [rows, columns]: [Range<usize>; 2]) -> Self {
        let shape = [rows.len(), columns.len()];
        if [height, width] == [self.height, self.width] && shape == [height, width] {
            return self.clone();
        }
        let (across, down) = (taps(self.width, width, columns), taps(self.height, height, rows));
        let first = down.first().map_or(0, |t| t.first);
        let end = down.last().map_or(0, |t| t.first + t.weights.len());
        let planes = self.pixels.par_chunks_exact(self.height * self.width).flat_map_iter(|plane| {
            let rows = plane.chunks_exact(self.width).take(end).skip(first);
            let narrowed: Vec<u8> =
                rows.flat_map(|row| across.iter().map(move |t| weighted(t, |j| row[j]))).collect();
            let pixel = |y: usize, x: usize| narrowed[(y - first) * shape[1] + x];
            let rows =
                down.iter().map(|t| (0..shape[1]).map(|x| weighted(t, |y| pixel(y, x))).collect::<Vec<u8>>());
            rows.flatten().collect::<Vec<u8>>()
        });
        Self { channels: self.channels, height: shape[0], width: shape[1], pixels: planes.collect() }
    }

    /// Resize the image so that its shorter side is `size`, and take the square in the middle.
    pub fn square(&self, size: usize) -> Self {
        let short = self.height.min(self.width).max(1);
        let long = |side: usize| (side * size / short).max(size);
        let shape = [long(self.height), long(self.width)];
        // If the middle lies between two pixels, torchvision begins at the even one.
        let start = |left: usize| left / 2 + usize::from(left % 4 == 3);
        let middle = shape.map(|side| start(side - size)).map(|start| start..start + size);
        self.part(shape, middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp() -> Image {
        let pixels = (0..12u32).map(|i| ((i * i * 37 + i * 11) % 256) as u8).collect();
        Image { channels: 1, height: 3, width: 4, pixels }
    }

    /// Made with Pillow 12: `Image.fromarray(a).resize((6, 5), Image.Resampling.BICUBIC)`, `a` as in `ramp`.
    #[test]
    fn resizing_is_pillows() {
        let golden = include!("../../tests/golden/resize.in");
        assert_eq!(ramp().resized(5, 6).pixels, golden.0);
        assert_eq!(ramp().resized(2, 2).pixels, golden.1);
    }

    #[test]
    fn a_square_is_the_middle() {
        let wide = Image { channels: 1, height: 2, width: 6, pixels: (0..12).collect() };
        assert_eq!(wide.square(2).pixels, [2, 3, 8, 9]);
        let large = ramp().resized(7, 9).pixels;
        let middle: Vec<u8> = large.chunks_exact(9).flat_map(|row| &row[1..8]).copied().collect();
        assert_eq!(ramp().square(7).pixels, middle);
        // Like torchvision's `center_crop`, which begins at the even one of two middle pixels.
        let start = |width: usize| {
            let wide = Image { channels: 1, height: 1, width, pixels: (0..width as u8).collect() };
            wide.square(1).pixels[0]
        };
        assert_eq!([2, 3, 4, 5, 6, 7, 8].map(start), [0, 1, 2, 2, 2, 3, 4]);
    }

    #[test]
    fn a_long_and_thin_picture_takes_no_more_than_its_square() {
        for (height, width) in [(1, 5_000_000), (5_000_000, 1)] {
            let thin = Image { channels: 1, height, width, pixels: vec![7; 5_000_000] };
            assert_eq!(thin.square(512).pixels, [7; 512 * 512]);
        }
    }
}
