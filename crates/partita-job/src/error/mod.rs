//! What can be wrong with a job: which field it is about, and what to do. Each front end spells the field in its own way.

mod inner;

use crate::field::{Field, spelled};
#[cfg(feature = "deep")]
use inner::deep_message;
use inner::{core_message, embed_message, field_of};
use partita_data::DataError;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, JobError>;

/// A problem with a job.
///
/// ```
/// use partita_job::{Field, JobError};
/// let error = JobError::Missing { field: Field::K };
/// assert_eq!(error.message(&|_| "-k".to_owned()), "-k is needed");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum JobError {
    /// A field that has to be given was not.
    Missing {
        /// The field.
        field: Field,
    },
    /// A field with a value that cannot be used.
    Value {
        /// The field.
        field: Field,
        /// The value.
        value: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A field that other fields leave without effect.
    Idle {
        /// The field.
        field: Field,
        /// Where it has no meaning and what to do, with names of fields between backticks.
        why: &'static str,
    },
    /// A problem of several fields together, or of none, with names of fields between backticks.
    Refused {
        /// The field that it is mainly about.
        field: Option<Field>,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A file that does not fit the data, or an output that cannot be written.
    File {
        /// The field that names the file, if one does.
        field: Option<Field>,
        /// What is wrong with which file, and what to do.
        problem: String,
    },
    /// The threads could not be started.
    Threads(rayon::ThreadPoolBuildError),
    /// A problem of the core: rows, options, or an interruption.
    Core(partita::Error),
    /// A file that could not be read or written.
    Data(DataError),
    /// A problem of raw items: photos, texts, weights of encoders.
    Embed(partita_embed::EmbedError),
    /// A problem of images or networks.
    #[cfg(feature = "deep")]
    Deep(partita_deep::DeepError),
    /// An error, with what was being done.
    During {
        /// What was being done.
        what: String,
        /// The error.
        cause: Box<JobError>,
    },
    /// An error that leaves a checkpoint from which the work can go on.
    Kept {
        /// What is kept where.
        kept: Kept,
        /// The error.
        cause: Box<JobError>,
    },
}

/// What is left of work that was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The last thing that was done: an epoch or a step of a stage.
    pub last: String,
    /// The checkpoint.
    pub path: PathBuf,
}

impl JobError {
    /// The field that the error is about, if it is about one.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::Missing { field } | Self::Value { field, .. } | Self::Idle { field, .. } => Some(*field),
            Self::Refused { field, .. } | Self::File { field, .. } => *field,
            Self::Threads(_) => Some(Field::Threads),
            Self::Core(error) => field_of(error),
            Self::Embed(partita_embed::EmbedError::Core(error)) => field_of(error),
            Self::Data(_) | Self::Embed(_) => None,
            #[cfg(feature = "deep")]
            Self::Deep(partita_deep::DeepError::Core(error)) => field_of(error),
            #[cfg(feature = "deep")]
            Self::Deep(_) => None,
            Self::During { cause, .. } | Self::Kept { cause, .. } => cause.field(),
        }
    }

    /// The error in one sentence, with fields in the spelling of a front end.
    pub fn message(&self, spell: &dyn Fn(Field) -> String) -> String {
        match self {
            Self::Missing { field } => format!("{} is needed", spell(*field)),
            Self::Value { field, value, problem } => {
                format!("{}{value} {}", before_value(spell(*field)), spelled(problem, spell))
            }
            Self::Idle { field, why } => {
                format!("{} has no meaning {}", spell(*field), spelled(why, spell))
            }
            Self::Refused { problem, .. } => spelled(problem, spell),
            Self::File { problem, .. } => problem.clone(),
            Self::Threads(error) => format!("cannot start the threads: {error}"),
            Self::Core(error) => core_message(error, spell),
            Self::Data(error) => error.to_string(),
            Self::Embed(error) => embed_message(error, spell),
            #[cfg(feature = "deep")]
            Self::Deep(error) => deep_message(error, spell),
            Self::During { what, cause } => format!("{what}: {}", cause.message(spell)),
            Self::Kept { kept, cause } => format!("{}; {}", cause.message(spell), kept.message(spell)),
        }
    }

    /// What is kept of the work, if anything is.
    pub fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Kept { kept, .. } => Some(kept),
            Self::During { cause, .. } => cause.kept(),
            _ => None,
        }
    }

    /// The error with what was being done.
    pub fn during(self, what: impl Into<String>) -> Self {
        Self::During { what: what.into(), cause: Box::new(self) }
    }

    /// The first field that was `given` has no meaning here.
    pub(crate) fn first_idle(given: &[(Field, bool)], why: &'static str) -> Result<()> {
        match given.iter().find(|(_, given)| *given) {
            Some((field, _)) => Err(Self::Idle { field: *field, why }),
            None => Ok(()),
        }
    }

    pub(crate) fn file(field: impl Into<Option<Field>>, problem: String) -> Self {
        Self::File { field: field.into(), problem }
    }

    pub(crate) fn refused(field: impl Into<Option<Field>>, problem: impl Into<String>) -> Self {
        Self::Refused { field: field.into(), problem: problem.into() }
    }
}

