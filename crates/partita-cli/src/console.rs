//! What is said on standard error beside errors, unless `--quiet` was given.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Say nothing from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether `--quiet` was given.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Say something on standard error.
pub fn note(text: impl Display) {
    if !is_quiet() {
        eprintln!("{text}");
    }
}
