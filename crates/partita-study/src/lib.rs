//! Charts, drawn as SVG files.

pub mod chart;
