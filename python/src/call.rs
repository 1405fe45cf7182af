//! Running the engine from Python: without the interpreter's lock, on threads of its own, and with Ctrl-C.

use crate::failure::raised;
use crate::input::Matrix;
use partita::report::{Flow, Observer, Progress};
use partita::rows::{Csr, Rows};
use partita::{Error, Result};
use partita_job::{JobError, Resources, SharedRows};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for and progress is told.
const POLL: Duration = Duration::from_millis(50);

/// What a running call and the waiting interpreter tell each other.
#[derive(Default)]
pub struct Watch {
    stopped: AtomicBool,
    latest: Mutex<Option<Progress>>,
}

impl Watch {
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn check(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn latest(&self) -> Option<Progress> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Observer for Watch {
    fn progress(&self, progress: Progress) -> Flow {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        if self.stopped.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }
}

/// Rows that stop being readable after Ctrl-C, so that passes without an observer end too.
pub struct Watched<'a> {
    pub rows: SharedRows<'a>,
    pub watch: &'a Watch,
}

impl Rows for Watched<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }
    fn m(&self) -> usize {
        self.rows.m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        self.watch.check()?;
        self.rows.read(start, out)
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        self.watch.check()?;
        self.rows.gather(rows, out)
    }
    fn is_weighed(&self, feature: usize) -> bool {
        self.rows.is_weighed(feature)
    }
    fn table_columns(&self) -> usize {
        self.rows.table_columns()
    }
    fn release(&self) {
        self.rows.release();
    }
    fn sparse(&self) -> Option<&Csr<'_>> {
        self.rows.sparse()
    }
}

/// Run `work` on this many threads (0 for all cores).
///
/// The threads are made for the call and end with it: a process that is forked later inherits none, and every call has the
/// number it asked for.
pub fn run<T: Send, E: Into<JobError> + Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> std::result::Result<T, E> + Send,
) -> PyResult<T> {
    let resources = Resources { threads: (threads > 0).then_some(threads), ..Resources::default() };
    run_job(py, progress, |watch| resources.on_threads(|| work(watch).map_err(Into::into))?)
}

/// Run `work`, which makes its own threads. The calling thread waits, handles signals, and tells `progress(stage, done, loss)`.
pub fn run_job<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> partita_job::Result<T> + Send,
) -> PyResult<T> {
    let watch = &Watch::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (done, answer) = channel();
            let worker = scope.spawn(move || {
                // The receiver is gone only if the waiting thread panicked, and then nobody wants the answer.
                let _ = done.send(work(watch));
            });
            let found = wait(&answer, watch, progress);
            let panicked = |_| PyRuntimeError::new_err("the engine panicked; please report this");
            worker.join().map_err(panicked).and(found)
        })
    })
}

/// Ask something of the rows of a matrix.
pub fn ask<T: Send, E: Into<JobError> + Send>(
    py: Python<'_>,
    x: &Matrix<'_>,
    threads: usize,
    question: impl FnOnce(&dyn Rows) -> std::result::Result<T, E> + Send,
) -> PyResult<T> {
    let rows = x.rows()?;
    run(py, threads, None, |watch| question(&Watched { rows, watch }))
}

/// Wait for the answer; an exception on the way (Ctrl-C, or one of `progress`) stops the work and is raised when it has ended.
fn wait<T>(
    answer: &Receiver<partita_job::Result<T>>,
    watch: &Watch,
    progress: Option<&Py<PyAny>>,
) -> PyResult<T> {
    let mut exception = None;
    loop {
        match answer.recv_timeout(POLL) {
            Ok(result) => return exception.map_or_else(|| result.map_err(raised), Err),
            Err(RecvTimeoutError::Timeout) if exception.is_none() => {
                if let Err(raised) = Python::attach(|py| look(py, watch, progress)) {
                    exception = Some(raised);
                    watch.stop();
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("there is no answer")),
        }
    }
}

fn look(py: Python<'_>, watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let (Some(tell), Some(now)) = (progress, watch.latest()) {
        tell.call1(py, (now.stage, now.done, now.loss))?;
    }
    Ok(())
}
