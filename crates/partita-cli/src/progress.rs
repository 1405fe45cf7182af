//! The terminal as an observer: a progress bar, and Ctrl-C.

use indicatif::{ProgressBar, ProgressStyle};
use partita::report::{Flow, Observer, Progress};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of the bar; finer than a terminal is wide.
const STEPS: u64 = 1000;

/// A progress bar on a terminal, silent elsewhere; stops the fit on Ctrl-C.
pub struct Terminal {
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
}

impl Terminal {
    /// A bar on standard error if that is a terminal and `visible`.
    pub fn new(visible: bool) -> anyhow::Result<Self> {
        let bar = if visible && std::io::stderr().is_terminal() {
            ProgressBar::new(STEPS)
        } else {
            ProgressBar::hidden()
        };
        bar.set_style(
            ProgressStyle::with_template("{prefix:>9} [{bar:40}] {percent:>3}%  {msg}  {eta} left")?
                .progress_chars("=> "),
        );
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        ctrlc::set_handler(move || {
            // A second Ctrl-C does not wait for the current step.
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(crate::failure::INTERRUPTED));
            }
        })?;
        Ok(Self { bar, interrupted })
    }

    /// Whether Ctrl-C was pressed.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Remove the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Terminal {
    fn progress(&self, progress: Progress) -> Flow {
        if self.interrupted() {
            return Flow::Stop;
        }
        if !self.bar.is_hidden() {
            self.bar.set_prefix(progress.stage);
            self.bar.set_position((progress.done * STEPS as f64) as u64);
            if let Some(loss) = progress.loss {
                self.bar.set_message(format!("loss {loss:.4}"));
            }
        }
        Flow::Continue
    }
}
