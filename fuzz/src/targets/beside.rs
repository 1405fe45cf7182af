//! What may come beside the rows: labels, weights, a prior, a specification.

use super::{chosen, file, packed_as_gzip};
use partita_data::{Source, read_label_table, read_vector, read_weights};
use partita_job::{FitSpec, Resources, labels_to_compare};
use std::path::Path;

/// What separates the two files of [`join`].
pub const SEPARATOR: u8 = 0x1e;

const HEADERS: [Option<bool>; 4] = [None, None, Some(true), Some(false)];

/// Labels: a vector, idx, or a column of a table.
pub fn labels(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    let made = made(choice, bytes);
    let source = source(choice, made.path());
    read_label_table(&source, (choice & 64 != 0).then_some(4)).is_ok_and(|table| {
        assert!(table.ids.is_none_or(|ids| ids.values.len() == table.labels.values.len()));
        true
    })
}

/// Two files of labels with ids, matched with each other.
pub fn join(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    let header = HEADERS[usize::from(choice & 3)];
    let Some(at) = bytes.iter().position(|byte| *byte == SEPARATOR) else { return false };
    let (truth, pred) = (file(".csv", &bytes[..at]), file(".csv", &bytes[at + 1..]));
    labels_to_compare(truth.path(), pred.path(), header).is_ok_and(|(truth, pred, _)| {
        assert_eq!(truth.len(), pred.len());
        true
    })
}

/// Weights, and a prior.
pub fn vectors(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    let made = made(choice, bytes);
    let weights = read_weights(&source(choice, made.path()));
    read_vector(made.path()).is_ok() | weights.is_ok()
}

/// A specification as JSON, which comes back as it was.
pub fn spec(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(spec) = FitSpec::from_json(text) else { return false };
    let again = FitSpec::from_json(&spec.to_json()).expect("a specification that was just written");
    assert_eq!(again.to_json(), spec.to_json());
    let _ = (spec.check(&Resources::default()), spec.inputs());
    true
}

fn made(choice: u8, bytes: &[u8]) -> tempfile::NamedTempFile {
    match choice & 3 {
        0 => file(".csv", bytes),
        1 => file(".csv.gz", &packed_as_gzip(bytes)),
        2 => file(".idx.gz", &packed_as_gzip(bytes)),
        // The first bytes tell which of the others it is.
        _ => file(".npy", bytes),
    }
}

fn source(choice: u8, path: &Path) -> Source {
    let column = [None, Some("label"), Some("2"), Some("weight")][usize::from(choice >> 4 & 3)];
    let header = HEADERS[usize::from(choice >> 2 & 3)];
    Source { path: path.to_owned(), column: column.map(str::to_owned), header }
}
