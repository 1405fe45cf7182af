//! Rows prepared once and shared by any number of fits.

use super::choice::{MANY_FEATURES, Prepare, PrepareNote};
use super::lift::{GraphLift, Lift, LiftKind, Lifted, QuadraticLift, RbfLift};
use super::preparation::Preparation;
use super::reduce::Dims;
use super::view::FeatureView;
use crate::centres::Table;
use crate::error::{Error, Result};
use crate::neighbours::averaged;
use crate::report::{Observer, Part};
use crate::rows::Rows;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// More clusters than this are many: random weights do not find them, and few rows show each.
pub const MANY_CLUSTERS: usize = 16;
/// Neighbours by `auto`. Of 7, 15 and 30, fifteen was best on texts of 20 and 25 classes.
const USUAL_NEIGHBOURS: usize = 15;
/// Rows for each cluster that `auto` asks for: with 70 neighbours are too far away to be of the same class, with 100 they are not.
const ROWS_TAUGHT: usize = 80;
/// Rows that `auto` averages at most: of 128 dimensions, they and their averages take half a gigabyte.
const MOST_AVERAGED: usize = 500_000;
/// Features of the columns of a table that a lift is looked for in: beyond, the covariances of clusters take too long.
const MOST_PARTS: usize = 3 * MANY_FEATURES;
/// Rows lifted together.
const LIFTED: usize = 4096;

/// What a preparation depends on besides the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// How rows are prepared.
    pub prepare: Prepare,
    /// Dimensions to train on.
    pub dims: Dims,
    /// Seed of the reduction and the lift, which look at a random sample of the rows.
    pub seed: u64,
    /// The feature map before training, ...
    pub lift: LiftKind,
    /// ... for this many clusters.
    pub k: usize,
    /// Neighbours that rows are averaged with to teach them.
    pub neighbours: Neighbours,
}

/// Neighbours that each row is averaged with. The averages find the pseudo-labels, and rows learn them by their own features: a row and those
/// around it should agree, and what they say together is surer than what each says alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// Fifteen for more than 16 clusters of at least 32 features, with 80 rows for each cluster and at most half a million in all;
    /// otherwise none.
    #[default]
    Auto,
    /// So many; 0 for none.
    Exactly(usize),
}

impl Neighbours {
    /// How many, for `n` rows of `m` features in `k` clusters.
    fn count(self, n: usize, m: usize, k: usize) -> usize {
        match self {
            Self::Auto => {
                let many = m >= MANY_FEATURES && k > MANY_CLUSTERS;
                if many && (ROWS_TAUGHT * k..=MOST_AVERAGED).contains(&n) { USUAL_NEIGHBOURS } else { 0 }
            }
            Self::Exactly(count) => count.min(n - 1),
        }
    }
}

/// Rows averaged with their neighbours.
#[derive(Debug, Clone, PartialEq)]
struct Averaged {
    count: usize,
    rows: Vec<f32>,
}

/// How a model to start from sees rows.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Its feature map, if it has one.
    pub lift: Option<&'a Lift>,
    /// Its views of the rows, after the feature map.
    pub views: &'a [FeatureView],
}

/// What was done to the rows and, if they fit the budget, the prepared rows themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    lift: Option<Lift>,
    preparation: Preparation,
    notes: Vec<PrepareNote>,
    rows: Option<Vec<f32>>,
    averaged: Option<Averaged>,
}

