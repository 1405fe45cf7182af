//! A chart as a part of a page: its picture, with what the page's script needs to zoom it and to read values from it.

use super::Chart;
use super::svg::Layout;

/// The script that makes the charts of a page respond to the pointer; it stands once, after the charts.
pub const SCRIPT: &str = include_str!("page.js");

impl Chart {
    /// The chart as a part of a page that has [`SCRIPT`] at its end.
    pub fn html_part(&self) -> String {
        let Layout { x, y, plot: (left, top, right, bottom) } = self.layout();
        let axis = |(low, high, log): (f64, f64, bool)| format!("{low} {high} {}", u8::from(log));
        let attributes = format!(
            "<svg class=\"chart\" data-plot=\"{left} {top} {right} {bottom}\" data-x=\"{}\" data-y=\"{}\"",
            axis(x.ends()),
            axis(y.ends())
        );
        self.svg().replacen("<svg", &attributes, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::every_mark;

    #[test]
    fn the_page_knows_where_the_axes_are_and_what_they_measure() {
        let chart = every_mark();
        let part = chart.html_part();
        assert!(part.starts_with("<svg class=\"chart\" data-plot=\"70 48 610 388\""), "{}", &part[..200]);
        let logarithmic = |name: &str| {
            let value = part.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
            let [low, high, log] = *value.split(' ').collect::<Vec<_>>() else { panic!("{value}") };
            assert!(low.parse::<f64>().unwrap() < high.parse::<f64>().unwrap(), "{value}");
            log == "1"
        };
        assert_eq!((logarithmic("data-x"), logarithmic("data-y")), (chart.x.log, chart.y.log));
    }
}
