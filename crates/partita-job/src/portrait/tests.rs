use super::*;
use ndarray::Array2;
use partita::linear::Model;
use partita::rows::Csr;

/// A model of four clusters, by way of JSON, which does not name the type of a view.
fn model(views: &[(usize, bool, bool)]) -> Model {
    let (k, m) = (4, views.iter().map(|v| v.0).sum::<usize>());
    let numbers = |count: usize, step: f32| (0..count).map(|i| (i as f32 * step).sin()).collect::<Vec<f32>>();
    let view = |&(width, centred, normalise): &(usize, bool, bool)| {
        let centre = if centred { numbers(width, 0.7) } else { Vec::new() };
        serde_json::json!({"width": width, "centre": centre, "normalise": normalise})
    };
    let views: Vec<_> = views.iter().map(view).collect();
    let json = serde_json::json!({
        "views": views, "weight": numbers(k * m, 0.9), "bias": numbers(k, 1.3), "average": numbers(m, 0.2), "prior": vec![0.25; k],
    });
    serde_json::from_value(json).unwrap()
}

/// Rows of which two in three values are zero.
fn rows(n: usize, m: usize) -> Array2<f32> {
    let value = |i: usize, j: usize| ((i * 31 + j * 17) as f32 * 0.37).sin() * 4.0;
    Array2::from_shape_fn((n, m), |(i, j)| if (i + 2 * j) % 3 == 0 { value(i, j) } else { 0.0 })
}

fn of(model: &Model, rows: &Array2<f32>, labels: &[u32], options: &PortraitOptions) -> Vec<Portrait> {
    portraits(model, &rows.view(), labels, options).unwrap()
}

const ALL: PortraitOptions = PortraitOptions { examples: 1000, features: 1000, bins: 7 };

/// Labels of which some are not the most probable ones, so that no cluster is empty.
fn labels(model: &Model, rows: &Array2<f32>) -> Vec<u32> {
    let mut labels = model.predict(&rows.view()).unwrap();
    labels.iter_mut().step_by(9).zip(0..).for_each(|(label, i)| *label = (*label + 1 + i % 3) % 4);
    labels
}

#[test]
fn sizes_confidence_and_examples_are_those_of_the_probabilities() {
    let (model, rows) = (model(&[(5, true, true), (3, false, false)]), rows(500, 8));
    let labels = labels(&model, &rows);
    let proba = model.predict_proba(&rows.view()).unwrap();
    for portrait in of(&model, &rows, &labels, &ALL) {
        let c = portrait.cluster;
        let mine: Vec<usize> = (0..500).filter(|&i| labels[i] as usize == c).collect();
        assert_eq!((portrait.size, portrait.share), (mine.len(), mine.len() as f64 / 500.0));
        let sure: Vec<f64> = mine.iter().map(|&i| f64::from(proba[[i, c]])).collect();
        let mean = sure.iter().sum::<f64>() / sure.len() as f64;
        assert!((portrait.mean_confidence.unwrap() - mean).abs() < 1e-6);
        for (bin, &count) in portrait.confidence.iter().enumerate() {
            let inside = sure.iter().filter(|&p| ((p * 7.0) as usize).min(6) == bin).count();
            assert_eq!(count, inside);
        }
        assert_eq!(portrait.typical.len(), mine.len());
        assert!(portrait.typical.is_sorted_by(|a, b| a.probability >= b.probability));
        assert!(portrait.typical.iter().eq(portrait.doubtful.iter().rev()));
        for example in &portrait.typical {
            assert!((example.probability - f64::from(proba[[example.row, c]])).abs() < 1e-6);
            let best = (0..4).filter(|&j| j != c).map(|j| proba[[example.row, j]]).fold(0.0, f32::max);
            assert_eq!(proba[[example.row, example.runner_up]], best);
        }
    }
}

