//! The terminal as an observer: a progress bar, or a line a minute where there is none; and Ctrl-C.

use crate::{console, interrupt};
use indicatif::{ProgressBar, ProgressStyle};
use partita::report::{Flow, Observer, Progress};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Steps of the bar; finer than a terminal is wide.
const STEPS: u64 = 1000;
/// Time between two lines in a log.
const PAUSE: Duration = Duration::from_mins(1);

/// A progress bar on a terminal, a line a minute elsewhere; stops the work on Ctrl-C.
pub struct Terminal {
    bar: ProgressBar,
    log: Option<Log>,
}

impl Terminal {
    /// A bar on standard error if that is a terminal and `visible`, lines if it is none; neither with `--quiet`.
    pub fn new(visible: bool) -> anyhow::Result<Self> {
        let (terminal, loud) = (std::io::stderr().is_terminal(), !console::is_quiet());
        let bar = if terminal && visible && loud { ProgressBar::new(STEPS) } else { ProgressBar::hidden() };
        bar.set_style(
            ProgressStyle::with_template("{prefix:>9} [{bar:40}] {percent:>3}%  {msg}  {eta} left")?
                .progress_chars("=> "),
        );
        let log = (!terminal && loud).then(|| Log::new(PAUSE, Instant::now()));
        Ok(Self { bar, log })
    }

    /// Remove the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Terminal {
    fn progress(&self, progress: Progress) -> Flow {
        if interrupt::asked() {
            return Flow::Stop;
        }
        if !self.bar.is_hidden() {
            self.bar.set_prefix(progress.stage);
            self.bar.set_position((progress.done * STEPS as f64) as u64);
            if let Some(loss) = progress.loss {
                self.bar.set_message(format!("loss {loss:.4}"));
            }
        }
        if let Some(line) = self.log.as_ref().and_then(|log| log.line(progress, Instant::now())) {
            eprintln!("{line}");
        }
        Flow::Continue
    }
}

/// When the next line is due.
struct Log {
    pause: Duration,
    began: Instant,
    due: Mutex<Instant>,
}

impl Log {
    fn new(pause: Duration, began: Instant) -> Self {
        Self { pause, began, due: Mutex::new(began + pause) }
    }

    /// How far the work is, if a line is due.
    fn line(&self, Progress { stage, done, loss }: Progress, now: Instant) -> Option<String> {
        // Another thread that looks at this moment will say it.
        let mut due = self.due.try_lock().ok()?;
        if now < *due {
            return None;
        }
        *due = now + self.pause;
        let loss = loss.map(|loss| format!(", loss {loss:.4}")).unwrap_or_default();
        let minutes = (now - self.began).as_secs() / 60;
        Some(format!("{stage}: {:.0} % after {minutes} min{loss}", 100.0 * done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_says_a_line_a_minute() {
        let began = Instant::now();
        let log = Log::new(PAUSE, began);
        let half = Progress { stage: "training", done: 0.5, loss: Some(1.25) };
        let at = |seconds| log.line(half, began + Duration::from_secs(seconds));
        assert_eq!(at(59), None);
        assert_eq!(at(61).unwrap(), "training: 50 % after 1 min, loss 1.2500");
        assert_eq!(at(62), None);
        assert_eq!(at(125).unwrap(), "training: 50 % after 2 min, loss 1.2500");
    }
}
