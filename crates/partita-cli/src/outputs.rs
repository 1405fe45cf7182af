//! Text, JSON and pictures: into files that appear whole, or on standard output.

use crate::args::Format;
use crate::console;
use partita_data::DataError;
use partita_job::export::{named, writable};
use partita_job::{JobError, Result};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Refuse, before any work is done, a picture that could not be written.
pub fn check_picture(path: &Path) -> Result<()> {
    writable(path)?;
    named(path, &["png"], "the picture is written as .png")
}

/// The file that was asked for; `-` is standard output.
pub fn file(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| *path != Path::new("-"))
}

/// The format that was asked for, or that the name of the file says. A name that says something else is refused.
pub fn format(asked: Option<Format>, path: Option<&Path>) -> Result<Format> {
    let Some(path) = file(path) else { return Ok(asked.unwrap_or(Format::Md)) };
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let told = match &*extension {
        "md" => Some(Format::Md),
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "html" | "htm" => Some(Format::Html),
        _ => None,
    };
    let problem = match (asked, told) {
        (Some(asked), Some(told)) if asked != told => {
            format!("the name says {told}, but --format says {asked}; change one of them")
        }
        (None, None) => {
            "name the file .md, .csv, .json or .html, or say with --format what it is to hold".to_owned()
        }
        (Some(format), _) | (None, Some(format)) => return Ok(format),
    };
    Err(JobError::File { field: None, problem: format!("{}: {problem}", path.display()) })
}

/// Print what a person wants to know about what was done, unless `--quiet` was given.
pub fn say(text: &str) -> Result<()> {
    if console::is_quiet() { Ok(()) } else { print(text) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_holds_what_its_name_says() {
        let of = |asked, path: &str| format(asked, Some(Path::new(path)));
        for (path, told) in
            [("r.json", Format::Json), ("r.HTML", Format::Html), ("r.csv", Format::Csv), ("r.md", Format::Md)]
        {
            assert_eq!(of(None, path).unwrap(), told);
            assert_eq!(of(Some(told), path).unwrap(), told);
        }
        assert_eq!(of(Some(Format::Md), "notes.txt").unwrap(), Format::Md);
        assert_eq!(of(Some(Format::Csv), "-").unwrap(), Format::Csv);
        assert_eq!(format(None, None).unwrap(), Format::Md);
        let told = of(Some(Format::Csv), "r.json").unwrap_err().to_string();
        assert_eq!(told, "r.json: the name says json, but --format says csv; change one of them");
        assert!(
            of(None, "r.xlsx").unwrap_err().to_string().contains("name the file .md, .csv, .json or .html")
        );
    }
}
