//! The encoders of a model: how raw items (photos, texts, rows of a table) became the rows that it was fitted to.

use super::Tensors;
use crate::error::Result;
use crate::safetensors_io::TensorFile;
use crate::versions::Origin;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// An encoder as a model file keeps it. Only the encoder itself knows what its parts mean.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEncoder {
    /// What it encodes and how, such as `table`, `tfidf` or `photos`.
    pub kind: String,
    /// Everything about it that is no tensor.
    pub about: Value,
    /// Its tensors by name.
    pub tensors: Tensors,
}

/// The parts that are not tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EncoderRecord {
    kind: String,
    about: Value,
}

fn prefix(part: usize) -> String {
    format!("encoder.{part}.")
}

/// Put the encoder of each part of the rows into a file; a file without any is as it always was.
pub(super) fn write(encoders: &[Option<StoredEncoder>], file: &mut TensorFile) -> serde_json::Result<()> {
    if encoders.iter().all(Option::is_none) {
        return Ok(());
    }
    let record =
        |encoder: &StoredEncoder| EncoderRecord { kind: encoder.kind.clone(), about: encoder.about.clone() };
    let records: Vec<_> = encoders.iter().map(|encoder| encoder.as_ref().map(record)).collect();
    file.metadata.insert("encoders".to_owned(), serde_json::to_string(&records)?);
    for (part, encoder) in encoders.iter().enumerate() {
        for (name, tensor) in encoder.iter().flat_map(|encoder| &encoder.tensors) {
            file.tensors.insert(prefix(part) + name, tensor.clone());
        }
    }
    Ok(())
}

/// The encoders of a file, whose tensors are taken out of `tensors`.
pub(super) fn read(
    metadata: &BTreeMap<String, String>,
    tensors: &mut Tensors,
    origin: &Origin<'_>,
) -> Result<Vec<Option<StoredEncoder>>> {
    let Some(text) = metadata.get("encoders") else { return Ok(Vec::new()) };
    let records: Vec<Option<EncoderRecord>> =
        serde_json::from_str(text).map_err(|e| origin.unknown(format!("encoders with other parts ({e})")))?;
    let mut of_part = |(part, record): (usize, Option<EncoderRecord>)| {
        let EncoderRecord { kind, about } = record?;
        let prefix = prefix(part);
        let names: Vec<String> = tensors.keys().filter(|name| name.starts_with(&prefix)).cloned().collect();
        let taken = names
            .into_iter()
            .filter_map(|name| Some((name[prefix.len()..].to_owned(), tensors.remove(&name)?)));
        Some(StoredEncoder { kind, about, tensors: taken.collect() })
    };
    Ok(records.into_iter().enumerate().map(&mut of_part).collect())
}
