//! Writing results: labels and probabilities in one pass, JSON and text on standard output.

use anyhow::{Result, bail};
use partita::linear::Model;
use partita::linear::score::Ailment;
use partita::rows::Rows;
use partita_data::{DataError, NpyWriter, write_labels_csv, write_npy_i32};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Refuse outputs whose extension cannot be served, before any work is done.
pub fn check(labels: Option<&Path>, proba: Option<&Path>) -> Result<()> {
    if let Some(path) = labels {
        is_npy(path)?;
    }
    match proba {
        Some(path) if extension(path) != "npy" => {
            bail!("{}: probabilities are written as .npy; name the file so", path.display())
        }
        _ => Ok(()),
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Whether a label file is .npy; the other choice is .csv.
fn is_npy(path: &Path) -> Result<bool> {
    match &*extension(path) {
        "npy" => Ok(true),
        "csv" => Ok(false),
        _ => bail!("{}: labels are written as .csv or .npy; name the file so", path.display()),
    }
}

/// Predict all rows once and write what was asked for.
pub fn predictions(
    model: &Model,
    rows: &dyn Rows,
    ids: Option<&[String]>,
    labels_out: Option<&Path>,
    proba_out: Option<&Path>,
) -> Result<()> {
    let mut writer = proba_out.map(|path| NpyWriter::create(path, model.k())).transpose()?;
    let mut labels = Vec::new();
    let mut confidence = Vec::new();
    model.predict_each(rows, |block| {
        if let Some(writer) = &mut writer {
            writer.push(&block.proba)?;
        }
        if labels_out.is_some() {
            let sure = block.proba.chunks_exact(model.k()).zip(&block.labels);
            confidence.extend(sure.map(|(p, &label)| p[label as usize]));
            labels.extend(block.labels.iter().map(|&l| l as i32));
        }
        Ok(())
    })?;
    if let Some(path) = labels_out {
        if is_npy(path)? {
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

/// Cluster sizes on a line; of many clusters, the range and the number in use.
pub fn sizes(sizes: &[usize]) -> String {
    if sizes.len() <= 20 {
        return sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    }
    let used = sizes.iter().filter(|s| **s > 0).count();
    let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    format!("{least} to {most}; {used} of {} clusters in use", sizes.len())
}

/// An ailment and what to do about it.
pub fn describe(ailment: Ailment) -> String {
    match ailment {
        Ailment::Dead { cluster } => {
            format!("cluster {cluster} is dead: (almost) no row goes there; ask for fewer clusters or more restarts")
        }
        Ailment::Twin { cluster, of } => format!(
            "cluster {cluster} is a twin of cluster {of}, which wins nearly all rows they share; ask for fewer clusters or more restarts"
        ),
    }
}
