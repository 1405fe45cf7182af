//! Rows of mostly zeros, such as counts of words: only what is not zero is kept and worked on.
//!
//! Preparation subtracts means, which would fill the zeros. But it is affine in each row once the row's norm is known, so that a
//! product of prepared rows with some directions is a product of the sparse rows plus a constant ([`Projector`]). Survey,
//! reduction, training and prediction need no more than such products.

use crate::error::{Error, Result};
use crate::linear::prepare::{View, apply_views};
use crate::linear::reduce::{Lines, Products};
use crate::rows::Rows;
use faer::Mat;
use std::borrow::Cow;

/// Rows in compressed form: the columns and values of row `i` stand at `starts[i] .. starts[i + 1]`.
///
/// ```
/// use partita::rows::Rows;
/// use partita::sparse::Csr;
/// let rows = Csr::new(vec![0, 2, 2, 3], vec![0, 3, 1].into(), vec![1.0, 2.0, 5.0].into(), 4)?;
/// let mut all = [9.0; 12];
/// rows.read(0, &mut all)?;
/// assert_eq!(all, [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
/// # Ok::<(), partita::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<'a> {
    starts: Vec<usize>,
    columns: Cow<'a, [i32]>,
    values: Cow<'a, [f32]>,
    m: usize,
}

impl<'a> Csr<'a> {
    /// Rows of `m` features.
    ///
    /// # Errors
    /// If the parts do not fit together, or if the columns of a row do not ascend.
    pub fn new(
        starts: Vec<usize>,
        columns: Cow<'a, [i32]>,
        values: Cow<'a, [f32]>,
        m: usize,
    ) -> Result<Self> {
        let bad = |value: String, must| Error::Parameter { name: "the sparse matrix", value, must };
        if columns.len() != values.len() || starts.first() != Some(&0) || starts.last() != Some(&values.len())
        {
            let value = format!("{} columns, {} values", columns.len(), values.len());
            return Err(bad(value, "as many columns as values, and starts from 0 to their number"));
        }
        for (row, ends) in starts.windows(2).enumerate() {
            let columns = columns.get(ends[0]..ends[1]);
            let fine = columns.is_some_and(|c| {
                c.is_sorted_by(|a, b| a < b)
                    && c.first().is_none_or(|first| *first >= 0)
                    && c.last().is_none_or(|last| (*last as usize) < m)
            });
            if !fine {
                return Err(bad(
                    format!("row {row}"),
                    "columns that ascend, each once, below the number of features",
                ));
            }
        }
        Ok(Self { starts, columns, values, m })
    }

    /// Columns and values of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f32)> + Clone + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().map(|c| *c as usize).zip(self.values[range].iter().copied())
    }

    /// The rows at these indices, as a matrix of its own.
    pub fn select(&self, rows: &[usize]) -> Csr<'static> {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            let range = self.starts[i]..self.starts[i + 1];
            columns.extend_from_slice(&self.columns[range.clone()]);
            values.extend_from_slice(&self.values[range]);
            starts.push(values.len());
        }
        Csr { starts, columns: columns.into(), values: values.into(), m: self.m }
    }

    /// The first value that is NaN or infinite, as an error.
    pub fn check_finite(&self) -> Result<()> {
        let Some(at) = self.values.iter().position(|v| !v.is_finite()) else { return Ok(()) };
        let row = self.starts.partition_point(|start| *start <= at) - 1;
        Err(Error::NotFinite { row, column: self.columns[at] as usize, value: self.values[at] })
    }
}

impl Rows for Csr<'_> {
    fn n(&self) -> usize {
        self.starts.len() - 1
    }
    fn m(&self) -> usize {
        self.m
    }
    fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        out.fill(0.0);
        for (i, out) in out.chunks_exact_mut(self.m.max(1)).enumerate() {
            self.row(start + i).for_each(|(j, v)| out[j] = v);
        }
        Ok(())
    }
    fn sparse(&self) -> Option<&Csr<'_>> {
        Some(self)
    }
}

/// What a view does to sparse rows, without filling them.
pub struct Norms<'a> {
    view: &'a View,
    /// ‖c‖².
    centre: f64,
}

impl<'a> Norms<'a> {
    /// For rows seen by this view.
    pub fn new(view: &'a View) -> Self {
        Self { view, centre: view.centre.iter().map(|c| f64::from(*c).powi(2)).sum() }
    }

    /// 1/‖x − c‖ of a row, or 0 for a row at the centre; 1 if the view leaves norms alone.
    pub fn factor(&self, row: impl Iterator<Item = (usize, f32)>) -> f64 {
        if !self.view.normalise {
            return 1.0;
        }
        let (mut square, mut size) = (self.centre, self.centre);
        for (j, x) in row {
            let (x, c) = (f64::from(x), self.centre_at(j));
            square += (x - c) * (x - c) - c * c;
            size += x * x;
        }
        // What is left of equal numbers is rounding.
        if square <= 1e-14 * size { 0.0 } else { 1.0 / square.sqrt() }
    }

