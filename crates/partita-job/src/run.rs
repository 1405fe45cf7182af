//! Running a job: the rules of a fit between a specification and a record.

use crate::choosing::{CHOOSING, chosen};
use crate::dataset::Dataset;
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::given::Given;
use crate::items::ItemPortraits;
use crate::record::Record;
use crate::resources::Resources;
use crate::sizes::{Balanced, SizeSpec};
use crate::spec::{FitSpec, PriorSpec};
use crate::training::train;
use partita::linear::{Fit, Input, LiftKind, Model, Params, Prior};
use partita::metrics::{Scores, scores};
use partita::outliers::Outliers;
use partita::report::{Observer, Part};
use partita::rows::{Rows, Subset};
use partita_data::model_file::ModelFile;
use std::time::Instant;

/// Cluster a data set as a specification says.
///
/// ```
/// use partita::report::Silent;
/// use partita_data::{Features, synth::gaussian_mixture};
/// use partita_job::{Dataset, FitSpec, Given, DataPart, Resources, run};
/// use std::sync::Arc;
/// let rows = Features::from_vec(gaussian_mixture(&[20, 20, 20], 2, 12.0, 1).0, 2)?;
/// let dataset = Dataset::new(vec![DataPart::new(Arc::new(rows))])?;
/// let record = run(&FitSpec::new(3), &dataset, &Given::default(), &Resources::default(), &Silent)?;
/// assert_eq!(record.cluster_sizes, [20, 20, 20]);
/// # Ok::<(), partita_job::JobError>(())
/// ```
///
/// # Errors
/// If the specification, the data or what is given beside it cannot be used, or the observer stops the work.
pub fn run(
    spec: &FitSpec,
    dataset: &Dataset<'_>,
    given: &Given<'_>,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Record> {
    spec.check(resources)?;
    given.check(spec, dataset)?;
    let idle = spec.method.known_weight != 0.0 && given.known.is_none();
    JobError::first_idle(&[(Field::KnownWeight, idle)], "without `known` labels; leave it out")?;
    let began = Instant::now();
    let choice = chosen((spec, &params), dataset, given, resources, observer);
    if let Some(choice) = choice.map_err(|error| dataset.explained(error))? {
        let rest = Part::new(observer, CHOOSING, 1.0);
        let record = run(&spec.with_k(choice.k), dataset, given, resources, &rest)?;
        return Ok(Record { choice: Some(choice), seconds: began.elapsed().as_secs_f64(), ..record });
    }
    let names = given.names.as_deref();
    let _alone = resources.lock_checkpoint()?;
    #[cfg(feature = "deep")]
    if let Some(network) = &spec.network {
        let record = crate::network::run(spec, network, dataset, given, resources, observer)?;
        return Ok(record.named(dataset, names, None));
    }
    let params = params(spec, dataset.n())?;
    let like = given.like.as_deref();
    // A model of other features is no start, only a source of numbers.
    let sees = |model: &Model| match params.lift {
        LiftKind::None => model.lift().is_none(),
        LiftKind::Auto => true,
        asked => model.lift().is_some_and(|lift| lift.kind() == asked),
    };
    let same = |model: &&Model| model.k() == params.k && sees(model);
    let start = like.filter(same);
    let task = Task { stored: params.clone(), params, start, like, kept: None, sizes: spec.sizes };
    let mut record = task.run(dataset, given, resources, observer)?;
    let proposed =
        described(&mut record, dataset, resources)?.filter(|_| spec.name_clusters && names.is_none());
    Ok(record.named(dataset, proposed.as_deref().or(names), None))
}

/// Put what the clusters are like into a record, where there are raw items; returns names for them.
fn described(
    record: &mut Record,
    dataset: &Dataset<'_>,
    resources: &Resources,
) -> Result<Option<Vec<String>>> {
    let Some(model) = record.model.linear() else { return Ok(None) };
    let labels = record.assigned();
    record.portraits = resources.on_threads(|| portraits_of_items(model, dataset, &labels))??;
    Ok(record.portraits.as_ref().map(ItemPortraits::names))
}

