//! Labels: one class for every row, from numbers or from words.

use crate::dtype::Encoding;
use crate::error::{DataError, Result};
use std::path::Path;

/// Names of the column that holds the labels, where a table has several columns.
pub(crate) const LABEL_COLUMNS: [&str; 9] =
    ["label", "labels", "class", "cluster", "target", "y", "category", "truth", "species"];
const ADVICE: &str = "labels are whole numbers from 0, or text; -1 or an empty cell means unknown";

const NO_NUMBER: &str = "those before it are numbers; make all of them numbers or all words (empty, NA, N/A, nan, null and ? mean unknown)";
const NO_WORD: &str = "those before it are words; make all of them numbers or all words (empty, NA, N/A, nan, null, ? and -1 mean unknown)";

/// So few rows may all be of different classes.
const FEW: usize = 10;

/// The class of every row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// Class of each row; -1 means unknown.
    pub values: Vec<i64>,
    /// Name of each class where labels were text: class `k` is called `names[k]`. Sorted.
    pub names: Option<Vec<String>>,
}

impl Labels {
    /// Number of classes, counting those without rows: one more than the largest label.
    pub fn classes(&self) -> usize {
        let named = self.names.as_ref().map_or(0, Vec::len);
        let largest = self.values.iter().copied().max().unwrap_or(-1);
        named.max(usize::try_from(largest + 1).unwrap_or(0))
    }

    /// Labels from names; an absent one is unknown. Class `k` is the `k`-th of the names in sorted order.
    ///
    /// ```
    /// let labels = partita_data::Labels::of_names(&[Some("dog"), None, Some("cat")]);
    /// assert_eq!((labels.values, labels.names), (vec![1, -1, 0], Some(vec!["cat".to_owned(), "dog".to_owned()])));
    /// ```
    pub fn of_names<S: AsRef<str>>(cells: &[Option<S>]) -> Self {
        let mut names: Vec<&str> = cells.iter().flatten().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        let place = |name: &S| names.binary_search(&name.as_ref()).map_or(-1, |k| k as i64);
        let values = cells.iter().map(|cell| cell.as_ref().map_or(-1, place)).collect();
        Self { values, names: Some(names.into_iter().map(str::to_owned).collect()) }
    }

    /// Whether no two rows have the same label, so that they say nothing about classes.
    pub(crate) fn is_different_everywhere(&self) -> bool {
        let known: Vec<i64> = self.values.iter().copied().filter(|label| *label >= 0).collect();
        let classes: std::collections::HashSet<&i64> = known.iter().collect();
        known.len() > FEW && known.len() == self.values.len() && classes.len() == known.len()
    }
}

/// What a cluster is called, by the names of the first ones.
pub fn called(names: &[String], cluster: usize) -> String {
    names.get(cluster).cloned().unwrap_or_else(|| cluster.to_string())
}

/// Whole numbers, checked; floats must be integral and NaN means unknown.
pub(crate) fn from_f64(path: &Path, values: &[f64]) -> Result<Labels> {
    let whole = |(row, &v): (usize, &f64)| match v {
        v if v.is_nan() => Ok(-1),
        v if v.fract() == 0.0 && v.abs() < 9e15 => Ok(v as i64),
        v => Err(bad(path, row, v.to_string())),
    };
    from_i64(path, values.iter().enumerate().map(whole).collect::<Result<_>>()?)
}

/// Whole numbers, checked: nothing below -1, and at least one row.
pub(crate) fn from_i64(path: &Path, values: Vec<i64>) -> Result<Labels> {
    if values.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), rows: 0, columns: 1 });
    }
    match values.iter().position(|v| !(-1..1 << 53).contains(v)) {
        Some(row) => Err(bad(path, row, values[row].to_string())),
        None => Ok(Labels { values, names: None }),
    }
}

/// Cells that stand for an unknown label, besides those that are empty.
const UNKNOWN: [&str; 6] = ["NA", "N/A", "nan", "NaN", "null", "?"];

pub(crate) fn is_unknown(cell: &str) -> bool {
    cell.is_empty() || UNKNOWN.contains(&cell)
}

/// Whether a cell is a label, be the others numbers or words.
pub(crate) fn is_known(cell: &str) -> bool {
    !is_unknown(cell) && cell != "-1"
}

/// The number in a cell. Words that Rust would take for numbers, such as infinity, are names.
fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|_| cell.bytes().any(|b| b.is_ascii_digit()))
}

/// Numbers or names; a mixture of both is more likely a slip than meant.
pub(crate) fn from_cells(path: &Path, cells: &[String]) -> Result<Labels> {
    let known = || cells.iter().enumerate().filter(|(_, cell)| is_known(cell));
    let mut numeric = known().map(|(row, cell)| (row, number(cell).is_some()));
    let numbers = numeric.next().is_none_or(|(_, number)| number);
    if let Some((row, _)) = numeric.find(|(_, number)| *number != numbers) {
        let advice = if numbers { NO_NUMBER } else { NO_WORD };
        return Err(DataError::Label {
            path: path.to_owned(),
            row,
            value: format!("'{}'", cells[row]),
            advice,
        });
    }
    if numbers {
        let values: Vec<f64> = cells.iter().map(|cell| number(cell).unwrap_or(f64::NAN)).collect();
        return from_f64(path, &values);
    }
    let name = |cell: &String| is_known(cell).then(|| cell.clone());
    Ok(Labels::of_names(&cells.iter().map(name).collect::<Vec<_>>()))
}

fn bad(path: &Path, row: usize, value: String) -> DataError {
    DataError::Label { path: path.to_owned(), row, value, advice: ADVICE }
}

/// A vector, or a matrix of one column, of whole numbers.
pub(crate) fn from_array(path: &Path, encoding: Encoding, shape: &[u64], bytes: &[u8]) -> Result<Labels> {
    if shape.is_empty() || shape[1..].iter().any(|&d| d != 1) {
        return Err(DataError::Shape {
            path: path.to_owned(),
            what: "the array".into(),
            shape: shape.to_vec(),
            advice: "labels are one number for every row: save a vector",
        });
    }
    match encoding.to_i64(bytes) {
        Some(values) => from_i64(path, values),
        None => from_f64(path, &encoding.to_f64(bytes)),
    }
}