/// A field before its value. A door that spells fields as `name=` has them touch.
fn before_value(field: String) -> String {
    if field.ends_with('=') { field } else { field + " " }
}

impl Kept {
    /// What is kept where, and how to go on.
    pub fn message(&self, spell: &dyn Fn(Field) -> String) -> String {
        format!("{} is kept in {}; go on with {}", self.last, self.path.display(), spell(Field::Resume))
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(&|field| format!("`{}`", field.name())))
    }
}

impl Error for JobError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Threads(error) => Some(error),
            Self::Core(error) => Some(error),
            Self::Data(error) => Some(error),
            Self::Embed(error) => Some(error),
            #[cfg(feature = "deep")]
            Self::Deep(error) => Some(error),
            Self::During { cause, .. } | Self::Kept { cause, .. } => Some(&**cause),
            _ => None,
        }
    }
}

impl From<partita::Error> for JobError {
    fn from(error: partita::Error) -> Self {
        Self::Core(error)
    }
}

impl From<DataError> for JobError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl From<partita_embed::EmbedError> for JobError {
    fn from(error: partita_embed::EmbedError) -> Self {
        match error {
            partita_embed::EmbedError::Data(error) => Self::Data(error),
            partita_embed::EmbedError::Core(error) => Self::Core(error),
            other => Self::Embed(other),
        }
    }
}

#[cfg(feature = "deep")]
impl From<partita_deep::DeepError> for JobError {
    fn from(error: partita_deep::DeepError) -> Self {
        Self::Deep(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(field: Field) -> String {
        format!("--{}", field.name().replace('_', "-"))
    }

    #[test]
    fn every_door_spells_fields_in_its_own_way() {
        let error = JobError::Idle { field: Field::MinSize, why: "beside `balance`; leave it out" };
        assert_eq!(error.message(&flag), "--min-size has no meaning beside --balance; leave it out");
        let python = error.message(&|field| format!("{}=", field.name()));
        assert_eq!(python, "min_size= has no meaning beside balance=; leave it out");
        let value =
            JobError::Value { field: Field::MinSize, value: "-1".into(), problem: "is no size".into() };
        assert_eq!(value.message(&flag), "--min-size -1 is no size");
        assert_eq!(value.message(&|field| format!("{}=", field.name())), "min_size=-1 is no size");
    }

    #[test]
    fn what_is_kept_is_found_inside_other_errors() {
        let kept = Kept { last: "epoch 3 of training".into(), path: "c.safetensors".into() };
        let cause = Box::new(JobError::from(partita::Error::Interrupted));
        let error = JobError::Kept { kept: kept.clone(), cause }.during("m on x");
        assert_eq!(error.kept(), Some(&kept));
        assert!(
            error
                .message(&flag)
                .contains("epoch 3 of training is kept in c.safetensors; go on with --resume")
        );
    }
}
