//! Bad input is refused with a message that says what to do, an exit code for scripts, and no file left behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::Lab;
use partita_data::synth::gaussian_mixture;

const USAGE: i32 = 2;
const BAD_INPUT: i32 = 3;
const ALL_OUTPUTS: &str = "-o m.safetensors --labels-out l.csv --proba-out p.npy";

/// Two blobs of 30 rows and 4 features, as arrays.
fn blobs() -> Lab {
    Lab::with_rows(&gaussian_mixture(&[30, 30], 4, 12.0, 1), 4)
}

fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.bytes());
    out.extend(bytes);
    out
}

#[test]
fn values_that_are_not_finite_are_named_by_row_and_column() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut rows = gaussian_mixture(&[400, 400], 4, 12.0, 1).0;
        rows[700 * 4 + 2] = bad;
        let lab = Lab::new();
        lab.npy("x.npy", &rows, 4);
        lab.refused(
            BAD_INPUT,
            &format!("fit x.npy -k 2 {ALL_OUTPUTS}"),
            &["row 700", "column 2", "remove or fill"],
        );
        lab.npy("good.npy", &gaussian_mixture(&[40, 40], 4, 12.0, 1).0, 4);
        lab.succeed("fit good.npy -k 2 -o m.safetensors");
        lab.refused(BAD_INPUT, "predict m.safetensors x.npy -o l.csv", &["row 700", "column 2"]);
        lab.refused(BAD_INPUT, "explain m.safetensors x.npy --row 700", &["row 700", "column 2"]);
    }
}

#[test]
fn data_with_nothing_to_cluster_is_refused() {
    let lab = Lab::new();
    lab.write("empty.csv", "");
    lab.refused(
        BAD_INPUT,
        &format!("fit empty.csv -k 2 {ALL_OUTPUTS}"),
        &["empty.csv", "empty", "supported are"],
    );
    lab.write("header.csv", "a,b\n");
    lab.refused(BAD_INPUT, "fit header.csv -k 2", &["header.csv", "0 rows", "at least one row"]);
    lab.write("none.npy", npy("<f4", "(0, 3)", b""));
    lab.refused(BAD_INPUT, "fit none.npy -k 2", &["none.npy", "0 rows", "at least one row"]);
    lab.npy("one.npy", &[1.0, 2.0, 3.0], 3);
    lab.refused(BAD_INPUT, "fit one.npy -k 2", &["2 clusters", "only 1 rows", "at most as many"]);
    lab.refused(BAD_INPUT, "fit nowhere.npy -k 2", &["nowhere.npy", "No such file"]);
    lab.npy("same.npy", &[2.5; 60], 3);
    lab.refused(BAD_INPUT, &format!("fit same.npy -k 2 {ALL_OUTPUTS}"), &["all rows are alike"]);
}

#[test]
fn numbers_of_clusters_that_cannot_be_are_refused() {
    let lab = blobs();
    lab.refused(BAD_INPUT, &format!("fit x.npy -k 1 {ALL_OUTPUTS}"), &["clusters = 1", "at least 2"]);
    lab.refused(BAD_INPUT, "fit x.npy -k 0", &["clusters = 0", "at least 2"]);
    lab.refused(BAD_INPUT, "fit x.npy -k 61", &["61 clusters", "60 rows", "at most"]);
    lab.refused(USAGE, "fit x.npy -k many", &["many", "--help"]);
    lab.refused(USAGE, "fit x.npy", &["--k", "--help"]);
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --restarts 0", &["restarts = 0", "at least 1"]);
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --threads 0", &["--threads 0", "at least 1"]);
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --gamma -1", &["gamma = -1", "0 or more"]);
    for command in ["fit x.npy -k 2", "compare x.npy -k 2", "choose-k x.npy"] {
        for many in ["100000000000", "99999999999999999999999"] {
            lab.refused(USAGE, &format!("{command} -r {many}"), &["--restarts", "at most 10000"]);
        }
    }
    lab.refused(USAGE, "fit x.npy -k 2 --memory lots", &["500M"]);
    lab.refused(USAGE, "fit x.npy -k 2 --loss magic", &["strong, weak, mi"]);
}

