//! Charts, drawn as SVG files and as interactive parts of a page.

pub mod chart;
