//! Choosing the number of clusters before a fit, where the specification leaves it open.

use crate::dataset::Dataset;
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::given::Given;
use crate::resources::Resources;
use crate::spec::{ClusterCount, FitSpec};
use partita::choose::{Choice, Trial, Verdict, choose, most_clusters};
use partita::linear::{Input, Params};
use partita::report::{Observer, Part};
use partita::rows::{Rows, Subset};
use serde::Serialize;
use std::ops::RangeInclusive;

/// Starts of a fit while K is chosen: more hardly change which K is found again.
const STARTS: usize = 4;
/// Share of the work that choosing takes.
pub(crate) const CHOOSING: f64 = 0.95;

/// The number of clusters that was chosen, and what the choice rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceNote {
    /// The number of clusters.
    pub k: usize,
    /// How well clusters are found again by models of other rows: 1 if all of them are.
    pub stability: f64,
    /// Share of the splits of the rows in which no number was more stable.
    pub support: f64,
    /// How sure the choice is.
    pub verdict: Verdict,
    /// All numbers whose stability cannot be told from the best, the chosen one among them.
    pub plausible: Vec<usize>,
    /// All numbers that were tried.
    pub candidates: Vec<TriedNumber>,
}

/// A number of clusters that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedNumber {
    /// The number of clusters.
    pub k: usize,
    /// How well its clusters were found again, for each split; two splits only where it was clearly behind.
    pub stability: Vec<f64>,
}

impl From<Choice> for ChoiceNote {
    fn from(choice: Choice) -> Self {
        let (verdict, Choice { best, stability, support, plausible, candidates, .. }) =
            (choice.verdict(), choice);
        let tried = candidates.into_iter().map(|c| TriedNumber { k: c.k, stability: c.stability });
        Self { k: best, stability, support, verdict, plausible, candidates: tried.collect() }
    }
}

/// How a specification becomes the options of a fit, for a number of rows.
pub(crate) type Options<'a> = &'a dyn Fn(&FitSpec, usize) -> Result<Params>;

/// The number of clusters that the rows show, if the specification asks for it.
pub(crate) fn chosen(
    (spec, options): (&FitSpec, Options<'_>),
    dataset: &Dataset<'_>,
    given: &Given<'_>,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Option<ChoiceNote>> {
    let n = given.used.as_ref().map_or(dataset.n(), |used| used.len());
    let Some(range) = spec.k.and_then(|k| k.range(most_clusters(n))) else { return Ok(None) };
    let known = [(Field::Known, given.known.as_ref().is_some_and(|known| known.iter().any(|l| *l >= 0)))];
    JobError::first_idle(&known, "while `k` is to be chosen; leave it out, or give a number for `k`")?;
    let candidates = candidates(spec, options, &range, n)?;
    let rows = dataset.rows()?;
    let part = given.used.as_deref().map(|used| Subset::new(&rows, used.to_vec()));
    let trained: &dyn Rows = part.as_ref().map_or(&rows, |part| part);
    let weights = given.of_used(given.weights.as_ref());
    let (widths, memory) = (dataset.widths(), resources.memory);
    let input = Input { widths, memory, weights: weights.as_deref(), ..Input::new(trained) };
    let observer = Part::new(observer, 0.0, CHOOSING);
    let choice = resources.on_threads(|| choose(&input, &candidates, Trial::default(), &observer))??;
    Ok(Some(choice.into()))
}

/// The numbers of clusters to try for `n` rows if none are asked for: at least two, so that rows that are too few are told.
///
/// ```
/// assert_eq!(partita_job::usual_range(60), 2..=8);
/// assert_eq!(partita_job::usual_range(10_000), 2..=20);
/// ```
pub fn usual_range(n: usize) -> RangeInclusive<usize> {
    ClusterCount::Auto.range(most_clusters(n).max(3)).expect("no number is given")
}

/// The options of a fit for each number.
fn candidates(
    spec: &FitSpec,
    options: Options<'_>,
    range: &RangeInclusive<usize>,
    n: usize,
) -> Result<Vec<Params>> {
    if range.end() <= range.start() {
        let problem = format!("cannot be chosen for {n} rows, which are too few; give a number");
        return Err(JobError::Value { field: Field::K, value: "auto".to_owned(), problem });
    }
    let few = |k| FitSpec { restarts: spec.restarts.min(STARTS), ..spec.with_k(k) };
    range.clone().map(|k| options(&few(k), n)).collect()
}
