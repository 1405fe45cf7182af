//! The few directions in which weights of words vary most: words that stand in the same texts point the same way.

use crate::error::{EmbedError, Result};
use partita::prepare::{Dims, Preparation, Prepare, WIDE};
use partita::report::Observer;
use partita::rows::{Csr, Rows};

/// Directions `[words, d]`, what a word adds standing together; they are orthogonal and of length one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Directions {
    table: Vec<f32>,
    d: usize,
}

impl Directions {
    /// The main directions of some rows, as a truncated singular value decomposition finds them, which does not subtract the mean; none where there are so
    /// few words that they need none.
    pub fn of(rows: &Csr<'_>, observer: &dyn Observer) -> Result<Option<Self>> {
        let (n, words) = (rows.n(), rows.m());
        if words <= WIDE {
            return Ok(None);
        }
        let mut plain = Preparation::fit(rows, &[words], Prepare::None, observer)?;
        plain.reduce(rows, Dims::Exactly(WIDE.min(n)), 0)?;
        let Some(reduction) = &plain.reduction else { return Ok(None) };
        let d = reduction.d();
        let mut table = vec![0.0; words * d];
        for (j, direction) in reduction.matrix().chunks_exact(words).enumerate() {
            let length = direction.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
            for (word, x) in direction.iter().enumerate() {
                table[word * d + j] = (f64::from(*x) * factor) as f32;
            }
        }
        Ok(Some(Self { table, d }))
    }

    /// The directions in the table of a model file.
    ///
    /// # Errors
    /// If it is no table of numbers for so many words.
    pub fn read(table: Vec<f32>, shape: &[usize], words: usize) -> Result<Self> {
        let d = match *shape {
            [rows, d] if rows == words && d > 0 && table.len() == rows * d => d,
            _ => {
                let problem = format!(
                    "the model's encoder of texts is broken: its directions are not those of {words} words; fit the model again"
                );
                return Err(EmbedError::Refused(problem));
            }
        };
        match table.iter().all(|x| x.is_finite()) {
            true => Ok(Self { table, d }),
            false => Err(EmbedError::Refused(
                "the model's encoder of texts is broken: a direction is no number; fit the model again"
                    .to_owned(),
            )),
        }
    }

    /// How many there are.
    pub fn d(&self) -> usize {
        self.d
    }

    /// All of them, `[words, d]`.
    pub fn table(&self) -> &[f32] {
        &self.table
    }

    /// What a word points to.
    pub fn of_word(&self, word: u32) -> &[f32] {
        &self.table[word as usize * self.d..][..self.d]
    }
}
