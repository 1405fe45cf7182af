//! Preparing features: what is done to every row before training, and how the model takes it back.
//!
//! A prepared row is `P ((x − c) / ‖x − c‖ − mean) · scale`, where each part may be absent. In these units
//! E‖x‖² = 1, so that one set of defaults serves raw pixels and deep features alike. What is affine (`mean`,
//! `scale`, the reduction P) is folded back into W and b; what is not (`c`, the row norm) stays with the model as a
//! [`FeatureView`].

use super::choice::{Inner, Prepare, PrepareNote, PrepareWhy};
use super::reduce::{Dense, Dims, Reduction};
use super::sparse::{Projector, SparseLines};
use super::survey::{moments, survey, variance};
use super::view::{FeatureView, apply_views};
use crate::error::{Error, Result};
use crate::numeric::vector;
use crate::report::{Observer, Part};
use crate::rows::Rows;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows prepared by one thread at a time.
const PIECE: usize = 64;

/// The whole preparation, fitted to the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// One view for each feature file.
    pub views: Vec<FeatureView>,
    /// Subtracted after the views.
    pub mean: Vec<f32>,
    /// A factor for each feature, applied after that.
    pub scale: Vec<f32>,
    /// Applied last.
    pub reduction: Option<Reduction>,
}

impl Preparation {
    /// Fit to all rows of `data`, whose features are views of these widths side by side.
    ///
    /// Values that are not finite are found here, in the first pass over the data.
    pub fn fit(data: &dyn Rows, widths: &[usize], how: Prepare, observer: &dyn Observer) -> Result<Self> {
        Self::fit_views(data, widths, how, None, observer)
    }

    /// The same with given views, those of a model to start from: its weights are for rows prepared by them.
    pub fn fit_views(
        data: &dyn Rows,
        widths: &[usize],
        how: Prepare,
        given: Option<&[FeatureView]>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        Ok(Self::fit_noted(data, widths, how, given, observer)?.0)
    }

    /// The same, with what was done to the features of each file and why.
    pub(super) fn fit_noted(
        data: &dyn Rows,
        widths: &[usize],
        how: Prepare,
        given: Option<&[FeatureView]>,
        observer: &dyn Observer,
    ) -> Result<(Self, Vec<PrepareNote>)> {
        let n = data.n() as f64;
        let mut views: Vec<FeatureView> =
            widths.iter().map(|&width| FeatureView { width, centre: Vec::new(), normalise: false }).collect();
        let survey = survey(data, &Part::new(observer, 0.0, 0.5))?;
        let deviations = survey.deviations(0..data.m(), n);
        // Sparse rows count things of one kind, rare and frequent ones: their spreads are no units.
        let spreads = if data.sparse().is_some() { vec![1.0; data.m()] } else { deviations };
        let inner = Inner::of(data, widths, &spreads, how)?;
        let mut notes = Vec::with_capacity(widths.len());
        let mut at = 0;
        for view in &mut views {
            let part = at..at + view.width;
            let skewness = survey.skewness(part.clone(), n);
            let note = match how == Prepare::Auto && data.is_weighed(at) {
                true => PrepareNote { kind: Prepare::Centre, why: PrepareWhy::Weighed },
                false => how.resolve(&spreads[part.clone()], inner.spread(part.clone()), skewness),
            };
            view.centre = match note.kind {
                Prepare::Centre | Prepare::Standardise | Prepare::Robust | Prepare::Sphere => {
                    survey.mean(part.clone(), n)
                }
                Prepare::Floor => survey.floor[part.clone()].to_vec(),
                _ => Vec::new(),
            };
            view.normalise = note.kind.normalises();
            notes.push(note);
            at = part.end;
        }
        if let Some(given) = given {
            views = given.to_vec();
        }
        let moments = moments(data, &views, &Part::new(observer, 0.5, 1.0))?;
        let mean: Vec<f64> = match how {
            Prepare::None => vec![0.0; data.m()],
            _ => moments.sum.iter().map(|s| s / n).collect(),
        };
        let mut variance: Vec<f64> =
            moments.squares.iter().zip(&mean).map(|(s, mean)| variance(s / n, *mean)).collect();
        let kinds: Vec<Prepare> = notes.iter().map(|note| note.kind).collect();
        inner.replace(&mut variance, widths, &kinds);
        let scale = scales(&variance, widths, &kinds)?;
        let mean = mean.iter().map(|&v| v as f32).collect();
        Ok((Self { views, mean, scale, reduction: None }, notes))
    }