impl Prepared {
    /// Prepare rows whose features are files of these widths side by side, and hold them if they need at most `memory` bytes.
    /// With `sight`, that of a model to start from, rows are seen as that model sees them.
    ///
    /// # Errors
    /// If a feature is not finite, if all rows are alike, or if the rows cannot be read.
    pub fn new(
        data: &dyn Rows,
        widths: &[usize],
        recipe: Recipe,
        sight: Option<Sight<'_>>,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let views = sight.map(|sight| sight.views);
        let given = sight.and_then(|sight| sight.lift).cloned();
        let may_lift = sight.is_none()
            && match recipe.lift {
                LiftKind::None => false,
                LiftKind::Auto => may_lift(data, recipe),
                _ => true,
            };
        let (lift, notes) = match given {
            Some(lift) => (lift, Vec::new()),
            None => {
                let seen = views.filter(|_| !may_lift);
                let share = if may_lift { 0.5 } else { 1.0 };
                let part = Part::new(observer, 0.0, share);
                let (base, notes) = Preparation::fit_noted(data, widths, recipe.prepare, seen, &part)?;
                match if may_lift { fit_lift(data, &base, recipe)? } else { None } {
                    Some(lift) => (lift, notes),
                    None => {
                        let prepared = Self::reduced(data, (base, notes), recipe, memory)?;
                        let features = if sight.is_some() { 0 } else { data.m() };
                        return prepared.average(data, recipe, features);
                    }
                }
            }
        };
        let (lifted, d) = (Lifted::new(data, &lift), lift.d());
        // Lifting costs more than what follows, so it is done once if the lifted rows may be held.
        let held = if data.n().saturating_mul(d).saturating_mul(4) <= memory {
            let mut rows = vec![0.0; data.n() * d];
            for (i, rows) in rows.chunks_mut(LIFTED * d).enumerate() {
                lifted.read(i * LIFTED, rows)?;
            }
            Some(Array2::from_shape_vec((data.n(), d), rows).expect("n rows of d"))
        } else {
            None
        };
        let rows: &dyn Rows = held.as_ref().map_or(&lifted, |held| held);
        let part = Part::new(observer, 0.5, 1.0);
        let preparation = Preparation::fit_views(rows, &[d], Prepare::Centre, views, &part)?;
        // Directions of unit vectors are what a lift is about: none is more important than the others.
        let recipe = Recipe { dims: Dims::Full, ..recipe };
        let prepared = Self::reduced(rows, (preparation, notes), recipe, memory)?;
        Self { lift: Some(lift), ..prepared }.average(data, recipe, 0)
    }

    /// The rest of the work, once the passes over all rows are made.
    fn reduced(
        data: &dyn Rows,
        (mut preparation, notes): Surveyed,
        recipe: Recipe,
        memory: usize,
    ) -> Result<Self> {
        preparation.reduce(data, recipe.dims, recipe.seed)?;
        let bytes = data.n().saturating_mul(preparation.d()).saturating_mul(4);
        // Reduced rows are hardly larger than sparse ones, which are in memory already.
        let sparse = data.sparse().is_some() && preparation.reduction.is_some();
        let rows = if bytes <= memory || sparse { Some(preparation.load(data)?) } else { None };
        Ok(Self { lift: None, preparation, notes, rows, averaged: None })
    }

    /// With the averages of rows and their neighbours, if the recipe asks for them; by `auto`, for rows of so many features.
    fn average(mut self, data: &dyn Rows, recipe: Recipe, features: usize) -> Result<Self> {
        let count = recipe.neighbours.count(data.n(), features, recipe.k);
        if count > 0 {
            // What the rows may take of the memory does not change the result, so the averages are held in any case.
            let rows = averaged(Table { x: &self.load(data)?, m: self.preparation.d() }, count, recipe.seed);
            self.averaged = Some(Averaged { count, rows });
        }
        Ok(self)
    }

    /// The rows averaged with their neighbours `[n, d]`, which teach them, if they have such a teacher.
    pub fn averaged(&self) -> Option<&[f32]> {
        self.averaged.as_ref().map(|averaged| &*averaged.rows)
    }

    /// Neighbours that each row was averaged with; 0 if none.
    pub fn neighbours(&self) -> usize {
        self.averaged.as_ref().map_or(0, |averaged| averaged.count)
    }

    /// The feature map before training, if there is one.
    pub fn lift(&self) -> Option<&Lift> {
        self.lift.as_ref()
    }

    /// What was done to the features of each file first, and why; nothing where a model to start from decided it.
    pub fn notes(&self) -> &[PrepareNote] {
        &self.notes
    }

    /// What is done to a raw row.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// The prepared rows `[n, d]`, if they are held.
    pub fn rows(&self) -> Option<&[f32]> {
        self.rows.as_deref()
    }

