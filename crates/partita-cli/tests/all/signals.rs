//! The first signal ends every stage within two seconds, also those that do not look at it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::Lab;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NOT_WRITTEN: i32 = 5;
const INTERRUPTED: i32 = 130;
/// Two seconds, and some for a busy machine.
const SOON: Duration = Duration::from_secs(4);

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
}

/// Send a signal after a while; the code and the message that it ends with.
fn ended(lab: &Lab, arguments: &str, name: &str) -> (Option<i32>, String) {
    let mut command = lab.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // Kept open, so that whoever reads it waits.
    let input = child.stdin.take();
    sleep(Duration::from_millis(1500));
    assert!(child.try_wait().unwrap().is_none(), "{arguments} ended by itself");
    signal(&child, name);
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < SOON, "{arguments} took {:?}", began.elapsed());
    drop(input);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_waits_is_ended() {
    let lab = Lab::new();
    for name in ["INT", "TERM"] {
        for arguments in ["fit - -k 2 -o m.safetensors", "evaluate --truth x.npy --pred -"] {
            let (code, told) = ended(&lab, arguments, name);
            assert_eq!(code, Some(INTERRUPTED), "{told}");
            assert!(told.contains("interrupted") && told.contains("no file is half-written"), "{told}");
        }
    }
    assert!(lab.files().is_empty());
}

#[cfg(feature = "deep")]
#[test]
fn a_long_step_of_a_network_is_ended() {
    let lab = Lab::new();
    let n: usize = 500;
    let mut bytes = vec![0, 0, 8, 3, 0, 0, (n >> 8) as u8, n as u8, 0, 0, 0, 8, 0, 0, 0, 8];
    bytes.extend((0..n * 64).map(|i| (i * 37 % 251) as u8));
    lab.write("d-images-idx3-ubyte", bytes);
    let before = lab.files();
    let fit = "fit d-images-idx3-ubyte -k 3 --net resnet18 --size 64 --batch 500 --epochs 9 -o m.safetensors";
    let (code, told) = ended(&lab, &format!("{fit} --checkpoint c.safetensors"), "TERM");
    assert_eq!(code, Some(INTERRUPTED), "{told}");
    assert_eq!(lab.files(), before, "no lock stays behind");
}

#[test]
fn a_checkpoint_in_use_is_refused() {
    let lab = Lab::with_digits();
    let fit = "fit x.npy -k 10 --epochs 4000 --checkpoint c.safetensors";
    let mut first = lab.command(fit).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !lab.path("c.safetensors.lock").exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended before it could be disturbed");
        sleep(Duration::from_millis(5));
    }
    let second = lab.run(fit);
    let told = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(NOT_WRITTEN), "{told}");
    assert!(
        told.contains("c.safetensors is in use by another run") && told.contains("another file"),
        "{told}"
    );
    signal(&first, "INT");
    assert_eq!(first.wait().unwrap().code(), Some(INTERRUPTED));
    assert!(!lab.path("c.safetensors.lock").exists());
    lab.succeed("fit x.npy -k 10 -r 1 --epochs 1 --checkpoint c.safetensors");
}

/// Without a handler the signal for this limit would kill the program.
#[test]
fn outputs_that_exceed_a_size_limit_leave_all_as_it_was() {
    let lab = Lab::with_digits();
    lab.write("l.csv", "precious");
    lab.write("p.npy", "precious");
    let mut command = Command::new("sh");
    // Labels of 30 kB fit into 100 blocks of 512 bytes, probabilities of 72 kB do not.
    let script = "ulimit -f 100; exec \"$0\" \"$@\"";
    let program =
        lab.command("fit x.npy -k 10 -r 1 --epochs 1 --labels-out l.csv --proba-out p.npy -o m.safetensors");
    command.args(["-c", script]).arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().unwrap());
    lab.refused_command(
        NOT_WRITTEN,
        &mut command,
        &["cannot write p.npy", "too large", "nothing was changed"],
    );
}
