//! What a job may use, and where it keeps what it needs to go on: nothing here changes the result.

use crate::error::{JobError, Result};
use crate::field::Field;
use partita_data::FileLock;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Memory for rows, by default 1 GiB.
pub const MEMORY: usize = 1 << 30;

/// Threads of a job at most: more than any machine has cores, and few enough to start.
pub const MOST_THREADS: usize = 512;

/// What a job may use.
///
/// ```
/// let resources = partita_job::Resources { threads: Some(1), ..Default::default() };
/// assert_eq!(resources.on_threads(|| 6 * 7)?, 42);
/// # Ok::<(), partita_job::JobError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Resources {
    /// Threads; all cores if absent.
    pub threads: Option<usize>,
    /// Bytes of rows that may be held in memory; larger data is read again, batch by batch.
    pub memory: usize,
    /// Where the state of training is kept, to go on from it.
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint, if it is there.
    pub resume: bool,
    /// Where finished rows of photos are kept: a folder, or `none`; beside the result if nothing is said.
    pub cache: Option<PathBuf>,
    /// The result, if there is a file of it: an output of the run, which is no resource to be written down.
    #[serde(skip)]
    pub result: Option<PathBuf>,
    /// The processor of a network: cpu, wgpu or cuda. Only on the first is the result the same bit by bit.
    pub device: String,
    /// A file that grows by a line of JSON with every epoch of a network.
    pub metrics: Option<PathBuf>,
}

impl Default for Resources {
    fn default() -> Self {
        Self {
            threads: None,
            memory: MEMORY,
            checkpoint: None,
            resume: false,
            cache: None,
            result: None,
            device: Self::CPU.to_owned(),
            metrics: None,
        }
    }
}

impl Resources {
    /// The processor that is always there.
    pub const CPU: &'static str = "cpu";

    /// The folder where finished rows of photos are kept, if they are: the one that was given, or one beside the result.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        match &self.cache {
            Some(folder) if folder.as_os_str() == "none" => None,
            Some(folder) => Some(folder.clone()),
            None => Some(self.result.as_ref()?.with_file_name("partita-cache")),
        }
    }

    /// The right to write to the checkpoint, if there is one, until it is dropped.
    ///
    /// # Errors
    /// If another run writes to it.
    pub(crate) fn lock_checkpoint(&self) -> Result<Option<FileLock>> {
        Ok(self.checkpoint.as_deref().map(FileLock::beside).transpose()?)
    }

    /// Run `work` on as many threads as it may use: on those of the caller, if that is work of as many threads already.
    ///
    /// # Errors
    /// If there are none or too many, or they cannot be started.
    pub fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R> {
        if self.threads == Some(0) {
            let problem = "cannot work; give at least 1".to_owned();
            return Err(JobError::Value { field: Field::Threads, value: "0".to_owned(), problem });
        }
        if let Some(threads) = self.threads.filter(|threads| *threads > MOST_THREADS) {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let problem =
                format!("are too many; give at most {MOST_THREADS} (this machine has {cores} cores)");
            return Err(JobError::Value { field: Field::Threads, value: threads.to_string(), problem });
        }
        // Work that is part of other work stays on its threads: more would only be in each other's way.
        let here = rayon::current_thread_index().map(|_| rayon::current_num_threads());
        if here.is_some_and(|here| self.threads.is_none_or(|threads| threads == here)) {
            return Ok(work());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.unwrap_or(0)).build();
        Ok(pool.map_err(JobError::Threads)?.install(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_inside_other_work_shares_its_threads_unless_it_asks_for_another_number() {
        let on = |threads| Resources { threads, ..Resources::default() };
        let three = on(Some(3));
        let inner = |threads| {
            three.on_threads(|| on(threads).on_threads(rayon::current_num_threads)).unwrap().unwrap()
        };
        assert_eq!((inner(None), inner(Some(3)), inner(Some(2))), (3, 3, 2));
        let thread = || std::thread::current().id();
        assert!(three.on_threads(|| thread() == on(None).on_threads(thread).unwrap()).unwrap());
        assert!(three.on_threads(|| thread() != on(Some(2)).on_threads(thread).unwrap()).unwrap());
    }
}