#[test]
fn the_nearest_cluster_is_the_most_frequent_runner_up() {
    let (model, rows) = (model(&[(8, true, false)]), rows(400, 8));
    let labels = labels(&model, &rows);
    let logits = model.logits_all(&rows.view()).unwrap();
    let norm = model.weight().iter().map(|w| f64::from(*w).powi(2)).sum::<f64>().sqrt();
    for portrait in of(&model, &rows, &labels, &ALL) {
        let nearest = portrait.nearest.unwrap();
        let with = |j: usize| portrait.typical.iter().filter(move |e| e.runner_up == j);
        assert_eq!(nearest.rows, (0..4).map(|j| with(j).count()).max().unwrap());
        let lead = |e: &Example| logits[[e.row, portrait.cluster]] - logits[[e.row, nearest.cluster]];
        let mut leads: Vec<f32> = with(nearest.cluster).map(lead).collect();
        leads.sort_by(f32::total_cmp);
        assert_eq!(leads.len(), nearest.rows);
        let (median, smallest) = (f64::from(leads[leads.len() / 2]), f64::from(leads[0]));
        let margin = nearest.margin.unwrap();
        for (found, expected) in [
            (nearest.median_lead, median),
            (nearest.smallest_lead, smallest),
            (margin.median, median / norm),
            (margin.smallest, smallest / norm),
        ] {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}

#[test]
fn defining_features_sum_to_what_the_cluster_gains_over_the_average_row() {
    let (model, rows) = (model(&[(5, true, true), (3, true, false)]), rows(300, 8));
    let labels = labels(&model, &rows);
    let logits = model.logits_all(&rows.view()).unwrap();
    // The lead over the mean of the others is linear, so that its mean is that of the mean row.
    let lead = |z: &[f64], c: usize| z[c] - (0..4).filter(|&j| j != c).map(|j| z[j]).sum::<f64>() / 3.0;
    let at_average: Vec<f64> = (0..4)
        .map(|c| {
            let w = &model.weight()[c * 8..(c + 1) * 8];
            f64::from(model.bias()[c])
                + w.iter().zip(model.average()).map(|(w, a)| f64::from(w * a)).sum::<f64>()
        })
        .collect();
    for portrait in of(&model, &rows, &labels, &ALL) {
        let c = portrait.cluster;
        let mine = (0..300).filter(|&i| labels[i] as usize == c);
        let leads = mine.map(|i| lead(&logits.row(i).iter().map(|z| f64::from(*z)).collect::<Vec<_>>(), c));
        let gain = leads.sum::<f64>() / portrait.size as f64 - lead(&at_average, c);
        let sum: f64 = portrait.features.iter().map(|f| f.value).sum();
        assert!((gain - sum).abs() < 1e-5, "{gain} {sum}");
        assert!(portrait.features.is_sorted_by(|a, b| a.value.abs() >= b.value.abs()));
    }
}

#[test]
fn only_as_much_is_shown_as_was_asked_for() {
    let (model, rows) = (model(&[(8, false, true)]), rows(300, 8));
    let labels = labels(&model, &rows);
    let few = PortraitOptions { examples: 3, features: 2, bins: 1 };
    for (some, all) in of(&model, &rows, &labels, &few).iter().zip(of(&model, &rows, &labels, &ALL)) {
        assert_eq!(some.typical, all.typical[..3]);
        assert_eq!(some.doubtful, all.doubtful[..3]);
        assert_eq!(some.features, all.features[..2]);
        assert_eq!(some.confidence, [all.size]);
    }
    let none = PortraitOptions { examples: 0, features: 0, bins: 1 };
    assert!(of(&model, &rows, &labels, &none).iter().all(|p| p.typical.is_empty() && p.features.is_empty()));
}

#[test]
fn sparse_rows_give_the_same_portraits() {
    let rows = rows(300, 8);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows.rows() {
        for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(j as i32);
            values.push(x);
        }
        starts.push(values.len());
    }
    let sparse = Csr::new(starts, columns.into(), values.into(), 8).unwrap();
    for views in [
        &[(8, true, true)][..],
        &[(8, true, false)],
        &[(8, false, true)],
        &[(5, true, true), (3, false, true)],
    ] {
        let model = model(views);
        let labels = labels(&model, &rows);
        let dense = of(&model, &rows, &labels, &ALL);
        for (a, b) in portraits(&model, &sparse, &labels, &ALL).unwrap().iter().zip(&dense) {
            assert_eq!((a.size, &a.confidence), (b.size, &b.confidence));
            let value = |p: &Portrait, f: usize| p.features.iter().find(|d| d.feature == f).unwrap().value;
            (0..8).for_each(|f| assert!((value(a, f) - value(b, f)).abs() < 1e-6));
            assert!((a.nearest.unwrap().median_lead - b.nearest.unwrap().median_lead).abs() < 1e-5);
        }
    }
}

#[test]
fn blocks_of_rows_add_up_and_a_bad_value_is_named_by_its_row() {
    // So wide that a block has 128 rows.
    let m = 1 << 15;
    let (model, mut rows) = (model(&[(m, true, true)]), rows(300, m));
    let labels = labels(&model, &rows);
    let found = of(&model, &rows, &labels, &ALL);
    let proba = model.predict_proba(&rows.view()).unwrap();
    let same = portraits_of_probabilities(proba.as_slice().unwrap(), 4, &labels, &ALL).unwrap();
    for (a, b) in found.iter().zip(&same) {
        assert_eq!((a.size, &a.confidence, a.typical.len()), (b.size, &b.confidence, b.typical.len()));
        assert!((a.mean_confidence.unwrap() - b.mean_confidence.unwrap()).abs() < 1e-6);
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(threads.install(|| of(&model, &rows, &labels, &ALL)), found);
    rows[[200, 7]] = f32::NAN;
    let error = portraits(&model, &rows.view(), &labels, &ALL).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 200, column: 7, .. }), "{error}");
}

