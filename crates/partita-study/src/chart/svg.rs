//! A chart as an SVG file: text that any browser draws, and no font to carry along.

use super::scale::Scale;
use super::{Chart, Mark, colour};
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
/// Where the axes are.
const LEFT: f64 = 70.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = HEIGHT - 52.0;
/// Room for a legend at the right.
const LEGEND: f64 = 150.0;

/// Where the axes of a chart are on its sheet.
pub(super) struct Layout {
    pub x: Scale,
    pub y: Scale,
    /// Left, top, right and bottom of the plot.
    pub plot: (f64, f64, f64, f64),
}

impl Chart {
    /// The whole file.
    ///
    /// ```
    /// use partita_study::chart::{Axis, Chart, Mark};
    /// let points = vec![(0.0, 0.0), (1.0, 0.5)];
    /// let line = Mark::Line { name: "half".to_owned(), points, colour: 0, dashed: false };
    /// let chart = Chart { title: "Slopes".to_owned(), x: Axis::new("x"), y: Axis::new("y"), marks: vec![line] };
    /// assert!(chart.svg().starts_with("<svg"));
    /// ```
    pub fn svg(&self) -> String {
        let Layout { x, y, plot: (.., right, _) } = self.layout();
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"system-ui,sans-serif\" \
             font-size=\"13\" fill=\"#262a30\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        let behind = |mark: &&Mark| matches!(mark, Mark::Regions { .. });
        self.marks.iter().filter(behind).for_each(|mark| draw(&mut out, mark, &x, &y));
        self.axes(&mut out, &x, &y, right);
        self.marks.iter().filter(|m| !behind(m)).for_each(|mark| draw(&mut out, mark, &x, &y));
        self.legend(&mut out, right);
        out + "</svg>\n"
    }

    /// Where the axes are.
    pub(super) fn layout(&self) -> Layout {
        let named = self.marks.iter().filter_map(Mark::legend).count() > 0;
        let right = if named { WIDTH - LEGEND } else { WIDTH - 24.0 };
        let x = Scale::new(self, &self.x, |p| p.0, (LEFT, right));
        let y = Scale::new(self, &self.y, |p| p.1, (BOTTOM, TOP));
        Layout { x, y, plot: (LEFT, TOP, right, BOTTOM) }
    }

    fn axes(&self, out: &mut String, x: &Scale, y: &Scale, right: f64) {
        text(out, (LEFT, 26.0), "start", "font-size=\"15\" font-weight=\"600\"", &self.title);
        for (value, name) in y.ticks() {
            let at = y.place(value);
            put(
                out,
                format_args!("<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#262a30\" opacity=\".12\"/>"),
            );
            text(out, (LEFT - 8.0, at + 4.0), "end", "", &name);
        }
        for (value, name) in x.ticks() {
            let at = x.place(value);
            put(out, format_args!("<path d=\"M{at:.1} {BOTTOM}v5\" stroke=\"#262a30\"/>"));
            text(out, (at, BOTTOM + 20.0), "middle", "", &name);
        }
        put(out, format_args!("<path d=\"M{LEFT} {BOTTOM}H{right}\" stroke=\"#262a30\"/>"));
        text(out, ((LEFT + right) / 2.0, HEIGHT - 10.0), "middle", "", &self.x.label);
        let middle = (TOP + BOTTOM) / 2.0;
        let turned = format!("transform=\"rotate(-90 18 {middle})\"");
        text(out, (18.0, middle), "middle", &turned, &self.y.label);
    }

    fn legend(&self, out: &mut String, right: f64) {
        let mut entries: Vec<(&str, usize)> = Vec::new();
        for entry in self.marks.iter().filter_map(Mark::legend) {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        for (at, (name, number)) in entries.into_iter().enumerate() {
            let y = TOP + 8.0 + 20.0 * at as f64;
            let ink = colour(number);
            put(out, format_args!("<circle cx=\"{}\" cy=\"{y}\" r=\"4\" fill=\"{ink}\"/>", right + 14.0));
            text(out, (right + 24.0, y + 4.0), "start", "", name);
        }
    }
}

/// Several charts on one sheet, in lines of `columns`.
pub fn sheet(charts: &[Chart], columns: usize) -> String {
    let columns = columns.clamp(1, charts.len().max(1));
    let (width, height) = (WIDTH * columns as f64, HEIGHT * charts.len().div_ceil(columns) as f64);
    let mut out = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\">\n");
    for (at, chart) in charts.iter().enumerate() {
        let (x, y) = (WIDTH * (at % columns) as f64, HEIGHT * (at / columns) as f64);
        let place = format!("<svg x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"");
        out += &chart.svg().replacen("<svg", &place, 1);
    }
    out + "</svg>\n"
}

fn draw(out: &mut String, mark: &Mark, x: &Scale, y: &Scale) {
    match mark {
        Mark::Line { points, colour: number, dashed, .. } => {
            polyline(out, points, colour(*number), *dashed, x, y);
        }
        Mark::Dots { points, colour: number, .. } => {
            for (px, py) in points {
                dot(out, (x.place(*px), y.place(*py)), 2.6, colour(*number));
            }
        }
        Mark::Means { points, colour: number, .. } => {
            let means: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1)).collect();
            polyline(out, &means, colour(*number), false, x, y);
            for &(px, mean, sd) in points {
                let (at, low, high) = (x.place(px), y.place(mean - sd), y.place(mean + sd));
                put(
                    out,
                    format_args!("<path d=\"M{at:.1} {low:.1}V{high:.1}\" stroke=\"{}\"/>", colour(*number)),
                );
                dot(out, (at, y.place(mean)), 3.5, colour(*number));
            }
        }
        Mark::Highlight { x: at } => {
            let at = x.place(*at);
            put(
                out,
                format_args!(
                    "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#ffa90e\" stroke-width=\"10\" opacity=\".3\"/>"
                ),
            );
        }
        Mark::Regions { x: across, y: up, columns, cells } => {
            regions(out, *across, *up, *columns, cells, x, y);
        }
    }
}

