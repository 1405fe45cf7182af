//! The trained model: takes raw rows, gives probabilities, labels and explanations.

use crate::balance::{self, Assignment, Bounds};
use crate::error::{Error, Result};
use crate::numeric::product;
use crate::outliers::{Judge, Outliers};
use crate::prepare::{FeatureView, Lift, Lifted, Projector, apply_views, centre_block};
use crate::rows::{Rows, check_finite, check_width};
use crate::simplex::largest;
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows predicted together. Fixed, so that a row's probabilities do not depend on the number of threads.
const BLOCK: usize = 128;
/// Steps from the average row to the one that is explained, where there is a lift.
const STEPS: usize = 32;

/// A linear softmax model σ = softmax(W x + b) of rows x after their [`FeatureView`]s and, before these, a [`Lift`] if there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The feature map of raw rows, if there is one.
    #[serde(default)]
    pub(super) lift: Option<Lift>,
    /// What is done to a row before W: one view for each feature file, or one for all lifted features.
    pub(super) views: Vec<FeatureView>,
    /// W, row-major `[k, width]`.
    pub(super) weight: Vec<f32>,
    /// b, `[k]`.
    pub(super) bias: Vec<f32>,
    /// The mean training row after the views, `[m]`: what explanations are relative to.
    pub(super) average: Vec<f32>,
    /// The prior over the sizes of clusters, `[k]`.
    pub(super) prior: Vec<f32>,
    /// What tells outliers from other rows, if they were asked for.
    #[serde(default)]
    pub(super) outliers: Option<Outliers>,
}

/// Space for one block of rows, used again for the next.
#[derive(Debug, Default)]
struct Buffers {
    block: Vec<f32>,
    /// What multiplies the product with each row.
    factors: Vec<f32>,
}

/// Raw rows with what turns them into logits.
struct Scorer<'a> {
    model: &'a Model,
    rows: &'a dyn Rows,
    /// For sparse rows, which are not filled.
    projector: Option<Projector<'a>>,
    /// If outliers are looked for.
    judge: Option<Judge<'a>>,
}

impl<'a> Scorer<'a> {
    fn new(model: &'a Model, rows: &'a dyn Rows) -> Result<Self> {
        check_width(rows, model.m())?;
        let projector = match (rows.sparse(), &model.views[..]) {
            (Some(rows), [view]) if model.lift.is_none() => {
                Some(Projector::new(rows, view, &model.weight, &[], &[]).with_bias(&model.bias))
            }
            _ => None,
        };
        Ok(Self { model, rows, projector, judge: None })
    }

    /// The same with outliers, if the model knows them.
    fn judging(model: &'a Model, rows: &'a dyn Rows) -> Result<Self> {
        let judge = model.outliers.as_ref().map(|outliers| outliers.judge(rows));
        Ok(Self { judge, ..Self::new(model, rows)? })
    }

    /// How far the rows from `start` on, in these clusters, are from belonging there.
    fn outlier_scores(&self, start: usize, labels: &[u32]) -> Result<Option<Vec<f32>>> {
        let (Some(judge), Some(outliers)) = (&self.judge, &self.model.outliers) else { return Ok(None) };
        let mut scales = vec![0.0; labels.len()];
        judge.scales(start, &mut scales)?;
        Ok(Some(outliers.scores(&scales, labels)))
    }

    /// Logits of the block of raw rows from `start` on.
    fn logits(&self, start: usize, buffers: &mut Buffers) -> Result<Vec<f32>> {
        let (k, m) = (self.model.k(), self.model.m());
        let count = BLOCK.min(self.rows.n() - start);
        let Buffers { block, factors } = buffers;
        let mut z = vec![0.0; count * k];
        match &self.projector {
            Some(projector) => {
                z.chunks_exact_mut(k).enumerate().for_each(|(i, z)| projector.apply(start + i, z));
            }
            None => {
                self.model.read(self.rows, start, count, block)?;
                self.model.logits(block, factors, &mut z);
            }
        }
        // A feature that is not finite leaves no logit of its row finite, so that only then the rows are looked at.
        if let Some(at) = z.iter().position(|z| !z.is_finite()) {
            block.resize(count * m, 0.0);
            self.rows.read(start, block)?;
            check_finite(block, m, start)?;
            return Err(Error::Overflow { row: start + at / k });
        }
        Ok(z)
    }
}

