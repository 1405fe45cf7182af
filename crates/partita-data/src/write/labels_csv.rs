//! Writing labels as a table that any program opens.

use super::{AtomicFile, CompleteFile};
use crate::classes::called;
use crate::error::{DataError, Result};
use std::fmt::Write as _;
use std::path::Path;

/// A file, before it has its name, with a line for every row: its id (or its number, counted from 0), its cluster and, if given, the name of the cluster, the
/// confidence and the outlier score. `rows` are the numbers of the rows, if some were left out.
pub fn labels_csv(
    path: impl AsRef<Path>,
    (ids, rows): (Option<&[String]>, Option<&[usize]>),
    clusters: &[i32],
    names: &[String],
    confidence: Option<&[f32]>,
    outlier_scores: Option<&[f32]>,
) -> Result<CompleteFile> {
    check_length("ids", ids.map(<[_]>::len), clusters.len())?;
    check_length("the numbers of the rows", rows.map(<[_]>::len), clusters.len())?;
    check_length("confidence", confidence.map(<[_]>::len), clusters.len())?;
    check_length("outlier scores", outlier_scores.map(<[_]>::len), clusters.len())?;
    let columns: Vec<(&str, &[f32])> = [("confidence", confidence), ("outlier_score", outlier_scores)]
        .into_iter()
        .filter_map(|(name, values)| Some((name, values?)))
        .collect();
    let mut file = AtomicFile::create(path)?;
    let mut text = String::from(if ids.is_some() { "id,cluster" } else { "row,cluster" });
    if !names.is_empty() {
        text.push_str(",name");
    }
    columns.iter().for_each(|(name, _)| text.extend([",", name]));
    text.push('\n');
    for (row, cluster) in clusters.iter().enumerate() {
        match ids {
            Some(ids) => text.push_str(&csv_cell(&ids[row])),
            None => push(&mut text, rows.map_or(row, |rows| rows[row])),
        }
        text.push(',');
        push(&mut text, cluster);
        if !names.is_empty() {
            text.push(',');
            text.push_str(&name_cell(names, *cluster));
        }
        for (_, values) in &columns {
            text.push(',');
            push(&mut text, values[row]);
        }
        text.push('\n');
        if text.len() > 1 << 16 {
            file.put(text.as_bytes())?;
            text.clear();
        }
    }
    file.put(text.as_bytes())?;
    file.complete()
}

/// The name of a cluster as a cell; an outlier has none.
pub fn name_cell(names: &[String], cluster: i32) -> String {
    usize::try_from(cluster).map(|cluster| csv_cell(&called(names, cluster))).unwrap_or_default()
}

fn check_length(what: &'static str, found: Option<usize>, expected: usize) -> Result<()> {
    match found {
        Some(found) if found != expected => Err(DataError::Length { what, found, expected }),
        _ => Ok(()),
    }
}

fn push(text: &mut String, value: impl std::fmt::Display) {
    // Writing into a String cannot fail.
    let _ = write!(text, "{value}");
}

/// A cell as it stands in a CSV file: quoted if it would otherwise be read as several.
pub fn csv_cell(cell: &str) -> String {
    if cell.contains([',', ';', '\t', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
