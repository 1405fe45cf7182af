//! Prepared sparse rows: norms, products with directions, and powers, without filling the rows.
//!
//! Preparation subtracts means, which would fill the zeros. But it is affine in each row once the row's norm is known, so that a
//! product of prepared rows with some directions is a product of the sparse rows plus a constant ([`Projector`]). Survey,
//! reduction, training and prediction need no more than such products.

use super::reduce::{Lines, Products};
use super::view::{FeatureView, apply_views};
use crate::error::Result;
use crate::rows::{Csr, Rows};
use faer::Mat;

/// What a view does to sparse rows, without filling them.
pub struct Norms<'a> {
    view: &'a FeatureView,
    /// ‖c‖².
    centre: f64,
}

impl<'a> Norms<'a> {
    /// For rows seen by this view.
    pub fn new(view: &'a FeatureView) -> Self {
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
    pub fn new(
        rows: &'a Csr<'a>,
        view: &'a FeatureView,
        directions: &[f32],
        scale: &[f32],
        mean: &[f32],
    ) -> Self {
        let m = rows.m();
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
pub struct SparseLines<'a> {
    /// The rows.
    pub rows: &'a Csr<'a>,
    /// What is done to each first.
    pub view: &'a FeatureView,
    /// Subtracted then, ...
    pub mean: &'a [f32],
    /// ... before each feature is multiplied.
    pub scale: &'a [f32],
}

impl<'a> SparseLines<'a> {
    /// What multiplies the rows with directions `[d, m]`.
    pub fn projector(&self, directions: &[f32]) -> Projector<'a> {
        Projector::new(self.rows, self.view, directions, self.scale, self.mean)
    }

    /// One row, filled.
    fn fill(&self, row: usize, out: &mut [f32]) -> Result<()> {
        self.rows.read(row, out)?;
        apply_views(std::slice::from_ref(self.view), out);
        for ((x, mean), scale) in out.iter_mut().zip(self.mean).zip(self.scale) {
            *x = (*x - mean) * scale;
        }
        Ok(())
    }
}

impl Lines for SparseLines<'_> {
    fn products<'b>(&'b self, directions: Option<&'b [f32]>) -> Products<'b> {
        let m = self.rows.m();
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
                rows.iter().zip(out.chunks_exact_mut(m)).try_for_each(|(&i, out)| self.fill(i, out))?;
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
