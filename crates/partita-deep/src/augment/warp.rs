//! Rotation, scale, shear, shift and mirror in one resampling.

use partita_embed::images::Image;

/// Where an output pixel comes from, relative to the middle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Warp {
    pub turn: f32,
    /// Scale from the output to the source, down and across.
    pub scale: [f32; 2],
    pub shear: f32,
    /// As shares of the side.
    pub shift: [f32; 2],
    pub mirror: bool,
}

impl Warp {
    fn nothing(&self) -> bool {
        self.turn == 0.0
            && self.shear == 0.0
            && self.scale == [1.0; 2]
            && self.shift == [0.0; 2]
            && !self.mirror
    }

    /// The warped image, with bilinear interpolation; outside the image, the nearest edge pixel is used.
    pub fn apply(&self, image: &Image) -> Vec<f32> {
        if self.nothing() {
            return image.pixels.iter().map(|&p| f32::from(p)).collect();
        }
        let (h, w) = (image.height, image.width);
        let places = self.places(h, w);
        let planes = image.pixels.chunks_exact(h * w);
        planes.flat_map(|plane| places.iter().map(|place| place.sample(plane, w))).collect()
    }

    fn places(&self, h: usize, w: usize) -> Vec<Place> {
        let (sin, cos) = self.turn.sin_cos();
        let middle = [(h as f32 - 1.0) / 2.0, (w as f32 - 1.0) / 2.0];
        let place = |y: usize, x: usize| {
            let (dy, dx) = (y as f32 - middle[0], x as f32 - middle[1]);
            let dx = if self.mirror { -dx } else { dx };
            let (dy, dx) = (dy * self.scale[0], (dx + self.shear * dy) * self.scale[1]);
            let (sy, sx) = (cos * dy - sin * dx, sin * dy + cos * dx);
            let at = [sy + middle[0] + self.shift[0] * h as f32, sx + middle[1] + self.shift[1] * w as f32];
            Place::new(at, h, w)
        };
        (0..h).flat_map(|y| (0..w).map(move |x| (y, x))).map(|(y, x)| place(y, x)).collect()
    }
}

/// The four pixels around a place, and how near it is to the lower and right ones.
struct Place {
    rows: [usize; 2],
    columns: [usize; 2],
    down: f32,
    across: f32,
}

impl Place {
    fn new([y, x]: [f32; 2], h: usize, w: usize) -> Self {
        let split = |v: f32, extent: usize| {
            let v = v.clamp(0.0, extent as f32 - 1.0);
            let low = v.floor();
            ([low as usize, (low as usize + 1).min(extent - 1)], v - low)
        };
        let ((rows, down), (columns, across)) = (split(y, h), split(x, w));
        Self { rows, columns, down, across }
    }

    fn sample(&self, plane: &[u8], w: usize) -> f32 {
        let line = |row: usize| {
            let [a, b] = self.columns.map(|c| f32::from(plane[row * w + c]));
            a + self.across * (b - a)
        };
        let [top, bottom] = self.rows.map(line);
        top + self.down * (bottom - top)
    }
}