    /// The prepared rows, made again from the raw ones if they are not held.
    pub fn load(&self, data: &dyn Rows) -> Result<Cow<'_, [f32]>> {
        Ok(match (&self.rows, &self.lift) {
            (Some(rows), _) => Cow::Borrowed(rows),
            (None, Some(lift)) => Cow::Owned(self.preparation.load(&Lifted::new(data, lift))?),
            (None, None) => Cow::Owned(self.preparation.load(data)?),
        })
    }

    /// Some of the rows, prepared into `out`.
    pub fn gather(&self, data: &dyn Rows, rows: &[usize], out: &mut [f32]) -> Result<()> {
        let mut raw = vec![0.0; rows.len() * self.preparation.m()];
        match &self.lift {
            Some(lift) => Lifted::new(data, lift).gather(rows, &mut raw)?,
            None => data.gather(rows, &mut raw)?,
        }
        self.preparation.apply(&mut raw, out);
        Ok(())
    }
}

/// The lift that rows are prepared with by [`Prepared::new`], without preparing them.
///
/// # Errors
/// As [`Prepared::new`].
pub(crate) fn lift_kind(
    data: &dyn Rows,
    widths: &[usize],
    recipe: Recipe,
    observer: &dyn Observer,
) -> Result<LiftKind> {
    if recipe.lift != LiftKind::Auto {
        return Ok(recipe.lift);
    }
    if !may_lift(data, recipe) {
        return Ok(LiftKind::None);
    }
    let (base, _) = Preparation::fit_noted(data, widths, recipe.prepare, None, observer)?;
    Ok(fit_lift(data, &base, recipe)?.map_or(LiftKind::None, |lift| lift.kind()))
}

/// Whether `auto` looks for a lift: rows of few features, which are not to be reduced to fewer. Where columns of a table became several features each, the
/// columns are counted, as long as the features are few enough for shapes of clusters.
fn may_lift(data: &dyn Rows, recipe: Recipe) -> bool {
    data.table_columns() < MANY_FEATURES
        && data.m() < MOST_PARTS
        && data.sparse().is_none()
        && recipe.dims == Dims::Auto
}

/// The lift that a recipe asks for; none if it leaves that to the rows, and they are too few.
fn fit_lift(data: &dyn Rows, base: &Preparation, recipe: Recipe) -> Result<Option<Lift>> {
    let Recipe { k, seed, .. } = recipe;
    Ok(match recipe.lift {
        LiftKind::Graph => Some(Lift::Graph(GraphLift::fit(data, base.clone(), k, seed)?)),
        LiftKind::Quadratic => Some(Lift::Quadratic(QuadraticLift::fit(data, base.clone(), k, seed)?)),
        LiftKind::Rbf => Some(Lift::Rbf(RbfLift::fit(data, base.clone(), k, seed)?)),
        LiftKind::Auto => match clear_graph(data, base, recipe)? {
            Some(graph) => Some(Lift::Graph(graph)),
            None if QuadraticLift::suits(data, k, seed)? => {
                Some(Lift::Quadratic(QuadraticLift::fit(data, base.clone(), k, seed)?))
            }
            None => None,
        },
        LiftKind::None => None,
    })
}

