//! Standard input as data; pipes and devices, which could keep the program waiting for ever, are refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, csv_text};
use partita_data::synth::gaussian_mixture;
use std::io::Write;
use std::process::{Command, Output, Stdio};

const WAITS: i32 = 124;

fn blobs() -> Lab {
    let rows = gaussian_mixture(&[30, 30], 4, 12.0, 1);
    let lab = Lab::with_rows(&rows, 4);
    lab.write("x.csv", csv_text(&rows.0, 4));
    lab.succeed("fit x.csv -k 2 -o m.safetensors");
    lab
}

/// A run that would be ended after some seconds; then its code is [`WAITS`].
fn run(lab: &Lab, arguments: &str) -> Output {
    let program = lab.command(arguments);
    let mut command = Command::new("timeout");
    command.arg("10").arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().unwrap()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn no_input_keeps_the_program_waiting() {
    let lab = blobs();
    assert!(Command::new("mkfifo").arg(lab.path("pipe.csv")).status().unwrap().success());
    let mut all = vec![
        "fit pipe.csv -k 2",
        "fit x.csv pipe.csv -k 2",
        "fit x.csv -k 2 --truth pipe.csv",
        "fit x.csv -k 2 --known pipe.csv",
        "fit x.csv -k 2 --weights pipe.csv",
        "fit x.csv -k 2 --prior pipe.csv",
        "fit x.csv -k 2 --like pipe.csv",
        "fit --spec pipe.csv",
        "predict pipe.csv x.csv",
        "predict m.safetensors pipe.csv",
        "update pipe.csv x.csv -o n.safetensors",
        "update m.safetensors pipe.csv",
        "update m.safetensors x.csv --truth pipe.csv",
        "evaluate --truth pipe.csv --pred truth.npy",
        "evaluate --truth truth.npy --pred pipe.csv",
        "explain pipe.csv x.csv --row 0",
        "explain m.safetensors pipe.csv --row 0",
        "export pipe.csv -o m.onnx",
        "compare pipe.csv -k 2",
        "compare x.csv -k 2 --truth pipe.csv",
        "choose-k pipe.csv",
    ];
    if cfg!(feature = "deep") {
        all.extend(["embed x.csv --weights pipe.csv -o f.npy", "fit pipe.csv -k 2 --net mlp"]);
    }
    for arguments in all {
        let output = run(&lab, arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_ne!(output.status.code(), Some(WAITS), "{arguments} waits");
        assert_eq!(output.status.code(), Some(3), "{arguments}: {told}");
        assert!(told.contains("pipe.csv: it is a pipe, not a file"), "{arguments}: {told}");
    }
    let told = String::from_utf8(run(&lab, "fit /dev/zero -k 2").stderr).unwrap();
    assert!(told.contains("/dev/zero: it is a device"), "{told}");
}

#[test]
fn standard_input_is_read_as_a_file_would_be() {
    let lab = blobs();
    let fed = |arguments: &str, file: &str| {
        let mut child = lab
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&lab.read(file)).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    fed("fit - -k 2 -o s.safetensors", "x.csv");
    assert_eq!(lab.read("s.safetensors"), lab.read("m.safetensors"));
    // Formats that begin with known bytes will do as well.
    fed("fit - -k 2 -o s.safetensors", "x.npy");
    let printed = lab.succeed("predict m.safetensors x.csv");
    assert_eq!(fed("predict m.safetensors - -o -", "x.csv"), printed);
    lab.refused(3, "fit - - -k 2", &["two inputs"]);
}