    /// Find the reduction of the rows prepared so far.
    pub fn reduce(&mut self, data: &dyn Rows, dims: Dims, seed: u64) -> Result<()> {
        let read = |rows: &[usize], out: &mut [f32]| {
            data.gather(rows, out)?;
            self.scale_block(out);
            Ok(())
        };
        let shape = (data.n(), data.m());
        self.reduction = match self.sparse(data) {
            Some(rows) => Reduction::fit(shape, dims, seed, &rows)?,
            None => Reduction::fit(shape, dims, seed, &Dense { m: data.m(), read })?,
        };
        data.release();
        Ok(())
    }

    /// The rows before the reduction as they are, if they are sparse.
    fn sparse<'a>(&'a self, data: &'a dyn Rows) -> Option<SparseLines<'a>> {
        let [view] = &self.views[..] else { return None };
        Some(SparseLines { rows: data.sparse()?, view, mean: &self.mean, scale: &self.scale })
    }

    /// Number of raw features.
    pub fn m(&self) -> usize {
        self.mean.len()
    }

    /// Number of prepared features.
    pub fn d(&self) -> usize {
        self.reduction.as_ref().map_or(self.m(), Reduction::d)
    }

    /// The mean raw row or, where rows are divided by their norms, the point that they are seen from.
    pub fn average(&self) -> Vec<f32> {
        let mut average = Vec::with_capacity(self.m());
        for view in &self.views {
            let mean = &self.mean[average.len()..][..view.width];
            let point = |f: usize| view.centre.get(f).copied().unwrap_or(0.0);
            average.extend((0..view.width).map(|f| point(f) + if view.normalise { 0.0 } else { mean[f] }));
        }
        average
    }

    /// Whether all parts fit together and all numbers are finite. A reduction is not looked at.
    pub fn is_sound(&self) -> bool {
        let width: usize = self.views.iter().map(|view| view.width).sum();
        let centres = self.views.iter().all(|view| view.centre.is_empty() || view.centre.len() == view.width);
        let numbers = self.views.iter().map(|view| &view.centre).chain([&self.mean, &self.scale]);
        width > 0
            && centres
            && (self.mean.len(), self.scale.len()) == (width, width)
            && numbers.flatten().all(|v| v.is_finite())
    }

    /// The rows of `data` as this preparation shows them.
    ///
    /// ```
    /// use ndarray::array;
    /// use partita::{linear::Prepare, prepare::Preparation, report::Silent};
    /// let rows = array![[1.0f32, 0.0], [3.0, 4.0]];
    /// let centred = Preparation::fit(&rows, &[2], Prepare::Centre, &Silent)?;
    /// let mut out = vec![0.0; 4];
    /// centred.reader(&rows).read(0, &mut out)?;
    /// assert_eq!((out[0], out[1]), (-out[2], -out[3]));
    /// # Ok::<(), partita::Error>(())
    /// ```
    pub fn reader<'a>(&'a self, data: &'a dyn Rows) -> Reader<'a> {
        let projector = match (self.sparse(data), &self.reduction) {
            (Some(rows), Some(reduction)) => Some(rows.projector(reduction.matrix())),
            _ => None,
        };
        Reader { preparation: self, data, projector }
    }

    /// All rows of `data`, prepared.
    pub fn load(&self, data: &dyn Rows) -> Result<Vec<f32>> {
        let d = self.d();
        let (mut all, reader) = (vec![0.0; data.n() * d], self.reader(data));
        all.par_chunks_mut(PIECE * d).enumerate().try_for_each(|(i, out)| reader.read(i * PIECE, out))?;
        data.release();
        Ok(all)
    }