/// Predictions for a block of rows.
#[derive(Debug, Clone)]
pub struct Predictions {
    /// Index of the first row.
    pub start: usize,
    /// σ, row-major `[rows, k]`; each row sums to one.
    pub proba: Vec<f32>,
    /// The most probable cluster of each row (the first of equals).
    pub labels: Vec<u32>,
    /// How sparse the place of each row is beside its cluster, if the model knows outliers; see [`crate::outliers`].
    pub outlier_scores: Option<Vec<f32>>,
}

/// What one feature adds to the decision for a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contribution {
    /// Index of the feature.
    pub feature: usize,
    /// Its part of the logit difference between the chosen cluster and the runner-up.
    pub value: f64,
}

/// Why a row went where it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Probabilities of all clusters.
    pub proba: Vec<f32>,
    /// The chosen cluster.
    pub cluster: usize,
    /// The second most probable one.
    pub runner_up: usize,
    /// Logit difference between the two when every feature is at its average.
    pub base: f64,
    /// Contributions of all features, largest size first; with `base` they sum to the logit difference.
    pub contributions: Vec<Contribution>,
}

impl Model {
    /// A model of raw rows: W `[k, m]`, b `[k]`, the mean training row after the views `[m]` and the prior `[k]`, where m is the sum of the
    /// widths of the views.
    ///
    /// # Errors
    /// If the lengths do not fit together, if there is no cluster or no feature, or if a number is not finite.
    pub fn new(
        views: Vec<FeatureView>,
        weight: Vec<f32>,
        bias: Vec<f32>,
        average: Vec<f32>,
        prior: Vec<f32>,
    ) -> Result<Self> {
        let model = Self { lift: None, views, weight, bias, average, prior, outliers: None };
        let (k, m) = (model.k(), model.width());
        if k == 0 || m == 0 {
            return Err(Error::Empty { rows: k, columns: m });
        }
        let centres = model.views.iter().map(|v| (v.centre.len(), v.width)).filter(|(found, _)| *found > 0);
        let lengths = [(model.weight.len(), k * m), (model.average.len(), m), (model.prior.len(), k)];
        if let Some((found, expected)) = lengths.into_iter().chain(centres).find(|(a, b)| a != b) {
            return Err(Error::Length { what: "a part of the model", found, expected });
        }
        let numbers = [&model.weight, &model.bias, &model.average, &model.prior];
        let bad = numbers.into_iter().flatten().copied().find(|v| !v.is_finite());
        match bad {
            Some(bad) => Err(Error::Parameter {
                name: "a number of the model",
                value: bad.to_string(),
                must: "finite",
            }),
            None => Ok(model),
        }
    }

    /// The same model of rows that a lift maps to those it is a model of.
    ///
    /// # Errors
    /// If the lift does not give as many features as the model takes, or if its parts do not fit together.
    pub fn lifted(self, lift: Lift) -> Result<Self> {
        let [view] = &self.views[..] else {
            return Err(Error::Files { expected: vec![lift.d()], found: self.widths() });
        };
        if lift.d() != view.width || !lift.is_sound() {
            return Err(Error::Parameter {
                name: "the lift of the model",
                value: format!("one to {} features", lift.d()),
                must: "one of finite numbers to as many features as the model takes",
            });
        }
        Ok(Self { lift: Some(lift), ..self })
    }

    /// The feature map of raw rows, if there is one.
    pub fn lift(&self) -> Option<&Lift> {
        self.lift.as_ref()
    }

    /// The same model with what tells outliers from other rows.
    ///
    /// # Errors
    /// If it is for other rows or clusters, or if its parts do not fit together.
    pub fn with_outliers(self, outliers: Outliers) -> Result<Self> {
        let widths: Vec<usize> = outliers.base.views.iter().map(|view| view.width).collect();
        if widths != self.widths() || !outliers.is_sound(self.k()) {
            return Err(Error::Parameter {
                name: "the outliers of the model",
                value: format!(
                    "those of {} clusters of files of {widths:?} features",
                    outliers.typical.len()
                ),
                must: "of finite numbers, for the rows and the clusters of the model",
            });
        }
        Ok(Self { outliers: Some(outliers), ..self })
    }

