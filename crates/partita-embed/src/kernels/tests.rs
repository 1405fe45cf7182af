//! The operations, compared with their definitions.

use super::*;

fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37 + seed * 11) % 23) as f32 / 23.0 - 0.5).collect()
}

/// Maps with these channels at each pixel.
fn maps(n: usize, size: [usize; 2], channels: usize) -> Maps {
    let mut maps = Shelf::default().maps(n, size, channels);
    let values = numbers(maps.pixels() * channels, 1);
    for (at, pixel) in values.chunks_exact(channels).enumerate() {
        maps.numbers[at * maps.stride..][..channels].copy_from_slice(pixel);
    }
    maps
}

/// A number of an output by the definition: each channel from those of its group.
fn defined(
    x: &Maps,
    window: Window,
    weights: &[f32],
    inputs: std::ops::Range<usize>,
    o: usize,
    place: usize,
) -> f64 {
    let depth = inputs.len();
    let terms = window.pixels(x, place).enumerate().filter_map(|(tap, at)| Some((tap, at?)));
    terms
        .flat_map(|(tap, at)| {
            let term =
                move |(i, c): (usize, usize)| (x.numbers[at + c], (o * depth + i) * window.taps() + tap);
            inputs.clone().enumerate().map(term).collect::<Vec<_>>()
        })
        .map(|(v, w)| f64::from(v) * f64::from(weights[w]))
        .sum()
}

const FREE: [f32; 2] = [f32::NEG_INFINITY, f32::INFINITY];

#[test]
fn convolutions_are_the_definition() {
    // images, size, from, to, kernel, step, border
    let cases = [
        (3, [5, 6], 16, 32, 3, 1, Border::Half),
        (2, [7, 4], 24, 40, 1, 1, Border::Half),
        (1, [9, 8], 3, 16, 3, 2, Border::Same),
        (2, [11, 13], 3, 64, 7, 2, Border::Half),
        (5, [4, 4], 20, 17, 1, 2, Border::Half),
        (1, [1, 1], 512, 48, 3, 1, Border::Half),
        (2, [6, 5], 40, 80, 5, 2, Border::Same),
    ];
    for (n, size, from, to, kernel, step, border) in cases {
        let window = Window { kernel, step, border };
        let x = maps(n, size, from);
        let (weights, bias) = (numbers(to * from * window.taps(), 2), numbers(to, 3));
        let made = Convolution::new(window, [from, to], &weights, &bias, FREE);
        let y = made.apply(&x, None, &mut Shelf::default());
        assert_eq!((y.n, y.size, y.channels), (n, window.output(size), to));
        for place in 0..y.pixels() {
            for (o, found) in y.pixel(place).iter().enumerate() {
                let expected = f64::from(bias[o]) + defined(&x, window, &weights, 0..from, o, place);
                assert!((f64::from(*found) - expected).abs() < 1e-4, "{from} {kernel}: {found} {expected}");
            }
        }
    }
}

#[test]
fn what_follows_a_convolution_is_done_with_it() {
    let window = Window { kernel: 1, step: 1, border: Border::Half };
    let (x, past) = (maps(1, [3, 3], 16), maps(1, [3, 3], 16));
    let weights = numbers(256, 2);
    let alone = Convolution::new(window, [16, 16], &weights, &[0.25; 16], FREE);
    let clipped = Convolution::new(window, [16, 16], &weights, &[0.25; 16], [0.0, 0.5]);
    let mut shelf = Shelf::default();
    let (plain, clipped) = (alone.apply(&x, None, &mut shelf), clipped.apply(&x, Some(&past), &mut shelf));
    for ((found, plain), past) in clipped.numbers.iter().zip(&plain.numbers).zip(&past.numbers) {
        assert_eq!(*found, (plain + past).clamp(0.0, 0.5));
    }
}

#[test]
fn channels_on_their_own_are_the_definition() {
    for (size, channels, kernel, step, border) in [
        ([5, 6], 32, 3, 1, Border::Half),
        ([7, 7], 144, 3, 2, Border::Same),
        ([9, 4], 40, 5, 2, Border::Same),
        ([1, 2], 16, 5, 1, Border::Half),
    ] {
        let window = Window { kernel, step, border };
        let x = maps(2, size, channels);
        let (weights, bias) = (numbers(channels * window.taps(), 2), numbers(channels, 3));
        let y = Depthwise::new(window, channels, &weights, &bias, FREE).apply(&x, &mut Shelf::default());
        for place in 0..y.pixels() {
            for (c, found) in y.pixel(place).iter().enumerate() {
                let expected = f64::from(bias[c]) + defined(&x, window, &weights, c..c + 1, c, place);
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}

#[test]
fn an_image_has_the_same_bits_alone_and_among_others() {
    let window = Window { kernel: 3, step: 1, border: Border::Half };
    let made = Convolution::new(window, [32, 48], &numbers(48 * 32 * 9, 2), &[0.0; 48], FREE);
    let mut shelf = Shelf::default();
    let all = maps(5, [7, 7], 32);
    let together = made.apply(&all, None, &mut shelf);
    let one = all.numbers.len() / 5;
    for (image, together) in together.numbers.chunks_exact(49 * 48).enumerate() {
        let mut alone = shelf.maps(1, [7, 7], 32);
        alone.numbers.copy_from_slice(&all.numbers[image * one..][..one]);
        assert_eq!(made.apply(&alone, None, &mut shelf).numbers, together);
    }
}

#[test]
fn the_largest_and_the_mean_of_channels_are_found_without_the_border() {
    let mut x = maps(1, [4, 4], 16);
    x.numbers.iter_mut().for_each(|v| *v -= 2.0);
    let window = Window { kernel: 3, step: 2, border: Border::Half };
    let y = largest(window, &x, &mut Shelf::default());
    assert_eq!(y.size, [2, 2]);
    let expected = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(r, c)| x.pixel(4 * r + c)[5]);
    assert_eq!(
        y.pixel(0)[5],
        expected.into_iter().fold(f32::MIN, f32::max),
        "zeros around it would be larger"
    );
    let mut row = [0.0; 16];
    means(&x, &mut row);
    let sum: f32 = (0..16).map(|at| x.pixel(at)[5]).sum();
    assert!((row[5] - sum / 16.0).abs() < 1e-6);
}

#[test]
fn what_is_no_number_stays_none() {
    let window = Window { kernel: 1, step: 1, border: Border::Half };
    let mut x = maps(1, [1, 1], 16);
    x.numbers[3] = f32::NAN;
    let made = Convolution::new(window, [16, 16], &[1.0; 256], &[0.0; 16], [0.0, 6.0]);
    assert!(made.apply(&x, None, &mut Shelf::default()).numbers.iter().all(|v| v.is_nan()));
}
