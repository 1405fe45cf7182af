//! What a user may know in advance: sizes, some labels, weights, several views of the same rows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use partita_data::synth::gaussian_mixture;

#[test]
fn cluster_sizes_follow_the_prior() {
    let lab = Lab::with_rows(&gaussian_mixture(&[700, 200, 100], 8, 8.0, 2), 8);
    lab.write("prior.txt", "0.7 0.2 0.1\n");
    for prior in ["0.7,0.2,0.1", "prior.txt"] {
        let report = lab.json(&format!("fit x.npy -k 3 --prior {prior} --truth truth.npy"));
        for (cluster, size) in [700.0, 200.0, 100.0].into_iter().enumerate() {
            let found = number(&report, &format!("/cluster_sizes/{cluster}"));
            assert!((found - size).abs() <= 20.0, "{}", report["cluster_sizes"]);
        }
        assert!(number(&report, "/metrics/acc") > 0.98, "{report}");
    }
}

/// Four blobs at the corners of a rectangle that is a little wider than high. Without further knowledge, left and right
/// halves are the better clusters; the true ones are the upper and lower halves.
fn rectangle() -> Lab {
    let lab = Lab::new();
    let (noise, corners) = gaussian_mixture(&[1000], 2, 1.0, 6);
    let side = |odd: usize, length: f32| if odd == 1 { -length } else { length };
    let corner = |i: usize| [side(i % 2, 6.6), side(i / 2 % 2, 6.0)];
    let place = |(i, row): (usize, &[f32])| [row[0] + corner(i)[0], row[1] + corner(i)[1]];
    let rows: Vec<f32> = noise.chunks_exact(2).enumerate().flat_map(place).collect();
    lab.npy("x.npy", &rows, 2);
    let half = |i: usize| (i / 2 % 2) as i32;
    lab.labels("truth.npy", (0..corners.len()).map(half));
    // Every 99th row comes from each corner in turn.
    lab.labels("known.npy", (0..corners.len()).map(|i| if i % 99 == 0 { half(i) } else { -1 }));
    lab
}

#[test]
fn a_hundredth_of_the_labels_decides_between_two_good_cuts() {
    let lab = rectangle();
    let acc = |options: &str| {
        number(&lab.json(&format!("fit x.npy -k 2 --truth truth.npy {options}")), "/metrics/acc")
    };
    let (without, with) = (acc(""), acc("--known known.npy"));
    assert!(without < 0.6 && with > 0.98, "{without} without labels, {with} with some");
}

#[test]
fn known_labels_name_the_clusters() {
    let lab = Lab::with_rows(&gaussian_mixture(&[100, 100, 100], 4, 12.0, 3), 4);
    let truth = lab.numbers("truth.npy");
    let cell = |(i, label): (usize, &f64)| if i % 5 == 0 { format!("{label}\n") } else { "\n".to_owned() };
    let column: String = truth.iter().enumerate().map(cell).collect();
    lab.write("known.csv", format!("label\n{column}0\n"));
    lab.refused(3, "fit x.npy -k 3 --known known.csv", &["known.csv", "301 labels", "300 rows"]);
    // The last rows are unknown, so the file ends in blank lines.
    lab.write("known.csv", format!("label\n{column}"));
    lab.succeed("fit x.npy -k 3 --known known.csv --labels-out l.npy");
    assert_eq!(lab.numbers("l.npy"), truth);
    lab.labels("known.npy", truth.iter().enumerate().map(|(i, &l)| if i % 5 == 0 { l as i32 } else { -1 }));
    lab.succeed("fit x.npy -k 3 --known known.npy --labels-out l.npy");
    assert_eq!(lab.numbers("l.npy"), truth);
}

