//! Runs that are killed leave all old outputs or all new ones. `bench/kill.py` does the same for every command that writes, at many more moments.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::Lab;
use std::process::Stdio;
use std::time::{Duration, Instant};

const MOMENTS: u32 = 12;

#[test]
fn outputs_are_all_old_or_all_new_whenever_a_fit_is_killed() {
    let lab = Lab::with_digits();
    let fit = |seed: u32| {
        format!(
            "fit x.npy -k 10 -r 1 --epochs 1 -s {seed} -o m.safetensors --labels-out l.csv --proba-out p.npy"
        )
    };
    let began = Instant::now();
    lab.succeed(&fit(1));
    let whole = began.elapsed();
    let new = lab.files();
    lab.succeed(&fit(0));
    let old = lab.files();
    assert_ne!(old, new);
    for moment in 1..=MOMENTS {
        let mut run = lab.command(&fit(1)).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // Closer together towards the end, where files are written.
        let share = 1.0 - (1.0 - f64::from(moment) / f64::from(MOMENTS)).powi(2);
        std::thread::sleep(whole.mul_f64(share).max(Duration::from_millis(1)));
        run.kill().unwrap();
        // The helper that gives several files their names outlives the program by a moment, and holds this pipe.
        run.wait_with_output().unwrap();
        let found = lab.files();
        assert!(
            found == old || found == new,
            "after {moment} of {MOMENTS} moments: {:?}",
            found.iter().map(|f| &f.0).collect::<Vec<_>>()
        );
        lab.succeed(&fit(0));
    }
}
