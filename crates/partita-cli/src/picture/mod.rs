//! The picture of a clustering of small grey images: a map of all rows, and a sheet of examples for each cluster. Curves as PNG.

mod canvas;
mod curves;

pub use curves::curves_png;

use anyhow::Result;
use canvas::{Canvas, Face, GREY, INK};
use partita_job::map;
use partita_job::palette::colour;

const WIDTH: usize = 1440;
const HEIGHT: usize = 840;
const MARGIN: usize = 28;
/// Where titles end and drawings begin.
const TOP: usize = 96;
/// The map's width.
const MAP: usize = 660;
/// Where the sheet begins.
const SHEET: usize = MARGIN + MAP + 34;
/// Pixels of an example, and from one to the next.
const CELL: usize = 30;
const PITCH: usize = 33;
/// Examples of a cluster, in two lines each.
const SURE: usize = 20;
const DOUBTFUL: usize = 8;
/// Where the parts of a line of the sheet begin.
const MEAN_AT: usize = SHEET + 108;
const SURE_AT: usize = MEAN_AT + 2 * PITCH + 12;
const DOUBTFUL_AT: usize = SURE_AT + SURE / 2 * PITCH + 24;

/// What is drawn.
pub struct Scene<'a> {
    /// Images, row after row, of `side` x `side` values from 0 to `ink`.
    pub rows: &'a [f32],
    pub side: usize,
    pub ink: f32,
    /// Probabilities of the clusters for each row.
    pub proba: &'a [f32],
    pub labels: &'a [u32],
    /// Clusters in the order in which they are shown, each with a few words.
    pub captions: &'a [(usize, String)],
    /// One line below the title.
    pub subtitle: &'a str,
}

