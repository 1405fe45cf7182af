use super::*;
use partita::linear::{Dims, Init, LiftKind, Loss, Neighbours, Optimiser, Prepare, Refresh};
use serde_json::Value;

fn full() -> FitSpec {
    FitSpec {
        data: DataSpec {
            paths: vec!["a.npy".into(), "b.csv".into()],
            array: Some("x".into()),
            columns: vec!["height".into(), "3".into()],
            id_column: Some("name".into()),
            exclude: vec!["zip".into()],
            header: Some(true),
            label_header: Some(false),
            missing: Some(Missing::DropRows),
            roles: [("height".to_owned(), Role::Category)].into(),
            text: Some("review".into()),
            encoder: vec!["tfidf".into(), "minilm".into()],
            encoder_weights: Some("weights".into()),
            skip_bad: true,
        },
        k: Some(ClusterCount::Number(7)),
        seed: u64::MAX,
        restarts: 3,
        prior: PriorSpec::Shares(vec![0.1, 0.9]),
        sizes: SizeSpec { min_size: Some(0.14), max_size: Some(1000.0), ..SizeSpec::default() },
        outliers: Some(OutlierRule::Share(0.1)),
        known: Some("known.csv".into()),
        weights: Some("w.npy".into()),
        truth: Some("truth.npy".into()),
        like: Some("m.safetensors".into()),
        method: MethodSpec {
            loss: Loss::Renyi(f64::INFINITY),
            lambda: Some(0.1),
            gamma: Some(1e-5),
            prepare: Prepare::L2,
            lift: LiftKind::Graph,
            neighbours: Neighbours::Auto,
            dims: Dims::Exactly(12),
            init: Init::KMeans,
            epochs: Some(9),
            batch: Some(100),
            em_iterations: 6,
            exact_labels: true,
            refresh: Refresh::Epoch,
            optimiser: OptimiserKind::Lbfgs,
            momentum: 0.5,
            learning_rate: Some(0.3),
            polish: 4,
            known_weight: 2.0,
        },
        network: Some(NetworkSpec {
            net: "resnet18".into(),
            augment: "flip,crop:0.7".into(),
            scan: Some(vec![1, 2, 3]),
            vat: Some(0.1 + 0.2),
            normalise: Some("0.5/0.25".into()),
            views: 2,
            pretext_data: vec!["unlabelled.bin".into()],
            pretext_rate: Some(0.4),
            pretext_batch: Some(512),
            pretext_optimiser: PretextOptimiser::Sgd,
            pretext_cosine: true,
            revive: Some(false),
            holdout: vec!["test.bin".into()],
            holdout_truth: Some("test.csv".into()),
            ..NetworkSpec::default()
        }),
        ..FitSpec::default()
    }
}

#[test]
fn a_specification_comes_back_from_json_as_it_was() {
    for spec in [FitSpec::default(), FitSpec::new(3), full()] {
        let text = spec.to_json();
        let back = FitSpec::from_json(&text).unwrap();
        assert_eq!(back, spec);
        assert_eq!(back.to_json(), text);
    }
}

#[test]
fn what_is_not_said_has_its_default() {
    assert_eq!(FitSpec::from_json("{}").unwrap(), FitSpec::default());
    // As an early program wrote it, with less to say.
    let old = r#"{ "version": 1, "data": { "paths": ["x.npy"] }, "k": 3, "prior": { "shares": [0.5, 0.3, 0.2] },
                   "network": { "net": "vgg4" } }"#;
    let spec = FitSpec::from_json(old).unwrap();
    let expected = FitSpec {
        data: DataSpec::new(["x.npy"]),
        prior: PriorSpec::Shares(vec![0.5, 0.3, 0.2]),
        network: Some(NetworkSpec::new("vgg4")),
        ..FitSpec::new(3)
    };
    assert_eq!(spec, expected);
}

