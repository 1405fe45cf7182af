//! Curves with their spread as PNG, for programs that do not draw SVG.

use super::canvas::{Canvas, Face, GREY, INK};
use anyhow::Result;
use partita_job::palette::{Colour, line as colour_of};
use partita_study::chart::{Chart, Mark};

const WIDTH: usize = 1200;
const HEIGHT: usize = 680;
/// The corners of the plot.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 1010.0;
const TOP: f64 = 96.0;
const BOTTOM: f64 = 610.0;
/// Characters of a line of the title.
const LINE: usize = 110;

/// The means of a chart between 0 and 1; the bytes of a PNG file.
pub fn curves_png(chart: &Chart) -> Result<Vec<u8>> {
    let places: Vec<f64> = chart.marks.iter().flat_map(means).map(|point| point.0).collect();
    let (low, high) =
        places.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let (low, high) = if low <= high { (low - 0.5, high + 0.5) } else { (0.0, 1.0) };
    let across = |x: f64| LEFT + (RIGHT - LEFT) * (x - low) / (high - low);
    let up = |y: f64| BOTTOM - (BOTTOM - TOP) * y.clamp(0.0, 1.0);
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    for (at, words) in wrapped(&chart.title, LINE).iter().enumerate() {
        canvas.text((LEFT as usize, 16 + 20 * at), words, Face::Bold, INK);
    }
    axes(&mut canvas, &chart.x.label, &places, across, up);
    let mut entry = TOP;
    for mark in &chart.marks {
        match mark {
            Mark::Highlight { x } => {
                let at = (across(*x) - 5.0).max(0.0) as usize;
                canvas.rectangle((at, TOP as usize), (10, (BOTTOM - TOP) as usize), [255, 226, 170]);
            }
            Mark::Means { name, colour, .. } => {
                let ink = parsed(colour_of(*colour));
                curve(&mut canvas, means(mark), ink, across, up);
                canvas.disc((RIGHT + 20.0, entry), 5.0, ink, 1.0);
                canvas.text((RIGHT as usize + 34, entry as usize - 8), name, Face::Plain, INK);
                entry += 26.0;
            }
            _ => {}
        }
    }
    Ok(canvas.png()?)
}

/// Place, mean and spread of the points of a mark.
fn means(mark: &Mark) -> &[(f64, f64, f64)] {
    if let Mark::Means { points, .. } = mark { points } else { &[] }
}

fn axes(
    canvas: &mut Canvas,
    label: &str,
    places: &[f64],
    across: impl Fn(f64) -> f64,
    up: impl Fn(f64) -> f64,
) {
    for tick in 0..=5 {
        let value = f64::from(tick) / 5.0;
        let y = up(value);
        canvas.rectangle((LEFT as usize, y as usize), ((RIGHT - LEFT) as usize, 1), [226, 228, 232]);
        canvas.text((LEFT as usize - 38, y as usize - 8), &format!("{value:.1}"), Face::Plain, GREY);
    }
    let mut named: Vec<f64> = places.to_vec();
    named.sort_by(f64::total_cmp);
    named.dedup();
    // As many as can be read.
    for x in named.iter().step_by(named.len().div_ceil(24).max(1)) {
        let text = format!("{x:.0}");
        let left = across(*x) - Face::Plain.width(&text) as f64 / 2.0;
        canvas.text((left as usize, BOTTOM as usize + 8), &text, Face::Plain, GREY);
    }
    let middle = (LEFT + RIGHT) / 2.0 - Face::Plain.width(label) as f64 / 2.0;
    canvas.text((middle as usize, BOTTOM as usize + 34), label, Face::Plain, INK);
}

fn curve(
    canvas: &mut Canvas,
    points: &[(f64, f64, f64)],
    ink: Colour,
    across: impl Fn(f64) -> f64,
    up: impl Fn(f64) -> f64,
) {
    let place = |&(x, mean, _): &(f64, f64, f64)| (across(x), up(mean));
    for pair in points.windows(2) {
        canvas.line(place(&pair[0]), place(&pair[1]), 1.2, ink);
    }
    for point in points {
        let x = across(point.0);
        canvas.line((x, up(point.1 - point.2)), (x, up(point.1 + point.2)), 0.7, ink);
        canvas.disc(place(point), 4.5, ink, 1.0);
    }
}

/// A colour as SVG writes it: `#rrggbb`.
fn parsed(text: &str) -> Colour {
    let part = |at: usize| text.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0);
    [part(1), part(3), part(5)]
}

/// A text in lines of at most `most` characters, broken between words.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_study::chart::Axis;

    #[test]
    fn a_curve_is_drawn_in_its_colour() {
        let points = (2..12).map(|k| (f64::from(k), 0.5, 0.1)).collect();
        let chart = Chart {
            title: "K = 4, and more words than a line can hold ".repeat(5),
            x: Axis::new("K"),
            y: Axis::between("", 0.0, 1.0),
            marks: vec![
                Mark::Highlight { x: 4.0 },
                Mark::Means { name: "stability".into(), points, colour: 0 },
            ],
        };
        let bytes = curves_png(&chart).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let ink = parsed(colour_of(0));
        let near = |p: &&[u8]| p.iter().zip(ink).all(|(a, b)| a.abs_diff(b) <= 8);
        let drawn = pixels.chunks_exact(3).filter(near).count();
        assert!(drawn > 300, "ten dots and a line across the plot, but {drawn} pixels");
    }

    #[test]
    fn an_empty_chart_is_a_picture_too() {
        let chart = Chart { title: String::new(), x: Axis::new(""), y: Axis::new(""), marks: Vec::new() };
        assert!(curves_png(&chart).unwrap().starts_with(b"\x89PNG"));
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    }
}
