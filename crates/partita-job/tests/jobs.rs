//! Jobs as a front end runs them: from a specification and rows in memory to a record and files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use partita::linear::{Input, LiftKind, Params, Prior, fit};
use partita::report::{Flow, Observer, Progress, Silent};
use partita_data::model_file::ModelFile;
use partita_data::synth::gaussian_mixture;
use partita_data::{Features, write_npy_f32_2d};
use partita_job::{
    AnyModel, Balance, DataPart, DataSpec, Dataset, Field, FitSpec, Given, JobError, Outputs, PriorSpec,
    Record, Resources, SizeSpec, continue_fit, continue_model, predict, run,
};
use std::sync::Arc;

fn part(values: &[f32], m: usize) -> DataPart<'static> {
    DataPart::new(Arc::new(Features::from_vec(values.to_vec(), m).unwrap()))
}

fn blobs(sizes: &[usize], m: usize) -> Dataset<'static> {
    Dataset::new(vec![part(&gaussian_mixture(sizes, m, 12.0, 2).0, m)]).unwrap()
}

fn fitted(spec: &FitSpec, dataset: &Dataset<'_>) -> Record {
    run(spec, dataset, &Given::default(), &Resources::default(), &Silent).unwrap()
}

fn bytes(model: &AnyModel) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.safetensors");
    model.write(&path).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn a_job_is_the_fit_of_the_engine() {
    let (rows, labels) = gaussian_mixture(&[60, 70, 80], 5, 12.0, 1);
    let features = Features::from_vec(rows.clone(), 5).unwrap();
    let (lift, prior) = (LiftKind::Auto, Prior::Usual);
    let params = Params { restarts: 2, seed: 7, lift, prior, ..Params::new(3) };
    let expected = fit(&Input::new(&features), &params, &Silent).unwrap();
    let truth: Vec<i64> = labels.iter().map(|&label| label as i64).collect();
    let given = Given { truth: Some(truth.into()), ..Given::default() };
    let spec = FitSpec { restarts: 2, seed: 7, ..FitSpec::new(3) };
    let dataset = Dataset::new(vec![part(&rows, 5)]).unwrap();
    let record = run(&spec, &dataset, &given, &Resources::default(), &Silent).unwrap();
    assert_eq!(record.labels, expected.labels);
    assert_eq!(record.model.linear(), Some(&expected.model));
    assert_eq!(record.linear().unwrap().params, params);
    assert_eq!(record.metrics.unwrap().acc, 1.0);
    let json = serde_json::to_value(&record).unwrap();
    let report = serde_json::to_value(&expected.report).unwrap();
    for (name, value) in report.as_object().unwrap().iter().filter(|(name, _)| *name != "seconds") {
        assert_eq!(json.get(name), Some(value), "{name}");
    }
    for name in ["balance", "metrics", "params", "threads", "seconds"] {
        assert!(json.get(name).is_some(), "{name}");
    }
    assert!(json.get("labels").is_none() && json.get("model").is_none());
}

#[test]
fn files_side_by_side_and_groups_of_one_array_are_the_same_job() {
    let (rows, _) = gaussian_mixture(&[40, 40, 40], 5, 12.0, 4);
    let columns = |from: usize, to: usize| -> Vec<f32> {
        rows.chunks_exact(5).flat_map(|row| row[from..to].to_vec()).collect()
    };
    let apart = Dataset::new(vec![part(&columns(0, 3), 3), part(&columns(3, 5), 2)]).unwrap();
    let groups = Dataset::new(vec![DataPart { widths: vec![3, 2], ..part(&rows, 5) }]).unwrap();
    let spec = FitSpec { restarts: 2, ..FitSpec::new(3) };
    let (apart, groups) = (fitted(&spec, &apart), fitted(&spec, &groups));
    assert_eq!(bytes(&apart.model), bytes(&groups.model));
    assert_eq!(apart.labels, groups.labels);
}

#[test]
fn limits_hold_and_rounding_costs_no_row() {
    let sizes = |min_size, max_size| SizeSpec { balance: None, min_size, max_size };
    let spec = FitSpec { sizes: sizes(Some(0.14), None), ..FitSpec::new(7) };
    assert!(fitted(&spec, &blobs(&[50], 4)).cluster_sizes.iter().all(|size| *size >= 7));
    let spec = FitSpec { sizes: sizes(None, Some(1000.0)), ..FitSpec::new(3) };
    assert_eq!(fitted(&spec, &blobs(&[30, 30, 30], 4)).cluster_sizes, [30; 3]);
    let spec = FitSpec { sizes: sizes(Some(40.0), None), ..FitSpec::new(3) };
    let error =
        run(&spec, &blobs(&[30; 3], 4), &Given::default(), &Resources::default(), &Silent).unwrap_err();
    assert_eq!(error.field(), Some(Field::MinSize));
}