    /// Prepare a block of raw rows `[n, m]`, which is overwritten, into `out` `[n, d]`.
    pub fn apply(&self, block: &mut [f32], out: &mut [f32]) {
        self.scale_block(block);
        match &self.reduction {
            Some(reduction) => reduction.apply(block, out),
            None => out.copy_from_slice(block),
        }
    }

    /// Everything before the reduction, in place.
    fn scale_block(&self, block: &mut [f32]) {
        apply_views(&self.views, block);
        vector::dispatch(
            #[inline(always)]
            || {
                for row in block.chunks_exact_mut(self.m()) {
                    for ((x, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                        *x = (*x - mean) * scale;
                    }
                }
            },
        );
    }

    /// Fold everything after the views into weights and biases that were trained on prepared rows.
    pub fn fold(&self, weight: &[f32], bias: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let m = self.m();
        let weight = self.reduction.as_ref().map_or_else(|| weight.to_vec(), |r| r.fold(weight));
        let folded: Vec<f32> =
            weight.chunks_exact(m).flat_map(|w| w.iter().zip(&self.scale).map(|(w, s)| w * s)).collect();
        let bias = folded
            .chunks_exact(m)
            .zip(bias)
            .map(|(w, &b)| {
                let shift: f64 = w.iter().zip(&self.mean).map(|(w, c)| f64::from(*w) * f64::from(*c)).sum();
                (f64::from(b) - shift) as f32
            })
            .collect();
        (folded, bias)
    }

    /// The inverse of [`Preparation::fold`]: weights for prepared rows from weights for rows after the views.
    pub fn unfold(&self, weight: &[f32], bias: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let m = self.m();
        let bias = weight
            .chunks_exact(m)
            .zip(bias)
            .map(|(w, &b)| {
                let shift: f64 = w.iter().zip(&self.mean).map(|(w, c)| f64::from(*w) * f64::from(*c)).sum();
                (f64::from(b) + shift) as f32
            })
            .collect();
        let unfolded: Vec<f32> = weight
            .chunks_exact(m)
            .flat_map(|w| w.iter().zip(&self.scale).map(|(w, &s)| if s > 0.0 { w / s } else { 0.0 }))
            .collect();
        (self.reduction.as_ref().map_or_else(|| unfolded.clone(), |r| r.unfold(&unfolded)), bias)
    }
}

/// Rows that are prepared as they are read. Sparse rows are not filled if they are reduced.
pub struct Reader<'a> {
    preparation: &'a Preparation,
    data: &'a dyn Rows,
    projector: Option<Projector<'a>>,
}

impl Reader<'_> {
    /// The prepared rows from `start` on, as many as `out` `[n, d]` takes.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        let d = self.preparation.d();
        if let Some(projector) = &self.projector {
            out.chunks_exact_mut(d).enumerate().for_each(|(i, out)| projector.apply(start + i, out));
            return Ok(());
        }
        let mut raw = vec![0.0; out.len() / d * self.preparation.m()];
        self.data.read(start, &mut raw)?;
        self.preparation.apply(&mut raw, out);
        Ok(())
    }

    /// The prepared rows at these indices, into `out` `[rows, d]`.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn gather(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        let d = self.preparation.d();
        if let Some(projector) = &self.projector {
            rows.iter().zip(out.chunks_exact_mut(d)).for_each(|(&row, out)| projector.apply(row, out));
            return Ok(());
        }
        for (rows, out) in rows.chunks(PIECE).zip(out.chunks_mut(PIECE * d)) {
            let mut raw = vec![0.0; rows.len() * self.preparation.m()];
            self.data.gather(rows, &mut raw)?;
            self.preparation.apply(&mut raw, out);
        }
        Ok(())
    }
}

