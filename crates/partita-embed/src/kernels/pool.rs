//! Maxima and means of pixels.

use super::maps::{Maps, Shelf};
use super::place::Window;

/// The largest number of each channel under each place.
pub(crate) fn largest(window: Window, x: &Maps, shelf: &mut Shelf) -> Maps {
    let mut out = shelf.maps(x.n, window.output(x.size), x.channels);
    let stride = out.stride;
    for (place, out) in out.numbers.chunks_exact_mut(stride).enumerate() {
        out.fill(f32::NEG_INFINITY);
        for at in window.pixels(x, place).flatten() {
            let pixel = &x.numbers[at..at + stride];
            // What is no number wins, so that it is noticed at the end.
            out.iter_mut().zip(pixel).for_each(|(out, &v)| *out = if *out >= v { *out } else { v });
        }
    }
    out
}

/// The mean of each channel of each image, into rows of as many numbers as there are channels.
pub(crate) fn means(x: &Maps, out: &mut [f32]) {
    let pixels = x.size[0] * x.size[1];
    for (image, out) in x.numbers.chunks_exact(pixels * x.stride).zip(out.chunks_exact_mut(x.channels)) {
        out.fill(0.0);
        for pixel in image.chunks_exact(x.stride) {
            out.iter_mut().zip(pixel).for_each(|(sum, v)| *sum += v);
        }
        out.iter_mut().for_each(|sum| *sum /= pixels as f32);
    }
}
