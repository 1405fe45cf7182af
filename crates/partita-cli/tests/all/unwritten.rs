//! Results that cannot be written, and fits that are stopped: an exit code, and nothing left behind.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::Lab;
use partita_data::synth::gaussian_mixture;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const BAD_INPUT: i32 = 3;
const NOT_WRITTEN: i32 = 5;
const INTERRUPTED: i32 = 130;
/// A fit that runs for about a minute if nothing stops it.
const LONG: &str = "fit x.npy -k 10 --epochs 4000";

fn blobs() -> Lab {
    Lab::with_rows(&gaussian_mixture(&[30, 30], 4, 12.0, 1), 4)
}

#[test]
fn outputs_that_cannot_be_written_are_found_before_the_fit() {
    let lab = Lab::with_digits();
    let began = Instant::now();
    for option in ["-o nowhere/m.safetensors", "--labels-out nowhere/l.csv", "--proba-out nowhere/p.npy"] {
        let words = ["cannot write nowhere/", "nowhere does not exist", "create it first"];
        lab.refused(NOT_WRITTEN, &format!("{LONG} {option}"), &words);
    }
    lab.refused(NOT_WRITTEN, &format!("{LONG} -o x.npy/m.safetensors"), &["cannot write"]);
    lab.refused(NOT_WRITTEN, &format!("{LONG} -o m.safetensors/"), &["names a directory", "a file in it"]);
    lab.refused(NOT_WRITTEN, "demo -o nowhere/d.png", &["nowhere does not exist"]);
    #[cfg(target_os = "linux")]
    for arguments in ["-o /proc/m.safetensors", "-o /dev/full", "--labels-out /dev/full"] {
        let arguments = format!("{LONG} {arguments}");
        lab.refused(NOT_WRITTEN, &arguments, &["cannot write", "nothing was changed"]);
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn outputs_of_an_unknown_kind_are_refused_before_the_fit() {
    let lab = Lab::with_digits();
    for (option, word) in [
        ("--labels-out l.xlsx", ".csv or .npy"),
        ("--labels-out labels", ".csv or .npy"),
        ("--proba-out p.csv", ".npy"),
        ("-o model.pkl", ".safetensors"),
    ] {
        lab.refused(BAD_INPUT, &format!("{LONG} {option}"), &[word, "name the file so"]);
    }
    lab.refused(BAD_INPUT, "fit x.npy -k 10 --labels-out a.npy --proba-out a.npy", &["two outputs"]);
    lab.refused(BAD_INPUT, "demo -o picture.svg", &[".png"]);
}

#[test]
fn outputs_never_take_the_place_of_an_input() {
    let lab = blobs();
    let rows = gaussian_mixture(&[30, 30], 4, 12.0, 1).0;
    lab.write("data.csv", crate::lab::csv_text(&rows, 4));
    lab.write("tt.csv", "label\n".to_owned() + &"0\n1\n".repeat(30));
    lab.write("prior.csv", "0.5,0.5\n");
    lab.write("w.csv", "1\n".repeat(60));
    lab.succeed("fit x.npy -k 2 -o m.safetensors");
    for (arguments, lost) in [
        ("fit data.csv -k 2 --labels-out data.csv", "data.csv"),
        ("fit data.csv -k 2 --labels-out ./data.csv", "data.csv"),
        ("fit x.npy -k 2 --proba-out x.npy", "x.npy"),
        ("fit m.safetensors -k 2 -o m.safetensors", "m.safetensors"),
        ("fit x.npy -k 2 --truth tt.csv --labels-out tt.csv", "tt.csv"),
        ("fit x.npy -k 2 --known tt.csv --labels-out tt.csv", "tt.csv"),
        ("fit x.npy -k 2 --weights w.csv --labels-out w.csv", "w.csv"),
        ("fit x.npy -k 2 --prior prior.csv --labels-out prior.csv", "prior.csv"),
        ("predict m.safetensors data.csv -o data.csv", "data.csv"),
        ("predict m.safetensors x.npy --proba -o x.npy", "x.npy"),
        ("update m.safetensors data.csv --labels-out data.csv", "data.csv"),
        ("compare data.csv -k 2 --methods kmeans -o data.csv", "data.csv"),
        ("compare x.npy -k 2 --truth tt.csv --methods kmeans -o tt.csv", "tt.csv"),
        ("choose-k data.csv --range 2..3 -o data.csv", "data.csv"),
        ("choose-k data.csv --range 2..3 --picture data.csv", "data.csv"),
    ] {
        lab.refused(BAD_INPUT, arguments, &[lost, "would be lost", "another file"]);
    }
    std::os::unix::fs::symlink("data.csv", lab.path("link.csv")).unwrap();
    lab.refused(BAD_INPUT, "fit data.csv -k 2 --labels-out link.csv", &["link.csv", "would be lost"]);
}

#[test]
fn outputs_never_take_each_others_place() {
    let lab = blobs();
    for arguments in [
        "fit x.npy -k 2 --labels-out l.npy --proba-out ./l.npy",
        "choose-k x.npy --range 2..3 --format md -o same.svg --picture same.svg",
    ] {
        lab.refused(BAD_INPUT, arguments, &["two outputs", "its own file"]);
    }
}

#[test]
fn a_model_is_replaced_where_that_is_meant() {
    let lab = blobs();
    lab.succeed("fit x.npy -k 2 -r 1 -o m.safetensors");
    lab.succeed("update m.safetensors x.npy");
    lab.succeed("update m.safetensors x.npy -o m.safetensors");
    lab.succeed("fit x.npy -k 2 -r 1 --like m.safetensors -o m.safetensors");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_behind_standard_output_is_told() {
    let lab = blobs();
    lab.succeed("fit x.npy -k 2 -o m.safetensors");
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    for arguments in ["fit x.npy -k 2 --json", "predict m.safetensors x.npy", "completions bash"] {
        let mut command = lab.command(arguments);
        lab.refused_command(NOT_WRITTEN, command.stdout(full()), &["standard output", "No space left"]);
    }
}

/// The shell limits the size of files, and makes the write fail instead of killing the program.
#[test]
fn a_disk_that_fills_up_leaves_what_was_there() {
    let lab = Lab::with_digits();
    lab.succeed("fit x.npy -k 10 --restarts 1 --epochs 1 -o m.safetensors");
    lab.write("p.npy", "precious");
    lab.write("l.csv", "precious");
    for arguments in ["--proba -o p.npy", "-o l.csv"] {
        let mut command = Command::new("sh");
        let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
        let program = lab.command(&format!("predict m.safetensors x.npy {arguments}"));
        command.args(["-c", script]).arg(program.get_program()).args(program.get_args());
        command.current_dir(program.get_current_dir().unwrap());
        lab.refused_command(NOT_WRITTEN, &mut command, &["cannot write", "too large", "nothing was changed"]);
    }
}

fn started(lab: &Lab) -> Child {
    let mut command = lab.command(&format!("{LONG} -o m.safetensors --labels-out l.csv --proba-out p.npy"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_millis(1500));
    child
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
}

#[test]
fn control_c_stops_a_fit_that_leaves_nothing() {
    let lab = Lab::with_digits();
    for name in ["INT", "TERM"] {
        let before = lab.files();
        let child = started(&lab);
        signal(&child, name);
        let began = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(output.status.code(), Some(INTERRUPTED));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("interrupted") && message.contains("no result was written"), "{message}");
        assert!(output.stdout.is_empty());
        assert_eq!(lab.files(), before);
    }
}

#[test]
fn a_killed_fit_leaves_nothing() {
    let lab = Lab::with_digits();
    let before = lab.files();
    let mut child = started(&lab);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert_eq!(lab.files(), before);
}