    /// What tells outliers from other rows, if they were asked for.
    pub fn outliers(&self) -> Option<&Outliers> {
        self.outliers.as_ref()
    }

    /// `count` rows from `start` on, lifted if there is a lift.
    fn read(&self, rows: &dyn Rows, start: usize, count: usize, block: &mut Vec<f32>) -> Result<()> {
        block.resize(count * self.width(), 0.0);
        match &self.lift {
            Some(lift) => Lifted::new(rows, lift).read(start, block),
            None => rows.read(start, block),
        }
    }

    /// What is done to a row before W: one view for each feature file, or one for all lifted features.
    pub fn views(&self) -> &[FeatureView] {
        &self.views
    }

    /// W, row-major `[k, width]`.
    pub fn weight(&self) -> &[f32] {
        &self.weight
    }

    /// b, `[k]`.
    pub fn bias(&self) -> &[f32] {
        &self.bias
    }

    /// The mean training row after the views, `[m]`: what explanations are relative to.
    pub fn average(&self) -> &[f32] {
        &self.average
    }

    /// The prior over the sizes of clusters, `[k]`; [`Model::shares`] is the same in double precision.
    pub fn prior(&self) -> &[f32] {
        &self.prior
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.bias.len()
    }

    /// The prior in double precision, summing to one.
    pub fn shares(&self) -> Vec<f64> {
        let total: f64 = self.prior.iter().map(|&u| f64::from(u)).sum();
        self.prior.iter().map(|&u| f64::from(u) / total).collect()
    }

    /// Number of features of a raw row.
    pub fn m(&self) -> usize {
        self.lift.as_ref().map_or(self.width(), Lift::m)
    }

    /// Number of features that W takes: those of a raw row or, if there is a lift, of a lifted one.
    pub fn width(&self) -> usize {
        self.views.iter().map(|v| v.width).sum()
    }

    /// Features of each file that the model was fitted to.
    pub fn widths(&self) -> Vec<usize> {
        self.lift.as_ref().map_or_else(|| self.views.iter().map(|v| v.width).collect(), Lift::widths)
    }

    /// Refuse files of other widths than those of the fit, or in another order. One file of all features will do.
    pub fn check_widths(&self, widths: &[usize]) -> Result<()> {
        match widths {
            [all] if *all == self.m() => Ok(()),
            _ => self.check_files(widths),
        }
    }

    /// Refuse all but the files of the fit.
    pub(super) fn check_files(&self, found: &[usize]) -> Result<()> {
        let expected = self.widths();
        match (&expected[..], found) {
            (a, b) if a == b => Ok(()),
            (&[expected], &[found]) => Err(Error::Width { expected, found }),
            _ => Err(Error::Files { expected, found: found.to_vec() }),
        }
    }

    /// Whether all weights and biases are numbers.
    pub(super) fn is_finite(&self) -> bool {
        self.weight.iter().chain(&self.bias).all(|v| v.is_finite())
    }

    /// Logits of a block of raw rows, which is overwritten; `z` is `[rows, k]`.
    fn logits(&self, block: &mut [f32], factors: &mut Vec<f32>, z: &mut [f32]) {
        let [view] = &self.views[..] else {
            apply_views(&self.views, block);
            return product::logits_piece(block, &self.weight, &self.bias, self.width(), z);
        };
        centre_block(view, block, factors);
        product::product(block, &self.weight, self.width(), z);
        for (z, factor) in z.chunks_exact_mut(self.k()).zip(factors) {
            z.iter_mut().zip(&self.bias).for_each(|(z, b)| *z = *z * *factor + b);
        }
    }

