//! A last line of defence around decoders that we do not control.

use crate::error::{DataError, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Run a decoder; if it panics, the file is corrupt.
///
/// The Parquet and Arrow crates check most of what they read, but not all: hostile bytes can still reach an assertion
/// or an index out of bounds inside them.
pub(crate) fn guarded<T>(path: &Path, format: &'static str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    unpanicked(decode)
        .unwrap_or_else(|| Err(DataError::corrupt(path, format, "its structure contradicts itself")))
}

/// What foreign code gives, or nothing if it panics. Its state must be its own: it is dropped with the panic, so that
/// nothing broken can be seen later.
///
/// The message that a panic prints is held back for this thread only, while the code runs: the first use puts a hook in
/// front of the program's own, which is passed every other panic.
///
/// ```
/// assert_eq!(partita_data::unpanicked(|| 3), Some(3));
/// assert_eq!(partita_data::unpanicked(|| [1, 2][..].iter().map(|i| 2 / (i - 1)).sum::<i32>()), None);
/// ```
pub fn unpanicked<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                previous(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    GUARDED.set(outer);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panicking_decoder_is_a_corrupt_file() {
        let outcome: Result<()> = guarded(Path::new("a"), "table", || panic!("inside"));
        assert!(matches!(outcome, Err(DataError::Corrupt { .. })));
        assert_eq!(guarded(Path::new("a"), "table", || Ok(3)).unwrap(), 3);
    }
}
