//! Ctrl-C and termination: the work is asked to stop, and ended if it does not stop in time.

use crate::failure::INTERRUPTED;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the work may take to stop by itself, with what it keeps; some steps of libraries take longer.
const PATIENCE: Duration = Duration::from_millis(1500);

static ASKED: AtomicBool = AtomicBool::new(false);
/// A file that holds finished work, and how to go on from it.
static KEPT: Mutex<Option<(PathBuf, &'static str)>> = Mutex::new(None);

/// From now on a signal is a request to stop. A second one does not wait.
pub fn watch() -> anyhow::Result<()> {
    fail_at_size_limits();
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            end();
        }
        // The handler must be free for the second signal.
        thread::spawn(|| {
            thread::sleep(PATIENCE);
            end();
        });
    })?;
    Ok(())
}

/// Whether the user asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Finished work will be in this file; `advice` says how to go on from it.
pub fn keeps(path: &Path, advice: &'static str) {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some((path.to_owned(), advice));
}

/// End the program in the middle of its work.
fn end() -> ! {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((path, advice)) = kept.as_ref().filter(|(path, _)| path.exists()) {
        eprintln!("finished work is kept in {}; {advice}", path.display());
    }
    eprintln!("partita: interrupted in the middle of a step; no file is half-written");
    partita_data::leave(i32::from(INTERRUPTED))
}

/// A file that would exceed the size limit of the shell makes its write fail, as on a full disk. By default it would kill the program.
#[cfg(unix)]
fn fail_at_size_limits() {
    // SAFETY: ignoring a signal runs no code of ours, and nothing else in the program handles this one.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(not(unix))]
fn fail_at_size_limits() {}
