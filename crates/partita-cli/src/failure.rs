//! Exit codes: what kind of thing went wrong, for scripts.

use crate::spelling::flag;
use partita_data::DataError;
use partita_embed::EmbedError;
use partita_job::{JobError, Kept};
use std::error::Error;

/// The data, the labels or an option is not usable.
pub const BAD_INPUT: u8 = 3;
/// A result could not be written.
pub const NOT_WRITTEN: u8 = 5;
/// A claim of the paper does not hold.
pub const MISSED: u8 = 6;
/// Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Some checks do not hold, and nobody knows why.
#[derive(Debug, thiserror::Error)]
#[error("{0} checks do not hold; the report says which")]
pub struct Missed(pub usize);

/// The exit code of an error.
pub fn code(error: &anyhow::Error) -> u8 {
    let interrupted = |e| matches!(innermost(e).downcast_ref(), Some(partita::Error::Interrupted));
    if error.chain().any(interrupted) {
        return INTERRUPTED;
    }
    if error.is::<Missed>() {
        return MISSED;
    }
    let not_written =
        |e| matches!(innermost(e).downcast_ref(), Some(DataError::Write { .. } | DataError::InUse { .. }));
    if error.chain().any(not_written) { NOT_WRITTEN } else { BAD_INPUT }
}

/// An error and its causes on one line; a cause that the line already tells is not repeated.
pub fn message(error: &anyhow::Error) -> String {
    let words = |cause: &(dyn Error + 'static)| match cause.downcast_ref::<JobError>() {
        Some(error) => error.message(&flag),
        None => cause.to_string(),
    };
    error.chain().map(words).fold(String::new(), |line, cause| match line {
        line if line.is_empty() => cause,
        line if line.contains(&cause) => line,
        line => format!("{line}: {cause}"),
    })
}

/// What is kept of work that was interrupted.
pub fn kept(error: &anyhow::Error) -> Option<&Kept> {
    error.chain().find_map(|cause| cause.downcast_ref::<JobError>()?.kept())
}

/// An error that is inside others which speak in its words and do not show it among their causes: those of a fit, and of
/// networks.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    match error.downcast_ref() {
        Some(EmbedError::Data(inside)) => return innermost(inside),
        Some(EmbedError::Core(inside)) => return innermost(inside),
        _ => {}
    }
    #[cfg(feature = "deep")]
    match error.downcast_ref() {
        Some(partita_deep::DeepError::Embed(inside)) => return innermost(inside),
        Some(partita_deep::DeepError::Data(inside)) => return innermost(inside),
        Some(partita_deep::DeepError::Core(inside)) => return innermost(inside),
        _ => {}
    }
    match error.downcast_ref() {
        Some(partita::Error::Reader(inside)) => innermost(&**inside),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;
    use std::io;

    #[test]
    fn codes_are_found_through_every_wrapping() {
        let write = || DataError::Write { path: "a".into(), source: io::Error::other("full") };
        assert_eq!(code(&write().into()), NOT_WRITTEN);
        assert_eq!(code(&anyhow::Error::from(write()).context("while predicting")), NOT_WRITTEN);
        assert_eq!(code(&anyhow::Error::from(partita::Error::from(write())).context("deeper")), NOT_WRITTEN);
        assert_eq!(code(&anyhow::Error::from(partita::Error::Interrupted).context("any")), INTERRUPTED);
        assert_eq!(code(&anyhow!("a label is wrong")), BAD_INPUT);
        assert_eq!(code(&JobError::from(write()).during("m on x").into()), NOT_WRITTEN);
        assert_eq!(code(&JobError::from(partita::Error::from(write())).into()), NOT_WRITTEN);
        assert_eq!(code(&JobError::from(partita::Error::Interrupted).into()), INTERRUPTED);
    }

    #[cfg(feature = "deep")]
    #[test]
    fn codes_are_found_inside_errors_of_networks() {
        use partita_deep::DeepError;
        let write = DataError::Write { path: "a".into(), source: io::Error::other("full") };
        assert_eq!(code(&DeepError::from(write).into()), NOT_WRITTEN);
        let stopped = anyhow::Error::from(DeepError::from(partita::Error::Interrupted));
        assert_eq!(code(&stopped.context("while predicting")), INTERRUPTED);
        assert_eq!(code(&DeepError::Option("no".into()).into()), BAD_INPUT);
    }

    #[test]
    fn no_cause_is_told_twice() {
        let write = DataError::Write { path: "a".into(), source: io::Error::other("disk full") };
        let told = message(&anyhow::Error::from(write).context("m on x"));
        assert!(
            told.starts_with("m on x: cannot write a") && told.matches("disk full").count() == 1,
            "{told}"
        );
    }
}
