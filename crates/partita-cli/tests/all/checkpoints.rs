//! Fits of rows that are killed continue from their checkpoint and end with the same bits as an uninterrupted run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::Lab;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Start a fit, kill it after a while and resume it, again and again. Returns how often it was killed.
fn killed_and_resumed(lab: &Lab, fit: &str, first: Duration) -> usize {
    let mut kills = 0;
    loop {
        let mut run = lab.command(fit).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        // Kill it later each time, so that slow machines reach the end.
        let end = first * (kills as u32 + 1);
        while began.elapsed() < end {
            if run.try_wait().unwrap().is_some() {
                let output = run.wait_with_output().unwrap();
                assert!(output.status.success(), "{fit}: {}", String::from_utf8_lossy(&output.stderr));
                return kills;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        kills += 1;
    }
}

#[test]
fn a_killed_fit_goes_on_to_the_same_bits() {
    let lab = Lab::with_digits();
    let mut kills = 0;
    for (name, options) in [
        ("batch", "--restarts 16 --batch 512 --epochs 150"),
        ("epoch", "--restarts 4 --refresh epoch --epochs 40"),
        ("lbfgs", "--restarts 4 --optimiser lbfgs"),
        ("sizes", "--restarts 4 --prior auto --epochs 12"),
    ] {
        let fit = |to: &str| format!("fit x.npy -k 10 {options} -o {to}.safetensors --labels-out {to}.npy");
        lab.succeed(&fit("whole"));
        let resumed = format!("{} --checkpoint {name}-state.safetensors --resume", fit(name));
        kills += killed_and_resumed(&lab, &resumed, Duration::from_millis(300));
        assert_eq!(lab.read("whole.safetensors"), lab.read(&format!("{name}.safetensors")), "{name}");
        assert_eq!(lab.read("whole.npy"), lab.read(&format!("{name}.npy")), "{name}");
    }
    assert!(kills > 0, "every fit ended before it could be killed");
}

#[test]
fn checkpoints_that_cannot_be_gone_on_from_are_refused() {
    let lab = Lab::with_digits();
    let fit = "fit x.npy -k 10 --restarts 2 --epochs 5 --checkpoint c.safetensors --resume";
    lab.refused(2, "fit x.npy -k 10 --resume", &["--checkpoint"]);
    lab.write("c.safetensors", b"not one");
    lab.refused(3, fit, &["c.safetensors"]);
    lab.succeed("fit x.npy -k 10 --restarts 1 --epochs 1 -o c.safetensors");
    lab.refused(3, fit, &["c.safetensors", "not the checkpoint of a fit of rows"]);
    lab.refused(3, "fit x.npy -k 10 --checkpoint x.npy", &["x.npy"]);
    lab.refused(5, "fit x.npy -k 10 --checkpoint nowhere/c.safetensors", &["nowhere"]);
}