/// Factors that give every view an equal share of E‖x‖² = 1.
fn scales(variance: &[f64], widths: &[usize], kinds: &[Prepare]) -> Result<Vec<f32>> {
    let mut scale = Vec::with_capacity(variance.len());
    let mut rest = variance;
    let mut varying = 0;
    for (&width, kind) in widths.iter().zip(kinds) {
        let (view, tail) = rest.split_at(width);
        rest = tail;
        let target = 1.0 / widths.len() as f64;
        let total: f64 = view.iter().sum();
        let features = view.iter().filter(|v| **v > 0.0).count();
        varying += features;
        scale.extend(view.iter().map(|&v| match kind {
            _ if v == 0.0 || total == 0.0 => 0.0,
            Prepare::Standardise | Prepare::Robust => (target / (features as f64 * v)).sqrt() as f32,
            _ => (target / total).sqrt() as f32,
        }));
    }
    if varying == 0 || !scale.iter().all(|s| s.is_finite()) {
        let names: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
        return Err(Error::Constant { preparation: names.join(", ") });
    }
    Ok(scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Silent;
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;

    fn random(n: usize, m: usize) -> Array2<f32> {
        let mut rng = stream(3, Stream::Synthetic, 0);
        Array2::from_shape_fn((n, m), |(_, j)| rng.random::<f32>() * (1 + j) as f32 + 5.0)
    }

    const ALL: [Prepare; 8] = [
        Prepare::Robust,
        Prepare::Auto,
        Prepare::None,
        Prepare::Centre,
        Prepare::Standardise,
        Prepare::L2,
        Prepare::Sphere,
        Prepare::Floor,
    ];

    #[test]
    fn prepared_rows_have_unit_mean_square_norm_and_zero_mean() {
        let data = random(1500, 7);
        for how in ALL {
            let prep = Preparation::fit(&data.view(), &[3, 4], how, &Silent).unwrap();
            let mut block = data.clone().into_raw_vec_and_offset().0;
            prep.scale_block(&mut block);
            let rows = Array2::from_shape_vec((1500, 7), block).unwrap();
            let power = rows.mapv(|v| f64::from(v).powi(2)).sum() / 1500.0;
            if how == Prepare::Robust {
                assert!((0.5..2.0).contains(&power), "{power}");
            } else if how != Prepare::None {
                assert!((power - 1.0).abs() < 1e-4, "{how:?}: {power}");
                assert!(rows.mean_axis(ndarray::Axis(0)).unwrap().iter().all(|v| v.abs() < 1e-4), "{how:?}");
            }
        }
    }

    #[test]
    fn folding_gives_the_same_logits_and_unfolding_takes_it_back() {
        let data = random(200, 7);
        let weight: Vec<f32> = (0..21).map(|i| (i as f32 * 0.7).sin()).collect();
        let bias = [0.1, -0.2, 0.3];
        let logits = |w: &[f32], b: &[f32], row: &[f32]| -> Vec<f32> {
            (0..3)
                .map(|k| b[k] + w[k * 7..k * 7 + 7].iter().zip(row).map(|(w, x)| w * x).sum::<f32>())
                .collect()
        };
        for how in ALL {
            let mut prep = Preparation::fit(&data.view(), &[3, 4], how, &Silent).unwrap();
            prep.reduce(&data.view(), Dims::Auto, 0).unwrap();
            let (folded, folded_bias) = prep.fold(&weight, &bias);
            let (back, back_bias) = prep.unfold(&folded, &folded_bias);
            for row in data.rows() {
                let mut prepared = vec![0.0; 7];
                prep.apply(&mut row.to_vec(), &mut prepared);
                let mut viewed = row.to_vec();
                apply_views(&prep.views, &mut viewed);
                let expected = logits(&weight, &bias, &prepared);
                for (a, b) in logits(&folded, &folded_bias, &viewed).iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-3, "{how:?}: {a} {b}");
                }
                for (a, b) in logits(&back, &back_bias, &prepared).iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-4, "{how:?}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn constant_rows_are_refused_and_a_constant_feature_is_not() {
        let same = Array2::from_elem((10, 3), 2.5f32);
        let error = Preparation::fit(&same.view(), &[3], Prepare::Centre, &Silent).unwrap_err();
        assert!(matches!(error, Error::Constant { .. }), "{error}");
        let mut one = same;
        one[[4, 1]] = 3.0;
        let prep = Preparation::fit(&one.view(), &[3], Prepare::Standardise, &Silent).unwrap();
        assert_eq!((prep.scale[0], prep.scale[2]), (0.0, 0.0));
        assert!(prep.scale[1] > 0.0);
    }
}