/// Shades of a region, from unsure to sure.
const SHADES: f64 = 8.0;

fn regions(
    out: &mut String,
    (left, right): (f64, f64),
    (low, high): (f64, f64),
    columns: usize,
    cells: &[Option<(usize, f64)>],
    x: &Scale,
    y: &Scale,
) {
    let lines = cells.len() / columns;
    let across = |c: usize| x.place(left + (right - left) * c as f64 / columns as f64);
    let up = |l: usize| y.place(low + (high - low) * l as f64 / lines as f64);
    let shade =
        |cell: &Option<(usize, f64)>| cell.map(|(cluster, sure)| (cluster, (SHADES * sure).round() as u8));
    for (l, row) in cells.chunks_exact(columns).enumerate() {
        let row: Vec<_> = row.iter().map(shade).collect();
        for (first, length, cell) in runs(&row) {
            let Some((cluster, sure)) = cell else { continue };
            let (x0, x1, y1, y0) = (across(first), across(first + length), up(l), up(l + 1));
            let (width, height, ink) = (x1 - x0, y1 - y0, colour(cluster));
            let opacity = 0.03 + 0.27 * f64::from(sure) / SHADES;
            put(
                out,
                format_args!(
                    "<rect x=\"{x0:.1}\" y=\"{y0:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{ink}\" opacity=\"{opacity:.2}\"/>"
                ),
            );
        }
    }
}

/// Stretches of equal entries: first, length, entry. They keep the file small.
fn runs<T: PartialEq + Copy>(row: &[T]) -> Vec<(usize, usize, T)> {
    let mut out: Vec<(usize, usize, T)> = Vec::new();
    for (at, &entry) in row.iter().enumerate() {
        match out.last_mut() {
            Some((_, length, last)) if *last == entry => *length += 1,
            _ => out.push((at, 1, entry)),
        }
    }
    out
}

fn polyline(out: &mut String, points: &[(f64, f64)], ink: &str, dashed: bool, x: &Scale, y: &Scale) {
    let dash = if dashed { " stroke-dasharray=\"6 5\"" } else { "" };
    // What leaves the sheet is not drawn along its edge.
    for part in points.split(|(px, py)| !x.holds(*px) || !y.holds(*py)) {
        let places: Vec<String> =
            part.iter().map(|(px, py)| format!("{:.1},{:.1}", x.place(*px), y.place(*py))).collect();
        if places.len() > 1 {
            put(
                out,
                format_args!(
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"2\"{dash}/>",
                    places.join(" ")
                ),
            );
        }
    }
}

fn dot(out: &mut String, (x, y): (f64, f64), radius: f64, ink: &str) {
    put(out, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{ink}\"/>"));
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, more: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    put(out, format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{words}</text>"));
}

fn put(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{line}");
}

#[cfg(test)]
mod tests {
    use super::super::every_mark;
    use super::*;

    #[test]
    fn every_mark_is_drawn_within_the_sheet() {
        let chart = every_mark();
        let drawn = chart.svg();
        assert!(drawn.contains("A &amp; B") && drawn.contains(">line<") && drawn.contains(">means<"));
        // Two regions: one line of one cluster, one of one place and nothing. The sheet is a rectangle too.
        assert_eq!(drawn.matches("<rect").count(), 3);
        // A dot, two means and two entries of the legend.
        assert_eq!(drawn.matches("<circle").count(), 5);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
        let both = sheet(&[chart.clone(), chart], 2);
        assert_eq!(both.matches("<svg").count(), 3);
        assert!(
            both.contains("viewBox=\"0 0 1520 440\"") && both.contains("<svg x=\"760\" y=\"0\""),
            "{both}"
        );
    }
}
