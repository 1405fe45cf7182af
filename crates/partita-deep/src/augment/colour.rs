//! Brightness, contrast, saturation, hue, grey and blur.

/// How much each channel counts for brightness.
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

/// Multiply brightness, contrast and saturation by their factors; grey has no saturation.
pub(super) fn distort(pixels: &mut [f32], [channels, h, w]: [usize; 3], factors: [f32; 3], grey: bool) {
    let [brightness, contrast, saturation] = factors;
    let mean = pixels.iter().sum::<f32>() / pixels.len().max(1) as f32;
    // Contrast is changed around the mean that the image has after the change of brightness.
    pixels.iter_mut().for_each(|p| *p = (brightness * (mean + contrast * (*p - mean))).clamp(0.0, 255.0));
    if channels != 3 {
        return;
    }
    let saturation = if grey { 0.0 } else { saturation };
    let plane = h * w;
    for i in 0..plane {
        let luma: f32 = (0..3).map(|c| LUMA[c] * pixels[c * plane + i]).sum();
        for c in 0..3 {
            let p = &mut pixels[c * plane + i];
            *p = (luma + saturation * (*p - luma)).clamp(0.0, 255.0);
        }
    }
}

/// Turn the hue of coloured images by this share of the colour wheel; saturation and the largest channel stay as they are.
pub(super) fn turn(pixels: &mut [f32], [channels, h, w]: [usize; 3], share: f32) {
    if channels != 3 {
        return;
    }
    let plane = h * w;
    for i in 0..plane {
        let turned = turned([0, 1, 2].map(|c| pixels[c * plane + i]), share);
        (0..3).for_each(|c| pixels[c * plane + i] = turned[c]);
    }
}

/// A colour after a turn. The wheel has six sixths; in each of them one channel is largest and another is smallest.
fn turned([r, g, b]: [f32; 3], share: f32) -> [f32; 3] {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let spread = most - least;
    if spread <= 0.0 {
        return [r, g, b];
    }
    let sixth = if most == r {
        (g - b) / spread
    } else if most == g {
        2.0 + (b - r) / spread
    } else {
        4.0 + (r - g) / spread
    };
    let sixth = (sixth + 6.0 * share).rem_euclid(6.0);
    // A channel is largest around its own place on the wheel, and falls to the smallest over a sixth.
    [0.0, 2.0, 4.0].map(|own: f32| {
        let away = (sixth - own).abs();
        let away = away.min(6.0 - away);
        least + spread * (2.0 - away).clamp(0.0, 1.0)
    })
}

/// Gaussian blur with this deviation, along rows and then columns; edge pixels are repeated.
pub(super) fn blur(pixels: &mut [f32], [_, h, w]: [usize; 3], deviation: f32) {
    let radius = (3.0 * deviation).ceil() as usize;
    let mut weights: Vec<f32> =
        (0..=2 * radius).map(|i| (-0.5 * ((i as f32 - radius as f32) / deviation).powi(2)).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter_mut().for_each(|v| *v /= sum);
    for plane in pixels.chunks_exact_mut(h * w) {
        let along = |from: &[f32], extent: usize, i: usize, stride: usize, start: usize| -> f32 {
            let at = |j: usize| start + (i + j).saturating_sub(radius).min(extent - 1) * stride;
            weights.iter().enumerate().map(|(j, weight)| weight * from[at(j)]).sum()
        };
        let rows: Vec<f32> = (0..h * w).map(|p| along(plane, w, p % w, 1, p / w * w)).collect();
        plane.iter_mut().enumerate().for_each(|(p, out)| *out = along(&rows, h, p / w, w, p % w));
    }
}