    /// c of a feature.
    pub fn centre_at(&self, feature: usize) -> f64 {
        self.view.centre.get(feature).map_or(0.0, |c| f64::from(*c))
    }
}

/// Products A S (v(x) − mean) − shift of sparse rows x with dense directions A, for a view v and factors S of the features.
pub struct Projector<'a> {
    rows: &'a Csr<'a>,
    norms: Norms<'a>,
    /// S Aᵀ, `[m, d]`: what a feature adds stands together.
    table: Vec<f32>,
    /// A S c, `[d]`.
    centre: Vec<f32>,
    /// A S mean + shift, `[d]`.
    shift: Vec<f64>,
    d: usize,
}

impl<'a> Projector<'a> {
    /// For directions `[d, m]`. An empty `scale` stands for ones, an empty `mean` for zeros.
    pub fn new(rows: &'a Csr<'a>, view: &'a View, directions: &[f32], scale: &[f32], mean: &[f32]) -> Self {
        let m = rows.m;
        let d = directions.len() / m;
        let mut table = vec![0.0; m * d];
        for (r, direction) in directions.chunks_exact(m).enumerate() {
            for (j, a) in direction.iter().enumerate() {
                table[j * d + r] = a * scale.get(j).copied().unwrap_or(1.0);
            }
        }
        let image = |vector: &[f32]| -> Vec<f64> {
            let mut sum = vec![0.0; d];
            for (a, x) in table.chunks_exact(d).zip(vector) {
                sum.iter_mut().zip(a).for_each(|(s, a)| *s += f64::from(*a) * f64::from(*x));
            }
            sum
        };
        let centre = image(&view.centre).iter().map(|v| *v as f32).collect();
        let shift = image(mean);
        Self { rows, norms: Norms::new(view), table, centre, shift, d }
    }

    /// The same with `bias` added to every product.
    pub fn with_bias(mut self, bias: &[f32]) -> Self {
        self.shift.iter_mut().zip(bias).for_each(|(s, b)| *s -= f64::from(*b));
        self
    }

    /// Numbers in a product.
    pub fn d(&self) -> usize {
        self.d
    }

    /// The product of one row into `out`, `[d]`.
    pub fn apply(&self, row: usize, out: &mut [f32]) {
        out.fill(0.0);
        let entries = self.rows.row(row);
        for (j, x) in entries.clone() {
            let table = &self.table[j * self.d..(j + 1) * self.d];
            out.iter_mut().zip(table).for_each(|(o, a)| *o += x * a);
        }
        let factor = self.norms.factor(entries);
        for ((o, centre), shift) in out.iter_mut().zip(&self.centre).zip(&self.shift) {
            *o = (factor * f64::from(*o - centre) - shift) as f32;
        }
    }
}

/// Sparse rows after a view, a mean and factors of the features.
pub struct Prepared<'a> {
    /// The rows.
    pub rows: &'a Csr<'a>,
    /// What is done to each first.
    pub view: &'a View,
    /// Subtracted then, ...
    pub mean: &'a [f32],
    /// ... before each feature is multiplied.
    pub scale: &'a [f32],
}

impl<'a> Prepared<'a> {
    /// What multiplies the rows with directions `[d, m]`.
    pub fn projector(&self, directions: &[f32]) -> Projector<'a> {
        Projector::new(self.rows, self.view, directions, self.scale, self.mean)
    }

    /// One row, filled.
    fn fill(&self, row: usize, out: &mut [f32]) {
        out.fill(0.0);
        self.rows.row(row).for_each(|(j, x)| out[j] = x);
        apply_views(std::slice::from_ref(self.view), out);
        for ((x, mean), scale) in out.iter_mut().zip(self.mean).zip(self.scale) {
            *x = (*x - mean) * scale;
        }
    }
}