#[test]
fn limits_and_unknown_sizes_have_the_prior_estimated() {
    let dataset = blobs(&[70, 20, 10], 4);
    let prior = |spec: FitSpec| fitted(&spec, &dataset).linear().unwrap().params.prior.clone();
    assert_eq!(prior(FitSpec::new(2)), Prior::Usual);
    assert_eq!(prior(FitSpec { prior: PriorSpec::Equal, ..FitSpec::new(2) }), Prior::Uniform);
    assert_eq!(prior(FitSpec { prior: PriorSpec::Auto, ..FitSpec::new(2) }), Prior::unknown(2));
    let sizes = SizeSpec { min_size: Some(25.0), max_size: Some(0.7), ..SizeSpec::default() };
    let limited = prior(FitSpec { sizes, ..FitSpec::new(2) });
    assert_eq!(limited, Prior::Estimated { least: 0.25, most: 0.7 });
    let shares = PriorSpec::Shares(vec![0.75, 0.25]);
    let given = prior(FitSpec { prior: shares, sizes, ..FitSpec::new(2) });
    assert_eq!(given, Prior::Given(vec![0.75, 0.25]));
}

#[test]
fn balanced_labels_are_those_of_a_balanced_prediction() {
    let dataset = blobs(&[50, 30, 21], 4);
    let exact = SizeSpec { balance: Some(Balance::Exact), ..SizeSpec::default() };
    let record = fitted(&FitSpec { sizes: exact, ..FitSpec::new(3) }, &dataset);
    let mut sizes = record.cluster_sizes.clone();
    sizes.sort_unstable();
    assert_eq!(sizes, [33, 34, 34]);
    assert!(record.balance.unwrap().gap < 1e-9);
    assert_eq!(predict(&record.model, &dataset, &exact, &Silent).unwrap(), record.assigned());
}

#[test]
fn a_model_that_goes_on_keeps_its_options_and_its_numbers() {
    let dataset = blobs(&[60; 4], 5);
    let first = fitted(&FitSpec { restarts: 3, ..FitSpec::new(4) }, &dataset);
    let AnyModel::Linear(old) = &first.model else { panic!("no network was asked for") };
    let next = continue_model(old, 2, &dataset, &Given::default(), &Resources::default(), &Silent).unwrap();
    assert_eq!(next.labels, first.labels);
    let AnyModel::Linear(new) = &next.model else { panic!("no network was asked for") };
    assert_eq!(new.params, old.params);
    let used = &next.linear().unwrap().params;
    assert_eq!((used.restarts, used.epochs), (1, Some(2)));
}

#[test]
fn going_on_by_a_specification_keeps_its_options_and_gives_its_sizes() {
    let dataset = blobs(&[60, 60, 30], 5);
    let first = fitted(&FitSpec { restarts: 2, ..FitSpec::new(3) }, &dataset);
    let old = first.model.linear().unwrap();
    let sizes = SizeSpec { min_size: Some(0.3), ..SizeSpec::default() };
    let spec = FitSpec { seed: 5, restarts: 4, sizes, ..FitSpec::new(3) };
    let known: Vec<i32> = first.labels.iter().map(|&label| label as i32).collect();
    let given = Given { known: Some(known.into()), ..Given::default() };
    let next = continue_fit(&spec, old, &dataset, &given, &Resources::default(), &Silent).unwrap();
    assert!(next.cluster_sizes.iter().all(|size| *size >= 45), "{:?}", next.cluster_sizes);
    let AnyModel::Linear(file) = &next.model else { panic!("a linear model goes on as one") };
    assert_eq!((file.params.restarts, file.params.epochs, file.params.seed), (4, None, 5));
    let used = &next.linear().unwrap().params;
    assert_eq!((used.restarts, used.epochs), (1, Some(1)));
}

#[test]
fn rows_that_are_not_used_only_get_labels() {
    let (rows, _) = gaussian_mixture(&[60, 60], 3, 12.0, 4);
    let (few, all) = (part(&rows[..3 * 100], 3), part(&rows, 3));
    let spec = FitSpec { restarts: 2, ..FitSpec::new(2) };
    let alone = fitted(&spec, &Dataset::new(vec![few]).unwrap());
    let given = Given { used: Some((0..100).collect()), ..Given::default() };
    let dataset = Dataset::new(vec![all]).unwrap();
    let record = run(&spec, &dataset, &given, &Resources::default(), &Silent).unwrap();
    assert_eq!(bytes(&record.model), bytes(&alone.model));
    assert_eq!((record.labels.len(), &record.labels[..100]), (120, &alone.labels[..]));
    assert_eq!(record.cluster_sizes.iter().sum::<usize>(), 120);
    let outside = Given { used: Some(vec![0, 120].into()), ..Given::default() };
    assert!(run(&spec, &dataset, &outside, &Resources::default(), &Silent).is_err());
    let short = Given { weights: Some(vec![1.0; 3].into()), ..given };
    let error = run(&spec, &dataset, &short, &Resources::default(), &Silent).unwrap_err();
    assert_eq!(error.field(), Some(Field::Weights));
}