/// The graph lift, if it finds clusters.
fn clear_graph(data: &dyn Rows, base: &Preparation, recipe: Recipe) -> Result<Option<GraphLift>> {
    if !GraphLift::suits(data.n(), recipe.k) {
        return Ok(None);
    }
    match GraphLift::fit(data, base.clone(), recipe.k, recipe.seed) {
        // Where nearly all rows are copies, planes will do.
        Ok(graph) if !GraphLift::suits(graph.landmarks.n(), recipe.k) => Ok(None),
        Ok(graph) => Ok(graph.finds_clusters(data.n()).then_some(graph)),
        Err(Error::TooFewDistinctRows { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the passes over all rows lead to: the preparation before its reduction, and why it is that.
type Surveyed = (Preparation, Vec<PrepareNote>);

/// Remembers what was prepared of the same rows, for comparisons that fit them many times.
///
/// The passes over all rows are made once for each way of preparing; only the reduction depends on the seed and is made again for
/// the next one, when those of the last are dropped.
pub struct Preparations<'a> {
    data: &'a dyn Rows,
    widths: &'a [usize],
    memory: usize,
    surveyed: Mutex<Vec<(Prepare, Surveyed)>>,
    made: Mutex<Vec<(Recipe, Arc<Prepared>)>>,
}

impl<'a> Preparations<'a> {
    /// None yet. Each that holds its rows needs at most `memory` bytes for them.
    pub fn new(data: &'a dyn Rows, widths: &'a [usize], memory: usize) -> Self {
        Self { data, widths, memory, surveyed: Mutex::default(), made: Mutex::default() }
    }

    /// The rows prepared by this recipe: as made before, or made now.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn get(&self, recipe: Recipe, observer: &dyn Observer) -> Result<Arc<Prepared>> {
        // All features as they are: no sample is looked at, so that the seed does not matter.
        let fixed = recipe.dims == Dims::Full && recipe.lift == LiftKind::None;
        let recipe = if fixed { Recipe { seed: 0, ..recipe } } else { recipe };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, prepared)) = made.iter().find(|(known, _)| *known == recipe) {
            return Ok(Arc::clone(prepared));
        }
        made.retain(|(known, _)| known.dims == Dims::Full || known.seed == recipe.seed);
        let prepared = Arc::new(match recipe.lift {
            LiftKind::None => {
                let preparation = self.surveyed(recipe.prepare, observer)?;
                Prepared::reduced(self.data, preparation, recipe, self.memory)?
            }
            _ => Prepared::new(self.data, self.widths, recipe, None, self.memory, observer)?,
        });
        made.push((recipe, Arc::clone(&prepared)));
        Ok(prepared)
    }

    fn surveyed(&self, how: Prepare, observer: &dyn Observer) -> Result<Surveyed> {
        let mut surveyed = self.surveyed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, preparation)) = surveyed.iter().find(|(known, _)| *known == how) {
            return Ok(preparation.clone());
        }
        let preparation = Preparation::fit_noted(self.data, self.widths, how, None, observer)?;
        surveyed.push((how, preparation.clone()));
        Ok(preparation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Flow, Progress, Silent};
    use crate::rng::{Stream, stream};
    use ndarray::Array2;
    use rand::RngExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often the rows are passed over.
    #[derive(Default)]
    struct Passes(AtomicUsize);

    impl Observer for Passes {
        fn progress(&self, _: Progress) -> Flow {
            self.0.fetch_add(1, Ordering::Relaxed);
            Flow::Continue
        }
    }

    #[test]
    fn what_is_remembered_equals_what_is_made_anew_and_rows_are_surveyed_once() {
        let mut rng = stream(3, Stream::Synthetic, 0);
        let data = Array2::from_shape_fn((200, 180), |_| rng.random::<f32>());
        let (view, passes) = (data.view(), Passes::default());
        let all = Preparations::new(&view, &[180], 1 << 20);
        let mut before = None;
        for seed in [0, 1, 0] {
            for dims in [Dims::Auto, Dims::Full, Dims::Exactly(3)] {
                let recipe = Recipe {
                    prepare: Prepare::Auto,
                    dims,
                    seed,
                    lift: LiftKind::None,
                    k: 2,
                    neighbours: Neighbours::Auto,
                };
                let shared = all.get(recipe, &passes).unwrap();
                let alone = Prepared::new(&view, &[180], recipe, None, 1 << 20, &Silent).unwrap();
                assert_eq!(*shared, alone);
                assert!(Arc::ptr_eq(&shared, &all.get(recipe, &passes).unwrap()));
                let looks = passes.0.load(Ordering::Relaxed);
                assert_eq!(*before.get_or_insert(looks), looks, "{recipe:?} surveyed the rows again");
            }
        }
    }

    #[test]
    fn rows_beyond_the_budget_are_made_again_when_they_are_needed() {
        let data = Array2::from_shape_fn((50, 4), |(i, j)| (i * (j + 3) % 17) as f32);
        for (lift, bytes) in [(LiftKind::None, 800), (LiftKind::Graph, 400)] {
            let recipe = Recipe {
                prepare: Prepare::Centre,
                dims: Dims::Full,
                seed: 0,
                lift,
                k: 2,
                neighbours: Neighbours::Auto,
            };
            let [held, not] = [bytes, bytes - 1]
                .map(|memory| Prepared::new(&data.view(), &[4], recipe, None, memory, &Silent).unwrap());
            assert!(held.rows().is_some() && not.rows().is_none());
            assert_eq!(held.load(&data.view()).unwrap(), not.load(&data.view()).unwrap());
            let mut some = vec![0.0; 2 * held.preparation().d()];
            not.gather(&data.view(), &[3, 7], &mut some).unwrap();
            assert_eq!(some[..some.len() / 2], held.rows().unwrap()[3 * some.len() / 2..][..some.len() / 2]);
        }
    }
}
