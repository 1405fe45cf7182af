//! How fast files open and are read: `cargo run --release -p partita-data --example read_speed -- FILE…`
//!
//! Prints, for every file, the time to open it (also that of all processors), to read all rows in order and to gather as many in random
//! order.

#![allow(clippy::print_stdout, reason = "printing is what this example is for")]

use partita::rng::{Stream, stream};
use partita::rows::Rows;
use partita_data::{OpenOptions, open};
use rand::RngExt;
use std::time::Instant;

const BLOCK: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let (clock, busy) = (Instant::now(), processor_seconds());
        let features = open(&path, &OpenOptions::default())?;
        let (opened, busy) = (clock.elapsed().as_secs_f64(), processor_seconds() - busy);
        let (n, m) = (features.n(), features.m());
        let mut block = vec![0f32; BLOCK.min(n) * m];
        let clock = Instant::now();
        for start in (0..n).step_by(BLOCK) {
            features.read(start, &mut block[..(n - start).min(BLOCK) * m])?;
        }
        let read = clock.elapsed().as_secs_f64();
        let mut rng = stream(0, Stream::Order, 0);
        let clock = Instant::now();
        for _ in 0..n.div_ceil(BLOCK) {
            let rows: Vec<usize> = (0..BLOCK.min(n)).map(|_| rng.random_range(0..n)).collect();
            features.gather(&rows, &mut block)?;
        }
        let gathered = clock.elapsed().as_secs_f64();
        println!(
            "{path}: {n} x {m}, {megabytes:.0} MB; open {opened:.3} s ({:.0} MB/s, processor {busy:.3} s); read {read:.3} s ({:.0} MB/s); \
             gather {gathered:.3} s ({:.0} MB/s)",
            megabytes / opened,
            megabytes / read,
            megabytes / gathered
        );
    }
    Ok(())
}

/// The time that this program has used on all processors; not a number where the system does not say.
fn processor_seconds() -> f64 {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a place for the time.
        if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } == 0 {
            return time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
        }
    }
    f64::NAN
}
