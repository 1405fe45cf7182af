//! What the tests of several rivals share.

use crate::report::{Flow, Observer, Progress};
use crate::rng::{Stream, stream};
use rand::RngExt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `n` rows of `m` numbers around `k` random corners, and the corner of each.
pub fn blobs(n: usize, k: usize, m: usize, spread: f32) -> (Vec<f32>, Vec<u32>) {
    let mut rng = stream(11, Stream::Synthetic, 0);
    // Corners that differ in many signs are far apart.
    let corner =
        |c: usize, j: usize| if (c * (2 * j + 3) + j) % (k + 1) < k.div_ceil(2) { 1.0 } else { -1.0 };
    let truth: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
    let x = (0..n * m)
        .map(|i| corner(truth[i / m] as usize, i % m) + spread * (2.0 * rng.random::<f32>() - 1.0))
        .collect();
    (x, truth)
}

/// Run on a pool of this number of threads.
pub fn with_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

/// Stops a fit after some reports of training.
pub struct Impatient {
    left: AtomicUsize,
}

impl Impatient {
    pub fn after(reports: usize) -> Self {
        Self { left: AtomicUsize::new(reports) }
    }
}

impl Observer for Impatient {
    fn progress(&self, progress: Progress) -> Flow {
        if progress.stage == "training" && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}
