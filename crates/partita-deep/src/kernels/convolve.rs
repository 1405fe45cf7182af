//! Convolutions, each with the method that suits its sizes.

use super::sizes::Sizes;
use super::{lines, patches};

/// From this number of input channels on, a separate product for every kernel element is worth it.
const DEEP: usize = 16;

fn by_lines(sizes: &Sizes) -> bool {
    sizes.from >= DEEP
}

/// The convolution of images `x` `[n, from, h, w]` with `weight` `[to, from, kh, kw]`, and the reordered images if
/// [`gradients`] needs those instead of `x`.
pub fn forward(x: &[f32], weight: &[f32], sizes: &Sizes) -> (Vec<f32>, Option<Vec<f32>>) {
    if by_lines(sizes) {
        let (out, lines) = lines::forward(x, weight, sizes);
        return (out, Some(lines));
    }
    (patches::forward(x, weight, sizes), None)
}

/// Gradients with respect to the images and the weights, each if wanted, from the gradient with respect to the output.
pub fn gradients(
    x: &[f32],
    weight: &[f32],
    d: &[f32],
    sizes: &Sizes,
    wanted: [bool; 2],
) -> [Option<Vec<f32>>; 2] {
    if by_lines(sizes) {
        return lines::gradients(x, weight, d, sizes, wanted);
    }
    let [by_input, by_weight] = wanted;
    [
        by_input.then(|| patches::by_input(weight, d, sizes)),
        by_weight.then(|| patches::by_weight(x, d, sizes)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visit all terms of the definition: image, output channel and place, input channel and pixel, kernel element.
    fn visit(n: usize, s: &Sizes, mut each: impl FnMut(usize, usize, usize)) {
        for image in 0..n {
            for (o, c) in (0..s.to).flat_map(|o| (0..s.from).map(move |c| (o, c))) {
                for (oy, ox) in (0..s.output[0]).flat_map(|y| (0..s.output[1]).map(move |x| (y, x))) {
                    for (ky, kx) in (0..s.kernel[0]).flat_map(|y| (0..s.kernel[1]).map(move |x| (y, x))) {
                        let (y, x) = (oy * s.stride[0] + ky, ox * s.stride[1] + kx);
                        let inside = y >= s.padding[0]
                            && x >= s.padding[1]
                            && y - s.padding[0] < s.input[0]
                            && x - s.padding[1] < s.input[1];
                        if inside {
                            each(
                                ((image * s.from + c) * s.input[0] + y - s.padding[0]) * s.input[1] + x
                                    - s.padding[1],
                                ((o * s.from + c) * s.kernel[0] + ky) * s.kernel[1] + kx,
                                ((image * s.to + o) * s.output[0] + oy) * s.output[1] + ox,
                            );
                        }
                    }
                }
            }
        }
    }

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 + seed * 11) % 23) as f32 / 23.0 - 0.5).collect()
    }

    fn close(found: &[f32], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!((f64::from(*a) - b).abs() < 1e-4 * (1.0 + b.abs()), "{i}: {a} {b}");
        }
    }

    /// Compared with the plain definition, and its two gradients, for a few shapes with every kind of border.
    #[test]
    fn products_are_the_definition() {
        let cases = [
            // images, from, to, input, kernel, stride, padding
            (3, 2, 4, [5, 6], [3, 3], [1, 1], [1, 1]),
            (70, 3, 5, [3, 3], [5, 5], [1, 1], [2, 2]),
            (2, 40, 3, [7, 4], [5, 5], [1, 1], [2, 2]),
            (5, 4, 6, [9, 8], [3, 3], [2, 2], [1, 1]),
            (4, 3, 2, [11, 11], [7, 7], [2, 2], [3, 3]),
            (6, 5, 7, [4, 4], [1, 1], [2, 2], [0, 0]),
            (2, 2, 2, [1, 1], [5, 5], [1, 1], [2, 2]),
            (1, 1, 1, [24, 24], [5, 5], [1, 1], [0, 0]),
        ];
        for (n, from, to, input, kernel, stride, padding) in cases {
            let places = |a: usize| (input[a] + 2 * padding[a] - kernel[a]) / stride[a] + 1;
            let s = Sizes { from, to, input, output: [places(0), places(1)], kernel, stride, padding };
            let (x, w) = (numbers(n * s.input_len(), 1), numbers(to * s.depth(), 2));
            let d = numbers(n * s.output_len(), 3);
            let (mut y, mut dx, mut dw) = (vec![0.0; d.len()], vec![0.0; x.len()], vec![0.0; w.len()]);
            visit(n, &s, |i, k, o| {
                y[o] += f64::from(x[i]) * f64::from(w[k]);
                dx[i] += f64::from(d[o]) * f64::from(w[k]);
                dw[k] += f64::from(d[o]) * f64::from(x[i]);
            });
            close(&patches::forward(&x, &w, &s), &y);
            close(&patches::by_input(&w, &d, &s), &dx);
            close(&patches::by_weight(&x, &d, &s), &dw);
            let (out, ordered) = lines::forward(&x, &w, &s);
            close(&out, &y);
            let [by_input, by_weight] = lines::gradients(&ordered, &w, &d, &s, [true; 2]);
            close(&by_input.unwrap(), &dx);
            close(&by_weight.unwrap(), &dw);
        }
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        for from in [3, 64] {
            let size = [6, 6];
            let s = Sizes {
                from,
                to: 16,
                input: size,
                output: size,
                kernel: [5, 5],
                stride: [1, 1],
                padding: [2, 2],
            };
            let (x, w) = (numbers(150 * s.input_len(), 1), numbers(16 * s.depth(), 2));
            let d = numbers(150 * s.output_len(), 3);
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let (out, ordered) = forward(&x, &w, &s);
                    let gradients = gradients(ordered.as_ref().unwrap_or(&x), &w, &d, &s, [true; 2]);
                    (out, gradients)
                })
            };
            assert_eq!(on(1), on(3));
        }
    }
}