/// What the clusters of raw items are like, for rows with these labels, −1 for outliers; none if the rows were not made of raw items.
///
/// # Errors
/// If the rows do not fit the model, or cannot be read.
pub fn portraits_of_items(
    model: &Model,
    dataset: &Dataset<'_>,
    labels: &[i32],
) -> Result<Option<ItemPortraits>> {
    let rows = dataset.rows()?;
    dataset.items().map(|items| items.portraits(model, &rows, labels, dataset.ids())).transpose()
}

/// Go on training a model with more rows, for a number of passes over them; clusters keep their numbers, and what counts as an outlier
/// stays the same.
///
/// The options of the first fit stay with the model: they say how it was made, and are used the next time.
///
/// # Errors
/// As [`run`], or if the rows are not like those of the model.
pub fn continue_model(
    old: &ModelFile,
    epochs: usize,
    dataset: &Dataset<'_>,
    given: &Given<'_>,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Record> {
    given.check(&FitSpec::default(), dataset)?;
    dataset.check_names(&old.names)?;
    let task = Task::going_on(&old.model, old.params.clone(), epochs, SizeSpec::default(), given);
    let mut record = task.run(dataset, given, resources, observer)?;
    described(&mut record, dataset, resources)?;
    Ok(record.named(dataset, given.names.as_deref(), Some(old)))
}

/// The same with the options of a specification, which the model keeps from now on: one pass over the rows, unless the
/// specification says how many, and labels of the sizes that it asks for.
///
/// # Errors
/// As [`continue_model`].
pub fn continue_fit(
    spec: &FitSpec,
    old: &Model,
    dataset: &Dataset<'_>,
    given: &Given<'_>,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Record> {
    spec.check(resources)?;
    // A number that was to be chosen is that of the model.
    let spec = &if spec.chooses_k() { spec.with_k(old.k()) } else { spec.clone() };
    given.check(spec, dataset)?;
    let stored = params(spec, dataset.n())?;
    let epochs = stored.epochs.unwrap_or(1);
    let record =
        Task::going_on(old, stored, epochs, spec.sizes, given).run(dataset, given, resources, observer)?;
    Ok(record.named(dataset, given.names.as_deref(), None))
}

/// The options of the linear engine for `n` rows.
pub(crate) fn params(spec: &FitSpec, n: usize) -> Result<Params> {
    let (k, method) = (spec.clusters()?, &spec.method);
    let limited = spec.sizes.prior(n, k)?;
    let prior = match (&spec.prior, spec.prior.shares()?) {
        (_, Some(shares)) => Prior::Given(shares),
        (PriorSpec::Auto, None) => limited.unwrap_or(Prior::unknown(k)),
        // Exact sizes that nobody gave are equal ones.
        (PriorSpec::Usual, None) if spec.sizes.balance.is_none() => limited.unwrap_or(Prior::Usual),
        (_, None) => limited.unwrap_or_default(),
    };
    Ok(Params {
        loss: method.loss,
        lambda: method.lambda,
        gamma: method.gamma,
        prior,
        prepare: method.prepare,
        lift: method.lift,
        neighbours: method.neighbours,
        dims: method.dims,
        init: method.init,
        restarts: spec.restarts,
        seed: spec.seed,
        epochs: method.epochs,
        batch: method.batch,
        solver: method.solver(),
        refresh: method.refresh,
        optimiser: method.optimiser(),
        learning_rate: method.learning_rate,
        polish: method.polish,
        known_weight: method.known_weight,
        outliers: spec.outliers,
        ..Params::new(k)
    })
}

/// A fit of the linear engine.
struct Task<'a> {
    params: Params,
    /// The options that the model keeps.
    stored: Params,
    /// Where training starts.
    start: Option<&'a Model>,
    /// The model whose numbers the clusters get, unless known labels name them.
    like: Option<&'a Model>,
    /// What is known about outliers already.
    kept: Option<&'a Outliers>,
    sizes: SizeSpec,
}

