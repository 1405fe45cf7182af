//! Short vectors of numbers, such as a prior over the clusters.

use crate::error::{DataError, Result};
use crate::mapped;
use crate::npy::Header;
use crate::source::open_source;
use std::path::Path;

/// Read numbers from a `.npy` vector, or from text where they are separated by commas, semicolons or space.
///
/// A first line of text without numbers is taken as a header.
pub fn read_vector(path: impl AsRef<Path>) -> Result<Vec<f64>> {
    let path = path.as_ref();
    let file = open_source(path)?;
    let len = file.metadata().map_err(DataError::io(path, "open"))?.len();
    if len == 0 {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 1 });
    }
    let map = mapped::map(path, &file)?;
    let values = if map.starts_with(b"\x93NUMPY") { from_npy(path, &map)? } else { from_text(path, &map)? };
    if values.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 1 });
    }
    Ok(values)
}

fn from_npy(path: &Path, bytes: &[u8]) -> Result<Vec<f64>> {
    let header = Header::read(path, &mut &*bytes)?;
    if header.shape.iter().filter(|&&d| d != 1).count() > 1 {
        return Err(DataError::Shape {
            path: path.to_owned(),
            what: "the array".into(),
            shape: header.shape,
            advice: "a vector is needed: save one dimension",
        });
    }
    let values = header.check_size(path, bytes.len() as u64)?;
    Ok(header.encoding.to_f64(&bytes[header.len..header.len + values * header.encoding.size()]))
}

fn from_text(path: &Path, bytes: &[u8]) -> Result<Vec<f64>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| DataError::corrupt(path, "text", format!("byte {} is not text", e.valid_up_to())))?;
    let mut values = Vec::new();
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let words: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']'))
            .filter(|w| !w.is_empty())
            .collect();
        if line.starts_with('#') || (i == 0 && words.iter().all(|w| w.parse::<f64>().is_err())) {
            continue;
        }
        for (j, word) in words.iter().enumerate() {
            values.push(word.parse().map_err(|_| DataError::NotNumeric {
                path: path.to_owned(),
                line: i as u64 + 1,
                column: (j + 1).to_string(),
                cell: (*word).to_owned(),
            })?);
        }
    }
    Ok(values)
}
