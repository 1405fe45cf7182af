//! Ending the program from outside, in the middle of its work, so that no file is left half-written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Unfinished files that have a name, and locks. It is locked while files get their names.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// End the program with this exit code, at a moment when outputs that belong together are all old or all new. Unfinished files are
/// removed. For a signal that the work itself did not follow in time.
pub fn leave(code: i32) -> ! {
    // Held until the end, so that no more files get their names.
    let unfinished = hold();
    for name in unfinished.iter() {
        // Those that were dropped are no longer there.
        let _ = fs::remove_file(name);
    }
    exit(code)
}

/// The program does not end by [`leave`] while this is held.
pub(super) fn hold() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remove this file if the program ends by [`leave`] before [`keep`].
pub(super) fn remove_at_the_end(name: &Path) {
    hold().insert(name.to_owned());
}

/// The file is no longer unfinished, or no longer there.
pub(super) fn keep(name: &Path) {
    hold().remove(name);
}