#[test]
fn probabilities_that_round_to_one_are_told_apart_by_the_others() {
    let proba = [1.0, 1e-20, 0.0, 1.0, 1e-30, 0.0, 1.0, 0.0, 1e-10, 0.3, 0.3, 0.4];
    let all = portraits_of_probabilities(&proba, 3, &[0, 0, 0, 2], &ALL).unwrap();
    let order: Vec<usize> = all[0].typical.iter().map(|example| example.row).collect();
    assert_eq!(order, [1, 0, 2]);
    let nearest = all[0].nearest.unwrap();
    assert_eq!((nearest.cluster, nearest.rows, nearest.margin), (1, 2, None));
    assert!((nearest.smallest_lead - 20.0 * 10f64.ln()).abs() < 1e-4, "{nearest:?}");
    // An empty cluster has a portrait too.
    assert_eq!((all[1].size, all[1].mean_confidence, all[1].nearest), (0, None, None));
    assert_eq!(all[2].doubtful, all[2].typical);
    assert_eq!(all[2].confidence, [0, 0, 1, 0, 0, 0, 0]);
}

#[test]
fn portraits_come_back_from_json() {
    let (model, rows) = (model(&[(8, true, false)]), rows(60, 8));
    let found = of(&model, &rows, &labels(&model, &rows), &PortraitOptions::default());
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Portrait>>(&json).unwrap(), found);
    assert_eq!(serde_json::from_str::<PortraitOptions>("{}").unwrap(), PortraitOptions::default());
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let (model, rows) = (model(&[(8, true, false)]), rows(20, 8));
    let refused = |labels: &[u32], width: usize, bins: usize| {
        let options = PortraitOptions { bins, ..ALL };
        let rows = rows.slice(ndarray::s![.., ..width]);
        portraits(&model, &rows, labels, &options).unwrap_err().to_string()
    };
    assert!(refused(&[0; 19], 8, 1).contains("19 entries where 20"));
    assert!(refused(&[9; 20], 8, 1).contains("row 0 is 9"));
    assert!(refused(&[0; 20], 7, 1).contains("8 features"));
    assert!(refused(&[0; 20], 8, 0).contains("bins = 0"));
    let of_proba =
        |proba: &[f32], k| portraits_of_probabilities(proba, k, &[0, 0], &ALL).unwrap_err().to_string();
    assert!(of_proba(&[1.0, 1.0], 1).contains("clusters = 1"));
    assert!(of_proba(&[1.0, 0.0, f32::NAN, 0.0], 2).contains("NaN in row 1, column 0"));
}