impl Scene<'_> {
    /// Draw everything; the bytes of a PNG file.
    pub fn draw(&self) -> Result<Vec<u8>> {
        let mut canvas = Canvas::new(WIDTH, HEIGHT);
        canvas.text((MARGIN, 18), "Handwritten digits, clustered without labels", Face::Title, INK);
        canvas.text((MARGIN, 48), self.subtitle, Face::Plain, GREY);
        self.map(&mut canvas)?;
        self.sheet(&mut canvas);
        Ok(canvas.png()?)
    }

    fn k(&self) -> usize {
        self.captions.len()
    }

    fn confidence(&self, row: usize) -> f32 {
        self.proba[row * self.k() + self.labels[row] as usize]
    }

    /// The second most probable cluster of a row.
    fn runner_up(&self, row: usize) -> usize {
        let p = &self.proba[row * self.k()..(row + 1) * self.k()];
        let others = (0..self.k()).filter(|&c| c != self.labels[row] as usize);
        others.max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0)
    }

    /// Rows from the least to the most confident. The runner-up's part tells rows apart whose own probability
    /// rounds to one.
    fn by_confidence(&self) -> Vec<usize> {
        let doubt = |row: usize| self.proba[row * self.k() + self.runner_up(row)] / self.confidence(row);
        let mut rows: Vec<(usize, f32)> = (0..self.labels.len()).map(|row| (row, doubt(row))).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        rows.into_iter().map(|(row, _)| row).collect()
    }

    /// All rows on a plane, doubtful ones pale and below.
    fn map(&self, canvas: &mut Canvas) -> Result<()> {
        let size = (MAP, HEIGHT - TOP - MARGIN - 24);
        canvas.frame((MARGIN, TOP), size, [222, 225, 229]);
        let places = fit_into(&map::places(self.proba, self.labels, self.k())?, (MARGIN, TOP), size);
        for row in self.by_confidence() {
            let sure = f64::from(self.confidence(row));
            canvas.disc(places[row], 3.4, colour(self.labels[row] as usize), 0.12 + 0.78 * sure.powi(3));
        }
        for cluster in 0..self.k() {
            if let Some(at) = self.middle(&places, cluster) {
                canvas.badge(at, &cluster.to_string(), colour(cluster));
            }
        }
        let note = "each dot is a digit, coloured by cluster; the paler, the more doubtful";
        canvas.text((MARGIN, HEIGHT - MARGIN - 16), note, Face::Plain, GREY);
        Ok(())
    }

    /// The mean place of a cluster's rows.
    fn middle(&self, places: &[(f64, f64)], cluster: usize) -> Option<(f64, f64)> {
        let of_cluster = |&(_, &label): &(_, &u32)| label as usize == cluster;
        let mine: Vec<_> = places.iter().zip(self.labels).filter(of_cluster).map(|(p, _)| p).collect();
        let n = mine.len() as f64;
        (n > 0.0)
            .then(|| (mine.iter().map(|p| p.0).sum::<f64>() / n, mine.iter().map(|p| p.1).sum::<f64>() / n))
    }

    /// A line for each cluster: its mean, its most and its least confident rows.
    fn sheet(&self, canvas: &mut Canvas) {
        for (x, title) in [(MEAN_AT, "mean"), (SURE_AT, "most confident"), (DOUBTFUL_AT, "least confident,")]
        {
            canvas.text((x, TOP - 46), title, Face::Plain, GREY);
        }
        canvas.text((DOUBTFUL_AT, TOP - 28), "with runner-up", Face::Plain, GREY);
        let height = (HEIGHT - TOP - MARGIN) / self.k();
        let order = self.by_confidence();
        for (line, (cluster, caption)) in self.captions.iter().enumerate() {
            let y = TOP + line * height;
            let mine: Vec<usize> =
                order.iter().copied().filter(|&row| self.labels[row] as usize == *cluster).collect();
            canvas.rectangle((SHEET, y), (6, 2 * PITCH - 3), colour(*cluster));
            canvas.text((SHEET + 16, y + 6), &format!("cluster {cluster}"), Face::Bold, INK);
            canvas.text((SHEET + 16, y + 30), caption, Face::Plain, GREY);
            canvas.image((MEAN_AT, y), 2 * PITCH - 3, &self.mean(&mine), self.side, INK);
            let sure: Vec<usize> = mine.iter().rev().take(SURE).copied().collect();
            self.examples(canvas, (SURE_AT, y), &sure, SURE / 2);
            let doubtful = &mine[..DOUBTFUL.min(mine.len())];
            self.examples(canvas, (DOUBTFUL_AT, y), doubtful, DOUBTFUL / 2);
            for (i, &row) in doubtful.iter().enumerate() {
                let at = cell((DOUBTFUL_AT, y), i, DOUBTFUL / 2);
                canvas.rectangle((at.0, at.1 + CELL - 1), (CELL - 1, 3), colour(self.runner_up(row)));
            }
        }
    }

    /// Images in lines of a given length.
    fn examples(&self, canvas: &mut Canvas, (x, y): (usize, usize), rows: &[usize], columns: usize) {
        for (i, &row) in rows.iter().enumerate() {
            canvas.image(cell((x, y), i, columns), CELL, &self.mean(&[row]), self.side, INK);
        }
    }

    /// The mean image of some rows, as ink from 0 to 1.
    fn mean(&self, rows: &[usize]) -> Vec<f32> {
        let m = self.side * self.side;
        let share = 1.0 / (self.ink * rows.len().max(1) as f32);
        let mut mean = vec![0.0; m];
        for &row in rows {
            mean.iter_mut().zip(&self.rows[row * m..]).for_each(|(m, x)| *m += x * share);
        }
        mean
    }
}

/// The corner of a cell of a grid.
fn cell((x, y): (usize, usize), index: usize, columns: usize) -> (usize, usize) {
    (x + index % columns * PITCH, y + index / columns * PITCH)
}

/// Scale places to a rectangle with some room at its sides.
fn fit_into(places: &[[f64; 2]], corner: (usize, usize), size: (usize, usize)) -> Vec<(f64, f64)> {
    const ROOM: f64 = 24.0;
    let axis = |d: usize, from: usize, length: usize| {
        let low = places.iter().map(|p| p[d]).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(|p| p[d]).fold(f64::NEG_INFINITY, f64::max);
        let scale = (length as f64 - 2.0 * ROOM) / (high - low).max(f64::MIN_POSITIVE);
        move |v: f64| from as f64 + ROOM + (v - low) * scale
    };
    let (x, y) = (axis(0, corner.0, size.0), axis(1, corner.1, size.1));
    places.iter().map(|p| (x(p[0]), y(p[1]))).collect()
}
