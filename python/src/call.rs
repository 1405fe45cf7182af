//! Running the engine from Python: without the interpreter's lock, on threads of its own, and with Ctrl-C.

use crate::failure::raised;
use crate::input::Matrix;
use partita::report::{Flow, Observer, Progress};
use partita::rows::Csr;
use partita::rows::Rows;
use partita::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
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

    fn check(&self) -> Result<()> {
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
    pub rows: &'a dyn Rows,
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
/// number it asked for. The calling thread waits, handles signals, and tells `progress(stage, done, loss)`.
pub fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    py.detach(|| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| PyRuntimeError::new_err(format!("cannot start the threads: {e}")))?;
        pool.in_place_scope(|scope| {
            let (done, answer) = channel();
            let watch = &watch;
            scope.spawn(move |_| {
                // The receiver is gone only if the waiting thread panicked, and then nobody wants the answer.
                let _ = done.send(work(watch));
            });
            wait(&answer, watch, progress)
        })
    })
}

/// Ask something of the rows of a matrix.
pub fn ask<T: Send>(
    py: Python<'_>,
    x: &Matrix<'_>,
    threads: usize,
    question: impl FnOnce(&dyn Rows) -> Result<T> + Send,
) -> PyResult<T> {
    let rows = x.rows()?;
    run(py, threads, None, |watch| question(&Watched { rows: &*rows, watch }))
}

/// Wait for the answer; an exception on the way (Ctrl-C, or one of `progress`) stops the work and is raised when it has ended.
fn wait<T>(answer: &Receiver<Result<T>>, watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<T> {
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
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine panicked; please report this"));
            }
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