#[test]
fn fewer_different_rows_than_clusters_are_refused() {
    let lab = Lab::new();
    let rows: Vec<f32> = (0..60).flat_map(|i| [(i % 3) as f32, (i % 3 * 2) as f32]).collect();
    lab.npy("x.npy", &rows, 2);
    lab.refused(
        BAD_INPUT,
        &format!("fit x.npy -k 5 {ALL_OUTPUTS}"),
        &["60 rows", "only 3 different", "5 clusters"],
    );
    lab.succeed("fit x.npy -k 3");
}

#[test]
fn text_that_is_no_table_of_numbers_is_refused() {
    let lab = Lab::new();
    lab.write("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n");
    lab.refused(
        BAD_INPUT,
        &format!("fit ragged.csv -k 2 {ALL_OUTPUTS}"),
        &["line 3", "2 cells", "3 are needed"],
    );
    lab.write("words.csv", "a,b\n1,2\n3,four\n5,6\n");
    lab.refused(BAD_INPUT, "fit words.csv -k 2 --columns a,b", &["line 3", "'four'"]);
    lab.write("names.csv", "a,b\nx,y\nz,w\n");
    lab.refused(BAD_INPUT, "fit names.csv -k 2", &["names.csv"]);
    lab.refused(BAD_INPUT, "fit words.csv -k 2 --columns q", &["'q'", "it has 'a'"]);
}

#[test]
fn arrays_of_the_wrong_type_or_shape_are_refused() {
    let lab = Lab::new();
    lab.write("text.npy", npy("<U3", "(2, 2)", &[0; 48]));
    lab.refused(BAD_INPUT, &format!("fit text.npy -k 2 {ALL_OUTPUTS}"), &["text.npy", "<U3"]);
    lab.write("complex.npy", npy("<c8", "(2, 2)", &[0; 32]));
    lab.refused(BAD_INPUT, "fit complex.npy -k 2", &["complex.npy", "complex"]);
    lab.write("object.npy", npy("|O", "(2, 2)", &[0; 32]));
    lab.refused(BAD_INPUT, "fit object.npy -k 2", &["object.npy"]);
    lab.write("vector.npy", npy("<f4", "(4,)", &[0; 16]));
    lab.refused(BAD_INPUT, "fit vector.npy -k 2", &["vector.npy", "[4]"]);
}

#[test]
fn files_that_are_cut_short_are_refused() {
    let lab = blobs();
    lab.succeed("fit x.npy -k 2 -o m.safetensors");
    let (array, model) = (lab.read("x.npy"), lab.read("m.safetensors"));
    for part in [1, 2, 9] {
        lab.write("cut.npy", &array[..array.len() * part / 10]);
        lab.refused(
            BAD_INPUT,
            &format!("fit cut.npy -k 2 {}", "-o new.safetensors"),
            &["cut.npy", "fetch the file again"],
        );
        lab.write("cut.safetensors", &model[..model.len() * part / 10]);
        lab.refused(BAD_INPUT, "predict cut.safetensors x.npy -o l.csv", &["cut.safetensors"]);
        lab.refused(BAD_INPUT, "fit cut.safetensors -k 2", &["cut.safetensors"]);
    }
    lab.write("cut.npy", &array[..7]);
    lab.refused(BAD_INPUT, "fit cut.npy -k 2", &["cut.npy"]);
}

#[test]
fn a_prior_off_the_simplex_is_refused() {
    let lab = blobs();
    for (prior, word) in [
        ("0.5,0.4", "sum to 0.9"),
        ("1.5,-0.5", "entry 1 is -0.5"),
        ("-0.5,1.5", "entry 0 is -0.5"),
        ("1,0", "entry 1 is 0"),
        ("0.5,0.3,0.2", "3 were given"),
        ("NaN,1", "entry 0 is NaN"),
        ("half,half", "neither a number"),
        ("prior.txt", "neither a number"),
    ] {
        lab.refused(BAD_INPUT, &format!("fit x.npy -k 2 --prior {prior} {ALL_OUTPUTS}"), &["prior", word]);
    }
}

