//! Writing results: labels and probabilities in one pass, JSON and text on standard output.

use anyhow::{Result, bail};
use partita::linear::Model;
use partita::rows::Rows;
use partita_data::{AtomicFile, DataError, NpyWriter, write_labels_csv, write_npy_i32};
use serde::Serialize;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Refuse, before any work is done, outputs that could not be written at its end, or that would replace an input.
pub fn check(
    model: Option<&Path>,
    labels: Option<&Path>,
    proba: Option<&Path>,
    inputs: &[&Path],
) -> Result<()> {
    let given: Vec<&Path> = [model, labels, proba].into_iter().flatten().collect();
    check_files(&given, inputs)?;
    check_names(model, labels, proba)
}

/// Refuse names that do not say what the file will be.
pub fn check_names(model: Option<&Path>, labels: Option<&Path>, proba: Option<&Path>) -> Result<()> {
    if let Some(path) = model {
        named(path, &["safetensors"], "a model is written as .safetensors")?;
    }
    if let Some(path) = labels {
        named(path, &["csv", "npy"], "labels are written as .csv or .npy")?;
    }
    if let Some(path) = proba {
        named(path, &["npy"], "probabilities are written as .npy")?;
    }
    Ok(())
}

/// The same for files of any kind: each can be written, none is named twice, and none is read as well.
pub fn check_files(given: &[&Path], inputs: &[&Path]) -> Result<()> {
    given.iter().try_for_each(|path| writable(path))?;
    let places: Vec<PathBuf> = given.iter().map(|path| place(path)).collect();
    if let Some(at) = (0..places.len()).find(|&i| places[..i].contains(&places[i])) {
        bail!("{} is named for two outputs; give each its own file", given[at].display());
    }
    apart(given, inputs)
}

/// Refuse outputs that would replace a file which the command reads.
pub fn apart(given: &[&Path], inputs: &[&Path]) -> Result<()> {
    let read: Vec<PathBuf> = inputs.iter().map(|path| place(path)).collect();
    match given.iter().find(|path| read.contains(&place(path))) {
        Some(path) => {
            bail!("{} is read by this command and would be lost; write to another file", path.display())
        }
        None => Ok(()),
    }
}

/// Where a file is or will be, however it is written: two ways to one file give the same place.
fn place(path: &Path) -> PathBuf {
    let beside = || {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// The same for a picture.
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

/// Refuse a name without one of these extensions.
pub fn named(path: &Path, extensions: &[&str], rule: &str) -> Result<()> {
    if extensions.contains(&&*extension(path)) {
        return Ok(());
    }
    bail!("{}: {rule}; name the file so", path.display())
}

/// Begin a file there and drop it again, which leaves nothing behind.
pub fn writable(path: &Path) -> Result<()> {
    AtomicFile::create(path)?;
    Ok(())
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Predict all rows once and write what was asked for; `balanced` labels take the place of the most probable ones.
pub fn predictions(
    model: &Model,
    rows: &dyn Rows,
    ids: Option<&[String]>,
    balanced: Option<&[u32]>,
    (labels_out, proba_out): (Option<&Path>, Option<&Path>),
) -> Result<()> {
    let mut writer = proba_out.map(|path| NpyWriter::create(path, model.k())).transpose()?;
    let mut labels = Vec::new();
    let mut confidence = Vec::new();
    model.predict_each(rows, |block| {
        if let Some(writer) = &mut writer {
            writer.push(&block.proba)?;
        }
        if labels_out.is_some() {
            let chosen = balanced.map_or(&*block.labels, |all| &all[block.start..][..block.labels.len()]);
            let sure = block.proba.chunks_exact(model.k()).zip(chosen);
            confidence.extend(sure.map(|(p, &label)| p[label as usize]));
            labels.extend(chosen.iter().map(|&l| l as i32));
        }
        Ok(())
    })?;
    if let Some(path) = labels_out {
        if extension(path) == "npy" {
            write_npy_i32(path, &labels)?;
        } else {
            write_labels_csv(path, ids, &labels, Some(&confidence))?;
        }
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    Ok(())
}

/// Write a whole file, or nothing.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|source| DataError::Write { path: path.to_owned(), source })?;
    Ok(file.finish()?)
}

/// Print text. A closed pipe is the reader's choice and no error.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(DataError::Write { path: "standard output".into(), source: e }.into())
        }
        _ => Ok(()),
    }
}

/// Print one JSON object.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}