    fn predict_block(&self, scorer: &Scorer<'_>, start: usize, buffers: &mut Buffers) -> Result<Predictions> {
        let mut proba = scorer.logits(start, buffers)?;
        product::softmax_rows(&mut proba, self.k());
        let labels: Vec<u32> = proba.chunks_exact(self.k()).map(|p| largest(p) as u32).collect();
        let outlier_scores = scorer.outlier_scores(start, &labels)?;
        Ok(Predictions { start, proba, labels, outlier_scores })
    }

    /// Predict all rows, block after block in order, on all threads; `sink` gets each block.
    pub fn predict_each(&self, rows: &dyn Rows, sink: impl FnMut(&Predictions) -> Result<()>) -> Result<()> {
        self.each(&Scorer::judging(self, rows)?, sink)
    }

    fn each(&self, scorer: &Scorer<'_>, mut sink: impl FnMut(&Predictions) -> Result<()>) -> Result<()> {
        let rows = scorer.rows;
        let blocks = rows.n().div_ceil(BLOCK);
        let group = 16 * rayon::current_num_threads();
        for first in (0..blocks).step_by(group) {
            let done: Vec<Predictions> = (first..blocks.min(first + group))
                .into_par_iter()
                .map_init(Buffers::default, |buffers, block| {
                    self.predict_block(scorer, block * BLOCK, buffers)
                })
                .collect::<Result<_>>()?;
            for predictions in &done {
                sink(predictions)?;
            }
        }
        rows.release();
        Ok(())
    }

    /// The most probable cluster of each row, outliers included.
    pub fn predict(&self, rows: &dyn Rows) -> Result<Vec<u32>> {
        let mut labels = Vec::with_capacity(rows.n());
        self.each(&Scorer::new(self, rows)?, |block| {
            labels.extend_from_slice(&block.labels);
            Ok(())
        })?;
        Ok(labels)
    }

    /// The most probable cluster of each row, −1 for outliers if the model knows them.
    ///
    /// # Errors
    /// If the rows are not like those of the model, or cannot be read.
    pub fn assign(&self, rows: &dyn Rows) -> Result<Vec<i32>> {
        let (labels, scores) = self.judged(rows)?;
        Ok(match (&self.outliers, scores) {
            (Some(outliers), Some(scores)) => outliers.mark(&labels, &scores),
            _ => labels.into_iter().map(|label| label as i32).collect(),
        })
    }

    /// How sparse the place of each row is beside its cluster: 0 for usual rows, near 1 far from everything. None if the model does not
    /// know outliers.
    ///
    /// ```
    /// use ndarray::{Array2, array};
    /// use partita::{EntropyClustering, outliers::OutlierRule};
    /// let x = Array2::from_shape_fn((200, 2), |(i, j)| if j == 0 { (i % 2 * 30 + i / 2 % 10) as f32 } else { (i / 20) as f32 });
    /// let model = EntropyClustering::new(2).outliers(OutlierRule::Share(0.05)).fit(&x)?.model;
    /// let scores = model.outlier_scores(&array![[4.5f32, 4.5], [500.0, 500.0]])?.expect("outliers were asked for");
    /// assert!(scores[0] < 0.3 && scores[1] > 0.98);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rows are not like those of the model, or cannot be read.
    pub fn outlier_scores(&self, rows: &dyn Rows) -> Result<Option<Vec<f32>>> {
        Ok(self.judged(rows)?.1)
    }

    /// The most probable cluster of each row, and its score.
    pub(super) fn judged(&self, rows: &dyn Rows) -> Result<(Vec<u32>, Option<Vec<f32>>)> {
        let (mut labels, mut scores) = (Vec::with_capacity(rows.n()), Vec::new());
        self.predict_each(rows, |block| {
            labels.extend_from_slice(&block.labels);
            scores.extend(block.outlier_scores.iter().flatten());
            Ok(())
        })?;
        Ok((labels, self.outliers.as_ref().map(|_| scores)))
    }

    /// The likeliest labels whose sizes are within bounds: Σ ln σ is as large as it can be. Holds ln σ of all rows in memory.
    pub fn predict_balanced(&self, rows: &dyn Rows, bounds: &Bounds) -> Result<Assignment> {
        let k = self.k();
        let mut log_proba = self.logits_all(rows)?.into_raw_vec_and_offset().0;
        // Differences within a row are all that counts; the largest as 0 keeps the others accurate.
        log_proba.par_chunks_mut(k).for_each(|row| {
            let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter_mut().for_each(|z| *z -= top);
        });
        balance::assign(&log_proba, k, bounds)
    }

