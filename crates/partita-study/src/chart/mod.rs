//! What a chart shows, apart from how it is drawn: [`Chart::svg`] makes a file, [`sheet`] a file of several, and
//! [`Chart::html_part`] a part of a page.

mod interactive;
mod scale;
mod svg;

pub use interactive::SCRIPT;
pub use svg::sheet;

use partita_job::palette::line as colour;

/// A chart with two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// One line above it.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub marks: Vec<Mark>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Whether it is logarithmic; values must then be positive.
    pub log: bool,
    /// Its ends; by default those of what is drawn.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis that fits what is drawn.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }

    /// The same with fixed ends.
    pub fn between(label: &str, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..Self::new(label) }
    }
}

/// Something drawn in a chart. Colours are numbers of [`partita_job::palette::line`].
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Points joined by a line.
    Line {
        /// For the legend; nothing there if empty.
        name: String,
        /// In order.
        points: Vec<(f64, f64)>,
        /// Colour.
        colour: usize,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// Points.
    Dots {
        /// For the legend; nothing there if empty.
        name: String,
        /// In any order.
        points: Vec<(f64, f64)>,
        /// Colour.
        colour: usize,
    },
    /// Means joined by a line, with their standard deviations as bars.
    Means {
        /// For the legend.
        name: String,
        /// x, mean, sd.
        points: Vec<(f64, f64, f64)>,
        /// Colour.
        colour: usize,
    },
    /// A wide, pale line across the chart at some x.
    Highlight {
        /// Where.
        x: f64,
    },
    /// Pale colours behind the rest, which show the cluster of each place.
    Regions {
        /// Left and right end.
        x: (f64, f64),
        /// Lower and upper end.
        y: (f64, f64),
        /// Places in a line.
        columns: usize,
        /// The cluster of each place and how surely it is that, 0 to 1, line after line from the bottom; nothing is
        /// drawn where there is none.
        cells: Vec<Option<(usize, f64)>>,
    },
}

impl Mark {
    /// Name and colour for the legend.
    fn legend(&self) -> Option<(&str, usize)> {
        match self {
            Self::Line { name, colour, .. }
            | Self::Dots { name, colour, .. }
            | Self::Means { name, colour, .. }
                if !name.is_empty() =>
            {
                Some((name, *colour))
            }
            _ => None,
        }
    }

    /// Corners of the place it takes.
    fn corners(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Line { points, .. } | Self::Dots { points, .. } => points.clone(),
            Self::Means { points, .. } => {
                points.iter().flat_map(|&(x, mean, sd)| [(x, mean - sd), (x, mean + sd)]).collect()
            }
            Self::Highlight { .. } => Vec::new(),
            Self::Regions { x, y, .. } => vec![(x.0, y.0), (x.1, y.1)],
        }
    }
}

/// A chart with one of every mark, for the tests of those who draw them.
#[cfg(test)]
fn every_mark() -> Chart {
    let cells = vec![Some((0, 1.0)), Some((0, 1.0)), Some((1, 0.5)), None];
    let marks = vec![
        Mark::Regions { x: (0.0, 2.0), y: (0.1, 10.0), columns: 2, cells },
        Mark::Line {
            name: "line".to_owned(),
            points: vec![(0.0, 0.1), (2.0, 10.0)],
            colour: 0,
            dashed: true,
        },
        Mark::Dots { name: String::new(), points: vec![(1.0, 1.0)], colour: 1 },
        Mark::Means { name: "means".to_owned(), points: vec![(0.5, 1.0, 0.2), (1.5, 2.0, 5.0)], colour: 2 },
        Mark::Highlight { x: 1.0 },
    ];
    let y = Axis { log: true, range: Some((0.1, 10.0)), ..Axis::new("y") };
    Chart { title: "A & B".to_owned(), x: Axis::new("x"), y, marks }
}