impl<'a> Task<'a> {
    /// Training goes on from a model: one start, the sizes that it has, the numbers that it has.
    fn going_on(old: &'a Model, stored: Params, epochs: usize, sizes: SizeSpec, given: &Given<'_>) -> Self {
        let prior = Prior::Given(old.shares());
        // A few new rows say too little about what is usual in every cluster, so what is known stays, unless labels give clusters other numbers.
        let named = given.known.iter().flat_map(|known| known.iter()).any(|label| *label >= 0);
        let kept = stored.outliers.and(old.outliers()).filter(|_| !named);
        let outliers = stored.outliers.filter(|_| kept.is_none());
        let params = Params { restarts: 1, epochs: Some(epochs), prior, outliers, ..stored.clone() };
        Self { params, stored, start: Some(old), like: Some(old), kept, sizes }
    }

    fn run(
        self,
        dataset: &Dataset<'_>,
        given: &Given<'_>,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Record> {
        let rows = dataset.rows()?;
        let used = given.used.as_deref();
        let part = used.map(|used| Subset::new(&rows, used.to_vec()));
        let trained: &dyn Rows = part.as_ref().map_or(&rows, |part| part);
        let (weights, known) = (given.of_used(given.weights.as_ref()), given.of_used(given.known.as_ref()));
        let input = Input {
            widths: dataset.widths(),
            weights: weights.as_deref(),
            known: known.as_deref(),
            warm_start: self.start,
            memory: resources.memory,
            ..Input::new(trained)
        };
        let done = resources.on_threads(|| {
            let mut found =
                train(&input, &self.params, resources, observer).map_err(|e| counted_among_all(e, used))?;
            if let Some(like) = self.like.filter(|_| !input.names_clusters()) {
                found.number_like(like, trained)?;
            }
            match self.kept {
                Some(outliers) => found.keep_outliers(outliers.clone(), &rows)?,
                None if used.is_some() => found.judge_again(&rows)?,
                None => {}
            }
            let balance = balance(self.sizes, &mut found, &rows)?;
            let (metrics, unscored) =
                given.truth.as_deref().map_or(Ok((None, None)), |t| score(t, &found))?;
            Ok(Record { metrics, unscored, balance, ..Record::of_linear(found, self.params, self.stored) })
        })?;
        done.map_err(|error| dataset.explained(error))
    }
}

/// An error about the rows in use, counted among all rows.
fn counted_among_all(error: JobError, used: Option<&[usize]>) -> JobError {
    match (error, used) {
        (JobError::Core(partita::Error::NotFinite { row, column, value }), Some(used)) => {
            let row = used.get(row).copied().unwrap_or(row);
            JobError::Core(partita::Error::NotFinite { row, column, value })
        }
        (other, _) => other,
    }
}

/// Replace the labels by those of the requested sizes, if there are any.
fn balance(sizes: SizeSpec, found: &mut Fit, rows: &dyn Rows) -> Result<Option<Balanced>> {
    let Some(assignment) = sizes.assign(&found.model, rows)? else { return Ok(None) };
    let moved = found.labels.iter().zip(&assignment.labels).filter(|(a, b)| a != b).count();
    found.relabel(assignment.labels, None);
    Ok(Some(Balanced { moved, gap: assignment.balanced.gap / rows.n() as f64 }))
}

/// Agreement of the rows that belong to a cluster with their true labels, and how many outliers have one. Where all of them are outliers there is
/// nothing to compare.
fn score(truth: &[i64], found: &Fit) -> Result<(Option<Scores>, Option<usize>)> {
    let labels = found.assigned();
    let known = truth.iter().zip(&labels).filter(|(truth, _)| **truth >= 0);
    let (outliers, others): (Vec<_>, Vec<_>) = known.partition(|(_, label)| **label < 0);
    let metrics = if others.is_empty() { None } else { Some(scores(truth, &labels)?) };
    Ok((metrics, found.outlier_scores.is_some().then_some(outliers.len())))
}