#[test]
fn unknown_fields_are_refused_by_name() {
    for (text, name) in [
        (r#"{ "clusters": 3 }"#, "clusters"),
        (r#"{ "data": { "path": "x" } }"#, "path"),
        (r#"{ "method": { "lamda": 3 } }"#, "lamda"),
        (r#"{ "sizes": { "smallest": 3 } }"#, "smallest"),
        (r#"{ "network": { "depth": 3 } }"#, "depth"),
        (r#"{ "prior": "same" }"#, "same"),
    ] {
        let message = FitSpec::from_json(text).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn a_specification_of_the_future_is_refused() {
    let spec = FitSpec { version: VERSION + 1, ..FitSpec::new(2) };
    let message = spec.check(&Resources::default()).unwrap_err().to_string();
    assert!(message.contains("version 2") && message.contains("newer program"), "{message}");
}

/// Names of all values in JSON, however deep.
fn leaves(value: &Value, names: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        // The roles of columns stand under the names of these.
        if value.is_object() && name != "as" { leaves(value, names) } else { names.push(name.clone()) }
    }
}

#[test]
fn every_value_of_a_specification_has_a_field() {
    let mut names = Vec::new();
    leaves(&serde_json::to_value(full()).unwrap(), &mut names);
    leaves(&serde_json::to_value(Resources::default()).unwrap(), &mut names);
    for name in names.iter().filter(|name| !["version", "paths", "shares", "exactly"].contains(&&***name)) {
        assert!(Field::ALL.iter().any(|field| field.name() == *name), "{name} has no field");
    }
    for field in Field::ALL.iter().filter(|field| ![Field::Data, Field::Prior, Field::Dims].contains(field)) {
        assert!(names.iter().any(|name| name == field.name()), "{field:?} is nowhere");
    }
}

/// The field that a specification is refused for, after a change of a good one.
fn refused(change: impl FnOnce(&mut FitSpec)) -> Option<Field> {
    let mut spec = FitSpec::new(3);
    change(&mut spec);
    spec.check(&Resources::default()).err().and_then(|error| error.field())
}

#[test]
fn fields_that_would_be_ignored_are_refused() {
    assert_eq!(refused(|_| {}), None);
    assert_eq!(refused(|s| s.k = None), Some(Field::K));
    assert_eq!(refused(|s| s.restarts = 10_001), Some(Field::Restarts));
    let auto = |s: &mut FitSpec| s.k = Some(ClusterCount::Auto);
    assert_eq!(refused(auto), None);
    assert_eq!(refused(|s| (auto(s), s.prior = PriorSpec::Auto).1), None);
    assert_eq!(refused(|s| (auto(s), s.prior = PriorSpec::Shares(vec![1.0])).1), Some(Field::Prior));
    assert_eq!(refused(|s| (auto(s), s.known = Some("known.csv".into())).1), Some(Field::Known));
    assert_eq!(refused(|s| (auto(s), s.sizes.min_size = Some(3.0)).1), Some(Field::MinSize));
    assert_eq!(refused(|s| (auto(s), s.network = Some(NetworkSpec::new("vgg4"))).1), Some(Field::Net));
    let lbfgs = |s: &mut FitSpec| s.method.optimiser = OptimiserKind::Lbfgs;
    assert_eq!(refused(lbfgs), None);
    assert_eq!(refused(|s| (lbfgs(s), s.method.epochs = Some(1)).1), Some(Field::Epochs));
    assert_eq!(refused(|s| (lbfgs(s), s.method.batch = Some(9)).1), Some(Field::Batch));
    assert_eq!(refused(|s| (lbfgs(s), s.method.refresh = Refresh::Epoch).1), Some(Field::Refresh));
    assert_eq!(refused(|s| (lbfgs(s), s.method.momentum = 0.5).1), Some(Field::Momentum));
    assert_eq!(refused(|s| s.method.momentum = 0.5), None);
    let weak = |s: &mut FitSpec| s.method.loss = Loss::Weak;
    assert_eq!(refused(|s| (weak(s), s.method.em_iterations = 9).1), Some(Field::EmIterations));
    assert_eq!(refused(|s| (weak(s), s.method.exact_labels = true).1), Some(Field::ExactLabels));
    let taught = |s: &mut FitSpec| s.method.neighbours = Neighbours::Exactly(5);
    assert_eq!(refused(taught), None);
    assert_eq!(refused(|s| (taught(s), weak(s)).1), Some(Field::Neighbours));
    assert_eq!(refused(|s| (taught(s), lbfgs(s)).1), Some(Field::Neighbours));
    assert_eq!(refused(|s| (taught(s), s.method.exact_labels = true).1), Some(Field::Neighbours));
    let hinge = |s: &mut FitSpec| s.method.loss = Loss::Hinge;
    assert_eq!(refused(|s| (hinge(s), s.method.lambda = Some(1.0)).1), Some(Field::Lambda));
    let outliers = |s: &mut FitSpec| s.outliers = Some(OutlierRule::Auto);
    assert_eq!(refused(outliers), None);
    assert_eq!(refused(|s| (outliers(s), s.sizes.min_size = Some(3.0)).1), Some(Field::Outliers));
    assert_eq!(refused(|s| s.outliers = Some(OutlierRule::Share(0.6))), Some(Field::Outliers));
}

/// A change of a specification of a network.
#[cfg(feature = "deep")]
type Change = fn(&mut NetworkSpec);

#[cfg(feature = "deep")]
#[test]
fn fields_of_networks_that_would_be_ignored_are_refused() {
    let with = |change: Change| {
        refused(|spec| {
            let mut network = NetworkSpec { augment: "flip".into(), ..NetworkSpec::new("mlp") };
            change(&mut network);
            spec.network = Some(network);
        })
    };
    assert_eq!(with(|_| {}), None);
    assert_eq!(with(|n| n.views = 2), None);
    assert_eq!(with(|n| (n.views = 2, n.iic = Some(1)).1), None);
    assert_eq!(with(|n| (n.views = 2, n.pairs = Some(0.0)).1), Some(Field::Views));
    assert_eq!(with(|n| (n.views = 2, n.augment = String::new()).1), Some(Field::Views));
    assert_eq!(with(|n| (n.views = 2, n.scan = Some(vec![1, 1, 1])).1), Some(Field::Views));
    let pretexts: [(Change, Field); 5] = [
        (|n| n.pretext_data = vec!["x".into()], Field::PretextData),
        (|n| n.pretext_rate = Some(0.4), Field::PretextRate),
        (|n| n.pretext_batch = Some(512), Field::PretextBatch),
        (|n| n.pretext_optimiser = PretextOptimiser::Sgd, Field::PretextOptimiser),
        (|n| n.pretext_cosine = true, Field::PretextCosine),
    ];
    for (change, field) in pretexts {
        assert_eq!(with(change), Some(field));
        for (scan, idle) in [(vec![2, 1, 0], None), (vec![0, 1, 0], Some(field))] {
            let mut network =
                NetworkSpec { augment: "flip".into(), scan: Some(scan), ..NetworkSpec::new("mlp") };
            change(&mut network);
            assert_eq!(refused(|spec| spec.network = Some(network)), idle);
        }
    }
    assert_eq!(with(|n| (n.pretext = Some(3), n.pretext_cosine = true).1), None);
    assert_eq!(with(|n| n.revive = Some(true)), None);
    assert_eq!(with(|n| (n.revive = Some(false), n.iic = Some(1)).1), Some(Field::Revive));
    assert_eq!(with(|n| n.holdout_truth = Some("y.csv".into())), Some(Field::HoldoutTruth));
    let known = |revive| {
        refused(|spec| {
            spec.known = Some("known.csv".into());
            spec.network = Some(NetworkSpec { revive: Some(revive), ..NetworkSpec::new("mlp") });
        })
    };
    assert_eq!((known(true), known(false)), (Some(Field::Revive), None));
}

#[cfg(not(feature = "deep"))]
#[test]
fn a_network_is_refused_by_a_build_without_them() {
    assert_eq!(refused(|s| s.network = Some(NetworkSpec::new("mlp"))), Some(Field::Net));
}

#[test]
fn options_become_those_of_the_engine() {
    let method = MethodSpec { momentum: 0.5, ..MethodSpec::default() };
    assert_eq!(method.optimiser(), Optimiser::Sgd { momentum: 0.5 });
}
