//! Text, JSON and pictures: into files that appear whole, or on standard output.

use partita_data::DataError;
use partita_job::export::{named, writable, write};
use partita_job::{JobError, Result};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Refuse, before any work is done, a picture that could not be written.
pub fn check_picture(path: &Path) -> Result<()> {
    writable(path)?;
    named(path, &["png"], "the picture is written as .png")
}

/// Text into a file, which appears whole, or on standard output.
pub fn text(path: Option<&Path>, text: &str) -> Result<()> {
    match path {
        Some(path) => write(path, text.as_bytes()),
        None => print(text),
    }
}

/// Print text. A closed pipe is the reader's choice and no error.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(JobError::Data(DataError::Write { path: "standard output".into(), source: e }))
        }
        _ => Ok(()),
    }
}

/// Print one JSON object.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(print(&(serde_json::to_string(value)? + "\n"))?)
}