#[test]
fn known_labels_win_over_the_numbers_of_another_model() {
    let lab = Lab::with_rows(&gaussian_mixture(&[100, 100, 100], 4, 12.0, 3), 4);
    lab.succeed("fit x.npy -k 3 -o old.safetensors --labels-out old.npy");
    let next: Vec<i32> = lab.numbers("old.npy").iter().map(|&l| (l as i32 + 1) % 3).collect();
    lab.labels("known.npy", next.iter().enumerate().map(|(i, &l)| if i % 5 == 0 { l } else { -1 }));
    lab.succeed("fit x.npy -k 3 --like old.safetensors --known known.npy --labels-out l.npy");
    let same = lab.numbers("l.npy").iter().zip(&next).filter(|(a, b)| **a == f64::from(**b)).count();
    assert!(same > 295, "{same} of 300");
}

#[test]
fn two_files_of_the_same_rows_are_one_set_of_features() {
    let lab = Lab::new();
    let (rows, labels) = gaussian_mixture(&[80, 80, 80], 6, 12.0, 4);
    let part = |from: usize, to: usize| -> Vec<f32> {
        rows.chunks_exact(6).flat_map(|row| row[from..to].to_vec()).collect()
    };
    lab.npy("a.npy", &part(0, 4), 4);
    lab.npy("b.npy", &part(4, 6), 2);
    lab.labels("truth.npy", labels.iter().map(|&l| l as i32));
    let report = lab.json("fit a.npy b.npy -k 3 --truth truth.npy -o m.safetensors --labels-out l.csv");
    assert_eq!((number(&report, "/m"), number(&report, "/metrics/acc")), (6.0, 1.0));
    lab.succeed("predict m.safetensors a.npy b.npy -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
}

#[test]
fn weights_are_taken_one_for_each_row() {
    let lab = Lab::with_rows(&gaussian_mixture(&[50, 50], 3, 12.0, 5), 3);
    lab.write("w.csv", "1.5\n".repeat(100));
    let report = lab.json("fit x.npy -k 2 --weights w.csv --truth truth.npy");
    assert_eq!(number(&report, "/metrics/acc"), 1.0);
}

#[test]
fn files_whose_rows_differ_are_not_joined() {
    let lab = Lab::new();
    let rows = |names: [&str; 4]| names.map(|name| format!("{name},{},2\n", name.len())).concat();
    lab.write("a.csv", format!("name,a,b\n{}", rows(["p", "qq", "rrr", "ssss"])));
    lab.write("b.csv", format!("name,c,d\n{}", rows(["p", "qq", "ssss", "rrr"])));
    lab.write("short.csv", "name,c,d\np,1,2\nqq,3,4\n");
    lab.write("plain.csv", "c,d\n1,2\n3,4\n5,6\n7,8\n");
    let words = ["row 2 is 'rrr' in a.csv", "'ssss' in b.csv", "same order"];
    lab.refused(3, "fit a.csv b.csv -k 2", &words);
    lab.refused(3, "fit a.csv plain.csv b.csv -k 2", &words);
    lab.refused(3, "fit a.csv short.csv -k 2", &["a.csv has 4 rows", "short.csv has 2"]);
    lab.succeed("fit a.csv plain.csv -k 2 -r 1");
}

#[test]
fn files_of_other_widths_than_those_of_the_fit_are_refused() {
    let lab = Lab::new();
    let (rows, _) = gaussian_mixture(&[30, 30, 30], 5, 12.0, 4);
    let part = |from: usize, to: usize| -> Vec<f32> {
        rows.chunks_exact(5).flat_map(|row| row[from..to].to_vec()).collect()
    };
    lab.npy("a.npy", &part(0, 2), 2);
    lab.npy("b.npy", &part(2, 5), 3);
    lab.npy("all.npy", &rows, 5);
    lab.succeed("fit a.npy b.npy -k 3 -r 1 -o m.safetensors --labels-out l.csv");
    for command in [
        "predict m.safetensors b.npy a.npy",
        "explain m.safetensors b.npy a.npy --row 0",
        "update m.safetensors b.npy a.npy",
        "fit b.npy a.npy -k 3 --like m.safetensors",
    ] {
        lab.refused(3, command, &["[2, 3]", "[3, 2]", "order"]);
    }
    lab.succeed("predict m.safetensors all.npy -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
}
