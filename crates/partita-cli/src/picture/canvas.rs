//! A white sheet to draw on: discs, rectangles, small grey images and text, then PNG.
//!
//! Everything is blended by how much of a pixel it covers, so that edges are smooth. No system font or library is
//! needed.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use partita_job::palette::Colour;

/// Text that matters.
pub const INK: Colour = [38, 42, 48];
/// Text that explains, and frames.
pub const GREY: Colour = [118, 124, 132];

/// Size and weight of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    Title,
    Bold,
    Plain,
}

impl Face {
    fn raster(self) -> (FontWeight, RasterHeight) {
        match self {
            Self::Title => (FontWeight::Bold, RasterHeight::Size24),
            Self::Bold => (FontWeight::Bold, RasterHeight::Size16),
            Self::Plain => (FontWeight::Regular, RasterHeight::Size16),
        }
    }

    /// Pixels that a text takes along its line.
    pub fn width(self, text: &str) -> usize {
        let (weight, height) = self.raster();
        text.chars().count() * get_raster_width(weight, height)
    }
}

/// A picture in the making.
#[derive(Debug)]
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// A white sheet.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![255; width * height * 3] }
    }

    /// Cover this share of a pixel with a colour; what lies outside the sheet is left out.
    fn blend(&mut self, x: i64, y: i64, colour: Colour, cover: f64) {
        let inside = (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y);
        if !inside || cover <= 0.0 {
            return;
        }
        let at = (y as usize * self.width + x as usize) * 3;
        for (below, above) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            let mixed = f64::from(*below) + (f64::from(above) - f64::from(*below)) * cover.min(1.0);
            *below = mixed.round() as u8;
        }
    }

    /// A disc around a point.
    pub fn disc(&mut self, (x, y): (f64, f64), radius: f64, colour: Colour, opacity: f64) {
        let reach = radius + 1.0;
        for py in (y - reach).floor() as i64..=(y + reach).ceil() as i64 {
            for px in (x - reach).floor() as i64..=(x + reach).ceil() as i64 {
                let distance = (px as f64 + 0.5 - x).hypot(py as f64 + 0.5 - y);
                self.blend(px, py, colour, (radius + 0.5 - distance).clamp(0.0, 1.0) * opacity);
            }
        }
    }

    /// A straight line with round ends.
    pub fn line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), radius: f64, colour: Colour) {
        // Discs so close that their edges form a line.
        let steps = ((x1 - x0).hypot(y1 - y0) * 2.0).ceil().max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            self.disc((x0 + share * (x1 - x0), y0 + share * (y1 - y0)), radius, colour, 0.6);
        }
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), colour: Colour) {
        for py in y..y + height {
            for px in x..x + width {
                self.blend(px as i64, py as i64, colour, 1.0);
            }
        }
    }

    /// The outline of a rectangle, one pixel wide.
    pub fn frame(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), colour: Colour) {
        self.rectangle((x, y), (width, 1), colour);
        self.rectangle((x, y + height - 1), (width, 1), colour);
        self.rectangle((x, y), (1, height), colour);
        self.rectangle((x + width - 1, y), (1, height), colour);
    }

    /// A square image of ink from 0 to 1, `side` values a line, stretched smoothly to `size` pixels.
    pub fn image(&mut self, (x, y): (usize, usize), size: usize, ink: &[f32], side: usize, colour: Colour) {
        let step = side as f64 / size as f64;
        for py in 0..size {
            for px in 0..size {
                let (u, v) = ((px as f64 + 0.5) * step - 0.5, (py as f64 + 0.5) * step - 0.5);
                let cover = between(ink, side, u, v);
                self.blend((x + px) as i64, (y + py) as i64, colour, cover);
            }
        }
    }

    /// Text whose upper left corner is at a point; characters that the font lacks are left blank.
    pub fn text(&mut self, (x, y): (usize, usize), text: &str, face: Face, colour: Colour) {
        let (weight, height) = face.raster();
        for (i, character) in text.chars().enumerate() {
            let left = x + i * get_raster_width(weight, height);
            let Some(glyph) = get_raster(character, weight, height) else { continue };
            for (dy, line) in glyph.rows().enumerate() {
                for (dx, ink) in line.iter().enumerate() {
                    let cover = f64::from(*ink) / 255.0;
                    self.blend((left + dx) as i64, (y + dy) as i64, colour, cover);
                }
            }
        }
    }

    /// Text on a white halo, centred on a point: readable on top of dots.
    pub fn badge(&mut self, (x, y): (f64, f64), text: &str, colour: Colour) {
        self.disc((x, y), 13.0, [255; 3], 0.85);
        self.disc((x, y), 11.0, colour, 1.0);
        let corner = (x - Face::Bold.width(text) as f64 / 2.0, y - 8.0);
        self.text(
            (corner.0.round() as usize, corner.1.round() as usize),
            text,
            Face::Bold,
            readable_on(colour),
        );
    }

    /// The picture as a PNG file. Smooth edges have more shades than an eye tells apart; with fewer, the file is half
    /// as large.
    pub fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header()?;
        let shades: Vec<u8> = self.pixels.iter().map(|&p| fewer_shades(p)).collect();
        writer.write_image_data(&shades)?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// The nearest of 18 evenly spaced shades.
