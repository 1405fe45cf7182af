//! The state of a fit of the linear engine as a file: written from time to time during training, so that a killed fit can continue.

use crate::error::{JobError, Kept, Result};
use crate::field::Field;
use partita::linear::{FitState, Input, Params};
use partita::prepare::Prepared;
use partita_data::safetensors_io::{Tensor, TensorFile, Values};
use partita_data::{DataError, Fingerprint};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Version of the layout. Its beginning tells readers of models that this file is not a model.
const FORMAT: &str = "partita-checkpoint-linear-1";
/// Least time between two writes, ...
const PAUSE: Duration = Duration::from_millis(200);
/// ... also in units of the time that the last one took, so that saving the state costs at most a fiftieth of the time.
const PATIENCE: u32 = 50;

/// Where the state of a fit is kept, and which fit it belongs to.
pub(crate) struct Checkpoint<'a> {
    path: &'a Path,
    /// Differs between fits of different rows, labels, weights or options.
    origin: String,
    due: Instant,
}

impl<'a> Checkpoint<'a> {
    /// The checkpoint of a fit that has not begun.
    pub fn new(path: &'a Path, input: &Input<'_>, prepared: &Prepared, params: &Params) -> Result<Self> {
        // The preparation has seen all rows, so that other rows show in it.
        let mut print =
            Fingerprint::default().with_bytes(&encoded(path, &(prepared.preparation(), input.rows.n()))?);
        print = print.with_bytes(&encoded(path, &(input.known, input.weights, input.warm_start))?);
        let options = serde_json::to_string(params).map_err(|e| damaged(path, &e))?;
        let origin = format!("{:016x}", print.with_bytes(options.as_bytes()).0);
        Ok(Self { path, origin, due: Instant::now() + PAUSE })
    }

    /// The state that was kept, if there is any.
    pub fn read(&self) -> Result<Option<FitState>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let file = TensorFile::read(self.path)?;
        let text = |key: &str| file.metadata.get(key).map_or("", String::as_str);
        if text("format") != FORMAT {
            let problem = format!("{} is not the checkpoint of a fit of rows", self.path.display());
            return Err(JobError::refused(Field::Checkpoint, problem + "; name another file"));
        }
        if text("origin") != self.origin {
            let problem = format!(
                "{} is the checkpoint of another fit: of other rows, labels, weights or options; leave `resume` out to start again",
                self.path.display()
            );
            return Err(JobError::refused(Field::Resume, problem));
        }
        let bytes = match file.tensors.get("state").map(|tensor| &tensor.values) {
            Some(Values::I64(words)) => words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>(),
            _ => return Err(damaged(self.path, &"its state is missing")),
        };
        let state = postcard::take_from_bytes(&bytes).map_err(|e| damaged(self.path, &e))?.0;
        Ok(Some(state))
    }

    /// Keep the state, unless it was kept a moment ago.
    pub fn write_if_due(&mut self, state: &FitState) -> Result<()> {
        if Instant::now() < self.due { Ok(()) } else { self.write(state) }
    }

    /// Keep the state, whole or not at all.
    pub fn write(&mut self, state: &FitState) -> Result<()> {
        let began = Instant::now();
        let bytes = encoded(self.path, state)?;
        // Bytes in words of eight: the numbers that the format has for them.
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            i64::from_le_bytes(word)
        };
        let words: Vec<i64> = bytes.chunks(8).map(word).collect();
        let mut file = TensorFile::default();
        let state = Tensor { shape: vec![words.len()], values: Values::I64(words) };
        file.tensors.insert("state".to_owned(), state);
        file.metadata.insert("format".to_owned(), FORMAT.to_owned());
        file.metadata.insert("origin".to_owned(), self.origin.clone());
        file.write(self.path)?;
        self.due = Instant::now() + PAUSE.max(PATIENCE * began.elapsed());
        Ok(())
    }

    /// What is left of a fit whose state was kept.
    pub fn kept(&self, last: String) -> Kept {
        Kept { last, path: self.path.to_owned() }
    }
}

fn encoded(path: &Path, value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|e| damaged(path, &e))
}

fn damaged(path: &Path, problem: &dyn std::fmt::Display) -> JobError {
    JobError::from(DataError::corrupt(path, "checkpoint of a fit", problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::linear::Fitting;
    use partita::report::Silent;
    use partita_data::Features;
    use partita_data::synth::gaussian_mixture;

    #[test]
    fn a_state_comes_back_and_that_of_another_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.safetensors");
        let rows = Features::from_vec(gaussian_mixture(&[30, 30], 3, 8.0, 1).0, 3).unwrap();
        let (input, params) = (Input::new(&rows), Params::new(2));
        let prepared = input.prepared(params.recipe(), &Silent).unwrap();
        let mut fitting = Fitting::new(&input, &prepared, &params).unwrap();
        (0..5).for_each(|_| assert!(fitting.advance().unwrap()));
        let mut checkpoint = Checkpoint::new(&path, &input, &prepared, &params).unwrap();
        assert_eq!(checkpoint.read().unwrap(), None);
        checkpoint.write(fitting.state()).unwrap();
        assert_eq!(checkpoint.read().unwrap().as_ref(), Some(fitting.state()));
        let weights = vec![2.0; 60];
        let weighted = Input { weights: Some(&weights), ..Input::new(&rows) };
        let others = [
            Checkpoint::new(&path, &weighted, &prepared, &params).unwrap(),
            Checkpoint::new(&path, &input, &prepared, &Params { seed: 1, ..params.clone() }).unwrap(),
        ];
        for other in others {
            let error = other.read().unwrap_err();
            assert_eq!(error.field(), Some(Field::Resume), "{error}");
        }
        std::fs::write(&path, b"no checkpoint").unwrap();
        assert!(checkpoint.read().is_err());
    }
}