#[test]
fn a_refit_keeps_the_numbers_of_another_model() {
    let dataset = blobs(&[60; 4], 5);
    let first = fitted(&FitSpec::new(4), &dataset);
    let given = Given { like: first.model.linear().map(std::borrow::Cow::Borrowed), ..Given::default() };
    let spec = FitSpec { seed: 9, ..FitSpec::new(4) };
    let again = run(&spec, &dataset, &given, &Resources::default(), &Silent).unwrap();
    assert_eq!(again.labels, first.labels);
    let wide = blobs(&[60; 4], 6);
    assert!(run(&spec, &wide, &given, &Resources::default(), &Silent).is_err());
}

#[test]
fn what_a_specification_names_must_be_read() {
    let dataset = blobs(&[20, 20], 3);
    let spec = FitSpec { known: Some("known.csv".into()), ..FitSpec::new(2) };
    let error = run(&spec, &dataset, &Given::default(), &Resources::default(), &Silent).unwrap_err();
    assert!(matches!(error, JobError::Missing { field: Field::Known }), "{error}");
    let given = Given { truth: Some(vec![-1; 40].into()), ..Given::default() };
    let error = run(&FitSpec::new(2), &dataset, &given, &Resources::default(), &Silent).unwrap_err();
    assert_eq!(error.field(), Some(Field::Truth));
}

/// Asks to stop at once.
struct Impatient;

impl Observer for Impatient {
    fn progress(&self, _: Progress) -> Flow {
        Flow::Stop
    }
}

#[test]
fn an_interrupted_job_has_no_result() {
    let dataset = blobs(&[20, 20], 3);
    let model = fitted(&FitSpec::new(2), &dataset).model;
    let resources = Resources::default();
    let fit = run(&FitSpec::new(2), &dataset, &Given::default(), &resources, &Impatient).unwrap_err();
    let labels = predict(&model, &dataset, &SizeSpec::default(), &Impatient).unwrap_err();
    for error in [fit, labels] {
        assert!(matches!(error, JobError::Core(partita::Error::Interrupted)), "{error}");
    }
}

#[test]
fn a_specification_is_enough_to_do_a_job_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (rows, labels) = gaussian_mixture(&[30, 40, 50], 4, 8.0, 3);
    write_npy_f32_2d(path("x.npy"), &rows, 4).unwrap();
    let known: Vec<String> = labels
        .iter()
        .enumerate()
        .map(|(i, l)| if i % 9 == 0 { l.to_string() } else { String::new() })
        .collect();
    std::fs::write(path("known.csv"), format!("label\n{}\n", known.join("\n"))).unwrap();
    std::fs::write(path("prior.txt"), "0.25 0.35 0.4").unwrap();
    let spec = FitSpec {
        data: DataSpec::new([path("x.npy")]),
        known: Some(path("known.csv")),
        prior: PriorSpec::File(path("prior.txt")),
        restarts: 2,
        ..FitSpec::new(3)
    };
    let once = |spec: &FitSpec, model: &str, saved: &str| {
        let resources = Resources::default();
        let outputs = Outputs { model: Some(path(model)), spec: Some(path(saved)), ..Outputs::default() };
        outputs.check_for(spec, &[], &resources).unwrap();
        let dataset = Dataset::open_for(spec, &resources, &Silent).unwrap();
        let given = Given::read(spec, &dataset).unwrap();
        let record = run(spec, &dataset, &given, &resources, &Silent).unwrap();
        outputs.write(spec, &record, &dataset, &resources).unwrap();
        (std::fs::read(path(model)).unwrap(), std::fs::read(path(saved)).unwrap())
    };
    let first = once(&spec, "a.safetensors", "a.json");
    let saved = FitSpec::read(path("a.json")).unwrap();
    assert_eq!(saved, spec);
    assert_eq!(once(&saved, "b.safetensors", "b.json"), first);
    assert_eq!(
        ModelFile::read(path("a.safetensors")).unwrap().params.prior,
        Prior::Given(vec![0.25, 0.35, 0.4])
    );
}