fn fewer_shades(value: u8) -> u8 {
    const STEP: u8 = 15;
    value.saturating_add(STEP / 2) / STEP * STEP
}

/// Black or white, whichever stands out.
fn readable_on(colour: Colour) -> Colour {
    let light: f64 = colour.iter().zip([0.299, 0.587, 0.114]).map(|(c, w)| f64::from(*c) * w).sum();
    if light > 150.0 { INK } else { [255; 3] }
}

/// The value of an image between its points, linear in both directions; it fades to nothing outside.
fn between(ink: &[f32], side: usize, u: f64, v: f64) -> f64 {
    let at = |i: i64, j: i64| {
        let inside = (0..side as i64).contains(&i) && (0..side as i64).contains(&j);
        if inside { f64::from(ink[j as usize * side + i as usize]) } else { 0.0 }
    };
    let (i, j) = (u.floor() as i64, v.floor() as i64);
    let (a, b) = (u - u.floor(), v - v.floor());
    let line = |j: i64| at(i, j) * (1.0 - a) + at(i + 1, j) * a;
    line(j) * (1.0 - b) + line(j + 1) * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_covers_its_area_and_may_hang_over_the_edge() {
        let mut canvas = Canvas::new(40, 40);
        canvas.disc((20.3, 19.6), 7.0, [0; 3], 1.0);
        let ink: f64 = canvas.pixels.iter().map(|p| 1.0 - f64::from(*p) / 255.0).sum::<f64>() / 3.0;
        assert!((ink - std::f64::consts::PI * 49.0).abs() < 1.5, "{ink}");
        canvas.disc((-3.0, 41.0), 7.0, [0; 3], 1.0);
        canvas.text((35, 30), "over the edge", Face::Title, INK);
    }

    #[test]
    fn an_image_keeps_its_values_where_they_were_given() {
        let ink = [0.0, 0.25, 0.5, 1.0];
        for (at, value) in ink.iter().enumerate() {
            assert_eq!(between(&ink, 2, (at % 2) as f64, (at / 2) as f64), f64::from(*value));
        }
        assert_eq!(between(&ink, 2, -1.0, 0.0), 0.0);
    }

    #[test]
    fn the_png_can_be_read_back() {
        let mut canvas = Canvas::new(31, 17);
        canvas.rectangle((3, 4), (5, 6), [10, 20, 30]);
        let bytes = canvas.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let near = pixels.iter().zip(&canvas.pixels).all(|(a, b)| a.abs_diff(*b) <= 7);
        assert!(near && pixels.len() == canvas.pixels.len());
    }
}
