//! Exit codes: what kind of thing went wrong, for scripts.

use partita_data::DataError;

/// The data, the labels or an option is not usable.
pub const BAD_INPUT: u8 = 3;
/// A result could not be written.
pub const NOT_WRITTEN: u8 = 5;
/// Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// The exit code of an error.
pub fn code(error: &anyhow::Error) -> u8 {
    if let Some(partita::Error::Interrupted) = error.downcast_ref() {
        return INTERRUPTED;
    }
    let written = |e: &DataError| matches!(e, DataError::Write { .. });
    let in_chain = error.chain().any(|e| e.downcast_ref::<DataError>().is_some_and(written));
    if in_chain { NOT_WRITTEN } else { BAD_INPUT }
}