    /// Probabilities of all clusters for each row, `[n, k]`.
    pub fn predict_proba(&self, rows: &dyn Rows) -> Result<Array2<f32>> {
        let mut proba = Vec::with_capacity(rows.n() * self.k());
        self.each(&Scorer::new(self, rows)?, |block| {
            proba.extend_from_slice(&block.proba);
            Ok(())
        })?;
        Ok(Array2::from_shape_vec((rows.n(), self.k()), proba).expect("predict_each gives n rows of k"))
    }

    /// Logits W x + b of each row, `[n, k]`.
    pub fn logits_all(&self, rows: &dyn Rows) -> Result<Array2<f32>> {
        let scorer = Scorer::new(self, rows)?;
        let k = self.k();
        let mut all = vec![0.0; rows.n() * k];
        all.par_chunks_mut(BLOCK * k).enumerate().try_for_each_init(
            Buffers::default,
            |buffers, (block, out)| {
                out.copy_from_slice(&scorer.logits(block * BLOCK, buffers)?);
                Ok::<_, Error>(())
            },
        )?;
        rows.release();
        Ok(Array2::from_shape_vec((rows.n(), k), all).expect("n rows of k"))
    }

    /// Why raw row `row` goes to its cluster and not to the runner-up.
    ///
    /// With a lift, the way from the average row to this one is walked in small steps, feature by feature, and each feature has what the lead
    /// changes by along its own steps.
    pub fn explain(&self, rows: &dyn Rows, row: usize) -> Result<Explanation> {
        check_width(rows, self.m())?;
        if row >= rows.n() {
            return Err(Error::Parameter {
                name: "row",
                value: row.to_string(),
                must: "below the number of rows (rows count from 0)",
            });
        }
        let (k, m) = (self.k(), self.m());
        let mut x = vec![0.0; m];
        rows.read(row, &mut x)?;
        check_finite(&x, m, row)?;
        let mut proba = self.logits_of(&x);
        if proba.iter().any(|z| !z.is_finite()) {
            return Err(Error::Overflow { row });
        }
        // By logits: far behind the winner all probabilities are alike.
        let cluster = largest(&proba);
        let runner_up = (0..k).filter(|&c| c != cluster).max_by(|&a, &b| proba[a].total_cmp(&proba[b]));
        product::softmax_rows(&mut proba, k);
        let runner_up = runner_up.expect("there are at least two clusters");
        let (base, mut contributions) = match &self.lift {
            Some(lift) => self.along_the_way(&lift.base().average(), &x, (cluster, runner_up)),
            None => self.by_weights(x, (cluster, runner_up)),
        };
        contributions.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()).then(a.feature.cmp(&b.feature)));
        Ok(Explanation { proba, cluster, runner_up, base, contributions })
    }

    /// Logits of one raw row.
    fn logits_of(&self, x: &[f32]) -> Vec<f32> {
        let mut z = vec![0.0; self.k()];
        let mut row = vec![0.0; self.width()];
        match &self.lift {
            Some(lift) => lift.apply(&mut x.to_vec(), &mut row),
            None => row.copy_from_slice(x),
        }
        self.logits(&mut row, &mut Vec::new(), &mut z);
        z
    }

    /// The lead of one cluster over another at the average row, and what each feature of `x` adds to it.
    fn by_weights(&self, mut x: Vec<f32>, (cluster, other): (usize, usize)) -> (f64, Vec<Contribution>) {
        let m = x.len();
        apply_views(&self.views, &mut x);
        let difference =
            |f: usize| f64::from(self.weight[cluster * m + f]) - f64::from(self.weight[other * m + f]);
        let contributions = (0..m)
            .map(|feature| Contribution {
                feature,
                value: difference(feature) * (f64::from(x[feature]) - f64::from(self.average[feature])),
            })
            .collect();
        let base = f64::from(self.bias[cluster]) - f64::from(self.bias[other])
            + (0..m).map(|f| difference(f) * f64::from(self.average[f])).sum::<f64>();
        (base, contributions)
    }

    /// The same for logits that are no sums over features: in steps from the average row to `x`.
    fn along_the_way(&self, from: &[f32], x: &[f32], (a, b): (usize, usize)) -> (f64, Vec<Contribution>) {
        let lead = |x: &[f32]| {
            let z = self.logits_of(x);
            f64::from(z[a]) - f64::from(z[b])
        };
        let mut here = from.to_vec();
        let base = lead(&here);
        let mut values = vec![0.0; x.len()];
        let mut now = base;
        for step in 1..=STEPS {
            let part = step as f32 / STEPS as f32;
            for f in 0..x.len() {
                here[f] = if step == STEPS { x[f] } else { from[f] + part * (x[f] - from[f]) };
                let next = lead(&here);
                values[f] += next - now;
                now = next;
            }
        }
        let contribution = |(feature, value)| Contribution { feature, value };
        (base, values.into_iter().enumerate().map(contribution).collect())
    }

    /// W and b for plain raw rows, if there is no lift and no view divides by the row norm.
    pub fn affine(&self) -> Option<(Vec<f32>, Vec<f32>)> {
        if self.lift.is_some() || self.views.iter().any(|v| v.normalise) {
            return None;
        }
        let centre: Vec<f32> = self
            .views
            .iter()
            .flat_map(|v| if v.centre.is_empty() { vec![0.0; v.width] } else { v.centre.clone() })
            .collect();
        let shift =
            |w: &[f32]| -> f64 { w.iter().zip(&centre).map(|(w, c)| f64::from(*w) * f64::from(*c)).sum() };
        let bias = self
            .weight
            .chunks_exact(self.m())
            .zip(&self.bias)
            .map(|(w, b)| (f64::from(*b) - shift(w)) as f32)
            .collect();
        Some((self.weight.clone(), bias))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use rand::RngExt;

    fn model(normalise: bool) -> Model {
        let view = FeatureView { width: 4, centre: vec![1.0, -2.0, 0.5, 3.0], normalise };
        let weight = (0..12).map(|i| (i as f32 * 0.9).sin() * 3.0).collect();
        Model {
            lift: None,
            views: vec![view],
            weight,
            bias: vec![0.2, -0.1, 0.4],
            average: vec![0.1, 0.2, -0.1, 0.0],
            prior: vec![0.5, 0.25, 0.25],
            outliers: None,
        }
    }

    fn rows() -> Array2<f32> {
        let mut rng = stream(4, Stream::Synthetic, 0);
        Array2::from_shape_fn((300, 4), |_| rng.random::<f32>() * 8.0 - 4.0)
    }

    #[test]
    fn probabilities_sum_to_one_and_the_label_is_the_most_probable() {
        let (rows, model) = (rows(), model(true));
        let proba = model.predict_proba(&rows.view()).unwrap();
        for (p, label) in proba.rows().into_iter().zip(model.predict(&rows.view()).unwrap()) {
            assert!((p.sum() - 1.0).abs() < 1e-6);
            assert!(p.iter().all(|v| *v <= p[label as usize]));
        }
    }

    #[test]
    fn a_row_predicted_alone_is_predicted_as_among_others() {
        let (rows, model) = (rows(), model(true));
        let all = model.predict_proba(&rows.view()).unwrap();
        for i in [0, 127, 128, 299] {
            let one = model.predict_proba(&rows.slice(ndarray::s![i..=i, ..])).unwrap();
            one.iter().zip(all.row(i)).for_each(|(a, b)| assert!((a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn the_affine_form_takes_raw_rows() {
        assert!(model(true).affine().is_none());
        let (rows, model) = (rows(), model(false));
        let (weight, bias) = model.affine().unwrap();
        let plain = FeatureView { width: 4, centre: Vec::new(), normalise: false };
        let raw = Model { views: vec![plain], weight, bias, ..model.clone() };
        let pairs = (model.predict_proba(&rows.view()).unwrap(), raw.predict_proba(&rows.view()).unwrap());
        pairs.0.iter().zip(&pairs.1).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
    }

    #[test]
    fn contributions_and_base_sum_to_the_lead() {
        let (rows, model) = (rows(), model(true));
        for row in 0..20 {
            let why = model.explain(&rows.view(), row).unwrap();
            let lead: f64 = why.base + why.contributions.iter().map(|c| c.value).sum::<f64>();
            let expected = f64::from(why.proba[why.cluster] / why.proba[why.runner_up]).ln();
            assert!((lead - expected).abs() < 1e-4, "{lead} {expected}");
        }
        assert!(model.explain(&rows.view(), 300).is_err());
    }

    #[test]
    fn the_runner_up_is_found_however_far_behind() {
        let mut model = model(false);
        model.weight.iter_mut().for_each(|w| *w *= 1e4);
        let rows = rows();
        for row in 0..50 {
            let why = model.explain(&rows.view(), row).unwrap();
            let logits = model.logits_all(&rows.view()).unwrap();
            let mut order: Vec<usize> = (0..3).collect();
            order.sort_by(|&a, &b| logits[[row, b]].total_cmp(&logits[[row, a]]));
            assert_eq!([why.cluster, why.runner_up], order[..2]);
        }
    }

    #[test]
    fn the_angle_of_a_row_survives_squares_beyond_single_precision() {
        let mut model = model(true);
        model.views[0].centre.clear();
        let rows = rows();
        let plain = model.predict_proba(&rows.view()).unwrap();
        for scale in [1e-25f32, 1e25] {
            let scaled = model.predict_proba(&rows.mapv(|v| v * scale).view()).unwrap();
            plain.iter().zip(&scaled).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));
        }
    }

    #[test]
    fn balanced_labels_have_their_sizes_and_move_the_least_sure_rows() {
        let (rows, model) = (rows(), model(true));
        let free = model.predict(&rows.view()).unwrap();
        let bounds = Bounds::exact(&[0.2, 0.5, 0.3], 300).unwrap();
        let found = model.predict_balanced(&rows.view(), &bounds).unwrap();
        let size = |labels: &[u32], c: u32| labels.iter().filter(|l| **l == c).count();
        assert_eq!([0, 1, 2].map(|c| size(&found.labels, c)), [60, 150, 90]);
        let any = Bounds::between(0, 300, 3).unwrap();
        assert_eq!(model.predict_balanced(&rows.view(), &any).unwrap().labels, free);
    }

    #[test]
    fn a_feature_that_is_not_finite_is_found_whatever_its_weight() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for normalise in [true, false] {
                let mut model = model(normalise);
                model.weight.fill(0.0);
                let mut rows = rows();
                rows[[217, 3]] = bad;
                let error = model.predict(&rows.view()).unwrap_err();
                assert!(matches!(error, Error::NotFinite { row: 217, column: 3, .. }), "{error}");
            }
        }
    }

    #[test]
    fn weights_that_overflow_give_an_error_and_no_probabilities() {
        let mut model = model(false);
        model.weight.fill(3e38);
        let rows = rows();
        for error in
            [model.predict_proba(&rows.view()).unwrap_err(), model.explain(&rows.view(), 3).unwrap_err()]
        {
            assert!(matches!(error, Error::Overflow { .. }), "{error}");
        }
    }

    #[test]
    fn files_in_another_order_are_refused_and_one_of_all_features_is_not() {
        let view = |width: usize| FeatureView { width, centre: Vec::new(), normalise: true };
        let model = Model { views: vec![view(1), view(3)], ..model(true) };
        assert!(model.check_widths(&[1, 3]).is_ok() && model.check_widths(&[4]).is_ok());
        let message = model.check_widths(&[3, 1]).unwrap_err().to_string();
        assert!(message.contains("[1, 3]") && message.contains("[3, 1]"), "{message}");
    }

    #[test]
    fn data_of_another_width_is_refused() {
        let wide = Array2::<f32>::zeros((2, 5));
        let message = model(true).predict(&wide.view()).unwrap_err().to_string();
        assert!(message.contains("takes 4 features") && message.contains("has 5"), "{message}");
    }
}
