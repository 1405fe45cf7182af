//! Batch normalisation of maps, with max(·, 0) in the same pass.
//!
//! A channel belongs to one thread, and its sums run over the images in order, so the bits do not depend on threads.

use rayon::prelude::*;

/// Images `[n, channels, places]`, read by channel.
#[derive(Clone, Copy)]
pub struct Maps {
    /// Number of channels.
    pub channels: usize,
    /// Pixels per map.
    pub places: usize,
}

/// What turns a channel into its normalised values: x ↦ (x − mean)·scale·γ + β.
#[derive(Clone, Copy)]
pub struct Channel {
    /// The mean of the channel.
    pub mean: f32,
    /// 1/√(variance + ε).
    pub scale: f32,
    /// γ.
    pub gamma: f32,
    /// β.
    pub beta: f32,
}

impl Channel {
    fn of(self, x: f32) -> f32 {
        (x - self.mean) * self.scale * self.gamma + self.beta
    }
}

/// Numbers that are summed side by side.
const LANES: usize = 16;
/// Numbers per lane that are summed in single precision before they are added to a sum in double precision.
const RUN: usize = 64;

/// Two sums over the places of two maps, Σ f(x, y).
fn sums(x: &[f32], y: &[f32], f: impl Fn(f32, f32) -> [f32; 2]) -> [f64; 2] {
    let mut total = [0f64; 2];
    for (x, y) in x.chunks(RUN * LANES).zip(y.chunks(RUN * LANES)) {
        let mut lanes = [[0f32; LANES]; 2];
        let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
        let rest = xs.remainder().iter().zip(ys.remainder());
        for (lane, (x, y)) in rest.enumerate() {
            let [a, b] = f(*x, *y);
            lanes[0][lane] = a;
            lanes[1][lane] = b;
        }
        for (x, y) in xs.zip(ys) {
            for lane in 0..LANES {
                let [a, b] = f(x[lane], y[lane]);
                lanes[0][lane] += a;
                lanes[1][lane] += b;
            }
        }
        total.iter_mut().zip(lanes).for_each(|(t, lanes)| *t += f64::from(lanes.iter().sum::<f32>()));
    }
    total
}

fn plus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

impl Maps {
    /// The maps of a channel, image after image.
    fn channel<'a>(&self, x: &'a [f32], c: usize) -> impl Iterator<Item = &'a [f32]> {
        let Self { channels, places } = *self;
        x.chunks_exact(channels * places).map(move |image| &image[c * places..][..places])
    }

    /// Mean and variance of every channel.
    pub fn moments(&self, x: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let count = (x.len() / self.channels) as f64;
        let moments = |c: usize| {
            // Squares are taken around one value of the channel, so that no precision is lost far from zero.
            let pivot = x[c * self.places];
            let of_map = |map| sums(map, map, |x, _| [x - pivot, (x - pivot) * (x - pivot)]);
            let [first, second] = self.channel(x, c).map(of_map).fold([0.0; 2], plus);
            let mean = first / count;
            ((f64::from(pivot) + mean) as f32, (second / count - mean * mean).max(0.0) as f32)
        };
        (0..self.channels).into_par_iter().map(moments).unzip()
    }

    /// Normalised images; with `relu`, negative values become 0.
    pub fn normalise(&self, x: &[f32], of: &[Channel], relu: bool) -> Vec<f32> {
        let floor = if relu { 0.0 } else { f32::NEG_INFINITY };
        let mut out = vec![0.0; x.len()];
        let image = self.channels * self.places;
        out.par_chunks_mut(image).zip(x.par_chunks(image)).for_each(|(out, x)| {
            let maps = out.chunks_exact_mut(self.places).zip(x.chunks_exact(self.places));
            for ((out, x), channel) in maps.zip(of) {
                // Not `max`, which would turn NaN into a number and hide that training failed.
                let bounded = |v: f32| if v < floor { floor } else { v };
                out.iter_mut().zip(x).for_each(|(o, x)| *o = bounded(channel.of(*x)));
            }
        });
        out
    }

    /// Gradients with respect to the images, γ and β, from the gradient of the output. The moments must be `x`'s own.
    pub fn gradients(&self, x: &[f32], of: &[Channel], relu: bool, d: &[f32]) -> [Vec<f32>; 3] {
        let count = (x.len() / self.channels) as f64;
        let floor = if relu { 0.0 } else { f32::NEG_INFINITY };
        let parameters = |c: usize| {
            let channel = of[c];
            let of_place = |x: f32, d: f32| {
                let d = if channel.of(x) > floor { d } else { 0.0 };
                [(x - channel.mean) * channel.scale * d, d]
            };
            let maps = self.channel(x, c).zip(self.channel(d, c));
            let [by_gamma, by_beta] = maps.map(|(x, d)| sums(x, d, of_place)).fold([0.0; 2], plus);
            (by_gamma as f32, by_beta as f32)
        };
        let (by_gamma, by_beta): (Vec<f32>, Vec<f32>) =
            (0..self.channels).into_par_iter().map(parameters).unzip();
        let mut out = vec![0.0; x.len()];
        let image = self.channels * self.places;
        (out.par_chunks_mut(image), x.par_chunks(image), d.par_chunks(image)).into_par_iter().for_each(
            |(out, x, d)| {
                let maps = out
                    .chunks_exact_mut(self.places)
                    .zip(x.chunks_exact(self.places))
                    .zip(d.chunks_exact(self.places));
                for (c, ((out, x), d)) in maps.enumerate() {
                    let channel = of[c];
                    let factor = channel.scale * channel.gamma;
                    let (mean, along) =
                        (by_beta[c] / count as f32, by_gamma[c] / count as f32 * channel.scale);
                    for (o, (&x, &d)) in out.iter_mut().zip(x.iter().zip(d)) {
                        let d = if channel.of(x) > floor { d } else { 0.0 };
                        *o = factor * (d - mean - (x - channel.mean) * along);
                    }
                }
            },
        );
        [out, by_gamma, by_beta]
    }
}
