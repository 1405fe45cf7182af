//! A chart as a part of a page, drawn by Plotly in the browser.

use super::{Chart, Mark, colour};
use plotly::common::{ColorScale, ColorScaleElement, DashType, ErrorData, ErrorType, Line, Marker, Mode};
use plotly::layout::{Axis as PlotlyAxis, AxisType, Shape, ShapeLine, ShapeType};
use plotly::{HeatMap, Layout, Plot, Scatter};

impl Chart {
    /// The chart for Plotly; its `to_inline_html` is the part, its `offline_js_sources` the script that draws it.
    pub fn plotly(&self) -> Plot {
        let mut plot = Plot::new();
        let mut shapes = Vec::new();
        for mark in &self.marks {
            add(&mut plot, &mut shapes, mark);
        }
        let axis = |axis: &super::Axis| {
            let made = PlotlyAxis::new().title(axis.label.clone());
            let made = if axis.log { made.type_(AxisType::Log) } else { made };
            match axis.range {
                Some((low, high)) if axis.log => made.range(vec![low.log10(), high.log10()]),
                Some((low, high)) => made.range(vec![low, high]),
                None => made,
            }
        };
        let layout = Layout::new().title(self.title.clone()).x_axis(axis(&self.x)).y_axis(axis(&self.y));
        plot.set_layout(layout.shapes(shapes).height(460));
        plot
    }
}

fn add(plot: &mut Plot, shapes: &mut Vec<Shape>, mark: &Mark) {
    match mark {
        Mark::Line { name, points, colour: number, dashed } => {
            let line = Line::new().color(colour(*number));
            let line = if *dashed { line.dash(DashType::Dash) } else { line };
            plot.add_trace(scatter(points, name).mode(Mode::Lines).line(line));
        }
        Mark::Dots { name, points, colour: number } => {
            let marker = Marker::new().color(colour(*number)).size(6);
            plot.add_trace(scatter(points, name).mode(Mode::Markers).marker(marker));
        }
        Mark::Means { name, points, colour: number } => {
            let means: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1)).collect();
            let sds = points.iter().map(|p| p.2).collect();
            let trace =
                scatter(&means, name).mode(Mode::LinesMarkers).line(Line::new().color(colour(*number)));
            plot.add_trace(trace.error_y(ErrorData::new(ErrorType::Data).array(sds)));
        }
        Mark::Highlight { x } => {
            let line = ShapeLine::new().color("rgba(255,169,14,.4)").width(10.0);
            let shape = Shape::new().shape_type(ShapeType::Line).x0(*x).x1(*x).y_ref("paper").y0(0.0).y1(1.0);
            shapes.push(shape.line(line));
        }
        Mark::Regions { x, y, columns, cells } => {
            let most = cells.iter().flatten().map(|cell| cell.0).max().unwrap_or(0);
            (0..=most).for_each(|cluster| plot.add_trace(region(*x, *y, *columns, cells, cluster)));
        }
    }
}

fn scatter(points: &[(f64, f64)], name: &str) -> Box<Scatter<f64, f64>> {
    let (x, y) = points.iter().copied().unzip();
    Scatter::new(x, y).name(name).show_legend(!name.is_empty())
}

/// A heat map of the places of one cluster: its colour, the stronger the surer.
fn region(
    x: (f64, f64),
    y: (f64, f64),
    columns: usize,
    cells: &[Option<(usize, f64)>],
    cluster: usize,
) -> Box<HeatMap<f64, f64, Vec<Option<f64>>>> {
    let lines = cells.len() / columns;
    let middles = |(low, high): (f64, f64), count: usize| -> Vec<f64> {
        (0..count).map(|i| low + (high - low) * (i as f64 + 0.5) / count as f64).collect()
    };
    // Two digits are more than the eye tells apart, and keep the page small.
    let round = |v: f64| (100.0 * v).round() / 100.0;
    let sure = |cell: &Option<(usize, f64)>| cell.filter(|cell| cell.0 == cluster).map(|cell| round(cell.1));
    let z = cells.chunks_exact(columns).map(|row| row.iter().map(sure).collect()).collect();
    // Two digits more than the colour has are its opacity.
    let shade = |at: f64, opacity: &str| ColorScaleElement(at, format!("{}{opacity}", colour(cluster)));
    HeatMap::new(middles(x, columns), middles(y, lines), z)
        .color_scale(ColorScale::Vector(vec![shade(0.0, "08"), shade(1.0, "4d")]))
        .zmin(0.0)
        .zmax(1.0)
        .show_scale(false)
        .hover_on_gaps(false)
}

#[cfg(test)]
mod tests {
    use super::super::every_mark;

    #[test]
    fn every_mark_becomes_a_trace_or_a_shape() {
        let chart = every_mark();
        let json = chart.plotly().to_json();
        for word in ["heatmap", "\"line\"", "markers", "error_y", "paper", "\"log\""] {
            assert!(json.contains(word), "{word}: {json}");
        }
    }
}