#[test]
fn labels_and_weights_that_do_not_fit_are_refused() {
    let lab = blobs();
    lab.labels("short.npy", [0, 1, 0]);
    for option in ["--known", "--truth"] {
        lab.refused(
            BAD_INPUT,
            &format!("fit x.npy -k 2 {option} short.npy"),
            &["short.npy", "3 labels", "60 rows"],
        );
    }
    lab.labels("high.npy", (0..60).map(|i| if i == 41 { 2 } else { -1 }));
    let words = ["row 41", "is 2", "from 0 to 1", "-1 means unknown"];
    lab.refused(BAD_INPUT, &format!("fit x.npy -k 2 --known high.npy {ALL_OUTPUTS}"), &words);
    lab.labels("low.npy", (0..60).map(|i| if i == 41 { -2 } else { 0 }));
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --known low.npy", &["row 41", "-2", "unknown"]);
    lab.labels("unknown.npy", [-1; 60]);
    lab.refused(BAD_INPUT, "evaluate --truth truth.npy --pred unknown.npy", &["none of the 60 rows"]);
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --truth unknown.npy -o m.safetensors", &["none of the 60 rows"]);
    lab.refused(BAD_INPUT, "evaluate --truth truth.npy --pred short.npy", &["3 labels", "60 rows"]);
    lab.write("w.csv", "1\n2\n");
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --weights w.csv", &["w.csv", "2 weights", "60 rows"]);
    lab.write("w.csv", format!("{}0\n", "1\n".repeat(59)));
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --weights w.csv", &["weight", "row 59", "above 0"]);
}

#[test]
fn a_model_and_data_that_do_not_fit_together_are_refused() {
    let lab = blobs();
    lab.succeed("fit x.npy -k 2 -o m.safetensors");
    lab.npy("wide.npy", &[1.0; 50], 5);
    for command in ["predict m.safetensors wide.npy -o l.csv", "explain m.safetensors wide.npy --row 0"] {
        lab.refused(BAD_INPUT, command, &["takes 4 features", "has 5"]);
    }
    lab.refused(BAD_INPUT, "fit x.npy wide.npy -k 2", &["10", "60"]);
    lab.refused(BAD_INPUT, "explain m.safetensors x.npy --row 60", &["row = 60", "below the number of rows"]);
    lab.refused(BAD_INPUT, "predict x.npy x.npy", &["x.npy"]);
    lab.refused(BAD_INPUT, "predict nowhere.safetensors x.npy", &["nowhere.safetensors", "No such file"]);
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let lab = blobs();
    for (beside, option) in [
        ("--optimiser lbfgs", "--epochs 3"),
        ("--optimiser lbfgs", "--batch 20"),
        ("--optimiser lbfgs", "--learning-rate 3"),
        ("--optimiser lbfgs", "--momentum 0.5"),
        ("--optimiser lbfgs", "--refresh epoch"),
        ("--optimiser adam", "--momentum 0.5"),
        ("--loss mi", "--exact-labels"),
        ("--loss weak", "--em-iterations 9"),
        ("--loss hinge", "--lambda 3"),
        ("--exact-labels", "--em-iterations 9"),
        ("--seed 1", "--known-weight 1"),
    ] {
        let name = option.split(' ').next().unwrap();
        let fit = format!("fit x.npy -k 2 {beside} {option} -o m.safetensors");
        lab.refused(BAD_INPUT, &fit, &[name, "has no meaning"]);
    }
    lab.refused(BAD_INPUT, "fit x.npy -k 2 --loss weak --lambda 0", &["lambda", "above 0"]);
}
