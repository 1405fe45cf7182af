//! Curves with error bars as an SVG drawing.

use partita::compare::Spread;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// Room left, right, above and below the axes.
const ROOM: [f64; 4] = [56.0, 130.0, 56.0, 52.0];
const COLOURS: [&str; 3] = ["#3f90da", "#94a4a2", "#bd1f01"];

/// Lines of values from 0 to 1 over the same places; one place may be marked.
pub fn svg(title: &str, axis: &str, x: &[f64], lines: &[(&str, Vec<Spread>)], mark: Option<f64>) -> String {
    let [left, right, top, bottom] = ROOM;
    let (first, last) = (x[0], x[x.len() - 1]);
    let across = |v: f64| left + (v - first) / (last - first).max(1e-9) * (WIDTH - left - right);
    let up = |v: f64| HEIGHT - bottom - v.clamp(0.0, 1.0) * (HEIGHT - top - bottom);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"system-ui,sans-serif\" \
         font-size=\"13\" fill=\"#262a30\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{left}\" y=\"28\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
        escape(title)
    );
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = up(tick);
        let _ = writeln!(
            out,
            "<path d=\"M{left} {y}H{}\" stroke=\"#e4e6e8\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{tick}</text>",
            WIDTH - right,
            left - 8.0,
            y + 4.0
        );
    }
    for &v in ticks(x).iter() {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{v}</text>",
            across(v),
            HEIGHT - bottom + 20.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        (left + WIDTH - right) / 2.0,
        HEIGHT - 10.0,
        escape(axis)
    );
    if let Some(v) = mark {
        let (x, end) = (across(v), HEIGHT - bottom);
        let _ = writeln!(
            out,
            "<path d=\"M{x} {top}V{end}\" stroke=\"#ffa90e\" stroke-width=\"10\" opacity=\".3\"/>"
        );
    }
    for ((name, spreads), colour) in lines.iter().zip(COLOURS) {
        line(&mut out, name, colour, x, spreads, &across, &up);
    }
    out + "</svg>\n"
}

fn line(
    out: &mut String,
    name: &str,
    colour: &str,
    x: &[f64],
    spreads: &[Spread],
    across: &dyn Fn(f64) -> f64,
    up: &dyn Fn(f64) -> f64,
) {
    let points: Vec<String> =
        x.iter().zip(spreads).map(|(x, s)| format!("{:.1},{:.1}", across(*x), up(s.mean))).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        points.join(" ")
    );
    for (x, s) in x.iter().zip(spreads) {
        let (x, y) = (across(*x), up(s.mean));
        let (low, high) = (up(s.mean - s.sd), up(s.mean + s.sd));
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke=\"{colour}\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"
        );
    }
    if let (Some(x), Some(s)) = (x.last(), spreads.last()) {
        let (x, y) = (across(*x) + 10.0, up(s.mean) + 4.0);
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{}</text>", escape(name));
    }
}

/// At most twenty of the places, evenly.
fn ticks(x: &[f64]) -> Vec<f64> {
    x.iter().copied().step_by(x.len().div_ceil(20)).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_and_name_is_drawn() {
        let spreads = vec![Spread { mean: 0.2, sd: 0.1 }, Spread { mean: 0.9, sd: 0.0 }];
        let drawn = svg("A & B", "K", &[2.0, 3.0], &[("stability", spreads)], Some(3.0));
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert!(drawn.contains("A &amp; B") && drawn.contains(">stability<") && !drawn.contains("NaN"));
    }
}
