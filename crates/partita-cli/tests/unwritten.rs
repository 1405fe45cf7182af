//! Results that cannot be written, and fits that are stopped: an exit code, and nothing left behind.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod lab;

use lab::Lab;
use partita_data::synth::gaussian_mixture;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const BAD_INPUT: i32 = 3;
const NOT_WRITTEN: i32 = 5;
const INTERRUPTED: i32 = 130;
/// A fit that runs for a minute or so if nothing stops it.
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

/// The shell sets a limit on the size of files, and has the write fail instead of killing the program.
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