impl Lines for Prepared<'_> {
    fn products<'b>(&'b self, directions: Option<&'b [f32]>) -> Products<'b> {
        let m = self.rows.m;
        match directions.map(|d| self.projector(d)) {
            Some(projector) => Box::new(move |rows| {
                let mut out = vec![0.0; rows.len() * projector.d];
                rows.iter()
                    .zip(out.chunks_exact_mut(projector.d))
                    .for_each(|(&i, out)| projector.apply(i, out));
                Ok(out)
            }),
            None => Box::new(move |rows| {
                let mut out = vec![0.0; rows.len() * m];
                rows.iter().zip(out.chunks_exact_mut(m)).for_each(|(&i, out)| self.fill(i, out));
                Ok(out)
            }),
        }
    }

    fn power(&self, rows: &[usize], directions: &[f32], m: usize) -> Result<Mat<f64>> {
        let projector = self.projector(directions);
        let d = projector.d;
        let norms = Norms::new(self.view);
        // A prepared row is S (f (x − c) − mean): x is summed where it is not zero, c and the mean once for all rows.
        let mut back = vec![0.0f64; m * d];
        let (mut image, mut with_factor, mut plain) = (vec![0.0; d], vec![0.0f64; d], vec![0.0f64; d]);
        for &i in rows {
            projector.apply(i, &mut image);
            let factor = norms.factor(self.rows.row(i));
            for (j, x) in self.rows.row(i) {
                let x = factor * f64::from(x);
                back[j * d..(j + 1) * d].iter_mut().zip(&image).for_each(|(b, z)| *b += x * f64::from(*z));
            }
            for ((with_factor, plain), z) in with_factor.iter_mut().zip(&mut plain).zip(&image) {
                *with_factor += factor * f64::from(*z);
                *plain += f64::from(*z);
            }
        }
        Ok(Mat::from_fn(m, d, |j, r| {
            let lost = norms.centre_at(j) * with_factor[r] + f64::from(self.mean[j]) * plain[r];
            f64::from(self.scale[j]) * (back[j * d + r] - lost)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::prepare::Preparation;
    use crate::linear::{Dims, Input, Params, Prepare, fit};
    use crate::metrics::ari;
    use crate::report::Silent;
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;

    /// Documents of three topics: words of the topic and words of all.
    fn documents(n: usize, m: usize) -> (Array2<f32>, Csr<'static>) {
        let mut rng = stream(1, Stream::Synthetic, 0);
        let mut dense = Array2::zeros((n, m));
        for i in 0..n {
            for _ in 0..12 {
                let word = rng.random_range(0..m / 3);
                let word = if rng.random::<f32>() < 0.7 { word * 3 + i % 3 } else { rng.random_range(0..m) };
                dense[[i, word]] += 1.0 + rng.random::<f32>();
            }
        }
        let csr = compressed(&dense);
        (dense, csr)
    }

    fn compressed(dense: &Array2<f32>) -> Csr<'static> {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in dense.rows() {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(j as i32);
                values.push(*v);
            }
            starts.push(values.len());
        }
        Csr::new(starts, columns.into(), values.into(), dense.ncols()).unwrap()
    }

    #[test]
    fn every_preparation_gives_the_rows_that_filled_ones_give() {
        let (dense, sparse) = documents(400, 210);
        let view = dense.view();
        for how in [
            Prepare::Auto,
            Prepare::None,
            Prepare::Centre,
            Prepare::Standardise,
            Prepare::L2,
            Prepare::Sphere,
        ] {
            let prepared = |rows: &dyn Rows| {
                let mut preparation = Preparation::fit(rows, &[210], how, &Silent).unwrap();
                preparation.reduce(rows, Dims::Exactly(8), 0).unwrap();
                preparation.load(rows).unwrap()
            };
            let (a, b) = (prepared(&view), prepared(&sparse));
            let worst = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 2e-3, "{how:?}: {worst}");
        }
    }

    #[test]
    fn a_fit_finds_the_same_clusters_and_predicts_rows_of_either_kind_alike() {
        let (dense, sparse) = documents(600, 240);
        let view = dense.view();
        let params = Params { restarts: 2, ..Params::new(3) };
        let found = fit(&Input::new(&sparse), &params, &Silent).unwrap();
        let filled = fit(&Input::new(&view), &params, &Silent).unwrap();
        assert!(ari(&filled.labels, &found.labels).unwrap() > 0.99);
        let proba = (found.model.predict_proba(&sparse).unwrap(), found.model.predict_proba(&view).unwrap());
        proba.0.iter().zip(&proba.1).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{a} {b}"));
    }

    #[test]
    fn rows_that_do_not_ascend_or_do_not_fit_are_refused() {
        for (starts, columns, values) in [
            (vec![0, 2], vec![1, 0], vec![1.0, 2.0]),
            (vec![0, 2], vec![1, 1], vec![1.0, 2.0]),
            (vec![0, 1], vec![3], vec![1.0]),
            (vec![0, 1], vec![-1], vec![1.0]),
            (vec![0, 2], vec![0], vec![1.0]),
            (vec![0, 3, 2], vec![0, 1], vec![1.0, 1.0]),
        ] {
            assert!(Csr::new(starts, columns.into(), values.into(), 3).is_err());
        }
    }

    #[test]
    fn a_value_that_is_not_finite_is_named() {
        let rows =
            Csr::new(vec![0, 1, 1, 3], vec![2, 0, 1].into(), vec![1.0, 2.0, f32::NAN].into(), 4).unwrap();
        let error = fit(&Input::new(&rows), &Params::new(2), &Silent).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 2, column: 1, .. }), "{error}");
    }
}
